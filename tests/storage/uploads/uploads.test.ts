/** Rows of uploads from their arrival to the message that uses them. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { mintId } from '../../../protocol/ids.ts';
import {
  attachmentsOfMessages,
  nextUploadDeadline,
  readUploads,
  transactions,
  uploadIdsOfApp,
  useUploads,
} from '../../../storage/uploads/uploads.ts';
import { storeConversation, storeTurn } from '../conversations/stored-turns.ts';
import { openApp } from '../migrations/migrated-files.ts';

const NOW = Date.UTC(2026, 10, 20);
const CONVERSATION = 'cnv_1';
const DEVICE = 'd'.repeat(32);

function fixture(t: TestContext) {
  const { db, appId } = openApp(t, NOW);
  storeConversation(db, { id: CONVERSATION, appId, deviceId: DEVICE });
  for (const id of ['msg_1', 'msg_2']) storeTurn(db, { appId, conversationId: CONVERSATION, turnId: id, asked: id });
  const save = (expiresAtMs: number, name = 'a.txt') => {
    const id = mintId('upl', NOW);
    transactions.saveUpload(db, {
      id,
      appId,
      channel: 'live',
      deviceId: DEVICE,
      address: 'home',
      appMaxBytes: 1_000,
      name,
      mediaType: 'text/plain',
      size: 7,
      expiresAtMs,
      nowMs: NOW,
    });
    return id;
  };
  return { db, appId, save };
}

test('UPLOAD-9: unused uploads run out, the nearest first; used ones never', (t) => {
  const { db, save } = fixture(t);
  assert.equal(nextUploadDeadline(db), null);
  const [late, soon, used] = [save(NOW + 30), save(NOW + 10), save(NOW + 5)];
  assert.ok(useUploads(db, { messageId: 'msg_1', uploads: [{ id: used, position: 0, name: 'a.txt', text: 'words' }] }));
  assert.equal(nextUploadDeadline(db), NOW + 10);
  assert.deepEqual(transactions.expireUploads(db, { nowMs: NOW + 9, limit: 10 }), []);
  assert.deepEqual(transactions.expireUploads(db, { nowMs: NOW + 99, limit: 1 }), [soon]);
  assert.deepEqual(transactions.expireUploads(db, { nowMs: NOW + 99, limit: 10 }), [late]);
  assert.equal(nextUploadDeadline(db), null);
  assert.equal(readUploads(db, [used])[0]?.messageId, 'msg_1');
});

test('UPLOAD-10: an upload is used by one message, and what is missing or used is told', (t) => {
  const { db, save } = fixture(t);
  const id = save(NOW + 10);
  const use = (messageId: string, uploadId: string) =>
    useUploads(db, { messageId, uploads: [{ id: uploadId, position: 0, name: 'a.txt', text: null }] });
  assert.equal(use('msg_1', mintId('upl', NOW)), false);
  assert.equal(use('msg_1', id), true);
  assert.equal(use('msg_2', id), false);
  assert.equal(readUploads(db, [id])[0]?.messageId, 'msg_1');
});

test('HISTORY-6: messages show their attachments in the order of the message, with their words and the name they have there, until the message goes', (t) => {
  const { db, appId, save } = fixture(t);
  const [first, second, other] = [save(NOW, 'one.txt'), save(NOW, 'two.txt'), save(NOW, 'three.txt')];
  useUploads(db, {
    messageId: 'msg_1',
    uploads: [
      { id: second, position: 1, name: 'two.txt', text: 'two' },
      { id: first, position: 0, name: 'one.txt', text: 'one' },
    ],
  });
  useUploads(db, { messageId: 'msg_2', uploads: [{ id: other, position: 0, name: 'three of ⟦email_1⟧.txt', text: null }] });
  const shown = (...messageIds: string[]) => attachmentsOfMessages(db, messageIds).map(({ uploadId, text }) => [uploadId, text]);
  assert.deepEqual(shown('msg_1'), [
    [first, 'one'],
    [second, 'two'],
  ]);
  assert.deepEqual(shown('msg_1', 'msg_2').length, 3);
  const row = { messageId: 'msg_2', uploadId: other, name: 'three of ⟦email_1⟧.txt', mediaType: 'text/plain', size: 7, text: null };
  assert.deepEqual(attachmentsOfMessages(db, ['msg_2']), [row]);
  db.statement('DELETE FROM conversations').run();
  assert.deepEqual(uploadIdsOfApp(db, appId, '', 100), []);
});

test('STORE-14: nothing is kept for an app that was deleted', (t) => {
  const { db, appId, save } = fixture(t);
  db.statement('DELETE FROM apps WHERE id = :appId').run({ appId });
  assert.throws(() => save(NOW), /There is no app/);
});
