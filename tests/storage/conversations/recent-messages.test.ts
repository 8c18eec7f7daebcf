/** What is kept of a conversation from one turn to the next is what its rows say. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { mintId } from '../../../protocol/ids.ts';
import { insertBlocks } from '../../../storage/conversations/blocks.ts';
import { RecentMessages, readMessages } from '../../../storage/conversations/conversations.ts';
import type { Connection, Row } from '../../../storage/sqlite/connection.ts';
import { addApp, openFiles } from '../migrations/migrated-files.ts';
import { storeConversation, storeTurn } from './stored-turns.ts';

const LIMIT = 6;

/** A conversation in which a turn is said with an answer of so many characters; without one it has no words. */
function conversation(t: TestContext) {
  const files = openFiles(t, 0);
  const appId = addApp(files, 'Shop', 0);
  const { db } = files;
  const id = mintId('cnv', 0);
  storeConversation(db, { id, appId, deviceId: 'd' });
  const say = (chars: number, atMs: number): void => {
    const answer = mintId('msg', atMs);
    storeTurn(db, { appId, conversationId: id, turnId: answer, answer, atMs });
    const block = { id: mintId('blk', atMs), position: 0, blockType: 'text', revision: 1, fallbackText: null };
    if (chars > 0) insertBlocks(db, id, answer, [{ ...block, body: JSON.stringify({ md: 'x'.repeat(chars) }) }]);
  };
  return { db, id, say, rows: () => readMessages(db, id, { limit: LIMIT, wordless: true }) };
}

/** The connection, and the turn behind which each list of messages was read. */
function watched(db: Connection): { readonly spy: Connection; readonly behind: unknown[] } {
  const behind: unknown[] = [];
  const tuples: Connection['tuples'] = (sql) => {
    const statement = db.tuples(sql);
    const all = (values?: Row) => {
      if (values !== undefined && 'turn' in values) behind.push(values.turn);
      return statement.all(values);
    };
    return { get: (values) => statement.get(values), run: (values) => statement.run(values), all };
  };
  const spy: Connection = { path: db.path, statement: (sql) => db.statement(sql), tuples, exec: () => {}, close: () => {} };
  return { spy, behind };
}

test('STORE-27: of a conversation that goes on only what was said since is read, and it reads as its rows do', (t) => {
  const { db, id, say, rows } = conversation(t);
  const { spy, behind } = watched(db);
  const recent = new RecentMessages();
  for (let turn = 1; turn <= 12; turn++) {
    for (let more = 0; more <= turn % 3; more++) say(turn % 4 === 0 ? 0 : turn * 100, turn * 10 + more);
    assert.deepEqual(recent.read(spy, id, LIMIT), rows());
  }
  assert.deepEqual(recent.read(spy, id, LIMIT), rows());
  const [first, ...later] = behind as number[];
  assert.equal(first, 0);
  assert.deepEqual(
    later,
    [...new Set(later)].sort((one, other) => one - other),
    'each time behind the newest turn of the time before',
  );
  assert.ok(later.every((turn) => turn > 0));
});

test('STORE-27: words that may have changed are read again, and so are those that are too long to keep', (t) => {
  const { db, id, say, rows } = conversation(t);
  const recent = new RecentMessages();
  say(10, 1);
  recent.read(db, id, LIMIT);
  for (const forget of [() => recent.forget(id), () => recent.forget()]) {
    const before = rows();
    db.statement(`UPDATE blocks SET body = json_set(body, '$.md', body ->> '$.md' || '!')`).run();
    assert.deepEqual(recent.read(db, id, LIMIT), before);
    forget();
    assert.deepEqual(recent.read(db, id, LIMIT), rows());
  }
  for (let turn = 2; turn <= 30; turn++) {
    say(turn < 20 ? 60_000 : 600_000, turn);
    assert.deepEqual(recent.read(db, id, LIMIT), rows());
  }
});
