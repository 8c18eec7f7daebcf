import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configRoute } from '../../../gateway/runtime/config.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { serveApp } from './runtime-app.ts';

const device = (n: number) => n.toString(16).padStart(32, '0');

test('CONFIG-1, CONFIG-2: {} while nothing is configured, with an ETag that answers 304 without a body', async (t) => {
  const { base, test: key } = await serveApp(t, [configRoute]);
  const ask = (headers: Record<string, string> = {}) => fetch(`${base}/v1/apps/config`, { headers: { 'X-Service-Key': key, ...headers } });
  const first = await ask();
  const body = (await first.json()) as Record<string, unknown>;
  assert.deepEqual([body.channel, body.version, body.available, body.config], ['draft', null, true, {}]);
  assert.match(String(body.updated_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const etag = first.headers.get('etag') ?? '';
  for (const header of [etag, `W/${etag}`, `"x", ${etag}`]) {
    const cached = await ask({ 'If-None-Match': header });
    assert.equal(cached.status, 304, header);
    assert.equal(await cached.text(), '');
    assert.equal(cached.headers.get('etag'), etag);
    assert.match(cached.headers.get('vary') ?? '', /X-Service-Key/);
  }
  assert.equal((await ask({ 'If-None-Match': '"x"' })).status, 200);
});

test('CONFIG-2: the ETag follows the content and not updated_at', async (t) => {
  const { base, storage, organisationId, appId, patch, test: key } = await serveApp(t, [configRoute]);
  const etag = async () => (await fetch(`${base}/v1/apps/config`, { headers: { 'X-Service-Key': key } })).headers.get('etag');
  const before = await etag();
  await patch({ messages_per_day: 7 });
  assert.equal(await etag(), before);
  const colours = { surface: '#ffffff', onSurface: '#000000', accent: '#0000aa', onAccent: '#ffffff' };
  await storage.write(organisationId, 'saveAppearanceDraft', { appId, body: { theme: colours }, nowMs: 5 });
  const after = await etag();
  assert.notEqual(after, before);
  const body = await (await fetch(`${base}/v1/apps/config`, { headers: { 'X-Service-Key': key } })).json();
  const { theme } = (body as { config: { theme: Record<string, string> } }).config;
  // As it was written, and the tokens that were left out derived from it.
  assert.deepEqual(Object.fromEntries(Object.keys(colours).map((token) => [token, theme[token]])), colours);
  assert.match(theme.outline ?? '', /^#[0-9a-f]{6}$/);
});

test('CONFIG-5: require_identity says that the app serves signed-in people only', async (t) => {
  const { base, patch, test: key } = await serveApp(t, [configRoute]);
  const ask = async () => {
    const response = await fetch(`${base}/v1/apps/config`, { headers: { 'X-Service-Key': key } });
    return [response.headers.get('etag'), ((await response.json()) as { require_identity: boolean }).require_identity] as const;
  };
  const [before, isRequired] = await ask();
  assert.equal(isRequired, false);
  await patch({ require_identity: true });
  const [after, isRequiredNow] = await ask();
  assert.equal(isRequiredNow, true);
  assert.notEqual(after, before);
});

test('LIMIT-4: 12 a minute per device and 600 per app, whatever the device header says', async (t) => {
  let nowMs = Date.UTC(2026, 10, 20);
  const { base, test: key } = await serveApp(t, [configRoute], () => nowMs);
  const ask = async (n: number) => {
    const response = await fetch(`${base}/v1/apps/config`, { headers: { 'X-Service-Key': key, 'X-Service-Device': device(n) } });
    await response.arrayBuffer();
    return response;
  };
  for (let i = 0; i < 12; i++) assert.equal((await ask(1)).status, 200);
  const refused = await ask(1);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '5');
  assert.match(refused.headers.get('vary') ?? '', /X-Service-Key/);
  for (let i = 0; i < 588; i++) assert.equal((await ask(100 + i)).status, 200);
  assert.equal((await ask(9_999)).status, 429);
  nowMs += 1_000;
  assert.equal((await ask(9_999)).status, 200);
});

test('LIMIT-4: what is unchanged uses up nothing of the app, and is said when others have used it up', async (t) => {
  const { base, test: key } = await serveApp(t, [configRoute], () => Date.UTC(2026, 10, 20));
  const ask = async (n: number, etag = '') => {
    const headers = { 'X-Service-Key': key, 'X-Service-Device': device(n), 'If-None-Match': etag };
    const response = await fetch(`${base}/v1/apps/config`, { headers });
    await response.arrayBuffer();
    return response;
  };
  const etag = (await ask(0)).headers.get('etag') ?? '';
  for (let n = 1; n <= 20; n++) assert.equal((await ask(n, etag)).status, 304);
  for (let n = 100; n < 699; n++) assert.equal((await ask(n)).status, 200);
  assert.equal((await ask(9_999)).status, 429);
  assert.equal((await ask(9_999, etag)).status, 304);
});

test('LIMIT-23: available is false on a live key once the credit is used up, and never on a test key or without hard cap', async (t) => {
  let nowMs = Date.UTC(2026, 10, 20);
  const { base, storage, organisationId, appId, patch, live, test: key } = await serveApp(t, [configRoute], () => nowMs);
  await storage.write(organisationId, 'goLive', { appId, organisationId, nowMs: 1 });
  const available = async (token: string) => {
    const response = await fetch(`${base}/v1/apps/config`, { headers: { 'X-Service-Key': token } });
    return ((await response.json()) as { available: boolean }).available;
  };
  assert.equal(await available(live), true);
  const writer = openWriter(storage.layout.organisation(organisationId));
  writer
    .statement(`INSERT INTO usage_days (app_id, channel, day, turns, cost_microusd) VALUES (:appId, 'live', '2026-11-20', 1, 6000000)`)
    .run({ appId });
  writer.close();
  // What nobody told of is found out within a second.
  nowMs += 1_000;
  assert.equal(await available(live), false);
  assert.equal(await available(key), true);
  await patch({ hard_cap: false });
  assert.equal(await available(live), true);
});
