/** Lists that grow with an organisation: which index each uses, and that a page of long messages ends by its bytes. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { mintId } from '../../../protocol/ids.ts';
import { insertBlocks, readTextBlocks } from '../../../storage/conversations/blocks.ts';
import { PAGE_BYTES_MAX, readMessages } from '../../../storage/conversations/conversations.ts';
import { listOwnConversations } from '../../../storage/conversations/own-conversations.ts';
import {
  type ConversationFilter,
  listConversations,
  readTranscriptPage,
  readTurnsOfMessages,
} from '../../../storage/conversations/transcripts.ts';
import { hasEndedWell, readJournal } from '../../../storage/conversations/turns.ts';
import { listEndUsers } from '../../../storage/people/end-users.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { storeConversation, storeTurn } from '../conversations/stored-turns.ts';
import { addApp, openFiles } from '../migrations/migrated-files.ts';

const MESSAGES = 30;
const BODY = JSON.stringify({ md: 'x'.repeat(64_000) });

function talk(t: TestContext) {
  const files = openFiles(t, 0);
  const appId = addApp(files, 'Shop', 0);
  const { db } = files;
  const id = mintId('cnv', 0);
  storeConversation(db, { id, appId, deviceId: 'd' });
  for (let at = 1; at <= MESSAGES; at++) {
    const messageId = mintId('msg', at);
    storeTurn(db, { appId, conversationId: id, turnId: messageId, answer: messageId, atMs: at });
    insertBlocks(db, id, messageId, [
      { id: mintId('blk', at), position: 0, blockType: 'text', revision: 1, body: BODY, fallbackText: null },
    ]);
  }
  return { ...files, appId, id };
}

test('STORE-18, HISTORY-1: pages of long messages end by their bytes, and paging back finds every message once', (t) => {
  const { db, id } = talk(t);
  const seen: string[] = [];
  let before: string | undefined;
  for (;;) {
    const page = readMessages(db, id, { limit: 200, before, wordless: false });
    if (page.length === 0) break;
    assert.ok(page.length * BODY.length <= PAGE_BYTES_MAX);
    seen.unshift(...page.map((message) => message.id));
    before = page[0]?.id;
  }
  assert.equal(new Set(seen).size, MESSAGES);
  assert.deepEqual(seen, [...seen].sort());
});

test('STORE-18: the console’s pages of long messages say where the next begins, until the last', (t) => {
  const { db, id } = talk(t);
  const seen: string[] = [];
  for (let after = ''; ; ) {
    const { messages, next } = readTranscriptPage(db, id, after, 200);
    seen.push(...messages.map((message) => message.id));
    if (next === null) break;
    after = next;
  }
  assert.equal(new Set(seen).size, MESSAGES);
});

/** A connection that answers nothing to reads of many rows, and notes how SQLite would make them. */
function planning(db: Connection): { readonly spy: Connection; readonly plans: string[] } {
  const plans: string[] = [];
  const spy: Connection = {
    path: db.path,
    exec: () => {},
    close: () => {},
    statement: (sql: string) => db.statement(sql),
    tuples: (sql: string) => {
      const plan = db.statement(`EXPLAIN QUERY PLAN ${sql}`);
      return {
        get: () => undefined,
        run: () => ({ changes: 0, lastInsertRowid: 0 }),
        all: (values?: Parameters<typeof plan.all>[0]) => {
          plans.push(
            plan
              .all(values)
              .map(({ detail }) => detail)
              .join('; '),
          );
          return [];
        },
      };
    },
  };
  return { spy, plans };
}

test('STORE-18: lists of people are read by an index, by id and by name, however many there are', (t) => {
  const { db, appId } = talk(t);
  const { spy, plans } = planning(db);
  listEndUsers(spy, { appId, externalUserId: null, after: '', limit: 10 });
  listEndUsers(spy, { appId, externalUserId: 'somebody', after: '', limit: 10 });
  assert.match(plans[0] ?? '', /end_users_by_app \(app_id=\? AND id>\?\)$/);
  assert.match(plans[1] ?? '', /\(app_id=\? AND channel=\? AND external_user_id=\?\)/);
});

