/** What a backup brings back, and what is refused before anything is put into place (docs/backups.md). */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { backUp } from '../../../storage/backup/backup.ts';
import { filesBelow, MANIFEST, type Manifest, manifestText, readManifest } from '../../../storage/backup/backup-manifest.ts';
import { refuseCutOffRestore, restore } from '../../../storage/backup/restore.ts';
import { CONTROL_TABLES } from '../../../storage/moving/control-rows.ts';
import { NOBODY, organisationsUsedBy } from '../../../storage/organisations/organisation-uses.ts';
import { lockDataDir } from '../../../storage/sqlite/lock.ts';
import { openStorage } from '../../../storage/storage.ts';
import { readUploadFile } from '../../../storage/uploads/upload-files.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { makeSource, type Source, testLog } from './backed-up.ts';

interface BackedUp extends Source {
  readonly backup: string;
  /** A place for a data directory, where there is nothing. */
  fresh(): string;
}

async function makeBackup(t: TestContext, masterKey?: string): Promise<BackedUp> {
  const source = await makeSource(t, masterKey);
  const backup = join(temporaryDir(t), 'backup');
  await backUp({ dataDir: source.dataDir, target: backup, masterKey, log: testLog() });
  return { ...source, backup, fresh: () => join(temporaryDir(t), 'data') };
}

/** Restoring is refused with this, and leaves nothing. */
async function refused(backup: string, dataDir: string, pattern: RegExp, masterKey?: string): Promise<void> {
  await assert.rejects(restore({ source: backup, dataDir, masterKey, log: testLog() }), pattern);
  assert.deepEqual(existsSync(dataDir) ? readdirSync(dataDir).filter((name) => name !== 'lock.sqlite') : [], []);
}

test('BACKUP-5: a restore brings back every row and file, for their owner only, and says from when', async (t) => {
  const { backup, fresh, places, uploadId, storage } = await makeBackup(t);
  const dataDir = fresh();
  const report = await restore({ source: backup, dataDir, log: testLog() });
  const manifest = readManifest(backup);
  assert.deepEqual([report.organisations, report.uploads, report.masterKeyInstalled], [2, 1, true]);
  assert.deepEqual([report.backupBeganAt, report.files], [manifest.began_at, manifest.files.length]);
  for (const { path, size } of filesBelow(backup)) {
    if (path === MANIFEST) continue;
    assert.equal(statSync(join(dataDir, path)).mode & 0o777, 0o600);
    // To its rows the restore adds that every organisation has to be looked through.
    if (path === 'control.sqlite') continue;
    assert.deepEqual(readFileSync(join(dataDir, path)), readFileSync(join(backup, path)), path);
    assert.equal(statSync(join(dataDir, path)).size, size);
  }
  assert.deepEqual(readdirSync(dataDir).sort(), ['control.sqlite', 'lock.sqlite', 'master-key', 'organisations', 'outbox', 'uploads']);
  for (const folder of ['', 'organisations', 'outbox', 'uploads']) assert.equal(statSync(join(dataDir, folder)).mode & 0o777, 0o700);
  const restored = openStorage({ dataDir, masterKey: undefined, onFatal: assert.fail });
  t.after(() => restored.close());
  const words = await readUploadFile(restored, places[0].organisationId, uploadId);
  assert.equal(words?.toString(), 'words');
  const rows = (from: typeof storage) => from.organisation(places[1].organisationId).statement('SELECT * FROM apps').all();
  assert.deepEqual(rows(restored), rows(storage));
  const tables = CONTROL_TABLES.map(({ table }) => `SELECT * FROM ${table}`);
  for (const sql of tables) assert.deepEqual(restored.control.statement(sql).all(), storage.control.statement(sql).all(), sql);
});

test('STORE-20: after a restore every organisation is looked through: the control file was copied after the others', async (t) => {
  const { backup, fresh, places } = await makeBackup(t);
  const dataDir = fresh();
  await restore({ source: backup, dataDir, log: testLog() });
  const restored = openStorage({ dataDir, masterKey: undefined, onFatal: assert.fail });
  t.after(() => restored.close());
  assert.deepEqual(organisationsUsedBy(restored.control, NOBODY), places.map(({ organisationId }) => organisationId).sort());
});

