/** The export of a person who has more than one answer holds: that it is cut there, and says so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXPORT_MESSAGES_MAX, exportPerson } from '../../../gateway/console/person-export.ts';
import { mintId } from '../../../protocol/ids.ts';
import { storeTurn } from '../../storage/conversations/stored-turns.ts';
import { addApp, openFiles } from '../../storage/migrations/migrated-files.ts';
import { converse, identify } from '../../storage/people/people.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');

test('CONSOLE-15: an export holds 1,000 devices and 10,000 messages, and says when there is more', async (t) => {
  const files = openFiles(t, NOW);
  const { db } = files;
  const appId = addApp(files, 'Shop', NOW);
  const device = (at: number) => at.toString(16).padStart(32, '0');
  const person = { appId, externalUserId: 'u_1042' };
  const { id } = identify(db, { ...person, deviceId: device(0) });
  for (let at = 1; at < 1_000; at++) identify(db, { ...person, deviceId: device(at) });
  const { conversationId } = converse(db, { appId, deviceId: device(0), endUserId: id });
  for (let at = 2; at < EXPORT_MESSAGES_MAX; at++) {
    storeTurn(db, { appId, conversationId, turnId: `turn ${at}`, asked: mintId('msg', NOW + at), atMs: NOW + at });
  }
  const sizes = async () => {
    const { truncated, devices, conversations } = await exportPerson(db, id);
    const messages = JSON.parse(`[${Buffer.concat(conversations[0]?.messages.pieces() ?? []).toString()}]`) as unknown[];
    return [truncated, devices.length, messages.length];
  };
  assert.deepEqual(await sizes(), [false, 1_000, EXPORT_MESSAGES_MAX]);
  storeTurn(db, { appId, conversationId, turnId: 'one more', asked: mintId('msg', NOW), atMs: NOW });
  assert.deepEqual(await sizes(), [true, 1_000, EXPORT_MESSAGES_MAX]);
  db.statement('DELETE FROM messages WHERE created_at_ms = :NOW').run({ NOW });
  identify(db, { ...person, deviceId: device(1_000) });
  assert.deepEqual(await sizes(), [true, 1_000, EXPORT_MESSAGES_MAX]);
});
