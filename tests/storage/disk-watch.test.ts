/** The watch over the disk itself: what it cannot find out must not end the process that asks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConditions } from '../../src/storage/conditions.ts';
import { createDiskWatch } from '../../src/storage/disk-watch.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const SILENT = { error() {}, info() {} };

test('Durability: a disk that does not even say how much room it has is a failing one', (t) => {
  const conditions = createConditions(SILENT, Date.now);
  const room = () => {
    throw Object.assign(new Error('EIO: i/o error, statfs'), { code: 'EIO' });
  };
  const watch = createDiskWatch({ dir: temporaryDir(t), conditions, onOver() {}, room });
  t.after(() => watch.close());
  watch.note(Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO' }));
  assert.deepEqual(
    conditions.list().map(({ name }) => name),
    ['disk_failing'],
  );
});
