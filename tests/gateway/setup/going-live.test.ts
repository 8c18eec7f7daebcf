/** When an app goes live by itself, and what that does to its session. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Overview } from '../../../protocol/console/glance-answers.ts';
import type { AppStatus } from '../../../protocol/console/setup-answers.ts';
import { mintId } from '../../../protocol/ids.ts';
import { readApp } from '../../../storage/apps/apps.ts';
import { hashManifest } from '../../../storage/apps/manifests.ts';
import { createClient } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { AGENT, agentOf } from '../../support/setup-agent.ts';
import { article, assertRefused, startSetup } from './setup-app.ts';
import { type ClockedSetup, startClocked } from './setup-clock.ts';

const setup = await startSetup();

type Release = AppStatus['release'];

test('LIVE-4: with auto_go_live off an app whose four checks pass does not go live by itself', async () => {
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

test('LIVE-5: a write of a sync session that makes the last check pass takes the app live', async () => {
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

async function callIn({ storage, organisationId, appId, settle, clock: { nowMs } }: ClockedSetup): Promise<void> {
  const manifest = hashManifest({ version: '2', actions: [], routes: [] });
  await storage.write(organisationId, 'registerManifest', { ...manifest, appId, sdk: 'web/0.50.0', nowMs });
  await settle();
}

test('LIVE-5: expiry takes no app live whose checks pass, the next manifest does', async (t) => {
  const clocked = await startClocked(t);
  const { agent } = await clocked.agent();
  await passChecks(clocked);
  await agent.get('GET', '/status');
  await clocked.settleDeadlines();
  assert.equal(isLive(clocked), false);
  clocked.clock.nowMs += 24 * 3_600_000;
  await clocked.settleDeadlines();
  assertRefused(await agent.send('GET', '/status'), 410, 'session_closed');
  await clocked.resume();
  assert.equal(isLive(clocked), false);
  await callIn(clocked);
  assert.equal(isLive(clocked), true);
});

test('LIVE-4, LIVE-5: replacement takes no app live; a sync session that came instead does not hold it back', async (t) => {
  const clocked = await startClocked(t);
  await clocked.agent();
  await passChecks(clocked);
  const { agent } = await clocked.agent('sync');
  assert.equal(isLive(clocked), false);
  await callIn(clocked);
  assert.equal(isLive(clocked), true);
  assert.equal((await agent.get<{ session: { writes: string } }>('GET', '/context')).session.writes, 'propose');
});

/** An app whose four checks pass once `agent`, of an open setup session, has run its smoke test. */
async function readyApp(settings: Readonly<Record<string, unknown>> = {}) {
  const app = await setup.app(settings);
  const { session, code } = await app.open();
  const agent = await agentOf(setup.service.baseUrl, code);
  await agent.get('POST', '/start', AGENT);
  await agent.get('PUT', '/experience', { assistantName: 'Ada', guardrails: 'Never promise a date.' });
  await agent.get('POST', '/knowledge', { items: ['returns', 'delivery', 'brewing'].map((key) => article(key)) });
  await app.callIn();
  const read = async () => (await app.console<{ app: { live: boolean; published_version: number | null } }>('GET', '')).app;
  return { app, agent, sessionId: session.id, read };
}

const COMPLETED = { ok: true, status: 'completed', token: 'revoked' };

test('LIVE-5: POST /fail and Stop take no app live; a setting that is sent afterwards does', async () => {
  for (const end of ['stop', 'fail']) {
    const { app, agent, sessionId, read } = await readyApp();
    assert.equal((await agent.get('POST', '/smoke')).passed, true);
    if (end === 'stop') await setup.operator('POST', `/sessions/${sessionId}/stop`);
    else assert.deepEqual(await agent.get('POST', '/fail', { reason: 'Enough.' }), { ok: true, status: 'failed', token: 'revoked' });
    assert.equal((await read()).live, false, end);
    await app.console('PATCH', '', { auto_go_live: true });
    assert.equal((await read()).live, true, end);
  }
});

