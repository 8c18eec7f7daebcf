import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused, converse, DEVICE, OTHER_DEVICE, RATING, START, serveAnsweredApp } from '../answered-app.ts';

interface Listing {
  readonly feedback: readonly Readonly<Record<string, unknown>>[];
  readonly next: string | null;
}

test('CONSOLE-20: thumbs and ratings, newest first, page after page', async (t) => {
  const app = await serveAnsweredApp(t);
  await app.patch({ messages_per_minute: 10_000 });
  const page = async (query: string) => {
    const answer = await app.console('GET', `/apps/${app.appId}/feedback${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as unknown as Listing;
  };
  assert.deepEqual(await page(''), { feedback: [], next: null });
  const talks = [1, 2, 3].map(() => converse(app, { blocks: [['rating', RATING]] }));
  const expected: unknown[] = [];
  for (const [at, { messageId, blockIds }] of talks.entries()) {
    // A thumb and a rating of the same moment, so that a page ends between them.
    app.clock.nowMs = START + at * 1_000;
    assert.equal((await app.sdk('POST', '/v1/feedback', { message_id: messageId, rating: 1 })).status, 200);
    const rated = { message_id: messageId, block_id: blockIds[0], value: at + 1, comment: 'So so.' };
    assert.equal((await app.sdk('POST', '/v1/ratings', rated)).status, 200);
    expected.unshift(1, at + 1);
  }
  const whole = await page('');
  assert.deepEqual(
    whole.feedback.map((item) => item.rating ?? item.value),
    expected,
  );
  const paged: unknown[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const each: Listing = await page(`?limit=1&after=${next}`);
    paged.push(...each.feedback);
    next = each.next;
  }
  assert.deepEqual(paged, whole.feedback);
  const at = new Date(START + 2_000).toISOString();
  const { messageId: message_id, conversationId: conversation_id, blockIds } = talks[2] as (typeof talks)[number];
  const about = { message_id, conversation_id, channel: 'sandbox', created_at: at, updated_at: at };
  assert.deepEqual(whole.feedback.slice(0, 2), [
    { ...about, kind: 'feedback', device: DEVICE.slice(-4), rating: 1, reason: null },
    { ...about, kind: 'rating', block_id: blockIds[0], value: 3, comment: 'So so.' },
  ]);
});

test('CONSOLE-20: a changed rating comes first again; other apps’ are not shown', async (t) => {
  const app = await serveAnsweredApp(t);
  const other = await app.otherApp();
  const [one, two] = [converse(app), converse(app, { deviceId: OTHER_DEVICE })];
  const foreign = converse(app, { appId: other.appId });
  const give = (body: object, headers = {}) => app.sdk('POST', '/v1/feedback', body, headers);
  await give({ message_id: one.messageId, rating: -1, reason: 'Wrong.' });
  app.clock.nowMs += 1_000;
  await give({ message_id: two.messageId, rating: 1 }, { 'X-Service-Device': OTHER_DEVICE });
  await give({ message_id: foreign.messageId, rating: 1 }, { 'X-Service-Key': other.test });
  app.clock.nowMs += 1_000;
  await give({ message_id: one.messageId, rating: -1, reason: 'Quite wrong.' });
  const { feedback } = (await app.console('GET', `/apps/${app.appId}/feedback`)).json as unknown as Listing;
  assert.deepEqual(
    feedback.map(({ message_id, reason }) => [message_id, reason]),
    [
      [one.messageId, 'Quite wrong.'],
      [two.messageId, null],
    ],
  );
});

test('CONSOLE-7: a bad query of GET /apps/:app/feedback is 400, an unknown app 404', async (t) => {
  const app = await serveAnsweredApp(t);
  for (const query of ['?limit=0', '?limit=201', '?after=msg_1']) {
    assertRefused(await app.console('GET', `/apps/${app.appId}/feedback${query}`), 400, 'invalid_request', /limit|after/);
  }
  assertRefused(await app.console('GET', '/apps/app_missing/feedback'), 404, 'not_found', /app_missing/);
});
