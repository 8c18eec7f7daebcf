import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertInvocations } from '../../../storage/conversations/invocations.ts';
import { FILE } from '../../support/whole-file.ts';
import { type AnsweredApp, assertRefused, converse, DEVICE, RATING, START, serveAnsweredApp } from '../answered-app.ts';

interface Listing {
  readonly conversations: readonly Readonly<Record<string, unknown>>[];
  readonly next: string | null;
}

interface Transcript {
  readonly conversation: Readonly<Record<string, unknown>>;
  readonly messages: readonly (Readonly<Record<string, unknown>> & {
    readonly id: string;
    readonly blocks: readonly { readonly body: unknown }[];
    readonly invocations?: readonly Readonly<Record<string, unknown>>[];
  })[];
  readonly next: string | null;
}

const shared = await serveAnsweredApp(FILE);

async function page(app: AnsweredApp, query: string): Promise<Listing> {
  const answer = await app.console('GET', `/apps/${app.appId}/conversations${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as unknown as Listing;
}

const ids = ({ conversations }: Listing) => conversations.map(({ id }) => id);

test('CONSOLE-7, CONSOLE-17: conversations come newest first, page after page, without repeating or leaving one out', async (t) => {
  const app = await serveAnsweredApp(t);
  // Several of one moment, so that a page ends between them.
  const made = [0, 1, 1, 1, 2].map((second) => converse(app, { atMs: START + second * 1_000 }).conversationId);
  converse(app, { appId: (await app.otherApp()).appId });
  const first = await page(app, '?limit=2');
  const second = await page(app, `?limit=2&after=${first.next}`);
  const third = await page(app, `?limit=2&after=${second.next}`);
  assert.deepEqual([...ids(first), ...ids(second), ...ids(third)], [...made].reverse());
  assert.deepEqual([typeof first.next, third.next], ['string', null]);
  assert.deepEqual(ids(await page(app, '')), [...made].reverse());
});

test('CONSOLE-18: a row of GET /apps/:app/conversations, with the last four characters of the device', async () => {
  const { conversationId } = converse(shared, { channel: 'live', deviceId: `${'0'.repeat(28)}beef`, atMs: START + 5 });
  const row = (await page(shared, '')).conversations.find(({ id }) => id === conversationId);
  assert.deepEqual(row, {
    id: conversationId,
    app_id: shared.appId,
    channel: 'live',
    device: 'beef',
    end_user_id: null,
    external_user_id: null,
    title: 'How long?',
    turn_state: 'completed',
    turn_failure: null,
    messages: 2,
    created_at: new Date(START + 5).toISOString(),
    updated_at: new Date(START + 5).toISOString(),
  });
});

test('CONSOLE-7: conversations of one channel only; a long stretch of the other makes a short page, not the last', async (t) => {
  const app = await serveAnsweredApp(t);
  const sandbox = converse(app, { atMs: START }).conversationId;
  app.rows((db) => {
    db.exec('BEGIN');
    for (let n = 0; n < 5_000; n++) {
      db.statement(
        `INSERT INTO conversations (id, app_id, channel, device_id, epoch, created_at_ms, updated_at_ms)
         VALUES (:id, :appId, 'live', '', 1, :atMs, :atMs)`,
      ).run({ id: `cnv_live_${n}`, appId: app.appId, atMs: START + 1_000 + n });
    }
    db.exec('COMMIT');
  });
  const first = await page(app, '?channel=sandbox');
  assert.deepEqual([ids(first), typeof first.next], [[], 'string']);
  const second = await page(app, `?channel=sandbox&after=${first.next}`);
  assert.deepEqual([ids(second), second.next], [[sandbox], null]);
  const live = await page(app, '?channel=live&limit=3');
  assert.deepEqual(ids(live), ['cnv_live_4999', 'cnv_live_4998', 'cnv_live_4997']);
  assert.equal(live.conversations[0]?.device, null);
});

test('CONSOLE-7: a bad query of GET /apps/:app/conversations is 400, an unknown app 404', async () => {
  for (const query of ['?limit=0', '?limit=201', '?limit=x', '?channel=test', '?after=x', '?after=1', "?after=1.'"]) {
    const answer = await shared.console('GET', `/apps/${shared.appId}/conversations${query}`);
    assertRefused(answer, 400, 'invalid_request', /limit|channel|after/);
  }
  assertRefused(await shared.console('GET', '/apps/app_missing/conversations'), 404, 'not_found', /app_missing/);
});

test('CONSOLE-17, CONSOLE-18: the transcript in placeholder form, with calls, thumbs and ratings', async () => {
  const talk = converse(shared, {
    question: 'Write to ⟦email_1⟧',
    blocks: [
      ['text', { md: 'Written to ⟦email_1⟧.' }],
      ['rating', RATING],
    ],
  });
  const { messageId, conversationId } = talk;
  shared.rows((db) => {
    const { id: turn } = db.statement('SELECT id FROM turns WHERE turn_id = :turnId').get({ turnId: talk.turnId }) as { id: number };
    const call = { name: 'send', params: '{"to":"⟦email_1⟧"}', risk: 'write', executor: 'client', timeoutMs: 1_000 } as const;
    const owner = { appId: shared.appId, conversationId, turn, messageId, nowMs: START };
    insertInvocations(db, owner, [
      { ...call, id: `inv_${talk.turnId}`, callId: 'c1', state: 'pending.clean', blockId: null, expiresAtMs: START + 1_000 },
    ]);
  });
  await shared.sdk('POST', '/v1/feedback', { message_id: messageId, rating: -1, reason: 'Slow.' });
  await shared.sdk('POST', '/v1/ratings', { message_id: messageId, block_id: talk.blockIds[1], value: 2, comment: 'Meh.' });
  const read = async () =>
    (await shared.console('GET', `/conversations/${conversationId}?app=${shared.appId}`)).json as unknown as Transcript;
  const { conversation, messages, next } = await read();
  assert.deepEqual([conversation.id, conversation.device, next], [conversationId, DEVICE.slice(-4), null]);
  const [question, answer] = messages;
  assert.deepEqual([question?.id, question?.role, question?.attachments], [talk.userMessageId, 'user', []]);
  assert.deepEqual(question?.blocks[0]?.body, { md: 'Write to ⟦email_1⟧' });
  const ended = { state: 'completed', model: 'offline', ended_at: new Date(START).toISOString(), failure: null };
  assert.deepEqual(answer?.turn, { turn_id: talk.turnId, ...ended });
  assert.deepEqual(answer?.blocks[1]?.body, { ...RATING, status: 'answered', selected_ids: ['2'] });
  const call = answer?.invocations?.[0];
  assert.deepEqual([call?.name, call?.state, call?.params], ['send', 'pending.clean', { to: '⟦email_1⟧' }]);
  const at = new Date(shared.clock.nowMs).toISOString();
  assert.deepEqual(answer?.feedback, [{ rating: -1, reason: 'Slow.', device: DEVICE.slice(-4), updated_at: at }]);
  assert.deepEqual(answer?.ratings, [{ block_id: talk.blockIds[1], value: 2, comment: 'Meh.', created_at: at }]);
  shared.clock.nowMs += 1_000;
  const late = (await read()).messages[1]?.invocations;
  assert.equal(late?.[0]?.state, 'expired', 'deadlines are evaluated when they are read');
});

test('CONSOLE-17: GET /conversations/:id pages from the beginning', async () => {
  const { conversationId, userMessageId, messageId } = converse(shared);
  const read = async (query: string) =>
    (await shared.console('GET', `/conversations/${conversationId}${query}`)).json as unknown as Transcript;
  const first = await read('?limit=1');
  assert.deepEqual([first.messages.map(({ id }) => id), first.next], [[userMessageId], userMessageId]);
  const second = await read(`?limit=1&after=${first.next}`);
  assert.deepEqual([second.messages.map(({ id }) => id), second.next], [[messageId], messageId]);
  const third = await read(`?limit=1&after=${second.next}`);
  assert.deepEqual([third.messages, third.next], [[], null]);
  assert.deepEqual((await read('?after=msg_unknown')).messages, []);
});

test('CONSOLE-19: a conversation is found without naming its app, unless there are too many organisations to look through', async (t) => {
  const app = await serveAnsweredApp(t);
  const { conversationId } = converse(app);
  const other = await app.otherApp();
  const answer = await app.console('GET', `/conversations/${conversationId}`);
  assert.equal(answer.status, 200);
  assertRefused(await app.console('GET', '/conversations/cnv_missing'), 404, 'not_found', /no conversation cnv_missing/);
  assertRefused(await app.console('GET', `/conversations/${conversationId}?app=${other.appId}`), 404, 'not_found', /no conversation/);
  assertRefused(await app.console('GET', `/conversations/${conversationId}?app=app_missing`), 404, 'not_found', /no app/);
  for (let n = 2; n <= 101; n++) {
    const id = `org_${String(n).padStart(24, '0')}`;
    const autoTopUp = { enabled: false, amount_usd: 10 };
    await app.storage.writeControl('createOrganisation', { id, name: 'Acme', plan: 'free', members: [], autoTopUp, nowMs: START });
  }
  assert.equal((await app.console('GET', `/conversations/${conversationId}`)).status, 200);
  assertRefused(await app.console('GET', '/conversations/cnv_missing'), 400, 'invalid_request', /\?app=/);
  assert.equal((await app.console('GET', `/conversations/${conversationId}?app=${app.appId}`)).status, 200);
});

test('SAID-1: conversations of one person, and the one that a request or a turn was of', async (t) => {
  const app = await serveAnsweredApp(t);
  const { conversationId } = converse(app, { atMs: START });
  const newer = converse(app, { atMs: START + 1_000 }).conversationId;
  const [turn] = app.rows((db) =>
    db
      .statement('SELECT turn_id AS turnId, request_id AS requestId FROM turns WHERE conversation_id = :conversationId')
      .all({ conversationId }),
  ) as { turnId: string; requestId: string }[];
  assert.deepEqual(ids(await page(app, `?request_id=${turn?.turnId}`)), [conversationId]);
  // The rows of both have the same request id here: the newer one is meant.
  assert.deepEqual(ids(await page(app, `?request_id=${turn?.requestId}`)), [newer]);
  assert.deepEqual(ids(await page(app, '?request_id=none')), []);
  app.rows((db) => {
    db.statement(
      `INSERT INTO end_users (id, app_id, channel, external_user_id, verified, created_at_ms, updated_at_ms)
       VALUES ('usr_a', :appId, 'sandbox', 'ada', 1, 0, 0)`,
    ).run({ appId: app.appId });
    db.statement(`UPDATE conversations SET end_user_id = 'usr_a' WHERE id = :conversationId`).run({ conversationId });
  });
  const ofPerson = await page(app, '?end_user_id=usr_a');
  assert.deepEqual([ids(ofPerson), ofPerson.conversations[0]?.external_user_id], [[conversationId], 'ada']);
});