test('BACKUP-5: one flipped bit in any file is found, the file named, and nothing restored', async (t) => {
  const { backup, fresh } = await makeBackup(t);
  const paths = [...filesBelow(backup)].map(({ path }) => path);
  const dataDir = fresh();
  const flip = (path: string, at: number, bit: number) => {
    const bytes = readFileSync(join(backup, path));
    const offset = at % bytes.length;
    bytes[offset] = (bytes[offset] as number) ^ (1 << bit);
    writeFileSync(join(backup, path), bytes);
  };
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), fc.nat(), fc.integer({ min: 0, max: 7 }), async (path, at, bit) => {
      flip(path, at, bit);
      try {
        // A key that is no key any more is told by the key's own check.
        await refused(backup, dataDir, path === 'master-key' ? /master-key/ : new RegExp(path.replaceAll('.', '\\.')));
      } finally {
        flip(path, at, bit);
      }
    }),
    {
      numRuns: 40,
      examples: paths.flatMap((path): [string, number, number][] => [
        [path, 0, 0],
        [path, 77, 3],
      ]),
    },
  );
  await restore({ source: backup, dataDir, log: testLog() });
});

test('BACKUP-1: nothing that opens the console is in a backup, and a backup with it is refused', async (t) => {
  const { backup, fresh } = await makeBackup(t);
  const clear = 'rd_op_token\n';
  for (const { path } of filesBelow(backup)) assert.ok(!readFileSync(join(backup, path)).includes(clear), path);
  writeFileSync(join(backup, 'operator-token'), clear);
  const sha256 = createHash('sha256').update(clear).digest('hex');
  rewrite(backup, (manifest) => ({ ...manifest, files: [...manifest.files, { path: 'operator-token', size: clear.length, sha256 }] }));
  await refused(backup, fresh(), /cannot be used: files/);
});

test('BACKUP-5: a missing file, an extra one, a link in place of one and another database are named', async (t) => {
  const { backup, fresh, places } = await makeBackup(t);
  const mail = `outbox/${'0'.repeat(32)}.eml`;
  const file = join(backup, mail);
  const aside = join(fresh(), '..', 'aside');
  renameSync(file, aside);
  await refused(backup, fresh(), new RegExp(`damaged, nothing was restored: ${mail} is missing`));
  symlinkSync(aside, file);
  await refused(backup, fresh(), new RegExp(`${mail} is no plain file`));
  rmSync(file);
  copyFileSync(aside, file);
  writeFileSync(join(backup, 'uploads', 'extra'), 'x');
  await refused(backup, fresh(), /uploads\/extra is not in manifest\.json/);
  rmSync(join(backup, 'uploads', 'extra'));
  const [one, two] = places.map(({ organisationId }) => `organisations/${organisationId}.sqlite`) as [string, string];
  rewrite(backup, (manifest) => {
    const control = manifest.files.find(({ path }) => path === 'control.sqlite');
    copyFileSync(join(backup, 'control.sqlite'), join(backup, one));
    return { ...manifest, files: manifest.files.map((file) => (file.path === one ? { ...file, ...control, path: one } : file)) };
  });
  await refused(backup, fresh(), new RegExp(`${one} is a database of kind "control"`));
  rewrite(backup, (manifest) => ({
    ...manifest,
    files: manifest.files.flatMap((file) =>
      file.path === one ? [] : file.path === two ? [{ ...file, database: { schema_version: 1, rows: {} } }] : [file],
    ),
  }));
  rmSync(join(backup, one));
  await refused(backup, fresh(), new RegExp(`${two} does not hold the rows that were counted`));
});

/** Writes the manifest anew, with a digest that fits. */
function rewrite(backup: string, change: (manifest: Manifest) => object): void {
  const { format: _, version: __, ...contents } = readManifest(backup);
  writeFileSync(join(backup, MANIFEST), manifestText(change(contents as Manifest) as Manifest));
}

