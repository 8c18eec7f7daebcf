/** Reads in a thread of their own see what was committed before they were asked for, and keep the event loop for nobody. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { countUsers } from '../../storage/billing/usage.ts';
import { LongReader } from '../../storage/long-reads.ts';
import { StorageError } from '../../storage/sqlite/storage-error.ts';
import { threadClock } from '../../watch/thread-time.ts';
import { addApp, openFiles } from './migrations/migrated-files.ts';

test('STORE-18, LIMIT-34: users of an organisation as large as the scale plan are counted off the event loop', async (t) => {
  const nowMs = Date.parse('2026-11-21T12:00:00.000Z');
  const files = openFiles(t, nowMs);
  const appId = addApp(files, 'Shop', nowMs);
  const see = (from: number, to: number) => {
    const sql = `WITH RECURSIVE n (i) AS (SELECT :from UNION ALL SELECT i + 1 FROM n WHERE i < :to)
      INSERT INTO devices (app_id, channel, device_id, seen_at_ms) SELECT :appId, 'live', printf('%032x', i), :nowMs FROM n`;
    files.db.statement(sql).run({ from, to, nowMs, appId });
  };
  const reader = new LongReader();
  t.after(() => reader.close());
  const count = () => reader.countUsers(files.db.path, nowMs);
  see(1, 20_000);
  // The thread is made at the first read.
  assert.equal(await count(), 20_000);
  see(20_001, 20_010);
  const clock = threadClock();
  const before = clock().ranMs;
  const asked = Array.from({ length: 5 }, count);
  const askedMs = clock().ranMs - before;
  assert.deepEqual(await Promise.all(asked), Array(5).fill(20_010));
  const countedFrom = clock().ranMs;
  assert.equal(countUsers(files.db, nowMs), 20_010);
  const countedMs = clock().ranMs - countedFrom;
  assert.ok(askedMs < countedMs / 2, `five counts were asked for in ${askedMs} ms; one made here takes ${countedMs} ms`);
});

test('STORE-18: a long read that cannot be made is told as overload, one of a file that is away or damaged as any other read of it', async (t) => {
  const files = openFiles(t, 0);
  const reader = new LongReader();
  const inFile = (name: string) => reader.countUsers(join(dirname(files.db.path), name), 0);
  const code = (expected: string) => (error: unknown) => error instanceof StorageError && error.code === expected;
  await assert.rejects(inFile('gone.sqlite'), code('unavailable'));
  writeFileSync(join(dirname(files.db.path), 'letter.sqlite'), 'Dear reader, this is no database at all. '.repeat(100));
  await assert.rejects(inFile('letter.sqlite'), code('corrupt'));
  await reader.close();
  await assert.rejects(
    reader.countUsers(files.db.path, 0),
    (error: unknown) => error instanceof StorageError && error.code === 'overloaded' && error.retryable,
  );
});
