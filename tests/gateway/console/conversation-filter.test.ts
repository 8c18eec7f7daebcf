import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { giveThumb } from '../../storage/conversations/stored-thumbs.ts';
import { storeTurn } from '../../storage/conversations/stored-turns.ts';
import { type AnsweredApp, assertRefused, type Conversed, converse, START, serveAnsweredApp } from '../answered-app.ts';

interface Listing {
  readonly conversations: readonly { readonly id: string; readonly turn_state: string | null }[];
  readonly next: string | null;
}

const MINUTE = 60_000;

async function found(app: AnsweredApp, query: string): Promise<Listing> {
  const answer = await app.console('GET', `/apps/${app.appId}/conversations?${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as unknown as Listing;
}

const ids = async (app: AnsweredApp, query: string) => (await found(app, query)).conversations.map(({ id }) => id);
const timeAt = (minute: number) => encodeURIComponent(new Date(START + minute * MINUTE).toISOString());

function thumb(app: AnsweredApp, { conversationId, messageId }: Conversed, rating: 1 | -1, deviceId = 'd') {
  app.rows((db) => giveThumb(db, { appId: app.appId, conversationId, messageId, rating, deviceId, atMs: START }));
}

/** The newest turn of the conversation is then one of this state. */
function goOn(app: AnsweredApp, { conversationId }: Conversed, state: 'failed' | 'awaiting_confirmation', no: number) {
  const turnId = `00000000-0000-4000-9000-${String(no).padStart(12, '0')}`;
  app.rows((db) => storeTurn(db, { appId: app.appId, conversationId, turnId, state, atMs: START + no }));
}

/** Five conversations, a minute apart, the oldest first. */
async function fiveConversations(t: TestContext) {
  const app = await serveAnsweredApp(t);
  const talk = (minute: number): Conversed => converse(app, { atMs: START + minute * MINUTE });
  const made = [talk(0), talk(1), talk(2), talk(3), talk(4)] as const;
  return { app, made, id: (at: number) => made[at]?.conversationId };
}

test('CONSOLE-27: conversations of a time: from the moment on, before the moment, in any zone, page after page', async (t) => {
  const { app, id } = await fiveConversations(t);
  assert.deepEqual(await ids(app, `from=${timeAt(3)}`), [id(4), id(3)]);
  assert.deepEqual(await ids(app, `to=${timeAt(1)}`), [id(0)]);
  assert.deepEqual(await ids(app, `from=${timeAt(1)}&to=${timeAt(4)}`), [id(3), id(2), id(1)]);
  const elsewhere = new Date(START + 3 * MINUTE + 2 * 3_600_000).toISOString().replace('Z', '+02:00');
  assert.deepEqual(await ids(app, `from=${encodeURIComponent(elsewhere)}`), [id(4), id(3)]);
  const first = await found(app, `from=${timeAt(1)}&to=${timeAt(4)}&limit=2`);
  assert.deepEqual(await ids(app, `from=${timeAt(1)}&to=${timeAt(4)}&limit=2&after=${first.next}`), [id(1)]);
});

test('CONSOLE-27: conversations by the state of their newest turn, and no longer by that of an older one', async (t) => {
  const { app, made, id } = await fiveConversations(t);
  goOn(app, made[1], 'failed', 1);
  goOn(app, made[2], 'failed', 2);
  goOn(app, made[2], 'awaiting_confirmation', 3);
  assert.deepEqual(await ids(app, 'state=failed'), [id(1)]);
  assert.deepEqual(await ids(app, 'state=awaiting_confirmation'), [id(2)]);
  assert.deepEqual(await ids(app, 'state=completed'), [id(4), id(3), id(0)]);
  assert.deepEqual((await found(app, 'state=failed')).conversations[0]?.turn_state, 'failed');
});

test('CONSOLE-27: conversations by thumbs, also together with state, time and kind of key', async (t) => {
  const { app, made, id } = await fiveConversations(t);
  thumb(app, made[0], -1);
  thumb(app, made[1], -1);
  // One of each: it is found by both.
  thumb(app, made[1], 1, 'e');
  thumb(app, made[3], -1);
  goOn(app, made[3], 'failed', 4);
  assert.deepEqual(await ids(app, 'rating=-1'), [id(3), id(1), id(0)]);
  assert.deepEqual(await ids(app, 'rating=1'), [id(1)]);
  assert.deepEqual(await ids(app, 'rating=-1&state=failed'), [id(3)]);
  assert.deepEqual(await ids(app, `rating=-1&state=completed&to=${timeAt(1)}`), [id(0)]);
  assert.deepEqual(await ids(app, 'rating=-1&channel=live'), []);
  const first = await found(app, 'rating=-1&limit=1');
  assert.deepEqual(await ids(app, `rating=-1&limit=1&after=${first.next}`), [id(1)]);
});

test('CONSOLE-27: conversations by words of their first question, in any case, also together with the state', async (t) => {
  const { app, made, id } = await fiveConversations(t);
  goOn(app, made[1], 'failed', 1);
  const all = [4, 3, 2, 1, 0].map(id);
  assert.deepEqual(await ids(app, `words=${encodeURIComponent('hOW LO')}`), all);
  assert.deepEqual(await ids(app, 'words=how&state=failed'), [id(1)]);
  for (const words of ['nothing like it', '%', 'h_w']) assert.deepEqual(await ids(app, `words=${encodeURIComponent(words)}`), [], words);
});

test('CONSOLE-27: a filter that keeps nothing for long answers a short page, and the next goes on behind it', async (t) => {
  const app = await serveAnsweredApp(t);
  const old = converse(app, { atMs: START });
  goOn(app, old, 'failed', 5);
  app.rows((db) => {
    db.exec('BEGIN');
    const insert = db.statement(
      `INSERT INTO conversations (id, app_id, channel, device_id, epoch, created_at_ms, updated_at_ms)
       VALUES (:id, :appId, 'sandbox', '', 1, :atMs, :atMs)`,
    );
    for (let n = 0; n < 5_000; n++) insert.run({ id: `cnv_later_${n}`, appId: app.appId, atMs: START + 1_000 + n });
    db.exec('COMMIT');
  });
  const first = await found(app, 'state=failed');
  assert.deepEqual([first.conversations, typeof first.next], [[], 'string']);
  const second = await found(app, `state=failed&after=${first.next}`);
  assert.deepEqual([second.conversations.map(({ id }) => id), second.next], [[old.conversationId], null]);
});

test('CONSOLE-27: what is malformed of a filter is named, and nothing is listed', async (t) => {
  const app = await serveAnsweredApp(t);
  const refused = ['state=done', 'state=', 'rating=0', 'rating=up', 'from=yesterday', 'to=2026-11-21', 'to=2026-13-41T00:00:00Z', 'from='];
  for (const query of refused) {
    const answer = await app.console('GET', `/apps/${app.appId}/conversations?${query}`);
    assertRefused(answer, 400, 'invalid_request', new RegExp(`^${query.split('=')[0]} must be`));
  }
  for (const words of ['', 'w'.repeat(201)]) {
    assertRefused(await app.console('GET', `/apps/${app.appId}/conversations?words=${words}`), 400, 'invalid_request', /^words must have/);
  }
});
