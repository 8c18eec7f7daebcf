/** The facts, the checks, and going live by itself. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { saveSource } from '../../../actors/knowledge/sources.ts';
import { readAppStatus, readObservations } from '../../../actors/setup/app-status.ts';
import { goLiveIfReady } from '../../../actors/setup/go-live.ts';
import { mintId } from '../../../protocol/ids.ts';
import { readApp } from '../../../storage/apps/apps.ts';
import { hashManifest } from '../../../storage/apps/manifests.ts';
import { storeApp } from './app-in-storage.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');

/** An app and what can happen to it, in rows. */
async function building(t: TestContext, settings: { auto_go_live?: boolean } = {}) {
  const { storage, organisationId, appId } = await storeApp(t, NOW, settings);
  const db = storage.organisation(organisationId);
  const read = () => {
    const now = readApp(db, appId, organisationId);
    assert.ok(now !== undefined);
    return now;
  };
  return {
    live: () => read().live,
    liveAtMs: () => read().liveAtMs,
    status: () => readAppStatus(db, read()),
    observed: () => Object.keys(readObservations(db, read())),
    goLive: (nowMs = NOW) =>
      goLiveIfReady(
        { storage, sessions: { appWentLive: async () => {}, tell: () => {} }, nowMs: () => nowMs, mailsPlanned: () => {} },
        organisationId,
        appId,
      ),
    async callIn(routes: readonly string[] = []) {
      const manifest = { version: '1', actions: [], routes: routes.map((name) => ({ name, title: 'A screen' })) };
      await storage.write(organisationId, 'registerManifest', { ...hashManifest(manifest), appId, sdk: 'web/0.50.0', nowMs: NOW });
    },
    async smoke(passed: boolean, platformFailure = false) {
      const run = { id: mintId('run', NOW), appId, passed, platformFailure, answers: [], createdAtMs: NOW };
      await storage.write(organisationId, 'saveSmokeRun', run);
    },
    async addSource() {
      const source = { sourceId: mintId('kno', NOW), appId, externalKey: 'a', kind: 'text' as const, title: 'A', uri: null, content: 'x' };
      const { id } = await saveSource(storage, organisationId, { ...source, origin: 'console', reason: null, nowMs: NOW });
      return id;
    },
    async declare(name: string) {
      const screen = { name, title: 'A screen', description: 'Shows it.' };
      await storage.write(organisationId, 'declareScreens', { appId, screens: [screen], archive: [], origin: 'console', nowMs: NOW });
    },
    async openSession(kind: 'setup' | 'sync') {
      const session = { id: mintId('ses', NOW), appId, kind, state: 'running', snapshot: '{}', panel: '{}' };
      await storage.write(organisationId, 'openSetupSession', { ...session, openedAtMs: NOW, expiresAtMs: NOW + 1 });
    },
  };
}

const passing = (status: ReturnType<typeof readAppStatus>) => status.go_live.flatMap(({ key, ok }) => (ok ? [key] : []));

test('SETUP-45, LIVE-3: a new app has not called in, misses nothing, and was never tested', async (t) => {
  const app = await building(t);
  const status = app.status();
  assert.deepEqual([status.app_ready, status.knowledge_ready, status.screens_missing], [false, true, 0]);
  assert.deepEqual(status.facts, {
    handshakeAt: null,
    manifest: null,
    knowledge: { sources: 0, indexed: 0, pending: 0, indexing: 0, failed: 0, chunks: 0 },
    declaredScreens: 0,
    httpActions: { enabled: 0, needsKey: 0 },
    smoke: null,
    liveAt: null,
  });
  assert.deepEqual(
    status.go_live.map(({ key, ok }) => [key, ok]),
    [
      ['app', false],
      ['knowledge', true],
      ['screens', true],
      ['smoke', false],
    ],
  );
  assert.ok(status.go_live.every(({ label, detail }) => label !== '' && detail.endsWith('.')));
  assert.deepEqual(app.observed(), []);
});

test('LIVE-3: each check follows what it is about, and says what to do', async (t) => {
  const app = await building(t);
  await app.callIn(['cart']);
  assert.deepEqual(passing(app.status()), ['app', 'knowledge', 'screens']);
  await app.addSource();
  await app.declare('cart');
  await app.declare('profile');
  const status = app.status();
  assert.deepEqual([passing(status), status.screens_missing, status.knowledge_ready], [['app'], 1, false]);
  const details = Object.fromEntries(status.go_live.map(({ key, detail }) => [key, detail]));
  assert.match(details.app ?? '', /web\/0\.50\.0/);
  assert.match(details.knowledge ?? '', /^1 source waits/);
  assert.match(details.screens ?? '', /^1 declared screen is not/);
  assert.match(details.smoke ?? '', /^No smoke test/);
});

test('LIVE-3, SMOKE-5: the latest smoke run is what counts, and a failure of the service’s is told as one', async (t) => {
  const app = await building(t);
  await app.smoke(true);
  assert.deepEqual([app.status().facts.smoke?.passed, passing(app.status()).includes('smoke')], [true, true]);
  await app.smoke(false);
  assert.deepEqual([app.status().facts.smoke?.passed, passing(app.status()).includes('smoke')], [false, false]);
  assert.match(app.status().go_live[3]?.detail ?? '', /failed/);
  await app.smoke(false, true);
  assert.match(app.status().go_live[3]?.detail ?? '', /Change nothing/);
});

test('STEP-8: verify needs a handshake, test a passing run, screens a registered screen', async (t) => {
  const app = await building(t);
  await app.smoke(false);
  await app.declare('cart');
  await app.addSource();
  assert.deepEqual(app.observed(), [], 'a plan, a waiting source and a failed run confirm nothing');
  await app.callIn([]);
  assert.deepEqual(app.observed(), ['verify']);
  await app.callIn(['cart']);
  await app.smoke(true);
  assert.deepEqual(app.observed(), ['screens', 'verify', 'test']);
});

test('LIVE-4: an app whose four checks pass goes live by itself, once', async (t) => {
  const app = await building(t);
  assert.equal(await app.goLive(), false);
  await app.smoke(true);
  assert.deepEqual([await app.goLive(), app.live()], [false, false], 'it has not called in');
  await app.callIn();
  assert.deepEqual(await Promise.all([app.goLive(NOW + 1), app.live()]), [true, false]);
  assert.deepEqual([app.live(), app.status().facts.liveAt], [true, new Date(NOW + 1).toISOString()]);
  assert.equal(await app.goLive(NOW + 2), false);
  assert.equal(app.liveAtMs(), NOW + 1);
});

test('LIVE-4: not while a setup session is open, nor where the setting is off; a sync session does not hold it back', async (t) => {
  const during = await building(t);
  await during.openSession('setup');
  const unwanted = await building(t, { auto_go_live: false });
  const synced = await building(t);
  await synced.openSession('sync');
  for (const app of [during, unwanted, synced]) {
    await app.smoke(true);
    await app.callIn();
  }
  assert.deepEqual([await during.goLive(), await unwanted.goLive(), await synced.goLive()], [false, false, true]);
  assert.deepEqual([during.live(), unwanted.live(), synced.live()], [false, false, true]);
});
