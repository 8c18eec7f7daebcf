import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FILE } from '../../support/whole-file.ts';
import { assertRefused, converse, DEVICE, OTHER_DEVICE, serveAnsweredApp } from '../answered-app.ts';

const shared = await serveAnsweredApp(FILE);
await shared.patch({ messages_per_minute: 10_000 });

function give(body: unknown, headers?: Record<string, string>) {
  return shared.sdk('POST', '/v1/feedback', body, headers);
}

function stored(messageId: string) {
  return shared.rows((db) => db.statement('SELECT * FROM feedback WHERE message_id = :messageId').all({ messageId }));
}

test('FEEDBACK-1: 200 { ok: true }, and a second call for the same (message, device) changes the rating', async () => {
  const { messageId, conversationId } = converse(shared);
  const up = await give({ message_id: messageId, rating: 1 });
  assert.deepEqual([up.status, up.json], [200, { ok: true }]);
  shared.clock.nowMs += 1_000;
  assert.equal((await give({ message_id: messageId, rating: -1 })).status, 200);
  const [row, ...others] = stored(messageId);
  assert.deepEqual(others, []);
  assert.deepEqual([row?.rating, row?.device_id, row?.conversation_id, row?.channel], [-1, DEVICE, conversationId, 'sandbox']);
  assert.equal((row?.updated_at_ms as number) - (row?.created_at_ms as number), 1_000);
});

test('FEEDBACK-2: a reason left out stays as long as the rating does, an empty one is taken back', async () => {
  const { messageId } = converse(shared);
  const reasonAfter = async (rating: number, reason?: string | null) => {
    const body = reason === undefined ? { message_id: messageId, rating } : { message_id: messageId, rating, reason };
    assert.equal((await give(body)).status, 200);
    return stored(messageId)[0]?.reason;
  };
  assert.equal(await reasonAfter(-1), null);
  assert.equal(await reasonAfter(-1, 'Wrong size.'), 'Wrong size.');
  assert.equal(await reasonAfter(-1), 'Wrong size.', 'a retry of the first call');
  assert.equal(await reasonAfter(-1, null), 'Wrong size.');
  assert.equal(await reasonAfter(-1, 'Wrong colour.'), 'Wrong colour.');
  assert.equal(await reasonAfter(1), null, 'it said why the other rating was given');
  assert.equal(await reasonAfter(1, 'Fast.'), 'Fast.');
  assert.equal(await reasonAfter(1, ' '), null);
});

test('FEEDBACK-2: the reason is redacted like a message before it is stored', async () => {
  const { messageId } = converse(shared);
  assert.equal((await give({ message_id: messageId, rating: -1, reason: 'Write to ada@example.com instead' })).status, 200);
  assert.equal(stored(messageId)[0]?.reason, 'Write to ⟦email⟧ instead');
});

test('FEEDBACK-1: a malformed body is 400 with details that name the field', async () => {
  const { messageId } = converse(shared);
  const bad: readonly (readonly [unknown, string])[] = [
    [{ rating: 1 }, 'message_id'],
    [{ message_id: 7, rating: 1 }, 'message_id'],
    [{ message_id: messageId }, 'rating'],
    [{ message_id: messageId, rating: 0 }, 'rating'],
    [{ message_id: messageId, rating: '1' }, 'rating'],
    [{ message_id: messageId, rating: 2 }, 'rating'],
    [{ message_id: messageId, rating: 1, reason: 'x'.repeat(501) }, 'reason'],
    [{ message_id: messageId, rating: 1, reason: 5 }, 'reason'],
  ];
  for (const [body, path] of bad) {
    const answer = await give(body);
    assertRefused(answer, 400, 'invalid_request', new RegExp(path));
    const { details } = answer.json.error as { details: { path: string }[] };
    assert.equal(details[0]?.path, path);
  }
  assertRefused(await give('{'), 400, 'invalid_request', /JSON/);
  assert.deepEqual(stored(messageId), []);
  assert.equal((await give({ message_id: messageId, rating: 1, reason: '😀'.repeat(500), more: true })).status, 200);
});

test('FEEDBACK-3, KEY-7: 404 covers no such turn and not the caller’s turn, in the same bytes', async () => {
  const other = await shared.otherApp();
  const mine = converse(shared);
  const live = converse(shared, { channel: 'live' });
  const body = { message_id: 'msg_000000000000000000000000', rating: 1 };
  const missing = await give(body);
  assertRefused(missing, 404, 'invalid_request', /no such answer/);
  const strangers = {
    'another device': await give({ ...body, message_id: mine.messageId }, { 'X-Service-Device': OTHER_DEVICE }),
    'the other kind of key': await give({ ...body, message_id: mine.messageId }, { 'X-Service-Key': shared.live }),
    'a live conversation': await give({ ...body, message_id: live.messageId }),
    'another app': await give({ ...body, message_id: mine.messageId }, { 'X-Service-Key': other.test }),
    'what the person said': await give({ ...body, message_id: mine.userMessageId }),
    'another id': await give({ ...body, message_id: mine.conversationId }),
  };
  for (const [who, answer] of Object.entries(strangers)) assert.deepEqual([answer.status, answer.text], [404, missing.text], who);
  assert.deepEqual(stored(mine.messageId), []);
  assert.equal((await give({ ...body, message_id: live.messageId }, { 'X-Service-Key': shared.live })).status, 200);
});
