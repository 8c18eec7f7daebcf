import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manifestRoute } from '../../../gateway/runtime/manifest.ts';
import { readApp } from '../../../storage/apps/apps.ts';
import { latestManifest, MANIFESTS_PER_APP_MAX, readManifest } from '../../../storage/apps/manifests.ts';
import { serveApp } from './runtime-app.ts';

const manifest = (version: string) => ({ version, actions: [{ name: 'find_order', description: 'Finds an order.' }] });

/** Posts manifests with this key, each time from another device. */
function poster(base: string, key: string) {
  let devices = 0;
  return async (body: object | string) => {
    const response = await fetch(`${base}/v1/apps/manifest`, {
      method: 'POST',
      headers: { 'X-Service-Key': key, 'X-Service-Device': String(devices++).padStart(32, '0'), 'Content-Type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const { manifest_hash: hash = '', error } = (await response.json()) as { manifest_hash?: string; error?: Refused };
    return { status: response.status, hash, error };
  };
}

interface Refused {
  readonly code: string;
  readonly details: readonly { readonly path: string; readonly message: string }[];
}

const versioned = (version: string, sdk = 'web/0.27.0') => ({ manifest: manifest(version), sdk });

test('MANIFEST-5: idempotent, one row, and the first is the app’s handshake', async (t) => {
  let nowMs = 1_000;
  const { base, storage, organisationId, appId, test: key } = await serveApp(t, [manifestRoute], () => nowMs);
  const db = storage.organisation(organisationId);
  const revisions: number[] = [];
  const send = poster(base, key);
  const post = async (document: object, sdk: string) => {
    const { status, hash } = await send({ manifest: document, sdk });
    assert.equal(status, 200);
    revisions.push(readApp(db, appId)?.revision ?? 0);
    return hash;
  };
  const first = await post(manifest('1'), 'web/0.27.0');
  assert.match(first, /^[0-9a-f]{64}$/);
  assert.equal(readApp(db, appId)?.handshakeAtMs, 1_000);
  nowMs = 2_000;
  assert.equal(await post({ actions: manifest('1').actions, version: '1' }, 'web/0.28.0'), first);
  assert.equal(readApp(db, appId)?.handshakeAtMs, 1_000);
  assert.equal(revisions[0], revisions[1]);
  assert.equal(db.statement('SELECT count(*) AS n FROM manifests').get()?.n, 1);
  assert.equal(latestManifest(db, appId)?.sdk, 'web/0.28.0');
  const second = await post(manifest('2'), 'web/0.28.0');
  assert.equal(latestManifest(db, appId)?.hash, second);
  assert.equal(await post(manifest('1'), 'web/0.28.0'), first);
  assert.equal(latestManifest(db, appId)?.hash, first);
  assert.equal(readManifest(db, appId, second)?.version, '2');
  assert.equal(readManifest(db, 'app_other', second), undefined);
  assert.equal(readManifest(db, appId, 'f'.repeat(64)), undefined);
});

test('MODEL-30: 400 names the action that is called as a tool of the service’s own', async (t) => {
  const { base, test: key } = await serveApp(t, [manifestRoute]);
  const actions = ['find_order', 'search_knowledge', 'open_screen', 'item_list'].map((name) => ({ name, description: 'Does it.' }));
  const routes = [{ name: 'search_knowledge', title: 'Search' }];
  const { status, error } = await poster(base, key)({ manifest: { version: '1', actions, routes }, sdk: 'web/0.27.0' });
  assert.deepEqual([status, error?.code], [400, 'invalid_request']);
  assert.deepEqual(
    error?.details,
    actions.slice(1).map(({ name }, at) => ({
      path: `manifest.actions[${at + 1}].name`,
      message: `must not be ${name}: the service has a tool of that name`,
    })),
  );
});

test('MANIFEST-1: 400 names the action and the field inside the posted document', async (t) => {
  const { base, test: key } = await serveApp(t, [manifestRoute]);
  const actions = [...manifest('1').actions, { name: 'b', description: 'B', params: { x: { type: 'date' } } }];
  const post = poster(base, key);
  const { status, error } = await post({ manifest: { version: '1', actions }, sdk: 'web/0.27.0' });
  const paths = error?.details.map(({ path }) => path);
  assert.deepEqual([status, error?.code, paths], [400, 'invalid_request', ['manifest.actions[1].params.x.type']]);
  const infinite = await post('{"manifest":{"version":"1","actions":[],"extra":1e999},"sdk":"web/0.27.0"}');
  assert.equal(infinite.status, 400);
});

test('MANIFEST-6: the manifests of an app are bounded: the one posted longest ago goes first', async (t) => {
  const { storage, organisationId, appId } = await serveApp(t, [manifestRoute]);
  const register = (n: number) =>
    storage.write(organisationId, 'registerManifest', {
      appId,
      hash: n.toString(16).padStart(64, '0'),
      document: '{"actions":[],"version":"1"}',
      sdk: 'web/1.0.0',
      nowMs: 5,
    });
  await Promise.all(Array.from({ length: MANIFESTS_PER_APP_MAX }, (_, n) => register(n)));
  await register(0);
  await register(9_999);
  const db = storage.organisation(organisationId);
  assert.equal(db.statement('SELECT count(*) AS n FROM manifests').get()?.n, MANIFESTS_PER_APP_MAX);
  const kept = (n: number) => readManifest(db, appId, n.toString(16).padStart(64, '0')) !== undefined;
  assert.deepEqual([kept(0), kept(1), kept(2), kept(9_999)], [true, false, true, true]);
});

test('MANIFEST-7: strangers push out none of the app’s, are never the latest, and keep nobody from posting again', async (t) => {
  let nowMs = 1_000;
  const { base, storage, organisationId, appId, live, test: testKey } = await serveApp(t, [manifestRoute], () => nowMs);
  const db = storage.organisation(organisationId);
  const strangers = poster(base, live);
  const post = async (version: string) => (await strangers(versioned(version))).status;
  assert.equal((await poster(base, testKey)(versioned('1'))).status, 200);
  await storage.write(organisationId, 'goLive', { appId, organisationId, nowMs });
  const own = latestManifest(db, appId)?.hash;
  const flood = await Promise.all(Array.from({ length: 230 }, (_, n) => post(String(1_000 + n))));
  assert.equal(flood.filter((status) => status === 200).length, 19, 'an address brings 20 new ones a minute, the app’s own among them');
  for (let minute = 1; minute <= 12; minute++) {
    nowMs += 60_000;
    await Promise.all(Array.from({ length: 25 }, (_, n) => post(String(minute * 10_000 + n))));
  }
  assert.ok((db.statement('SELECT count(*) AS n FROM manifests').get()?.n as number) <= 51);
  assert.equal(latestManifest(db, appId)?.hash, own);
  assert.equal(await post('1'), 200, 'a known one comes again, whatever is full');
  assert.equal(latestManifest(db, appId)?.hash, own);
  const stranger = db.statement('SELECT hash FROM manifests WHERE hash <> :own LIMIT 1').get({ own: own ?? '' })?.hash as string;
  await storage.write(organisationId, 'registerManifest', {
    ...{ appId, hash: stranger, document: '{}', sdk: 'web/1.0.0', unsolicited: true, nowMs },
  });
  assert.equal(latestManifest(db, appId)?.hash, own, 'posted again is not used');
});

test('MANIFEST-5, MANIFEST-7: documents that the app has do not use up what its address may post', async (t) => {
  const { base, test: key } = await serveApp(t, [manifestRoute], () => 1_000);
  const send = poster(base, key);
  const post = async (version: string) => (await send(versioned(version))).status;
  assert.equal(await post('1'), 200);
  // Each of an office's telephones starts the app once.
  for (let n = 0; n < 14; n++) {
    assert.deepEqual(new Set(await Promise.all(Array.from({ length: 50 }, () => post('1')))), new Set([200]));
  }
  assert.equal(await post('2'), 200, 'a new one is taken beside 701 that were known');
});

test('MANIFEST-7: a document that the app has is taken from an address that posted too many others', async (t) => {
  const { base, test: key } = await serveApp(t, [manifestRoute], () => 1_000);
  const send = poster(base, key);
  const post = async (version: string) => (await send(versioned(version))).status;
  assert.equal(await post('1'), 200);
  const others: number[] = [];
  for (let n = 0; n < 14; n++) others.push(...(await Promise.all(Array.from({ length: 50 }, (_, at) => post(`new ${n * 50 + at}`)))));
  assert.ok(others.filter((status) => status === 429).length >= 680);
  assert.equal(await post('1'), 200);
});

test('MANIFEST-7: the test key of an app that is live has nothing to say of it before a turn', async (t) => {
  const { base, storage, organisationId, appId, test: key } = await serveApp(t, [manifestRoute]);
  const db = storage.organisation(organisationId);
  const send = poster(base, key);
  const post = async (version: string) => (await send(versioned(version))).hash;
  const first = await post('1');
  await storage.write(organisationId, 'goLive', { appId, organisationId, nowMs: 2_000 });
  const second = await post('2');
  assert.equal(latestManifest(db, appId)?.hash, first);
  assert.equal(readManifest(db, appId, second)?.version, '2', 'a turn that names it is answered');
});
