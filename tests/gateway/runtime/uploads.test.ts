/** What may be uploaded, by whom, and how long it stays. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { silentAnnouncer } from '../../../actors/announcements.ts';
import { startUploadSweep, uploadDeadlines } from '../../../actors/uploads/deadlines.ts';
import { createUploadReceiver } from '../../../actors/uploads/upload-receiver.ts';
import { UPLOADS_AT_ONCE_PER_DEVICE_MAX, UploadSlots } from '../../../actors/uploads/upload-slots.ts';
import { ParseFailure } from '../../../assistant/parsers/parser-process.ts';
import { parsers } from '../../../assistant/parsers/parsers.ts';
import { uploadsRoute } from '../../../gateway/runtime/uploads.ts';
import { UPLOAD_MAX_BYTES } from '../../../protocol/limits.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { gif, jpeg, picture, png, svg, WEBP_BOMB, webp, zip } from '../../assistant/images/image-bytes.ts';
import { makePdf } from '../../assistant/knowledge/documents.ts';
import { DEVICE } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { servingNode } from '../../support/node.ts';
import { type RuntimeApp, serveApp } from './runtime-app.ts';
import { type Uploaded, upload } from './uploading.ts';

const START = Date.UTC(2026, 10, 20);
const HOUR_MS = 3_600_000;
const GB = 1024 ** 3;
const log = pino({ level: 'silent' });

interface UploadFixture extends RuntimeApp {
  /** Every call is from a device of its own, so that no bucket fills. */
  send(content: Uint8Array | string, name?: string): Promise<Uploaded>;
  sendFrom(device: string, content?: Uint8Array | string): Promise<Uploaded>;
  /** Files of the app's organisation. */
  files(): string[];
  passTime(ms: number): void;
  beginDrain(): void;
  /** Moves the clock by which uploads are judged to be slow. */
  passPace(ms: number): void;
  readonly disk: { freeBytes: number; totalBytes: number };
  readonly noted: readonly number[];
  nowMs(): number;
  /** Uploads that have a place. */
  inside(): number;
}

async function openFixture(t: TestContext): Promise<UploadFixture> {
  let now = START;
  const node = servingNode();
  let devices = 0;
  let paceMs = 0;
  const disk = { freeBytes: 50 * GB, totalBytes: 100 * GB };
  const noted: number[] = [];
  const nowMs = () => now;
  const inside = new Set<() => void>();
  const app = await serveApp(t, [uploadsRoute], nowMs, (storage) => {
    const receiver = createUploadReceiver({
      storage,
      log,
      nowMs,
      noteDeadline: (_, atMs) => void noted.push(atMs),
      slots: new UploadSlots(() => paceMs),
      diskRoom: () => disk,
    });
    const enter: typeof receiver.enter = (caller) => {
      const place = receiver.enter(caller);
      const leave = () => {
        inside.delete(leave);
        place.leave();
      };
      inside.add(leave);
      return { ...place, leave };
    };
    return { uploads: { ...receiver, enter }, node };
  });
  const from = { baseUrl: app.base, key: app.test };
  const folder = app.storage.layout.uploadsOf(app.organisationId);
  return {
    ...app,
    send: (content, name) => upload({ ...from, device: (++devices).toString(16).padStart(32, '0') }, content, name),
    sendFrom: (device, content = 'words') => upload({ ...from, device }, content),
    files: () => (existsSync(folder) ? readdirSync(folder) : []),
    passTime(ms) {
      now += ms;
    },
    beginDrain: () => node.send({ type: 'drain' }),
    passPace(ms) {
      paceMs += ms;
    },
    disk,
    noted,
    nowMs,
    inside: () => inside.size,
  };
}

