import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messagesRoute } from '../../../src/gateway/runtime/messages.ts';
import { insertBlocks, insertMessage } from '../../../src/storage/conversations.ts';
import { openWriter } from '../../../src/storage/database.ts';
import { type RuntimeApp, serveApp } from './runtime-app.ts';

const OWNER = 'a'.repeat(32);

interface Page {
  conversation_id: string;
  messages: { id: string; role: string; created_at: string; blocks: { block_type: string }[] }[];
}

/** A sandbox conversation `cnv_1` of OWNER with messages m1 … m250. */
function converse(app: RuntimeApp): void {
  const db = openWriter(app.storage.layout.organisation(app.organisationId));
  db.statement(
    `INSERT INTO conversations (id, app_id, channel, device_id, epoch, created_at_ms, updated_at_ms)
     VALUES ('cnv_1', :appId, 'sandbox', :device, 1, 0, 0)`,
  ).run({ appId: app.appId, device: OWNER });
  for (let n = 1; n <= 250; n++) {
    insertMessage(db, { id: `m${n}`, conversationId: 'cnv_1', role: n % 2 === 1 ? 'user' : 'assistant', createdAtMs: n });
    insertBlocks(db, 'cnv_1', `m${n}`, [
      { id: `b${n}`, position: 0, blockType: 'text', revision: 1, body: '{"md":"x"}', fallbackText: null },
    ]);
  }
  db.close();
}

async function page(app: RuntimeApp, query: string, headers: Record<string, string> = {}, id = 'cnv_1'): Promise<Page> {
  const response = await fetch(`${app.base}/v1/conversations/${id}/messages${query}`, {
    headers: { 'X-Service-Key': app.test, 'X-Service-Device': OWNER, ...headers },
  });
  assert.equal(response.status, 200);
  return (await response.json()) as Page;
}

const ids = ({ messages }: Page) => messages.map((message) => message.id);

test('GET /v1/conversations/:id/messages: the newest 50, at most 200, and back from `before`', async (t) => {
  const app = await serveApp(t, [messagesRoute]);
  converse(app);
  const newest = await page(app, '');
  assert.equal(newest.conversation_id, 'cnv_1');
  assert.deepEqual([ids(newest).length, ids(newest)[0], ids(newest).at(-1)], [50, 'm201', 'm250']);
  assert.deepEqual(newest.messages[0]?.role, 'user');
  assert.equal(newest.messages[0]?.created_at, '1970-01-01T00:00:00.201Z');
  assert.equal(newest.messages[0]?.blocks[0]?.block_type, 'text');
  assert.equal(ids(await page(app, '?limit=100000')).length, 200);
  assert.deepEqual(ids(await page(app, '?limit=2&before=m201')), ['m199', 'm200']);
  assert.deepEqual(ids(await page(app, '?before=m1')), []);
});

test('decisions §4: anything not the caller’s is the same empty list', async (t) => {
  const app = await serveApp(t, [messagesRoute]);
  converse(app);
  await app.storage.write(app.organisationId, 'goLive', { appId: app.appId, organisationId: app.organisationId, nowMs: 1 });
  assert.deepEqual(await page(app, '', { 'X-Service-Device': 'b'.repeat(32) }), { conversation_id: 'cnv_1', messages: [] });
  assert.deepEqual(await page(app, '', { 'X-Service-Device': '' }), { conversation_id: 'cnv_1', messages: [] });
  assert.deepEqual(await page(app, '', { 'X-Service-Key': app.live }), { conversation_id: 'cnv_1', messages: [] });
  assert.deepEqual(await page(app, '', {}, 'cnv_missing'), { conversation_id: 'cnv_missing', messages: [] });
});

test('GET /v1/conversations/:id/messages: a limit that is no number is 400 naming it', async (t) => {
  const app = await serveApp(t, [messagesRoute]);
  for (const limit of ['0', '-1', 'x', '1.5', '']) {
    const response = await fetch(`${app.base}/v1/conversations/cnv_1/messages?limit=${limit}`, { headers: { 'X-Service-Key': app.test } });
    assert.equal(response.status, 400, limit);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    assert.equal(error.code, 'invalid_request');
    assert.match(error.message, /^limit /);
  }
});