test('BACKUP-5: no manifest, one of something else, of a newer release, or with a path that leads elsewhere is refused', async (t) => {
  const { backup, fresh } = await makeBackup(t);
  const path = join(backup, MANIFEST);
  const text = readFileSync(path, 'utf8');
  for (const [other, pattern] of [
    [text.replace('"version": 1', '"version": 2'), /made by a newer release; this program knows version 1/],
    [text.replace('assistant-service backup', 'else'), /its format is not/],
    ['{', /is no JSON object/],
    ['[]', /its format is not/],
  ] as const) {
    writeFileSync(path, other);
    await refused(backup, fresh(), pattern);
  }
  for (const bad of ['../elsewhere', '/etc/passwd', 'organisations/../../x.sqlite', 'lock.sqlite', 'uploads/org_x/y']) {
    writeFileSync(path, text);
    rewrite(backup, (manifest) => ({ ...manifest, files: manifest.files.map((file, n) => (n === 0 ? { ...file, path: bad } : file)) }));
    await refused(backup, fresh(), /manifest\.json cannot be used: files\.0\.path/);
  }
  rmSync(path);
  await refused(backup, fresh(), /is missing: this is no backup, or one that was cut off/);
});

test('BACKUP-6: a directory that holds anything, or that a service uses, is left alone', async (t) => {
  const { backup, fresh, dataDir: used, storage } = await makeBackup(t);
  const dataDir = fresh();
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'notes.txt'), 'mine');
  await assert.rejects(
    restore({ source: backup, dataDir, log: testLog() }),
    /is not empty \(notes\.txt\), nothing was restored\. Move it away/,
  );
  assert.deepEqual(readdirSync(dataDir), ['notes.txt']);
  const lock = lockDataDir(used);
  await assert.rejects(restore({ source: backup, dataDir: used, log: testLog() }), new RegExp(`is in use by process ${process.pid}`));
  lock.release();
  await assert.rejects(restore({ source: backup, dataDir: used, log: testLog() }), /is not empty/);
  assert.ok(storage.control.statement('SELECT count(*) AS n FROM organisations').get());
  await assert.rejects(restore({ source: backup, dataDir: join(backup, 'data'), log: testLog() }), /lies inside the backup/);
});

test('BACKUP-6: a restore that was cut off is no data directory, says so, and is begun anew', async (t) => {
  const { backup, fresh } = await makeBackup(t);
  const dataDir = fresh();
  // As a kill between two moves leaves it.
  cpSync(join(backup, 'organisations'), join(dataDir, 'organisations'), { recursive: true });
  mkdirSync(join(dataDir, 'restore.partial'));
  copyFileSync(join(backup, 'control.sqlite'), join(dataDir, 'restore.partial', 'control.sqlite'));
  assert.throws(() => refuseCutOffRestore(dataDir), /was interrupted, so its data is incomplete\. Run the restore again/);
  const log = testLog();
  await restore({ source: backup, dataDir, log });
  assert.equal(log.warnings.length, 1);
  refuseCutOffRestore(dataDir);
  assert.equal(existsSync(join(dataDir, 'restore.partial')), false);
});

test('BACKUP-7: under another master key, or without the one it needs, nothing is restored', async (t) => {
  const key = () => randomBytes(32).toString('base64');
  const masterKey = key();
  const without = await makeBackup(t, masterKey);
  await refused(without.backup, without.fresh(), /does not hold the master key: set MASTER_KEY/);
  await refused(without.backup, without.fresh(), /MASTER_KEY is not the key .* Set the key that the service had then/, key());
  const report = await restore({ source: without.backup, dataDir: without.fresh(), masterKey, log: testLog() });
  assert.deepEqual([report.masterKeyInstalled, existsSync(join(report.dataDir, 'master-key'))], [false, false]);
  const holding = await makeBackup(t);
  await refused(holding.backup, holding.fresh(), /Unset MASTER_KEY \(the backup holds its key\)/, key());
});
