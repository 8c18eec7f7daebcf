/** Errors of the setup interface: what depends on the clock, or on faults that only a test brings about. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issueFileCode } from '../../../actors/setup/files.ts';
import { setupRoutes } from '../../../gateway/setup/routes.ts';
import { setupOnStorage } from '../../actors/setup/setup-on-storage.ts';
import { AGENT, agentOf, fetchFile } from '../../support/setup-agent.ts';
import { serve } from '../test-server.ts';
import { assertRefused } from './setup-app.ts';
import { startClocked } from './setup-clock.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

test('SETUP-10: 410 code_expired: a code works for 15 minutes', async (t) => {
  const { baseUrl, clock, open, freshCode } = await startClocked(t);
  const { ref, code } = await open();
  clock.nowMs += 15 * MINUTE_MS;
  assertRefused(await fetchFile(baseUrl, code), 410, 'code_expired', 'command');
  const fresh = await freshCode(ref);
  clock.nowMs += 15 * MINUTE_MS - 1;
  assert.equal((await fetchFile(baseUrl, fresh)).status, 200);
  clock.nowMs += 1;
  assertRefused(await fetchFile(baseUrl, fresh), 410, 'code_used');
});

test('SETUP-4: 410 session_closed: 24 hours after it was opened, whether the timer came first or the call', async (t) => {
  for (const timerFirst of [true, false]) {
    const { clock, agent: start, row, settleDeadlines, baseUrl, freshCode } = await startClocked(t);
    const { ref, agent } = await start();
    clock.nowMs += 24 * HOUR_MS - 1;
    await settleDeadlines();
    await agent.get('GET', '/smoke');
    const code = await freshCode(ref);
    clock.nowMs += 1;
    if (timerFirst) await settleDeadlines();
    assertRefused(await agent.send('GET', '/status'), 410, 'session_closed', 'ran out');
    assertRefused(await agent.send('POST', '/start', AGENT), 410, 'session_closed');
    assertRefused(await agent.send('POST', '/complete', { summary: 'Late.' }), 410, 'session_closed');
    assertRefused(await fetchFile(baseUrl, code), 410, 'session_closed');
    await settleDeadlines();
    assert.equal(row(ref)?.state, 'expired');
  }
});

test('SETUP-4: 410 session_closed: a session nobody has started expires as well', async (t) => {
  const { clock, open, row, settleDeadlines, baseUrl } = await startClocked(t);
  const { ref, code } = await open();
  const agent = await agentOf(baseUrl, code);
  clock.nowMs += 24 * HOUR_MS;
  assertRefused(await agent.send('POST', '/start', AGENT), 410, 'session_closed');
  await settleDeadlines();
  assert.equal(row(ref)?.state, 'expired');
});

test('SETUP-23: 409 app_live: a setup session that is still open when its app is live; a sync session goes on', async (t) => {
  const { storage, organisationId, appId, clock, agent: start, freshCode, baseUrl } = await startClocked(t);
  const { ref, agent } = await start();
  const code = await freshCode(ref);
  await storage.write(organisationId, 'goLive', { appId, organisationId, nowMs: clock.nowMs });
  assertRefused(await agent.send('POST', '/events', { step: 'install', status: 'done' }), 409, 'app_live', 'sync');
  assertRefused(await agent.send('POST', '/start', AGENT), 409, 'app_live');
  assertRefused(await fetchFile(baseUrl, code), 409, 'app_live');
  await (await start('sync')).agent.get('GET', '/status');
});

test('SETUP-24, LIMIT-5: 429 rate_limited: the 121st request of a minute, with Retry-After; each session by itself', async (t) => {
  const { clock, agent: start, open, freshCode, baseUrl } = await startClocked(t);
  const { ref, code } = await open();
  const agent = await agentOf(baseUrl, code);
  // Refused ones count as well.
  for (let n = 1; n <= 120; n++) assertRefused(await agent.send('GET', '/smoke'), 409, 'not_started');
  const refused = await agent.send('POST', '/start', AGENT);
  assertRefused(refused, 429, 'rate_limited', 'session');
  assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/);
  const again = await agentOf(baseUrl, await freshCode(ref));
  assertRefused(await again.send('POST', '/start', AGENT), 429, 'rate_limited');
  clock.nowMs += Number(refused.headers['retry-after']) * 1_000;
  assert.equal((await again.send('POST', '/start', AGENT)).status, 200);
  await (await start()).agent.get('GET', '/status');
});

test('HTTP-14: 500 internal: a fault of the service is told as such, with the id of the request and nothing of its cause', async (t) => {
  const { storage, clock, agent: start } = await startClocked(t);
  const { ref } = await start();
  const nowMs = () => clock.nowMs;
  const setup = setupOnStorage(t, { storage, nowMs });
  setup.agent.report = () => Promise.reject(new Error('disk at /secret is full'));
  const { base, logged } = await serve(t, setupRoutes, { storage, setup, nowMs });
  const agent = await agentOf(base, (await issueFileCode(setup, ref)).code);
  const answer = await agent.send('POST', '/events', { step: 'install', status: 'done' });
  const { message } = assertRefused(answer, 500, 'internal', String(answer.headers['x-request-id']));
  assert.doesNotMatch(message, /secret/);
  assert.equal(logged.length, 1);
});
