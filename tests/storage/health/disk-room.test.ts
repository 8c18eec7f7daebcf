/** The one question how much room the disk has. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { createDiskRoom, isFull, keptForDatabases, readDiskRoom } from '../../../storage/health/disk-room.ts';

const GB = 1024 ** 3;
const MB = 1024 ** 2;

test('STORE-15: databases keep 512 MB of a disk, or 5 % of a small one', () => {
  assert.equal(keptForDatabases({ freeBytes: 0, totalBytes: 100 * GB }), 512 * MB);
  assert.equal(keptForDatabases({ freeBytes: 0, totalBytes: 1_000 * MB }), 50 * MB);
  assert.equal(isFull({ freeBytes: 500 * MB, totalBytes: 100 * GB }), false);
  assert.equal(isFull({ freeBytes: 4_096, totalBytes: 100 * GB }), true);
});

test('STORE-15: the system is asked once a second, however often the room is asked for', () => {
  let nowMs = 0;
  let asked = 0;
  const room = createDiskRoom(
    tmpdir(),
    (dir) => {
      asked += 1;
      return readDiskRoom(dir);
    },
    () => nowMs,
  );
  for (let n = 0; n < 100; n++) assert.ok(room().totalBytes > 0);
  assert.equal(asked, 1);
  nowMs = 1_000;
  room();
  assert.equal(asked, 2);
});
