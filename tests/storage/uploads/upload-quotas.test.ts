/** How much may lie here that no message uses, by device, address and app, and what makes room. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { mintId } from '../../../protocol/ids.ts';
import { appQuotaBytes, hasRoomForUpload, UPLOAD_KEPT_MS } from '../../../storage/uploads/upload-quotas.ts';
import { transactions, useUploads } from '../../../storage/uploads/uploads.ts';
import { storeConversation, storeTurn } from '../conversations/stored-turns.ts';
import { addApp, openFiles } from '../migrations/migrated-files.ts';

const NOW = Date.UTC(2026, 10, 20);
const MB = 1024 * 1024;
const GB = 1024 * MB;

interface From {
  readonly device?: string;
  readonly address?: string;
  readonly size?: number;
  readonly nowMs?: number;
  readonly channel?: 'live' | 'sandbox';
  readonly app?: string;
}

function fixture(t: TestContext, appMaxBytes = GB) {
  const files = openFiles(t, NOW);
  const { db } = files;
  const appId = addApp(files, 'Shop', NOW);
  const other = addApp(files, 'Other', NOW);
  const save = ({ device = 'd', address = 'home', size = 1, nowMs = NOW, channel = 'live', app = appId }: From = {}) => {
    const id = mintId('upl', nowMs);
    const about = { name: 'a', mediaType: 'image/png', size, expiresAtMs: nowMs + 86_400_000, nowMs, appMaxBytes };
    const { full, ...saved } = transactions.saveUpload(db, { ...about, id, appId: app, channel, deviceId: device, address });
    return full === null
      ? { id, evicted: 'evicted' in saved ? saved.evicted : [], full: '' }
      : { id, evicted: [], full: full.scope, atMs: full.atMs };
  };
  const use = (id: string) => {
    storeTurn(db, { appId, conversationId: 'c', turnId: id, asked: `m_${id}` });
    assert.ok(useUploads(db, { messageId: `m_${id}`, uploads: [{ id, position: 0, name: 'a', text: null }] }));
  };
  storeConversation(db, { id: 'c', appId });
  const kept = () => db.statement('SELECT count(*) AS n FROM uploads').get()?.n;
  return { db, save, use, kept, other };
}

test('STORE-13: a device keeps 160 MB or 40 files, an address 320 MB, an app its share; what a message uses does not count', (t) => {
  const { save, use, other } = fixture(t);
  const first = save({ size: 160 * MB });
  assert.equal(first.full, '');
  assert.equal(save().full, 'device');
  use(first.id);
  assert.equal(save({ size: 160 * MB }).full, '');
  assert.equal(save({ device: 'e', size: 160 * MB }).full, '');
  assert.equal(save({ device: 'f' }).full, 'address');
  for (let n = 0; n < 4; n++) assert.equal(save({ device: `g${n}`, address: `at ${n}`, size: 160 * MB }).full, '');
  assert.equal(save({ device: 'h', address: 'elsewhere', size: 160 * MB }).full, 'app');
  assert.equal(save({ channel: 'sandbox' }).full, '');
  assert.equal(save({ app: other }).full, '');
});

test('STORE-13: 40 files of a device, however small', (t) => {
  const { save } = fixture(t);
  for (let n = 0; n < 40; n++) assert.equal(save().full, '');
  const refused = save();
  assert.deepEqual([refused.full, refused.atMs], ['device', NOW + UPLOAD_KEPT_MS]);
});

test('STORE-13: where a quota is full, what lies for 15 minutes goes, oldest first and no more than has to; younger files never', (t) => {
  const { save, kept } = fixture(t);
  const ids = Array.from({ length: 8 }, (_, n) => save({ size: 20 * MB, nowMs: NOW + n }).id);
  assert.equal(save({ size: 30 * MB, nowMs: NOW + UPLOAD_KEPT_MS }).full, 'device');
  assert.equal(kept(), 8);
  const made = save({ size: 30 * MB, nowMs: NOW + UPLOAD_KEPT_MS + 1 });
  assert.deepEqual([made.full, made.evicted], ['', ids.slice(0, 2)]);
  assert.equal(kept(), 7);
});

test('STORE-13: nothing goes for an upload that another quota refuses', (t) => {
  const { save, kept } = fixture(t, 200 * MB);
  for (let n = 0; n < 8; n++) save({ size: 20 * MB, nowMs: NOW });
  save({ device: 'e', address: 'elsewhere', size: 40 * MB, nowMs: NOW + UPLOAD_KEPT_MS });
  const refused = save({ size: 190 * MB, nowMs: NOW + UPLOAD_KEPT_MS });
  assert.notEqual(refused.full, '');
  assert.equal(kept(), 9);
});

test('STORE-13: an app may have 2 GB, 5 % of a small disk, and what one device may in any case', () => {
  for (const [totalBytes, quota] of [
    [250 * GB, 2 * GB],
    [20 * GB, GB],
    [GB, 160 * MB],
  ] as const) {
    assert.equal(appQuotaBytes({ freeBytes: 0, totalBytes }), quota);
  }
});

test('STORE-15: uploads leave 1 GB of a disk beside what databases keep, 5 % of a small one', () => {
  for (const [freeBytes, totalBytes, fits] of [
    [1.51 * GB, 250 * GB, true],
    [1.49 * GB, 250 * GB, false],
    [0.11 * GB, GB, true],
    [0.09 * GB, GB, false],
    [0, GB, false],
  ] as const) {
    assert.equal(hasRoomForUpload({ freeBytes, totalBytes }, 1), fits, `${freeBytes / GB} of ${totalBytes / GB}`);
  }
});

test('STORE-13: where the app counts no addresses, no quota is by address', (t) => {
  const { save } = fixture(t);
  for (let n = 0; n < 4; n++) assert.equal(save({ device: `d${n}`, address: '', size: 160 * MB }).full, '');
  assert.equal(save({ device: 'e', address: 'home', size: 160 * MB }).full, '');
});
