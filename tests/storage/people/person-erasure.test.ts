/** What leaves with a person, and what stays. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listBoundDevices } from '../../../storage/people/devices.ts';
import { CONVERSATIONS_PER_ERASURE, transactions } from '../../../storage/people/person-erasure.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { addApp, openFiles } from '../migrations/migrated-files.ts';
import { converse, identify, type Said } from './people.ts';

const [PHONE, TABLET] = ['a'.repeat(32), 'b'.repeat(32)];

/** Everything of a conversation that lies in tables of its own. */
function adorn(db: Connection, appId: string, deviceId: string, { conversationId, messageId, blockId }: Said): void {
  db.statement(
    `INSERT INTO feedback (message_id, device_id, app_id, conversation_id, channel, rating, reason, created_at_ms, updated_at_ms)
     VALUES (:messageId, :deviceId, :appId, :conversationId, 'live', 1, 'nice', 1, 1)`,
  ).run({ messageId, deviceId, appId, conversationId });
  db.statement(
    `INSERT INTO ratings (block_id, message_id, app_id, conversation_id, channel, value, created_at_ms)
     VALUES (:blockId, :messageId, :appId, :conversationId, 'live', 5, 1)`,
  ).run({ blockId, messageId, appId, conversationId });
  db.statement(
    "INSERT INTO placeholders (conversation_id, kind, number, digest, sealed) VALUES (:conversationId, 'email', 1, x'00', x'00')",
  ).run({ conversationId });
}

function upload(db: Connection, id: string, appId: string, deviceId: string, messageId: string | null): void {
  db.statement(
    `INSERT INTO uploads (id, app_id, channel, device_id, name, media_type, size, created_at_ms, expires_at_ms, message_id, position)
     VALUES (:id, :appId, 'live', :deviceId, 'a.pdf', 'application/pdf', 9, 1, :expiresAtMs, :messageId, 0)`,
  ).run({ id, appId, deviceId, messageId, expiresAtMs: messageId === null ? 99 : null });
}

const TABLES = [
  'device_traits',
  'conversations',
  'messages',
  'blocks',
  'turns',
  'turn_journal',
  'turn_traces',
  'invocations',
  'feedback',
  'ratings',
  'placeholders',
  'uploads',
];

const counts = (db: Connection) => TABLES.map((table) => [table, db.statement(`SELECT count(*) AS n FROM ${table}`).get()?.n]);

test('PRIVACY-17, TRACE-4: the person, what they said, what binds devices to them and their uploads go; others’ and the ledger stay', (t) => {
  const files = openFiles(t, 1);
  const { db } = files;
  const appId = addApp(files, 'One', 1);
  const ben = identify(db, { appId, deviceId: TABLET, externalUserId: 'ben', proven: true });
  const benSaid = converse(db, { appId, deviceId: TABLET, endUserId: ben.id });
  adorn(db, appId, TABLET, benSaid);
  upload(db, 'upl_ben', appId, TABLET, benSaid.messageId);
  const before = counts(db);
  identify(db, { appId, deviceId: PHONE, externalUserId: 'ann', traits: Buffer.from('sealed') });
  const ann = identify(db, { appId, deviceId: PHONE, externalUserId: 'ann', proven: true });
  const annSaid = converse(db, { appId, deviceId: PHONE, endUserId: ann.id });
  adorn(db, appId, PHONE, annSaid);
  upload(db, 'upl_used', appId, PHONE, annSaid.messageId);
  upload(db, 'upl_unused', appId, PHONE, null);
  const charged = db.statement('SELECT sum(cost_microusd) AS sum FROM charges').get()?.sum;
  const erasure = transactions.erasePerson(db, { appId, endUserId: ann.id });
  assert.deepEqual(erasure, { done: true, conversations: 1, uploadIds: ['upl_used', 'upl_unused'] });
  assert.deepEqual(counts(db), before);
  assert.equal(db.statement('SELECT sum(cost_microusd) AS sum FROM charges').get()?.sum, charged);
  assert.deepEqual(listBoundDevices(db, ben.id, 9).length, 1);
  assert.equal(db.statement('SELECT count(*) AS n FROM devices WHERE end_user_id IS NULL AND proven = 0').get()?.n, 1);
  assert.throws(() => transactions.erasePerson(db, { appId, endUserId: ann.id }), { code: 'not_found' });
});

test('PRIVACY-17: a person of another app is not there', (t) => {
  const files = openFiles(t, 1);
  const [one, other] = [addApp(files, 'One', 1), addApp(files, 'Other', 1)];
  const { id } = identify(files.db, { appId: one, deviceId: PHONE, externalUserId: 'ann' });
  assert.throws(() => transactions.erasePerson(files.db, { appId: other, endUserId: id }), { code: 'not_found' });
  assert.equal(transactions.erasePerson(files.db, { appId: one, endUserId: id }).done, true);
});

test('PRIVACY-17: a person with many conversations goes in several transactions, the record last', (t) => {
  const files = openFiles(t, 1);
  const { db } = files;
  const appId = addApp(files, 'One', 1);
  const { id } = identify(db, { appId, deviceId: PHONE, externalUserId: 'ann' });
  for (let n = 0; n <= CONVERSATIONS_PER_ERASURE; n++) converse(db, { appId, deviceId: PHONE, endUserId: id, atMs: n });
  const erase = () => transactions.erasePerson(db, { appId, endUserId: id });
  assert.deepEqual(erase(), { done: false, conversations: CONVERSATIONS_PER_ERASURE, uploadIds: [] });
  assert.equal(listBoundDevices(db, id, 9).length, 1);
  assert.deepEqual(erase(), { done: true, conversations: 1, uploadIds: [] });
  assert.equal(db.statement('SELECT count(*) AS n FROM end_users').get()?.n, 0);
});
