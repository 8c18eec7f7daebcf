/** A turn that one node runs, watched at another one. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { pendingOf, thread } from '../gateway/runtime/scripted-chat.ts';
import { createClient, HANDSHAKE } from '../support/client.ts';
import { startCluster } from '../support/cluster.ts';
import { redisMissing, startRedis } from '../support/redis.ts';
import type { RunningService } from '../support/service.ts';
import { startUpstream, upstreamEnv } from '../support/upstream.ts';
import { openWorld } from './browser.ts';

const ACTION = {
  name: 'cancel_order',
  description: 'Cancels an order.',
  risk: 'write',
  confirm_template: 'Cancel order {id}?',
  params: { id: { type: 'string', required: true } },
};

test('REPLAY-3: a turn that waits for a confirmation is watched at another node than it runs on', { skip: redisMissing() }, async (t) => {
  const upstream = await startUpstream(t, (_, n) =>
    n === 0 ? [{ call: 'cancel_order', args: { id: '7' }, id: 'call_cancel' }] : [{ text: 'It is cancelled.' }],
  );
  const { url: redisUrl } = await startRedis(t);
  const cluster = await startCluster(t, { redisUrl, nodes: 2, env: { ...upstreamEnv(upstream), DEMO: 'off' } });
  const { appId, organisationId, liveKey } = await cluster.app();
  const [runs, watches] = cluster.nodes;
  assert.ok(runs !== undefined && watches !== undefined);
  const client = createClient(runs.baseUrl, liveKey);
  const { json } = await client.send('POST', '/v1/apps/manifest', { manifest: { version: '1', actions: [ACTION] }, sdk: 'web/0.50.0' });
  const more = { client: { ...HANDSHAKE, manifest_hash: (json as { manifest_hash: string }).manifest_hash } };
  const turnId = randomUUID();
  const asked = await client.say('Cancel order 7.', { ...more, turn_id: turnId });
  const world = await openWorld(t, { baseUrl: watches.baseUrl, operatorToken: cluster.operatorToken } as RunningService);
  const { page } = await world.signedIn(`/console/traces/${appId}?turn_id=${turnId}`);
  await page.getByText('Turn, step by step').first().waitFor();
  await page.getByText('following', { exact: true }).waitFor();
  const steps = page.getByRole('region', { name: 'Steps' });
  await steps.getByText('awaiting_confirmation').first().waitFor();
  const result = { invocation_id: pendingOf(asked)[0]?.invocation_id, status: 'ok', confirmed: true, result: { cancelled: true } };
  await client.chat({ ...more, conversation_id: thread(asked), tool_results: [result] });
  await steps.getByText('turn.resumed').click();
  await page
    .getByRole('region', { name: 'What happened here' })
    .getByText(new RegExp(`^${runs.name}~`))
    .waitFor();
  assert.equal(cluster.ownerOf(organisationId, thread(asked)), runs);
});
