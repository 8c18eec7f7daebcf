import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configRoute } from '../../../gateway/runtime/config.ts';
import { telemetryRoute } from '../../../gateway/runtime/routes.ts';
import { serveApp } from './runtime-app.ts';

async function ask(base: string, headers: Record<string, string>): Promise<[number, string, string]> {
  const response = await fetch(`${base}/v1/apps/config`, { headers });
  const body = (await response.json()) as { error?: { code: string; message: string } };
  assert.match(response.headers.get('vary') ?? '', /X-Service-Key/);
  return [response.status, body.error?.code ?? '', body.error?.message ?? ''];
}

test('KEY-1: a key is required, and a malformed or unknown one is 401 invalid_key', async (t) => {
  const { base, test: key } = await serveApp(t, [configRoute]);
  const [status, code, message] = await ask(base, {});
  assert.deepEqual([status, code], [400, 'invalid_request']);
  assert.match(message, /X-Service-Key/);
  for (const wrong of ['x', 'rd_pk_test_', `${key}x`, key.replace('test', 'live'), 'sk_live_aaaaaaaaaaaaaaaaaaaaaaaa']) {
    assert.deepEqual((await ask(base, { 'X-Service-Key': wrong })).slice(0, 2), [401, 'invalid_key'], wrong);
  }
  assert.equal((await ask(base, { 'X-Service-Key': key }))[0], 200);
});

test('KEY-1: a deleted key is revoked at once', async (t) => {
  const { base, storage, appId, test: key } = await serveApp(t, [configRoute]);
  assert.equal((await ask(base, { 'X-Service-Key': key }))[0], 200);
  const row = storage.control.statement('SELECT id FROM app_keys WHERE token = :key').get({ key });
  await storage.writeControl('revokeKey', { appId, keyId: row?.id as string, nowMs: 1 });
  assert.deepEqual((await ask(base, { 'X-Service-Key': key })).slice(0, 2), [401, 'invalid_key']);
});

test('VERSION-4: earlier header spellings and the earlier key prefix are accepted', async (t) => {
  const { base, test: key } = await serveApp(t, [configRoute]);
  const earlier = key.replace('rd_pk_', 'rdui_pk_');
  assert.equal((await ask(base, { 'X-RD-Key': earlier, 'X-RD-Device': 'a'.repeat(32) }))[0], 200);
  const [status, , message] = await ask(base, { 'X-RD-Key': key, 'X-RD-Device': 'A'.repeat(32) });
  assert.equal(status, 400);
  assert.match(message, /X-Service-Device/);
});

test('KEY-3: a live key of an app that is not live is 403 app_not_live', async (t) => {
  const { base, storage, organisationId, appId, live } = await serveApp(t, [configRoute]);
  assert.deepEqual((await ask(base, { 'X-Service-Key': live })).slice(0, 2), [403, 'app_not_live']);
  await storage.write(organisationId, 'goLive', { appId, organisationId, nowMs: 1 });
  assert.equal((await ask(base, { 'X-Service-Key': live }))[0], 200);
});

test('HTTP-22: a browser of another domain is 403 origin_not_allowed, and may read why', async (t) => {
  const { base, patch, test: key } = await serveApp(t, [configRoute]);
  const from = (origin: string) => ask(base, { 'X-Service-Key': key, Origin: origin });
  assert.equal((await from('http://localhost:3000'))[0], 200);
  assert.deepEqual((await from('https://shop.example')).slice(0, 2), [403, 'origin_not_allowed']);
  await patch({ allowed_domains: ['*.example'] });
  assert.equal((await from('https://shop.example'))[0], 200);
});

test('KEY-4: a suspended app is 403 app_suspended on config and served where nothing is said of it', async (t) => {
  const { base, patch, test: key } = await serveApp(t, [configRoute, telemetryRoute]);
  await patch({ suspended: true });
  assert.deepEqual((await ask(base, { 'X-Service-Key': key })).slice(0, 2), [403, 'app_suspended']);
  const events = await fetch(`${base}/v1/events`, {
    method: 'POST',
    headers: { 'X-Service-Key': key, 'Content-Type': 'application/json' },
    body: '[{"name":"opened"}]',
  });
  assert.equal(events.status, 204);
  assert.equal(await events.text(), '');
});
