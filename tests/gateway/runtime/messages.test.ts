import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRedaction } from '../../../actors/people/redaction.ts';
import { messagesRoute } from '../../../gateway/runtime/messages.ts';
import type { InvocationState } from '../../../protocol/runtime/states.ts';
import { insertBlocks } from '../../../storage/conversations/blocks.ts';
import { insertMessage } from '../../../storage/conversations/conversations.ts';
import { insertInvocations } from '../../../storage/conversations/invocations.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { storeTurn } from '../../storage/conversations/stored-turns.ts';
import { type RuntimeApp, serveApp } from './runtime-app.ts';

const OWNER = 'a'.repeat(32);

interface Page {
  conversation_id: string;
  messages: { id: string; role: string; created_at: string; blocks: { block_type: string; body: unknown }[]; attachments?: unknown }[];
  has_more: boolean;
  open: { turn?: unknown; pending: { invocation_id: string; status: string; params: unknown }[] };
}

const nothing = (id: string): Page => ({ conversation_id: id, messages: [], has_more: false, open: { pending: [] } });

/** A sandbox conversation `cnv_1` of OWNER with messages m1 … m250. */
function converse(app: RuntimeApp): void {
  const db = openWriter(app.storage.layout.organisation(app.organisationId));
  db.statement(
    `INSERT INTO conversations (id, app_id, channel, device_id, epoch, created_at_ms, updated_at_ms)
     VALUES ('cnv_1', :appId, 'sandbox', :device, 1, 0, 0)`,
  ).run({ appId: app.appId, device: OWNER });
  let turn = 0;
  for (let n = 1; n <= 250; n++) {
    const asks = n % 2 === 1;
    if (asks) turn = storeTurn(db, { appId: app.appId, conversationId: 'cnv_1', turnId: `turn of m${n}` });
    insertMessage(db, { id: `m${n}`, conversationId: 'cnv_1', turn, role: asks ? 'user' : 'assistant', createdAtMs: n });
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

test('HISTORY-1: the newest 50, at most 200, and back from `before`', async (t) => {
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
  const more = await Promise.all(['', '?limit=2&before=m4', '?limit=3&before=m4', '?before=m1'].map((query) => page(app, query)));
  assert.deepEqual(
    more.map(({ has_more }) => has_more),
    [true, true, false, false],
  );
});

test('HISTORY-3: anything not the caller’s is the same empty list', async (t) => {
  const app = await serveApp(t, [messagesRoute]);
  converse(app);
  await app.storage.write(app.organisationId, 'goLive', { appId: app.appId, organisationId: app.organisationId, nowMs: 1 });
  assert.deepEqual(await page(app, '', { 'X-Service-Device': 'b'.repeat(32) }), nothing('cnv_1'));
  assert.deepEqual(await page(app, '', { 'X-Service-Device': '' }), nothing('cnv_1'));
  assert.deepEqual(await page(app, '', { 'X-Service-Key': app.live }), nothing('cnv_1'));
  assert.deepEqual(await page(app, '', {}, 'cnv_missing'), nothing('cnv_missing'));
});

test('HISTORY-1: a limit that is no number is 400 naming it', async (t) => {
  const app = await serveApp(t, [messagesRoute]);
  for (const limit of ['0', '-1', 'x', '1.5', '']) {
    const response = await fetch(`${app.base}/v1/conversations/cnv_1/messages?limit=${limit}`, { headers: { 'X-Service-Key': app.test } });
    assert.equal(response.status, 400, limit);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    assert.equal(error.code, 'invalid_request');
    assert.match(error.message, /^limit /);
  }
});

/** A turn of `cnv_1` that made one call in each of these states. */
function call(
  app: RuntimeApp,
  device: string,
  endedAtMs: number | null,
  states: Readonly<Record<string, [InvocationState, number | null]>>,
): void {
  const db = openWriter(app.storage.layout.organisation(app.organisationId));
  const turnId = `turn of ${device}`;
  const owner = { appId: app.appId, conversationId: 'cnv_1' };
  const turn = storeTurn(db, { ...owner, turnId, deviceId: device, state: 'answering', endedAtMs, answer: `answer to ${device}` });
  const made = Object.entries(states).map(([id, [state, expiresAtMs]]) => ({
    id,
    callId: id,
    name: 'cancel_order',
    params: '{"id":"7"}',
    risk: state === 'dispatched' ? ('read' as const) : ('write' as const),
    executor: 'client' as const,
    timeoutMs: 5_000,
    state,
    blockId: state === 'dispatched' ? null : 'b250',
    expiresAtMs,
  }));
  insertInvocations(db, { ...owner, turn, messageId: 'm250', nowMs: 0 }, made);
  db.close();
}

test('HISTORY-4: open names the running turn to whoever is shown the conversation', async (t) => {
  const app = await serveApp(t, [messagesRoute]);
  converse(app);
  assert.deepEqual((await page(app, '')).open, { pending: [] });
  for (const device of ['b'.repeat(32), OWNER]) {
    call(app, device, null, {});
    assert.deepEqual((await page(app, '')).open, {
      turn: { turn_id: `turn of ${device}`, message_id: `answer to ${device}`, status: 'running' },
      pending: [],
    });
  }
});

test('HISTORY-5: open lists the calls that can still be answered, by the clock, as turn.end.pending does', async (t) => {
  let nowMs = 1_000;
  const app = await serveApp(t, [messagesRoute], () => nowMs);
  converse(app);
  call(app, OWNER, 5, {
    inv_read: ['dispatched', 2_000],
    inv_write: ['pending.clean', 3_000],
    inv_edited: ['pending.rejected', 3_000],
    inv_agreed: ['confirmed', null],
    inv_runs: ['executing', null],
    inv_done: ['succeeded', null],
    inv_no: ['declined', null],
  });
  const open = async () => (await page(app, '')).open.pending.map(({ invocation_id, status }) => [invocation_id, status]);
  const cards = [
    ['inv_write', 'pending'],
    ['inv_edited', 'pending'],
  ];
  const agreed = [['inv_agreed', 'confirmed']];
  assert.deepEqual(await open(), [['inv_read', 'dispatched'], ...cards, ...agreed]);
  const [read, write] = (await page(app, '')).open.pending;
  const told = { name: 'cancel_order', params: { id: '7' }, timeout_ms: 5_000, executor: 'client' };
  assert.deepEqual(read, { ...told, invocation_id: 'inv_read', risk: 'read', status: 'dispatched' });
  assert.deepEqual(write, { ...told, invocation_id: 'inv_write', risk: 'write', block_id: 'b250', status: 'pending' });
  nowMs = 2_000;
  assert.deepEqual(await open(), [...cards, ...agreed]);
  nowMs = 3_000;
  assert.deepEqual(await open(), agreed);
});

test('HISTORY-6: a message shows what was attached to it, in order', async (t) => {
  const app = await serveApp(t, [messagesRoute]);
  converse(app);
  const db = openWriter(app.storage.layout.organisation(app.organisationId));
  const attach = (id: string, messageId: string | null, position: number | null) =>
    db
      .statement(
        `INSERT INTO uploads (id, app_id, channel, device_id, name, media_type, size, created_at_ms, message_id, position)
         VALUES (:id, :appId, 'sandbox', :device, :id || '.pdf', 'application/pdf', 9, 0, :messageId, :position)`,
      )
      .run({ id, appId: app.appId, device: OWNER, messageId, position });
  attach('upl_second', 'm249', 1);
  attach('upl_first', 'm249', 0);
  attach('upl_unused', null, null);
  db.close();
  const { messages } = await page(app, '?limit=3');
  const shown = (id: string) => ({ upload_id: id, name: `${id}.pdf`, media_type: 'application/pdf', size: 9 });
  assert.deepEqual(
    messages.map(({ id, attachments }) => [id, attachments]),
    [
      ['m248', undefined],
      ['m249', [shown('upl_first'), shown('upl_second')]],
      ['m250', undefined],
    ],
  );
});

test('PRIVACY-9: words and pending calls are given back to the owning device, whole', async (t) => {
  const app = await serveApp(t, [messagesRoute], () => 1_000);
  converse(app);
  call(app, OWNER, 5, { inv_write: ['pending.clean', 3_000] });
  const options = { storage: app.storage, organisationId: app.organisationId, conversationId: 'cnv_1' };
  const address = 'ada@example.org';
  const redacted = await openRedaction({ ...options, isNew: false, count: 0, regions: [] }).redact({ md: `I am ${address}` });
  assert.doesNotMatch(redacted.md, /@/);
  const db = openWriter(app.storage.layout.organisation(app.organisationId));
  db.statement("UPDATE blocks SET body = :body WHERE id = 'b250'").run({ body: JSON.stringify(redacted) });
  db.statement("UPDATE invocations SET params = :params WHERE id = 'inv_write'").run({ params: JSON.stringify({ to: redacted.md }) });
  db.close();
  const { messages, open } = await page(app, '?limit=1');
  assert.deepEqual(messages[0]?.blocks[0]?.body, { md: `I am ${address}` });
  assert.deepEqual(open.pending[0]?.params, { to: `I am ${address}` });
});