test('LIVE-2, SETUP-52, TRACE-1: POST /complete takes a ready app live with its drafts as version 1, and says so, as the panel does', async () => {
  const { app, agent, sessionId, read } = await readyApp();
  const { release } = await agent.get<{ release: Record<string, unknown> }>('GET', '/status');
  assert.deepEqual([release.auto_go_live, release.publish_on_go_live, release.published_version], [true, true, null]);
  assert.match(String(release.note), /goes live by itself as soon as all four.*with POST \/complete.*publishes the drafts.*version 1/);
  assert.equal((await agent.get('POST', '/smoke')).passed, true);
  const { note, ...completed } = await agent.get<{ note: string }>('POST', '/complete', { summary: 'Done.' });
  assert.deepEqual(completed, { ...COMPLETED, live: true, version: 1 });
  assert.match(note, /^The app is live\. .*Nobody has had an answer in the app yet/);
  const { live, published_version: version } = await read();
  assert.deepEqual([live, version], [true, 1]);
  const kept = await app.console<{ traces: unknown }>('GET', `/traces?machine=app-lifecycle&instance=${app.appId}`);
  assert.match(JSON.stringify(kept.traces), /"type":"checks\.evaluated","passed":true/);
  const unpublished = async () => (await app.console<AppStatus>('GET', '/status')).release.unpublished;
  assert.equal(await unpublished(), false);
  await app.console('PUT', '/experience', { assistantName: 'Ada the second' });
  assert.equal(await unpublished(), true);
  const config = await fetch(`${setup.service.baseUrl}/v1/apps/config`, {
    headers: { 'X-Service-Key': app.keys.live, 'X-Service-Device': 'a'.repeat(32) },
  });
  assert.equal(((await config.json()) as { config: { copilot: { assistantName: string } } }).config.copilot.assistantName, 'Ada');
  const lines = (await setup.view(sessionId)).events.map(({ title }) => title);
  assert.deepEqual(lines.slice(-2), ['The agent finished.', 'The app went live, and its drafts were published as version 1.']);
});

test('LIVE-2: with publish_on_go_live off the app goes live as it is, and POST /complete, status and panel say what people get', async () => {
  const { app, agent, sessionId, read } = await readyApp({ publish_on_go_live: false });
  await agent.get('POST', '/smoke');
  const { note, ...answer } = await agent.get<{ note: string }>('POST', '/complete', { summary: 'Done.' });
  assert.deepEqual(answer, { ...COMPLETED, live: true, version: null });
  assert.match(note, /default appearance and assistant until a person publishes/);
  assert.deepEqual([(await read()).live, (await read()).published_version], [true, null]);
  const { release } = await app.console<{ release: { note: string } }>('GET', '/status');
  assert.equal(release.note, note);
  assert.match((await setup.view(sessionId)).events.at(-1)?.title ?? '', /Nothing was published: people get the default/);
});

test('SETUP-52: POST /complete of an app that does not go live says why not, and who takes it live', async () => {
  const { agent, sessionId } = await readyApp({ auto_go_live: false });
  await agent.get('POST', '/smoke');
  const { note, ...answer } = await agent.get<{ note: string }>('POST', '/complete', { summary: 'Done.' });
  assert.deepEqual(answer, { ...COMPLETED, live: false, version: null });
  assert.match(note, /^A person takes the app live \(auto_go_live is off\)/);
  assert.equal((await setup.view(sessionId)).events.at(-1)?.detail, note);
  const early = await readyApp();
  const { live } = await early.agent.get<{ live: boolean }>('POST', '/complete', { summary: 'No smoke test.' });
  assert.equal(live, false);
});

test('LIVE-2, LIVE-6: the Go live action publishes the drafts of an app that never published, and the panel says so', async () => {
  const { app, agent, sessionId, read } = await readyApp();
  await app.console('POST', '/go-live');
  assert.deepEqual([(await read()).live, (await read()).published_version], [true, 1]);
  assertRefused(await agent.send('GET', '/status'), 410, 'session_closed');
  assert.ok((await setup.view(sessionId)).events.some(({ title }) => title?.includes('published as version 1')));
});

test('LIVE-5: a run that passes takes the app live also when its session ended meanwhile, however it ended', async () => {
  for (const end of ['complete', 'stop']) {
    const { agent, sessionId, read } = await readyApp();
    const run = agent.send('POST', '/smoke');
    // It is under way: the session ends before its answers are there.
    if (end === 'complete') await agent.get('POST', '/complete', { summary: 'Done.' });
    else await setup.operator('POST', `/sessions/${sessionId}/stop`);
    // The refusal says that the session ended first.
    assertRefused(await run, 410, 'session_closed');
    assert.equal((await read()).live, true, end);
  }
});

