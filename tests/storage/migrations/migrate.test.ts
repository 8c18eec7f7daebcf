import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { APPLICATION_IDS, type Migration, migrate, SchemaError } from '../../../storage/migrations/migrate.ts';
import type { Connection, SqlValue } from '../../../storage/sqlite/connection.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const FIRST: Migration = { version: 1, name: 'notes', sql: 'CREATE TABLE notes (text TEXT NOT NULL) STRICT' };
const SECOND: Migration = {
  version: 2,
  name: 'notes have authors',
  sql: "ALTER TABLE notes ADD COLUMN author TEXT NOT NULL DEFAULT 'nobody'",
};

function pragma(connection: Connection, name: string): SqlValue | undefined {
  return connection.statement(`PRAGMA ${name}`).get()?.[name];
}

test('STORE-11: a fresh file gets every step, its version and its kind', (t) => {
  const connection = openWriter(join(temporaryDir(t), 'a.sqlite'));
  migrate(connection, [FIRST, SECOND], 'control');
  assert.equal(pragma(connection, 'user_version'), 2);
  assert.equal(pragma(connection, 'application_id'), APPLICATION_IDS.control);
  connection.exec("INSERT INTO notes VALUES ('a', 'b')");
  connection.close();
});

test('STORE-11: an upgrade keeps the rows and runs only the missing steps', (t) => {
  const path = join(temporaryDir(t), 'a.sqlite');
  const old = openWriter(path);
  migrate(old, [FIRST], 'organisation');
  old.exec("INSERT INTO notes VALUES ('kept')");
  old.close();
  const connection = openWriter(path);
  migrate(connection, [FIRST, SECOND], 'organisation');
  migrate(connection, [FIRST, SECOND], 'organisation');
  assert.deepEqual(connection.statement('SELECT * FROM notes').all(), [{ text: 'kept', author: 'nobody' }]);
  connection.close();
});

test('STORE-11: a file of a newer release is refused, naming the file, its version and the known one', (t) => {
  const path = join(temporaryDir(t), 'a.sqlite');
  const connection = openWriter(path);
  migrate(connection, [FIRST, SECOND], 'control');
  assert.throws(
    () => migrate(connection, [FIRST], 'control'),
    (error: unknown) => {
      assert.ok(error instanceof SchemaError);
      assert.ok(error.message.includes(path) && error.message.includes('version 2') && error.message.includes('version 1'));
      return true;
    },
  );
  connection.close();
});

test('STORE-11: a file of another kind or another program is refused and left as it was', (t) => {
  const dir = temporaryDir(t);
  const other = openWriter(join(dir, 'other.sqlite'));
  migrate(other, [FIRST], 'control');
  assert.throws(() => migrate(other, [FIRST], 'organisation'), SchemaError);
  const foreign = openWriter(join(dir, 'foreign.sqlite'));
  foreign.exec('CREATE TABLE theirs (x)');
  assert.throws(() => migrate(foreign, [FIRST], 'control'), /foreign\.sqlite is not a database of kind "control"/);
  assert.deepEqual(foreign.statement('SELECT name FROM sqlite_schema').all(), [{ name: 'theirs' }]);
  assert.equal(pragma(foreign, 'application_id'), 0);
  const early = openWriter(join(dir, 'early.sqlite'));
  early.exec(`CREATE TABLE ours (x); PRAGMA application_id = ${0x41_53_76_43}; PRAGMA user_version = 1`);
  assert.throws(() => migrate(early, [FIRST, SECOND], 'control'), /A state before release 0\.1\.0 wrote others/);
  early.close();
  other.close();
  foreign.close();
});

test('STORE-11: a step that fails leaves nothing of itself and keeps the steps before it', (t) => {
  const connection = openWriter(join(temporaryDir(t), 'a.sqlite'));
  const broken: Migration = { version: 2, name: 'broken', sql: 'CREATE TABLE half (x); INSERT INTO missing VALUES (1)' };
  assert.throws(() => migrate(connection, [FIRST, broken], 'control'), /migration 2 \(broken\) failed and was rolled back: no such table/);
  assert.deepEqual(connection.statement('SELECT name FROM sqlite_schema').all(), [{ name: 'notes' }]);
  assert.equal(pragma(connection, 'user_version'), 1);
  connection.close();
});

test('STORE-11: a list with a gap is a bug and touches no file', (t) => {
  const connection = openWriter(join(temporaryDir(t), 'a.sqlite'));
  assert.throws(() => migrate(connection, [SECOND], 'control'), /is number 1 but says 2/);
  assert.equal(pragma(connection, 'user_version'), 0);
  connection.close();
});

test('STORE-11: a file that another process migrates before any of the reads is taken for what it is', (t) => {
  const dir = temporaryDir(t);
  for (const before of [1, 2, 3]) {
    const path = join(dir, `${before}.sqlite`);
    const connection = openWriter(path);
    const other = openWriter(path);
    let reads = 0;
    let isLocked = false;
    const race = () => {
      if (!isLocked && ++reads === before) migrate(other, [FIRST, SECOND], 'control');
      return connection;
    };
    const raced: Connection = {
      path,
      statement: (sql) => race().statement(sql),
      tuples: (sql) => race().tuples(sql),
      exec(sql) {
        connection.exec(sql);
        isLocked = sql.startsWith('BEGIN') || (isLocked && sql !== 'COMMIT' && sql !== 'ROLLBACK');
      },
      close: () => connection.close(),
    };
    migrate(raced, [FIRST, SECOND], 'control');
    assert.ok(reads >= 1);
    assert.equal(pragma(connection, 'user_version'), 2);
    other.close();
    connection.close();
  }
});

test('STORE-11: of processes that start together exactly one applies each step', async (t) => {
  const path = join(temporaryDir(t), 'a.sqlite');
  const children = Array.from({ length: 3 }, () =>
    spawn(process.execPath, [fileURLToPath(new URL('./migrate-worker.js', import.meta.url)), path], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  await Promise.all(children.map(({ stdout }) => once(stdout, 'data')));
  const ended = children.map((child) => once(child, 'exit'));
  for (const { stdin } of children) stdin.write('go');
  const exits = await Promise.all(ended);
  assert.deepEqual(exits, [
    [0, null],
    [0, null],
    [0, null],
  ]);
  const connection = openWriter(path);
  assert.deepEqual(connection.statement('SELECT version FROM steps ORDER BY rowid').all(), [
    { version: 1 },
    { version: 2 },
    { version: 3 },
  ]);
  connection.close();
});
