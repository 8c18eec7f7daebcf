/** Copies of databases, made while others write (docs/backups.md). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { organisationMigrations } from '../../../storage/migrations/organisation.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { copyDatabase, DamagedDatabase, sha256OfFile, verifyDatabase } from '../../../storage/sqlite/database-copy.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { addApp, openFiles } from '../migrations/migrated-files.ts';

test('BACKUP-8: what was committed is in the copy, what is not committed is not, and the writer goes on', (t) => {
  const files = openFiles(t, 1);
  const target = join(temporaryDir(t), 'copy.sqlite');
  addApp(files, 'Before', 1);
  files.db.exec('BEGIN IMMEDIATE');
  addApp(files, 'Open', 2);
  copyDatabase(files.db.path, target);
  files.db.exec('COMMIT');
  const facts = verifyDatabase(target);
  assert.equal(facts.rows.apps, 1);
  assert.deepEqual([facts.kind, facts.schemaVersion], ['organisation', organisationMigrations.length]);
  assert.equal(statSync(target).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(target, '..')), ['copy.sqlite'], 'nothing lies beside the copy');
  const bytes = readFileSync(target);
  assert.deepEqual([facts.size, facts.sha256], [bytes.length, createHash('sha256').update(bytes).digest('hex')]);
  assert.equal(sha256OfFile(target), facts.sha256);
});

test('BACKUP-8: nothing is overwritten, and a copy that fails leaves nothing', (t) => {
  const { control } = openFiles(t, 1);
  const dir = temporaryDir(t);
  const target = join(dir, 'copy.sqlite');
  writeFileSync(target, 'mine');
  assert.throws(() => copyDatabase(control.path, target), { code: 'EEXIST' });
  assert.equal(readFileSync(target, 'utf8'), 'mine');
  assert.throws(() => copyDatabase(join(dir, 'none.sqlite'), join(dir, 'other.sqlite')), { code: 'SQLITE_CANTOPEN' });
  assert.equal(existsSync(join(dir, 'other.sqlite')), false);
});

test('BACKUP-8: a copy of another program, of a newer release, with orphans or with damaged pages is refused by name', (t) => {
  const files = openFiles(t, 1);
  addApp(files, 'App', 1);
  const dir = temporaryDir(t);
  const refused = (name: string, pattern: RegExp, change: (path: string) => void) => {
    const path = join(dir, name);
    copyDatabase(files.db.path, path);
    change(path);
    assert.throws(
      () => verifyDatabase(path),
      (error) => error instanceof DamagedDatabase && error.message.startsWith(path) && pattern.test(error.message),
    );
  };
  const run = (sql: string) => (path: string) => {
    const db = openWriter(path);
    db.exec(`PRAGMA foreign_keys = OFF; ${sql}`);
    db.close();
  };
  refused('foreign', /not a database of this service/, run('PRAGMA application_id = 7'));
  refused('newer', /made by a newer release/, run(`PRAGMA user_version = ${organisationMigrations.length + 1}`));
  const orphan = "INSERT INTO publications (app_id, version, published_at_ms) VALUES ('app_none', 1, 1)";
  refused('orphans', /a row of publications refers to a row of apps that is missing/, run(orphan));
  refused('damaged', /damaged|cannot be read/, (path) => {
    const bytes = readFileSync(path);
    // The page of a tree: its kind is a byte that says what follows.
    bytes[4096] = 0x77;
    writeFileSync(path, bytes);
  });
});
