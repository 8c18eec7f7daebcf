/** The watch over the disk itself: what it cannot find out must not end the process that asks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Conditions } from '../../../storage/health/conditions.ts';
import { createDiskWatch } from '../../../storage/health/disk-watch.ts';
import { hasRoomForUpload, leftByUploads } from '../../../storage/uploads/upload-quotas.ts';
import { each } from '../../support/each.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const SILENT = { error() {}, warn() {}, info() {} };

test('STORE-16: a disk that does not even say how much room it has is a failing one', (t) => {
  const conditions = new Conditions(SILENT, Date.now);
  const room = () => {
    throw Object.assign(new Error('EIO: i/o error, statfs'), { code: 'EIO' });
  };
  const watch = createDiskWatch({ dir: temporaryDir(t), conditions, onOver() {}, onLow() {}, room });
  t.after(() => watch.close());
  watch.note(Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO' }));
  assert.deepEqual(each(conditions.list(), 'name'), ['disk_failing']);
});

test('STORE-17: what the disk refuses of one organisation’s file is no condition of the whole node, and does not flap', (t) => {
  const said: string[] = [];
  const say = (_: object, text: string) => void said.push(text);
  const conditions = new Conditions({ error: say, warn: say, info: say }, Date.now);
  const watch = createDiskWatch({
    dir: temporaryDir(t),
    conditions,
    onOver() {},
    onLow() {},
    room: () => ({ freeBytes: 2e12, totalBytes: 4e12 }),
  });
  t.after(() => watch.close());
  const error = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_READ' });
  for (let n = 0; n < 10; n++) watch.note(error, 'org_a');
  assert.deepEqual(
    conditions.list().map(({ name, subject }) => [name, subject]),
    [['disk_failing', 'org_a']],
  );
  assert.equal(said.length, 1);
  for (let n = 0; n < 30; n++) watch.note(error, `org_${n}`);
  assert.ok(conditions.holds('disk_failing'), 'with many files refused it is the disk');
});

test('STORE-15: while the disk has no room for uploads the node says so', (t) => {
  const conditions = new Conditions(SILENT, Date.now);
  const totalBytes = 4e12;
  const freeBytes = leftByUploads({ totalBytes, freeBytes: 0 }) - 1;
  const watch = createDiskWatch({ dir: temporaryDir(t), conditions, onOver() {}, onLow() {}, room: () => ({ freeBytes, totalBytes }) });
  t.after(() => watch.close());
  assert.equal(hasRoomForUpload({ freeBytes, totalBytes }, 0), false);
  assert.match(conditions.list()[0]?.detail ?? '', /less than 1536 MB left, of which databases keep 512: uploads are refused/);
});