test('POST /v1/uploads', async (t) => {
  const fixture = await openFixture(t);

  await t.test('UPLOAD-1, UPLOAD-2: each type is told from its bytes, keeps its file name, and is answered with when it goes', async () => {
    const pdf = makePdf([['Hello']]);
    const utf16 = Buffer.from('\ufeffHello', 'utf16le');
    for (const [content, name, type] of [
      [png(), 'Photo of a cat.txt', 'image/png'],
      [await picture('jpeg', 4_032, 3_024), 'größe ☂.jpg', 'image/jpeg'],
      [await picture('jpeg', 12_000, 900), 'large.jpg', 'image/jpeg'],
      [webp(), 'a.webp', 'image/webp'],
      [gif(), 'a.gif', 'image/gif'],
      [pdf, 'report.pdf', 'application/pdf'],
      ['Hello ☂\r\n\tthere', 'a.md', 'text/plain'],
      [Buffer.from('Gr\xfc\xdfe', 'latin1'), 'old.txt', 'text/plain'],
      [utf16, 'wide.txt', 'text/plain'],
      [svg('<rect/>'), 'a.svg', 'text/plain'],
    ] as const) {
      const { status, json, id } = await fixture.send(content, name);
      assert.equal(status, 200, `${name}: ${JSON.stringify(json)}`);
      assert.match(id, /^upl_[0-9a-z]{24}$/);
      const expires_at = new Date(START + 24 * HOUR_MS).toISOString();
      assert.deepEqual(json, { upload_id: id, name, media_type: type, size: Buffer.from(content as string).length, expires_at });
    }
    assert.deepEqual([...new Set(fixture.noted)], [START + 24 * HOUR_MS]);
  });

  await t.test(
    'UPLOAD-4: a name loses folders, control characters and marks of direction; without one it is named by its type',
    async () => {
      for (const [given, kept] of [
        ['../../etc/passwd', 'passwd'],
        ['C:\\secret\\notes.txt', 'notes.txt'],
        ['a\u202etxt.exe', 'atxt.exe'],
        ['..', 'text.txt'],
        [' ', 'text.txt'],
        ['x'.repeat(300), 'x'.repeat(255)],
      ] as const) {
        assert.equal((await fixture.send('words', given)).json.name, kept, given);
      }
    },
  );

  await t.test('UPLOAD-2: another type, or an image that is cut off, is 415 unsupported_media_type', async () => {
    for (const content of [
      zip('a.txt', 'words'),
      Buffer.from('words\0words'),
      Buffer.from([0x80, 0x81, 0x8d, 0x90]),
      png().subarray(0, -16),
      jpeg().subarray(0, -2),
      webp().subarray(0, -3),
      gif().subarray(0, -4),
      jpeg(16_384, 10),
      png(2, 20_000),
      Buffer.from('GIF89a\0\0\0\0\0\0\0;', 'latin1'),
    ]) {
      const { status, code } = await fixture.send(content);
      assert.deepEqual([status, code], [415, 'unsupported_media_type'], content.toString('latin1').slice(0, 40));
    }
    assert.equal((await fixture.send(await picture('jpeg', 16_383, 10))).status, 200);
    const bomb = await fixture.send(WEBP_BOMB);
    assert.deepEqual([bomb.status, bomb.code], [415, 'unsupported_media_type']);
    assert.match(JSON.stringify(bomb.json), /too complex/, 'whole, but more memory than a parser has');
  });

  await t.test('UPLOAD-3: 20 MB are taken, one byte more is 413 payload_too_large, none is 400 invalid_request', async () => {
    const largest = Buffer.alloc(UPLOAD_MAX_BYTES, 'a');
    const taken = await fixture.send(largest);
    assert.deepEqual([taken.status, taken.json.size], [200, UPLOAD_MAX_BYTES]);
    const large = await fixture.send(Buffer.concat([largest, Buffer.from('a')]));
    assert.deepEqual([large.status, large.code], [413, 'payload_too_large']);
    const empty = await fixture.send('');
    assert.deepEqual([empty.status, empty.code], [400, 'invalid_request']);
  });

  await t.test('UPLOAD-1, KEY-8: without X-Service-Device it is 400 invalid_request, before the file is read', async () => {
    const { status, code, json } = await fixture.sendFrom('');
    assert.deepEqual([status, code], [400, 'invalid_request']);
    assert.match(JSON.stringify(json), /"path":"X-Service-Device"/);
  });

  await t.test('UPLOAD-1: no form, no field `file`: 400 invalid_request', async () => {
    const headers = { 'X-Service-Key': fixture.test, 'X-Service-Device': 'e'.repeat(32) };
    const plain = await fetch(`${fixture.base}/v1/uploads`, { method: 'POST', headers, body: 'words' });
    const body = new FormData();
    body.append('photo', new Blob(['words']), 'a.txt');
    const other = await fetch(`${fixture.base}/v1/uploads`, { method: 'POST', headers, body });
    for (const answer of [plain, other]) {
      assert.equal(answer.status, 400);
      assert.equal(((await answer.json()) as { error: { code: string } }).error.code, 'invalid_request');
    }
  });

  await t.test('LIMIT-4: 20 a minute per device, then 429 with Retry-After: 5', async () => {
    const device = 'a'.repeat(32);
    for (let i = 0; i < 20; i++) assert.equal((await fixture.sendFrom(device)).status, 200);
    const refused = await fixture.sendFrom(device);
    assert.deepEqual([refused.status, refused.code, refused.headers['retry-after']], [429, 'rate_limited', '5']);
    assert.equal((await fixture.sendFrom('b'.repeat(32))).status, 200);
  });

  await t.test('KEY-4: a suspended app is 403 app_suspended', async () => {
    await fixture.patch({ suspended: true });
    const { status, code } = await fixture.send('words');
    await fixture.patch({ suspended: false });
    assert.deepEqual([status, code], [403, 'app_suspended']);
  });
});

