/** What leaves with a person, and what stays. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listBoundDevices } from '../../../storage/people/devices.ts';
import { CONVERSATIONS_PER_ERASURE, transactions } from '../../../storage/people/person-erasure.ts';
import { insert } from '../../../storage/sqlite/columns.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { addApp, openApp, openFiles } from '../migrations/migrated-files.ts';
import { converse, identify, type Said } from './people.ts';

const [PHONE, TABLET] = ['a'.repeat(32), 'b'.repeat(32)];

/** Everything of a conversation that lies in tables of its own. */
function adorn(db: Connection, appId: string, deviceId: string, { conversationId, messageId, blockId }: Said): void {
  const of = { appId, conversationId, messageId, channel: 'live', createdAtMs: 1 };
  insert(db, 'feedback', { ...of, deviceId, rating: 1, reason: 'nice', updatedAtMs: 1 });
  insert(db, 'ratings', { ...of, blockId, value: 5 });
  insert(db, 'placeholders', { conversationId, kind: 'email', number: 1, digest: Buffer.of(0), sealed: Buffer.of(0) });
}

function upload(db: Connection, id: string, appId: string, deviceId: string, messageId: string | null): void {
  const file = { name: 'a.pdf', mediaType: 'application/pdf', size: 9, createdAtMs: 1, expiresAtMs: messageId === null ? 99 : null };
  insert(db, 'uploads', { id, appId, channel: 'live', deviceId, ...file, messageId, position: 0 });
}

const TABLES =
  'device_traits conversations messages blocks turns turn_journal turn_traces invocations feedback ratings placeholders uploads'.split(' ');

const counts = (db: Connection) => TABLES.map((table) => [table, db.statement(`SELECT count(*) AS n FROM ${table}`).get()?.n]);

test('PRIVACY-17, TRACE-4: the person, what they said, what binds devices to them and their uploads go; others’ and the ledger stay', (t) => {
  const { db, appId } = openApp(t, 1);
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
  const { db, appId } = openApp(t, 1);
  const { id } = identify(db, { appId, deviceId: PHONE, externalUserId: 'ann' });
  for (let n = 0; n <= CONVERSATIONS_PER_ERASURE; n++) converse(db, { appId, deviceId: PHONE, endUserId: id, atMs: n });
  const erase = () => transactions.erasePerson(db, { appId, endUserId: id });
  assert.deepEqual(erase(), { done: false, conversations: CONVERSATIONS_PER_ERASURE, uploadIds: [] });
  assert.equal(listBoundDevices(db, id, 9).length, 1);
  assert.deepEqual(erase(), { done: true, conversations: 1, uploadIds: [] });
  assert.equal(db.statement('SELECT count(*) AS n FROM end_users').get()?.n, 0);
});