test('LIVE-10: what keeps people from getting a live app is named: no allowed domain, addresses of this machine, no turn that ended well', async () => {
  const local = await startSetup({ ALLOW_PRIVATE_ADDRESSES: 'on' });
  const app = await local.app({ allowed_domains: [] });
  const obstacles = async () => (await app.console<{ release: Release }>('GET', '/status')).release;
  const failing = ({ reach }: Release) => reach.filter(({ ok }) => !ok).map(({ key }) => key);
  const agent = await app.agent();
  const order = { name: 'list_orders', description: 'Lists orders.', method: 'GET', url_template: 'http://127.0.0.1:9/orders' };
  await agent.get('POST', '/actions', { items: [{ external_key: 'a', ...order }] });
  await app.callIn();
  const named = await obstacles();
  assert.equal(named.obstacles.length, 3);
  const [domains, address, turn] = named.obstacles;
  assert.match(domains ?? '', /^No domain is allowed, so the live key answers on no page/);
  assert.match(address ?? '', /^list_orders: the address is of this machine/);
  assert.match(turn ?? '', /^Nobody has had an answer in the app yet/);
  assert.deepEqual(failing(named), ['domains', 'addresses', 'answered']);
  assert.ok(named.note.endsWith(named.obstacles.join(' ')));
  const client = createClient(local.service.baseUrl, app.keys.test);
  assert.equal((await client.say('Hello')).events.at(-1)?.status, 'completed');
  await agent.get('POST', '/actions', { items: [{ external_key: 'a', ...order, url_template: 'https://api.example.com/orders' }] });
  await app.console('PATCH', '', { allowed_domains: ['shop.example.com'] });
  const mended = await obstacles();
  assert.deepEqual([mended.obstacles, failing(mended), mended.reach.length], [[], [], 3]);
});

test('LIVE-11: an app for websites that is live and has no allowed domain says that it is blocked, alone, in its list and at a glance', async () => {
  const app = await setup.app({ allowed_domains: [], platform_hint: 'A shop in React' });
  const blocked = async () => {
    const alone = await app.console<{ app: { blocked: boolean } }>('GET', '');
    const { apps } = (await setup.operator('GET', `/orgs/${app.organisationId}/apps`)).json as { apps: { blocked: boolean }[] };
    const { orgs } = (await setup.operator('GET', '/overview?limit=200')).json as Overview;
    const glances = orgs.find(({ id }) => id === app.organisationId)?.glance?.apps ?? [];
    return [alone.app, ...apps, ...glances].map((each) => each.blocked);
  };
  assert.deepEqual(await blocked(), [false, false, false], 'it is not live');
  await app.console('POST', '/go-live');
  assert.deepEqual(await blocked(), [true, true, true]);
  await app.console('PATCH', '', { allowed_domains: ['shop.example.com'] });
  assert.deepEqual(await blocked(), [false, false, false]);
  await app.console('PATCH', '', { allowed_domains: [], platform_hint: 'An app in Swift' });
  assert.deepEqual(await blocked(), [false, false, false], 'no website shows it');
});

test('LIVE-9: each member is written to once when an app went live, by itself or by a person, with what keeps people from getting it', async () => {
  const { app, agent } = await readyApp();
  await setup.operator('PATCH', `/orgs/${app.organisationId}`, { members: [{ email: 'Ada@example.com', name: 'Ada' }] });
  await agent.get('POST', '/smoke');
  await agent.get('POST', '/complete', { summary: 'Done.' });
  await app.console('POST', '/go-live');
  const outbox = join(setup.service.dataDir, 'outbox');
  // Another name is that of a mail that is still being written.
  const names = () => readdirSync(outbox).filter((name) => name.endsWith('.eml'));
  const mails = () => names().map((name) => readFileSync(join(outbox, name), 'utf8').replaceAll(/=\r\n/g, ''));
  const mine = () => mails().filter((mail) => /^Subject: .* is live/m.test(mail));
  await eventually(() => mine().length > 0);
  assert.equal(mine().length, 1);
  assert.match(mine()[0] ?? '', /^To: ada@example\.com\r$/m);
  assert.match(mine()[0] ?? '', /went live by itself, because all four[\s\S]*keeps people from getting it[\s\S]*Nobody has had an answer/);
  const other = await readyApp();
  await setup.operator('PATCH', `/orgs/${other.app.organisationId}`, { members: [{ email: 'bob@example.com', name: 'Bob' }] });
  await other.app.console('POST', '/go-live');
  await eventually(() => mails().some((mail) => /^To: bob@/m.test(mail) && mail.includes('A person took it live')));
});

test('LIVE-7: what a process had observed before it died is acted on at the next start', async (t) => {
  const clocked = await startClocked(t);
  await passChecks(clocked);
  assert.equal(isLive(clocked), false);
  await clocked.resume();
  assert.equal(isLive(clocked), true);
});

test('SETUP-6: a setup session that outlived its app’s going live ends as cancelled at the next start', async (t) => {
  const clocked = await startClocked(t);
  const { ref } = await clocked.agent();
  const { storage, organisationId, appId, clock } = clocked;
  await storage.write(organisationId, 'goLive', { appId, organisationId, nowMs: clock.nowMs });
  await clocked.resume();
  assert.equal(clocked.row(ref)?.state, 'cancelled');
});