/** An upload that has begun and does not go on; returns the request once the service has taken its place. */
async function halfSent({ base, test: key, inside }: UploadFixture, device: string): Promise<ClientRequest> {
  const before = inside();
  const call = request(`${base}/v1/uploads`, {
    method: 'POST',
    headers: {
      'X-Service-Key': key,
      'X-Service-Device': device,
      'Content-Type': 'multipart/form-data; boundary=b',
      'Content-Length': 1_000,
    },
  });
  call.on('error', () => {});
  call.write('--b\r\n');
  await eventually(() => inside() > before);
  return call;
}

test('UPLOAD-8: what cannot be served now is 503 uploads_unavailable with Retry-After', async (t) => {
  const fixture = await openFixture(t);
  const { layout } = fixture.storage;
  const isRefused = async (content: Uint8Array | string = 'words') => {
    const { status, code, headers } = await fixture.send(content);
    assert.deepEqual([status, code, headers['retry-after']], [503, 'uploads_unavailable', '5']);
  };

  await t.test(
    'UPLOAD-8: while the disk has no more room than the rest of it needs: 1 GB, 5 % of a small one, and what databases keep',
    async () => {
      for (const room of [
        { freeBytes: 1.5 * GB, totalBytes: 100 * GB },
        { freeBytes: 0.99 * GB, totalBytes: 10 * GB },
      ]) {
        Object.assign(fixture.disk, room);
        await isRefused();
        fixture.disk.freeBytes += 0.1 * GB;
        assert.equal((await fixture.send('words')).status, 200);
      }
      Object.assign(fixture.disk, { freeBytes: 50 * GB, totalBytes: 100 * GB });
    },
  );

  await t.test('UPLOAD-8: when files cannot be stored', async () => {
    renameSync(layout.uploads, `${layout.uploads}-away`);
    await isRefused();
    renameSync(`${layout.uploads}-away`, layout.uploads);
    assert.equal((await fixture.send('words')).status, 200);
  });

  await t.test(
    'UPLOAD-6: while a device has as many under way as a message may attach; a client that leaves gives its place back',
    async () => {
      const calls: ClientRequest[] = [];
      for (let i = 0; i < UPLOADS_AT_ONCE_PER_DEVICE_MAX; i++) calls.push(await halfSent(fixture, DEVICE));
      const refused = await fixture.sendFrom(DEVICE);
      assert.deepEqual([refused.status, refused.code, refused.headers['retry-after']], [503, 'uploads_unavailable', '5']);
      calls[0]?.destroy();
      await eventually(() => fixture.inside() < UPLOADS_AT_ONCE_PER_DEVICE_MAX);
      assert.equal((await fixture.sendFrom(DEVICE)).status, 200);
      for (const call of calls) call.destroy();
      await eventually(() => fixture.inside() === 0);
    },
  );

  await t.test('UPLOAD-8: while no parser process can be started; what needs none is taken', async (t) => {
    t.mock.method(parsers, 'parse', () => Promise.reject(new ParseFailure('unavailable', 'a parser could not be started')));
    await isRefused(png());
    assert.equal((await fixture.send('words')).status, 200);
  });

  await t.test('UPLOAD-8: while the service drains', async () => {
    fixture.beginDrain();
    await isRefused();
  });
});

