/** decisions §2 "Go-live checks": when an app goes live by itself, and what that does to its session. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mintId } from '../../../src/protocol/ids.ts';
import { readApp } from '../../../src/storage/apps.ts';
import { hashManifest } from '../../../src/storage/manifests.ts';
import { AGENT, agentOf } from '../../support/setup-agent.ts';
import { article, assertRefused, startSetup } from './setup-app.ts';
import { type ClockedSetup, startClocked } from './setup-clock.ts';

const setup = await startSetup();

test('decisions §2 "Go-live checks": all four passing with auto_go_live off, the app does not go live by itself', async () => {
  const app = await setup.app({ auto_go_live: false });
  const agent = await app.agent();
  await agent.get('POST', '/knowledge', { items: ['returns', 'delivery', 'brewing'].map((key) => article(key)) });
  await app.callIn();
  assert.equal((await agent.get('POST', '/smoke')).passed, true);
  const { go_live: checks } = await agent.get<{ go_live: { ok: boolean }[] }>('GET', '/status');
  assert.deepEqual(
    checks.map(({ ok }) => ok),
    [true, true, true, true],
  );
  await agent.get('POST', '/complete', { summary: 'Done.' });
  const { app: after } = await app.console<{ app: { live: boolean } }>('GET', '');
  assert.equal(after.live, false);
});

test('decisions §2 "Go-live checks": a write of a sync session that makes the last check pass takes the app live', async () => {
  const app = await setup.app();
  const agent = await app.agent('sync');
  await agent.get('POST', '/knowledge', { items: ['returns', 'delivery', 'brewing'].map((key) => article(key)) });
  await agent.get('POST', '/screens', { screens: [{ name: 'orders', title: 'Orders', description: 'What was ordered.' }] });
  await app.callIn();
  assert.equal((await agent.get('POST', '/smoke')).passed, true);
  const live = async () => (await app.console<{ app: { live: boolean } }>('GET', '')).app.live;
  assert.equal(await live(), false);
  await agent.get('POST', '/screens', { archive: [{ name: 'orders' }] });
  assert.equal(await live(), true);
});

/** All four checks pass from here on; nobody looks at them yet. */
async function passChecks({ storage, organisationId, appId, clock: { nowMs } }: ClockedSetup): Promise<void> {
  const manifest = hashManifest({ version: '1', actions: [], routes: [] });
  await storage.write(organisationId, 'registerManifest', { ...manifest, appId, sdk: 'web/0.50.0', nowMs });
  const run = { id: mintId('run', nowMs), appId, passed: true, platformFailure: false, answers: [], createdAtMs: nowMs };
  await storage.write(organisationId, 'saveSmokeRun', run);
}

function isLive({ storage, organisationId, appId }: ClockedSetup): boolean | undefined {
  return readApp(storage.organisation(organisationId), appId, organisationId)?.live;
}

test('decisions §2 "Go-live checks": an open setup session holds the app back until it has run out', async (t) => {
  const clocked = await startClocked(t);
  const { agent } = await clocked.agent();
  await passChecks(clocked);
  await agent.get('GET', '/status');
  await clocked.settleDeadlines();
  assert.equal(isLive(clocked), false);
  clocked.clock.nowMs += 24 * 3_600_000;
  await clocked.settleDeadlines();
  assert.equal(isLive(clocked), true);
  assertRefused(await agent.send('GET', '/status'), 410, 'session_closed');
});

test('decisions §2 "Go-live checks": a sync session that takes the place of the setup session does not hold the app back', async (t) => {
  const clocked = await startClocked(t);
  await clocked.agent();
  await passChecks(clocked);
  const { agent } = await clocked.agent('sync');
  assert.equal(isLive(clocked), true);
  assert.equal((await agent.get<{ session: { writes: string } }>('GET', '/context')).session.writes, 'propose');
});

test('decisions §2 "Go-live checks": Stop, POST /fail and POST /complete let an app go live whose checks pass', async () => {
  for (const end of ['stop', 'fail', 'complete']) {
    const app = await setup.app();
    const { session, code } = await app.open();
    const agent = await agentOf(setup.service.baseUrl, code);
    await agent.get('POST', '/start', AGENT);
    await agent.get('POST', '/knowledge', { items: ['returns', 'delivery', 'brewing'].map((key) => article(key)) });
    await app.callIn();
    assert.equal((await agent.get('POST', '/smoke')).passed, true);
    const live = async () => (await app.console<{ app: { live: boolean } }>('GET', '')).app.live;
    assert.equal(await live(), false);
    if (end === 'stop') await setup.operator('POST', `/sessions/${session.id}/stop`);
    else await agent.get('POST', `/${end}`, end === 'fail' ? { reason: 'Enough.' } : { summary: 'Done.' });
    assert.equal(await live(), true, end);
  }
});

test('decisions §2 "Go-live checks": what a process had observed before it died is acted on at the next start', async (t) => {
  const clocked = await startClocked(t);
  await passChecks(clocked);
  assert.equal(isLive(clocked), false);
  await clocked.resume();
  assert.equal(isLive(clocked), true);
});

test('Authentication 9: a setup session that outlived its app’s going live ends as cancelled at the next start', async (t) => {
  const clocked = await startClocked(t);
  const { ref } = await clocked.agent();
  const { storage, organisationId, appId, clock } = clocked;
  await storage.write(organisationId, 'goLive', { appId, organisationId, nowMs: clock.nowMs });
  await clocked.resume();
  assert.equal(clocked.row(ref)?.state, 'cancelled');
});
