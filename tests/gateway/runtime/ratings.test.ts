import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FILE } from '../../support/whole-file.ts';
import { assertRefused, converse, OTHER_DEVICE, RATING, serveAnsweredApp } from '../answered-app.ts';

const shared = await serveAnsweredApp(FILE);
await shared.patch({ messages_per_minute: 10_000 });

function rate(body: unknown, headers?: Record<string, string>) {
  return shared.sdk('POST', '/v1/ratings', body, headers);
}

/** An answer whose first block is a rating. */
function asked(more: object = {}, channel: 'live' | 'sandbox' = 'sandbox') {
  const { messageId, blockIds } = converse(shared, {
    channel,
    blocks: [
      ['rating', { ...RATING, ...more }],
      ['text', { md: 'Thanks.' }],
    ],
  });
  return { body: { message_id: messageId, block_id: blockIds[0] as string }, textBlock: blockIds[1] as string };
}

function blockOf(id: string): { body: Record<string, unknown>; fallback: unknown } {
  const row = shared.rows((db) => db.statement('SELECT body, fallback_text FROM blocks WHERE id = :id').get({ id }));
  return { body: JSON.parse(row?.body as string), fallback: row?.fallback_text };
}

function stored(id: string) {
  return shared.rows((db) => db.statement('SELECT value, comment FROM ratings WHERE block_id = :id').all({ id }));
}

test('FEEDBACK-4, BLOCK-13: answers the block: its Pick, its fallback text and the rating', async () => {
  const { body } = asked();
  const answer = await rate({ ...body, value: 4, comment: 'Call +49 30 1234567 or ada@example.com' });
  assert.deepEqual([answer.status, answer.json], [200, { ok: true }]);
  const block = blockOf(body.block_id);
  assert.deepEqual(block.body, { ...RATING, status: 'answered', selected_ids: ['4'] });
  assert.match(String(block.fallback), /How was it\?.*\(Answered: 4 of 5\.\)/);
  assert.equal(stored(body.block_id)[0]?.value, 4);
  assert.doesNotMatch(String(stored(body.block_id)[0]?.comment), /ada@|1234567/, 'a comment is redacted like a message');
});

test('FEEDBACK-4: the same value again is a retry, another one is refused, a later comment is added once', async () => {
  const { body } = asked();
  assert.equal((await rate({ ...body, value: 2 })).status, 200);
  assert.equal((await rate({ ...body, value: 2 })).status, 200);
  assert.equal((await rate({ ...body, value: 2, comment: 'Too slow.' })).status, 200);
  assert.equal((await rate({ ...body, value: 2, comment: 'Something else.' })).status, 200);
  assertRefused(await rate({ ...body, value: 3 }), 400, 'invalid_request', /already answered/);
  assert.deepEqual(stored(body.block_id), [{ value: 2, comment: 'Too slow.' }]);
  assert.deepEqual(blockOf(body.block_id).body.selected_ids, ['2']);
});

test('FEEDBACK-4: of calls that race with different values one wins', async () => {
  const { body } = asked();
  const answers = await Promise.all([1, 2, 3, 4, 5].flatMap((value) => [rate({ ...body, value }), rate({ ...body, value })]));
  const won = answers.flatMap((answer, at) => (answer.status === 200 ? [Math.floor(at / 2) + 1] : []));
  const [row, ...others] = stored(body.block_id);
  assert.deepEqual(others, []);
  assert.deepEqual(won, [row?.value, row?.value]);
  assert.deepEqual(blockOf(body.block_id).body.selected_ids, [String(row?.value)]);
  for (const answer of answers) if (answer.status !== 200) assertRefused(answer, 400, 'invalid_request', /already answered/);
});

test('FEEDBACK-4: a block that a selection answered, or a newer one replaced, is 400 saying so', async () => {
  const selected = asked({ status: 'answered', selected_ids: ['4'] });
  assertRefused(await rate({ ...selected.body, value: 4 }), 400, 'invalid_request', /already answered/);
  const superseded = asked({ status: 'superseded' });
  assertRefused(await rate({ ...superseded.body, value: 4 }), 400, 'invalid_request', /replaced by a newer one/);
  assert.deepEqual([...stored(selected.body.block_id), ...stored(superseded.body.block_id)], []);
});

test('FEEDBACK-4: value is a whole number from 1 to 5, and at most the block’s scale', async () => {
  const { body } = asked({ scale: 3 });
  for (const value of [0, 6, -1, 1.5, '3', null, undefined]) {
    assertRefused(await rate({ ...body, value }), 400, 'invalid_request', /value/);
  }
  assertRefused(await rate({ ...body, value: 4 }), 400, 'invalid_request', /scale, 3/);
  assert.equal((await rate({ ...body, value: 3 })).status, 200);
  const ten = asked({ scale: 10 });
  assert.equal((await rate({ ...ten.body, value: 5 })).status, 200);
});

test('FEEDBACK-4: a malformed body, a block that is no rating', async () => {
  const { body, textBlock } = asked();
  assertRefused(await rate({ ...body, value: 3, comment: 'x'.repeat(501) }), 400, 'invalid_request', /comment/);
  assertRefused(await rate({ ...body, block_id: undefined, value: 3 }), 400, 'invalid_request', /block_id/);
  assertRefused(await rate({ ...body, message_id: '', value: 3 }), 400, 'invalid_request', /message_id/);
  assertRefused(await rate({ ...body, block_id: textBlock, value: 3 }), 400, 'invalid_request', /no rating/);
  assertRefused(await rate('[]'), 400, 'invalid_request', /./);
  assert.equal(blockOf(body.block_id).body.status, 'open');
});

test('FEEDBACK-3, KEY-7: missing and foreign are the same 404', async () => {
  const { body } = asked();
  const stranger = asked();
  const live = asked({}, 'live');
  const missing = await rate({ ...body, message_id: 'msg_000000000000000000000000', value: 3 });
  assertRefused(missing, 404, 'invalid_request', /no such answer/);
  const foreign = [
    await rate({ ...body, value: 3 }, { 'X-Service-Device': OTHER_DEVICE }),
    await rate({ ...body, value: 3 }, { 'X-Service-Key': shared.live }),
    await rate({ ...live.body, value: 3 }),
    await rate({ ...body, block_id: 'blk_000000000000000000000000', value: 3 }),
    await rate({ ...body, block_id: stranger.body.block_id, value: 3 }),
  ];
  for (const answer of foreign) assert.deepEqual([answer.status, answer.text], [404, missing.text]);
  assert.equal(blockOf(body.block_id).body.status, 'open');
});
