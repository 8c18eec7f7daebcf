/** The rows, their numbers, and what recognises and seals them. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { readConversation } from '../../../storage/conversations/conversations.ts';
import {
  countPlaceholders,
  insertPlaceholders,
  readPlaceholder,
  readPlaceholderNumber,
  transactions,
} from '../../../storage/conversations/placeholders.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { openApp } from '../migrations/migrated-files.ts';
import { storeConversation } from './stored-turns.ts';

const NOW_MS = Date.UTC(2026, 0, 15);
const CONVERSATION = 'cnv_1';

function openConversations(t: TestContext): Connection {
  const { db, appId } = openApp(t, NOW_MS);
  for (const id of [CONVERSATION, 'cnv_2']) storeConversation(db, { id, appId });
  return db;
}

function value(kind: string, text: string) {
  return { kind, digest: Buffer.from(`digest of ${kind} ${text}`), sealed: Buffer.from('sealed') };
}

describe('PRIVACY-7: allocatePlaceholders', () => {
  test('numbers go up per kind, a value keeps its number, and the conversation counts its rows', (t) => {
    const db = openConversations(t);
    const allocate = (...values: ReturnType<typeof value>[]) =>
      transactions.allocatePlaceholders(db, { conversationId: CONVERSATION, values });
    assert.deepEqual(allocate(value('email', 'a'), value('phone', 'b'), value('email', 'c'), value('email', 'a')), [1, 1, 2, 1]);
    assert.deepEqual(allocate(value('email', 'd'), value('email', 'c'), value('phone', 'b')), [3, 2, 1]);
    assert.equal(countPlaceholders(db, CONVERSATION), 4);
    assert.equal(readConversation(db, CONVERSATION)?.placeholders, 4);
    assert.equal(readPlaceholderNumber(db, CONVERSATION, value('email', 'd').digest), 3);
    assert.equal(readPlaceholderNumber(db, 'cnv_2', value('email', 'd').digest), undefined);
  });

  test('each conversation numbers for itself', (t) => {
    const db = openConversations(t);
    transactions.allocatePlaceholders(db, { conversationId: CONVERSATION, values: [value('email', 'a'), value('email', 'b')] });
    assert.deepEqual(transactions.allocatePlaceholders(db, { conversationId: 'cnv_2', values: [value('email', 'b')] }), [1]);
  });

  test('PRIVACY-7: there is no bound: pages of values are rows', (t) => {
    const db = openConversations(t);
    const values = Array.from({ length: 1_500 }, (_, index) => value('email', `${index}`));
    const numbers = transactions.allocatePlaceholders(db, { conversationId: CONVERSATION, values });
    assert.deepEqual(
      numbers,
      values.map((_, index) => index + 1),
    );
    assert.equal(countPlaceholders(db, CONVERSATION), 1_500);
    const more = [value('email', '7'), value('card', 'new'), value('email', 'new')];
    assert.deepEqual(transactions.allocatePlaceholders(db, { conversationId: CONVERSATION, values: more }), [8, 1, 1_501]);
  });

  test('a conversation that is gone gets none', (t) => {
    const db = openConversations(t);
    assert.deepEqual(transactions.allocatePlaceholders(db, { conversationId: 'cnv_gone', values: [value('email', 'a')] }), [null]);
  });

  test('rows go with their conversation', (t) => {
    const db = openConversations(t);
    transactions.allocatePlaceholders(db, { conversationId: CONVERSATION, values: [value('email', 'a')] });
    db.statement('DELETE FROM conversations WHERE id = :id').run({ id: CONVERSATION });
    assert.equal(readPlaceholder(db, CONVERSATION, 'email', 1), undefined);
  });
});

test('PRIVACY-7: a new conversation’s rows are as they were numbered, and their count', (t) => {
  const db = openConversations(t);
  const rows = [
    { ...value('email', 'a'), number: 1 },
    { ...value('phone', 'b'), number: 1 },
  ];
  insertPlaceholders(db, CONVERSATION, rows);
  for (const { kind, number, digest, sealed } of rows) {
    assert.deepEqual(readPlaceholder(db, CONVERSATION, kind, number), sealed);
    assert.equal(readPlaceholderNumber(db, CONVERSATION, digest), number);
  }
  assert.equal(countPlaceholders(db, CONVERSATION), 2);
  insertPlaceholders(db, 'cnv_2', []);
  assert.equal(countPlaceholders(db, 'cnv_2'), 0);
});
