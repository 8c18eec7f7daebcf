import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { Checkpoints, mend } from '../../../storage/sqlite/log-emptying.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

/** Bytes of the file itself after a thousand writes, each of which asked for a checkpoint. */
function bytesInFile(t: TestContext, replicated: boolean): number {
  const path = join(temporaryDir(t), 'a.sqlite');
  const db = openWriter(path);
  t.after(() => db.close());
  const checkpoints = new Checkpoints(replicated);
  db.exec('CREATE TABLE t (x TEXT) STRICT');
  for (let write = 0; write < 1_000; write += 1) {
    db.statement('INSERT INTO t VALUES (:x)').run({ x: String(write) });
    checkpoints.afterGroup(db, 1);
  }
  return statSync(path).size;
}

test('REPLICA-3: the writer leaves the checkpoints of a replicated file to its replicator', (t) => {
  assert.equal(bytesInFile(t, true), 4_096, 'only the first page is in the file itself');
  assert.ok(bytesInFile(t, false) > 8_192, 'else the writer moves pages there');
});

test('REPLICA-3: the writer leaves them to it however large the log is', (t) => {
  const path = join(temporaryDir(t), 'a.sqlite');
  const db = openWriter(path);
  t.after(() => db.close());
  const checkpoints = new Checkpoints(true);
  db.exec('CREATE TABLE t (x BLOB) STRICT');
  for (let megabyte = 0; megabyte < 70; megabyte += 1) db.statement('INSERT INTO t VALUES (:x)').run({ x: Buffer.alloc(1_000_000) });
  const before = statSync(path).size;
  checkpoints.afterGroup(db, 1_000);
  assert.equal(statSync(path).size, before);
});

test('STORE-22: what the disk says while a log is mended is what is thrown, also where SQLite has rolled back by itself', (t) => {
  const db = openWriter(join(temporaryDir(t), 'a.sqlite'));
  t.after(() => db.close());
  db.exec('CREATE TABLE t (x TEXT) STRICT');
  const { exec } = db;
  const refused = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' });
  db.exec = (sql) => {
    exec.call(db, sql === 'COMMIT' ? 'ROLLBACK' : sql);
    if (sql === 'COMMIT') throw refused;
  };
  assert.throws(() => mend(db, 'log'), refused);
});