test('UPLOAD-6: slow uploads of one address leave room for others, and go when somebody else waits', async (t) => {
  const fixture = await openFixture(t);
  const device = (n: number) => n.toString(16).padStart(32, 'f');
  const ended: Promise<number>[] = [];
  const calls: ClientRequest[] = [];
  for (let n = 0; n < 4; n++) {
    const call = await halfSent(fixture, device(n));
    calls.push(call);
    ended.push(new Promise((resolve) => call.once('response', ({ statusCode = 0 }) => resolve(statusCode))));
  }
  const refused = await fixture.sendFrom(device(9));
  assert.deepEqual([refused.status, refused.code], [503, 'uploads_unavailable']);
  // Too little came in ten seconds.
  fixture.passPace(10_000);
  assert.deepEqual(await Promise.all(ended), [408, 408, 408, 408]);
  assert.equal((await fixture.sendFrom(device(9))).status, 200);
  for (const call of calls) call.destroy();
});

test('UPLOAD-7: a device that keeps more than it may is 429 before its file is read; old files make room', async (t) => {
  const fixture = await openFixture(t);
  const device = 'a'.repeat(32);
  const ids: string[] = [];
  for (let n = 0; n < 40; n++) {
    // Its bucket leaks meanwhile.
    fixture.passTime(5_000);
    ids.push((await fixture.sendFrom(device)).id);
  }
  fixture.passTime(60_000);
  const refused = await fixture.sendFrom(device, Buffer.from([0x80, 0x81]));
  assert.deepEqual([refused.status, refused.code], [429, 'rate_limited']);
  // The first is 15 minutes old in as many.
  assert.equal(refused.headers['retry-after'], String(15 * 60 - 60 - 39 * 5));
  assert.equal(fixture.files().length, 40);
  assert.equal((await fixture.send('words')).status, 200);
  fixture.passTime(15 * 60_000);
  assert.equal((await fixture.sendFrom(device)).status, 200);
  assert.equal(fixture.files().includes(ids[0] ?? ''), false);
  assert.equal(fixture.files().length, 41);
});

test('UPLOAD-8: storage that refuses is 502 upload_failed, and nothing stays', async (t) => {
  const fixture = await openFixture(t);
  const { layout } = fixture.storage;
  const isRefused = async () => {
    const { status, code } = await fixture.send('words');
    assert.deepEqual([status, code], [502, 'upload_failed']);
  };
  // The folder's name is taken by a file.
  writeFileSync(layout.uploadsOf(fixture.organisationId), '');
  await isRefused();
  renameSync(layout.uploadsOf(fixture.organisationId), `${layout.uploads}-away`);
  const writer = openWriter(layout.organisation(fixture.organisationId));
  writer.exec('ALTER TABLE uploads RENAME TO uploads_away');
  await isRefused();
  writer.exec('ALTER TABLE uploads_away RENAME TO uploads');
  writer.close();
  assert.deepEqual(fixture.files(), []);
  const taken = await fixture.send('words');
  assert.equal(taken.status, 200);
  assert.deepEqual(fixture.files(), [taken.id]);
});

test('UPLOAD-9: an upload that nobody uses goes after 24 hours, with its file', async (t) => {
  const fixture = await openFixture(t);
  const first = await fixture.send('words');
  fixture.passTime(HOUR_MS);
  const second = await fixture.send('words');
  const deadlines = uploadDeadlines(fixture.storage, fixture.nowMs);
  const due = () => deadlines.next(fixture.storage.organisation(fixture.organisationId));
  assert.equal(due(), START + 24 * HOUR_MS);
  fixture.passTime(23 * HOUR_MS - 1);
  await deadlines.settle(fixture.organisationId);
  assert.deepEqual(fixture.files().sort(), [first.id, second.id].sort());
  fixture.passTime(1);
  await deadlines.settle(fixture.organisationId);
  assert.deepEqual(fixture.files(), [second.id]);
  assert.equal(due(), START + 25 * HOUR_MS);
});

test('UPLOAD-9: a start sweeps files away that a crash left without a row', async (t) => {
  const fixture = await openFixture(t);
  const { storage, organisationId } = fixture;
  const kept = await fixture.send('words');
  const stray = await fixture.send('words');
  const writer = openWriter(storage.layout.organisation(organisationId));
  writer.statement('DELETE FROM uploads WHERE id = :id').run({ id: stray.id });
  writer.close();
  fixture.passTime(1);
  const newer = await fixture.send('words');
  await startUploadSweep({ storage, log, others: silentAnnouncer }, fixture.nowMs()).done;
  await eventually(() => fixture.files().length === 2);
  assert.deepEqual(fixture.files().sort(), [kept.id, newer.id].sort());
});
