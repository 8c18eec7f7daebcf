/** Whose uploads a message may attach, and what becomes of them. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { type Attachment, readAttachments, textOf } from '../../../actors/turns/attachments.ts';
import { createUploadReceiver } from '../../../actors/uploads/upload-receiver.ts';
import { Refusal } from '../../../protocol/errors.ts';
import { mintId } from '../../../protocol/ids.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { png } from '../../assistant/images/image-bytes.ts';
import { makePdf } from '../../assistant/knowledge/documents.ts';
import { storeTurn } from '../../storage/conversations/stored-turns.ts';
import { storeApp } from '../setup/app-in-storage.ts';

const NOW = Date.UTC(2026, 10, 20);
const DAY_MS = 86_400_000;
const DEVICE = 'd'.repeat(32);

async function fixture(t: TestContext) {
  const { storage, organisationId, appId } = await storeApp(t, NOW);
  const log = pino({ level: 'silent' });
  const receiver = createUploadReceiver({ storage, log, nowMs: () => NOW, noteDeadline: () => {} });
  const caller = { organisationId, appId, channel: 'live', deviceId: DEVICE } as const;
  return {
    storage,
    organisationId,
    appId,
    send: async (content: Uint8Array | string, fileName = 'a.txt') =>
      (await receiver.receive({ ...caller, address: '203.0.113.7' }, { bytes: Buffer.from(content as string), fileName })).upload_id,
    read: (uploadIds: readonly string[], more: Partial<Parameters<typeof readAttachments>[0]> = {}) =>
      readAttachments({ ...caller, storage, nowMs: NOW, uploadIds, ...more }),
  };
}

async function refusalOf(reading: Promise<unknown>): Promise<Refusal> {
  const outcome = await reading.then(
    () => assert.fail('it was read'),
    (error: unknown) => error,
  );
  assert.ok(outcome instanceof Refusal, String(outcome));
  return outcome;
}

async function shown(attachment: Attachment | undefined): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  assert.ok(attachment?.kind === 'image');
  for await (const piece of attachment.image.pieces()) pieces.push(piece);
  return Buffer.concat(pieces);
}

test('UPLOAD-12: images come as images, PDF and text as text, in the order of the message', async (t) => {
  const { send, read } = await fixture(t);
  const ids = [await send(makePdf([['Invoice 17']]), 'bill.pdf'), await send(png(), 'cat.png'), await send('words')];
  const [bill, cat, words] = await read(ids);
  assert.deepEqual(
    [bill, words],
    [
      { uploadId: ids[0], position: 0, name: 'bill.pdf', mediaType: 'application/pdf', kind: 'text', text: 'Invoice 17' },
      { uploadId: ids[2], position: 2, name: 'a.txt', mediaType: 'text/plain', kind: 'text', text: 'words' },
    ],
  );
  assert.ok(cat?.kind === 'image');
  assert.deepEqual([cat.uploadId, cat.position, cat.name, cat.mediaType], [ids[1], 1, 'cat.png', 'image/png']);
  assert.deepEqual([cat.image.mediaType, cat.image.bytes, await shown(cat)], ['image/png', png().length, png()]);
  assert.deepEqual(await read([]), []);
});

test('UPLOAD-11: missing, foreign, used, expired and lost uploads get one and the same answer', async (t) => {
  const { storage, organisationId, appId, send, read } = await fixture(t);
  const [whole, used, lost] = [await send('words'), await send('words'), await send('words')];
  const writer = openWriter(storage.layout.organisation(organisationId));
  writer
    .statement(
      `INSERT INTO conversations (id, app_id, channel, device_id, epoch, created_at_ms, updated_at_ms) VALUES ('c', :appId, 'live', '', 1, 1, 1)`,
    )
    .run({ appId });
  storeTurn(writer, { appId, conversationId: 'c', turnId: 't', asked: 'm' });
  writer.statement(`UPDATE uploads SET message_id = 'm', expires_at_ms = NULL WHERE id = :id`).run({ id: used });
  writer.close();
  rmSync(storage.layout.upload(organisationId, lost));
  const path = 'attachments[1].upload_id';
  const message = 'names no upload of this device that can still be used; upload the file again';
  for (const reading of [read([whole, mintId('upl', NOW)]), read([whole, "' OR 1=1 --"]), read([whole, used]), read([whole, lost])]) {
    const refusal = await refusalOf(reading);
    assert.deepEqual([refusal.code, refusal.message, refusal.details], ['invalid_request', `${path} ${message}`, [{ path, message }]]);
  }
  assert.equal((await read([whole], { nowMs: NOW + DAY_MS - 1 })).length, 1);
  for (const more of [
    { deviceId: 'e'.repeat(32) },
    { deviceId: '' },
    { channel: 'sandbox' },
    { appId: 'app_x' },
    { nowMs: NOW + DAY_MS },
  ] as const) {
    assert.equal((await refusalOf(read([whole], more))).message, `attachments[0].upload_id ${message}`);
  }
});

test('MODEL-8: of a long text only the beginning is read, and it is told as the whole is', async (t) => {
  const { send, read } = await fixture(t);
  const long = `a${'☂'.repeat(400_000)}`;
  const [read1] = await read([await send(long)]);
  assert.match((read1 && textOf(read1)) ?? '', /^a☂{19998}…\n\[The file goes on/);
});

test('UPLOAD-10: one upload is attached once, and four at most', async (t) => {
  const { send, read } = await fixture(t);
  const ids = await Promise.all(Array.from({ length: 5 }, () => send('words')));
  assert.match((await refusalOf(read([ids[0] ?? '', ids[0] ?? '']))).message, /^attachments\[1\]\.upload_id names the same upload twice/);
  assert.match((await refusalOf(read(ids))).message, /^attachments\[4\]\.upload_id is one too many/);
  assert.equal((await read(ids.slice(0, 4))).length, 4);
});