test('STORE-18: what is read of messages and their blocks is found by index or place, however many there are', (t) => {
  const { db, id } = talk(t);
  const { spy, plans } = planning(db);
  readMessages(spy, id, { limit: 40, wordless: false });
  readTranscriptPage(spy, id, '', 40);
  readTextBlocks(spy, 'msg_1', 0);
  readTurnsOfMessages(spy, ['msg_1']);
  readJournal(spy, 1, 0, 8);
  listOwnConversations(spy, { appId: 'app_1', channel: 'live', deviceId: 'd', boundTo: null, people: ['usr_1'] });
  assert.equal(plans.length, 10);
  for (const plan of plans) assert.doesNotMatch(plan, /SCAN (?:conversations|messages|m|blocks|b|turns|t|turn_journal)\b/);
  const [newest, , oldest, , , , journal] = plans;
  for (const plan of [newest, oldest, journal]) assert.doesNotMatch(plan ?? 'TEMP B-TREE', /TEMP B-TREE/, 'read in its order, not sorted');
});

test('STORE-18, CONSOLE-27: conversations that a filter keeps are looked through by index, in order and no further than is needed', (t) => {
  const { db, appId } = talk(t);
  const { spy, plans } = planning(db);
  const filter: ConversationFilter = { endUserId: null, channel: 'live', state: 'failed', rating: -1, words: 'a', fromMs: 1, toMs: 9 };
  listConversations(spy, appId, { filter, before: null, limit: 10 });
  listConversations(spy, appId, { filter: { ...filter, endUserId: 'usr_1' }, before: null, limit: 10 });
  const [ofApp = '', ofPerson = ''] = plans;
  assert.match(ofApp, /conversations_by_app \(app_id=\? AND updated_at_ms>\? AND updated_at_ms<\?\)/);
  assert.match(ofPerson, /conversations_of_person \(end_user_id=\? AND updated_at_ms>\? AND updated_at_ms<\?\)/);
  for (const plan of [ofApp, ofPerson]) {
    assert.match(
      plan,
      /CO-ROUTINE conversations;.*turns_by_conversation \(conversation_id=\?\).*feedback_by_conversation \(conversation_id=\? AND rating=\?\)/,
    );
    assert.doesNotMatch(plan, /SCAN (?:turns|feedback)|MATERIALIZE/);
  }
});

test('LIVE-10, STORE-18: a turn that ended well is found by the index of its app, however many a busy neighbour has since', (t) => {
  const { db, appId, id, ...files } = talk(t);
  const [busy, unlucky] = ['Busy', 'Unlucky'].map((name) => addApp({ db, ...files }, name, 0)) as [string, string];
  db.exec('BEGIN');
  for (let at = 0; at < 3_000; at += 1) {
    storeTurn(db, { appId: busy, conversationId: id, turnId: `b${at}` });
    storeTurn(db, { appId: unlucky, conversationId: id, turnId: `u${at}`, state: 'failed' });
  }
  db.exec('COMMIT');
  assert.deepEqual(
    [appId, busy, unlucky].map((each) => hasEndedWell(db, each)),
    [true, true, false],
  );
  const { spy, plans } = planning(db);
  const tuples: Connection['tuples'] = (sql) => ({ ...spy.tuples(sql), get: (values) => spy.tuples(sql).all(values)[0] });
  hasEndedWell({ ...spy, tuples }, appId);
  assert.match(plans[0] ?? '', /SEARCH turns USING INDEX sqlite_autoindex_turns_\d \(app_id=\?\)/);
});

test('STORE-25: a read whose length is a parameter is planned once, and not each time that it is made', (t) => {
  const { db } = talk(t);
  db.exec(`CREATE TABLE things (kind INTEGER); CREATE INDEX things_by_kind ON things (kind);
    INSERT INTO things SELECT value % 50 FROM (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 2000) SELECT value FROM n);
    ANALYZE`);
  let planned = 0;
  const prepare = t.mock.method(Database.prototype, 'prepare');
  const things = () => db.tuples('SELECT kind FROM things WHERE kind = asked(7) LIMIT :limit OFFSET :from');
  // Planning asks it, to look its answer up in what ANALYZE noted; a run asks it once.
  assert.throws(things, /no such function/);
  const driver = prepare.mock.calls[0]?.this as Database.Database;
  driver.function('asked', { deterministic: true }, (kind) => {
    planned++;
    return kind;
  });
  things();
  const atFirst = planned;
  assert.ok(atFirst > 0, 'planning asks what it searches for');
  for (const limit of [3, 30, 3]) assert.equal(things().all({ limit, from: 1 }).length, limit);
  assert.equal(planned - atFirst, 3);
});
