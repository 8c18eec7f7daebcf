/** A person stops an answer whose node stands still. */
import assert from 'node:assert/strict';
import { request } from 'undici';
import { sendTurn } from '../support/chaos-load.ts';
import type { ClusterNode } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { assertClean, begin, type Ground, type Run } from './figures.ts';
import { answering, type MidStream, wake } from './owner-lost.ts';

/** The silence counts after 2 to 3 s; on a machine that is busy with other tests everything takes longer. */
const STOPPED_WITHIN_MS = 20_000;

async function stop({ app }: Run, node: ClusterNode, { turn }: MidStream): Promise<{ status: number; json: unknown }> {
  const headers = { 'X-Service-Key': app.liveKey, 'X-Service-Device': turn.deviceId };
  const { statusCode, body } = await request(`${node.baseUrl}/v1/chat/${turn.turnId}/stop`, { method: 'POST', headers });
  return { status: statusCode, json: await body.json() };
}

function endedAtMs({ cluster, app }: Run, { turn }: MidStream): number | null {
  const row = cluster.rows(app.organisationId).prepare('SELECT ended_at_ms FROM turns WHERE turn_id = ?').get(turn.turnId);
  return (row as { ended_at_ms: number | null }).ended_at_ms;
}

/**
 * While it is not known that the owner is silent a stop may be refused with 503; then it ends the turn behind the fence,
 * and says that it was not the owner who stopped it.
 */
export async function stopAtSilentOwner(ground: Ground): Promise<void> {
  const run = await begin(ground);
  const mid = await answering(run, 0);
  mid.owner.pause();
  const node = run.dice.pick(run.cluster.up());
  let last = await stop(run, node, mid);
  const isThrough = async () => {
    if (last.status === 503) last = await stop(run, node, mid);
    return last.status !== 503;
  };
  await eventually(isThrough, STOPPED_WITHIN_MS, () => JSON.stringify(last));
  assert.equal(last.status, 200, JSON.stringify(last));
  assert.equal((last.json as { stopped: boolean }).stopped, false);
  assert.notEqual(endedAtMs(run, mid), null, 'the turn has an end before its owner wakes');
  run.model.pace({ words: 2, delayMs: 0 });
  await sendTurn(run, mid.turn, { from: 2, avoid: mid.owner });
  await wake(run, mid);
  await assertClean(run);
}
