/** Confirmed writes that the service sends to the app's own server, asked, confirmed and run on any node while nodes are killed. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { type Backend, startBackend } from '../support/backend.ts';
import { conversationOf, intendContinuation, intendTurn, newDevice, sendTurn, someNode } from '../support/chaos-load.ts';
import { createClient, createOperator } from '../support/client.ts';
import { type Attempt, completedEnd, eventsOf } from '../support/history.ts';
import { ASKS_FOR_CARD, CARD_ACTION } from '../support/paced-model.ts';
import { isBrokenConnection } from '../support/partial.ts';
import { assertClean, begin, figures, type Ground, outcomes, type Run } from './figures.ts';
import { type Kills, killNodes } from './kills.ts';

export interface WritesSize extends Kills {
  readonly writes: number;
  readonly devices: number;
}

/** How long the app's server takes: a kill may come while it is at work. */
const BACKEND_MS = 30;
const HEADERS = { 'X-Service-User-Token': 'person-1' };
/** What the person is told of a write that nobody knows the end of. */
const UNKNOWN = /could not be found out whether/;

/** One answer of the person, asked again on another node for as long as nodes die under it. */
async function confirmed(run: Run, deviceId: string, invocationId: string): Promise<void> {
  for (;;) {
    const client = createClient((await someNode(run)).baseUrl, run.app.liveKey, deviceId);
    try {
      const answer = await client.send('POST', `/v1/invocations/${invocationId}/confirm`, { decision: 'confirm' });
      assert.equal((answer.json as { status?: string }).status, 'confirmed', `${answer.status} ${answer.text}`);
      return;
    } catch (error) {
      if (!isBrokenConnection(error)) throw error;
      await pause(20);
    }
  }
}

/** Asks for a write, confirms it and brings that to the service; the answers of both copies of that. */
async function write(run: Run): Promise<{ invocationId: string; answers: readonly Attempt[] }> {
  const asked = intendTurn(run, { deviceId: newDevice(), conversationId: null, ordinal: 1 }, ASKS_FOR_CARD);
  const shown = await sendTurn({ ...run, headers: HEADERS }, asked);
  assert.ok(shown !== undefined, outcomes(run.history));
  const pending = eventsOf(shown).at(-1)?.pending as { invocation_id: string }[] | undefined;
  const invocationId = pending?.[0]?.invocation_id ?? '';
  await confirmed(run, asked.deviceId, invocationId);
  const results = [{ invocation_id: invocationId, status: 'ok', confirmed: true }];
  const brought = intendContinuation(run, asked, conversationOf(shown) ?? '', results);
  const answers = await Promise.all([0, 1].map((copy) => sendTurn({ ...run, headers: HEADERS }, brought, { copy })));
  return { invocationId, answers: answers.filter((attempt) => attempt !== undefined) };
}

async function prepare(ground: Ground, backend: Backend): Promise<Awaited<ReturnType<typeof begin>>> {
  const run = await begin(ground, { record_confirmations: true });
  const action = {
    external_key: 'move',
    name: CARD_ACTION,
    description: 'Moves the delivery.',
    method: 'POST',
    risk: 'write',
    confirm_template: 'Move the delivery?',
    url_template: `${backend.url}/move`,
    auth: 'user',
  };
  const operator = createOperator(run.cluster.up()[0]?.baseUrl ?? '', run.cluster.operatorToken);
  const made = await operator('POST', `/apps/${run.app.appId}/actions`, { items: [action] });
  assert.equal(made.status, 200, made.text);
  return run;
}

/** Others may be killing nodes of the cell meanwhile: an app that was made in part is left, and another one made. */
async function prepared(ground: Ground, backend: Backend): ReturnType<typeof prepare> {
  for (;;) {
    try {
      return await prepare(ground, backend);
    } catch (error) {
      if (!isBrokenConnection(error)) throw error;
      await pause(20);
    }
  }
}

/** An interrupted write becomes unknown, is said so, and is sent by no node again. Needs ALLOW_PRIVATE_ADDRESSES. */
export async function writesUnderKills(ground: Ground, size: WritesSize): Promise<void> {
  const backend = await startBackend(ground.t);
  backend.answer(async (_, response) => {
    await pause(BACKEND_MS);
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"moved":true}');
  });
  const run = await prepared(ground, backend);
  run.model.pace({ words: 2, delayMs: 10 });
  let killing = true;
  const killed = killNodes(run, size).finally(() => {
    killing = false;
  });
  const done: Awaited<ReturnType<typeof write>>[] = [];
  let begun = 0;
  const device = async () => {
    while (begun < size.writes || killing) {
      begun += 1;
      done.push(await write(run));
    }
  };
  await Promise.all(Array.from({ length: size.devices }, device));
  const { killed: kills, up } = await killed;
  await up;
  const calls = backend.requests.map(({ headers }) => String(headers['idempotency-key']));
  await assertClean(run, calls);
  const called = new Set(calls);
  const asked = new Set(done.map(({ invocationId }) => invocationId));
  assert.deepEqual(
    [...called].filter((id) => !asked.has(id)),
    [],
    'nothing was called that nobody confirmed',
  );
  let unknown = 0;
  for (const { invocationId, answers } of done) {
    assert.ok(answers.every((attempt) => completedEnd(attempt) !== undefined) && answers.length === 2);
    const isUnknown = UNKNOWN.test(JSON.stringify(answers[0]?.seen));
    if (isUnknown) unknown += 1;
    else assert.ok(called.has(invocationId), 'what is said to be done was done');
  }
  figures(
    run,
    'k',
    `${kills} kills, ${done.length} confirmed writes, ${calls.length} calls, none twice, ${unknown} unknown; ${outcomes(run.history)}`,
  );
}
