/** Backups of a data directory that is in use (docs/backups.md). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { transactions as apps } from '../../../storage/apps/apps.ts';
import { backUp } from '../../../storage/backup/backup.ts';
import { copyDatabases } from '../../../storage/backup/backup-databases.ts';
import { filesBelow, MANIFEST, readManifest } from '../../../storage/backup/backup-manifest.ts';
import { prepareDataDir } from '../../../storage/data-layout.ts';
import { writeIdentity } from '../../../storage/organisations/organisation-file.ts';
import { transactions as organisations } from '../../../storage/organisations/organisations.ts';
import { openReader, openWriter } from '../../../storage/sqlite/database.ts';
import { copyDatabase, verifyDatabase } from '../../../storage/sqlite/database-copy.ts';
import { lockDataDir } from '../../../storage/sqlite/lock.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { addUpload, makeSource, type Source, testLog } from './backed-up.ts';

function pathsOf(folder: string): string[] {
  return [...filesBelow(folder)].map(({ path }) => path);
}

test('BACKUP-1: a backup holds the databases, the uploads with a row, mails and keys, told in the manifest, for their owner only', async (t) => {
  const source = await makeSource(t);
  const { dataDir, storage, places, uploadId } = source;
  const target = join(temporaryDir(t), 'deep', 'backup');
  // A file without a row is nobody's.
  writeFileSync(join(storage.layout.uploadsOf(places[0].organisationId), uploadId.replace(/...$/, 'zzz')), 'stray');
  const before = pathsOf(dataDir);
  // The service holds its lock while it is backed up.
  const lock = lockDataDir(dataDir);
  t.after(() => lock.release());
  const log = testLog();
  const report = await backUp({ dataDir, target, log });
  const organisationFiles = places.map(({ organisationId }) => `organisations/${organisationId}.sqlite`);
  const expected = [
    'control.sqlite',
    'master-key',
    ...organisationFiles,
    `outbox/${'0'.repeat(32)}.eml`,
    `uploads/${places[0].organisationId}/${uploadId}`,
  ].sort();
  assert.deepEqual(pathsOf(target).sort(), [...expected, MANIFEST].sort());
  const manifest = readManifest(target);
  assert.deepEqual(manifest.files.map(({ path }) => path).sort(), expected);
  for (const { path, size, sha256, database } of manifest.files.filter(({ database }) => database !== undefined)) {
    const facts = verifyDatabase(join(target, path));
    assert.deepEqual(
      { size, sha256, database },
      { size: facts.size, sha256: facts.sha256, database: { schema_version: facts.schemaVersion, rows: facts.rows } },
    );
  }
  assert.deepEqual([report.organisations, report.uploads, report.files, report.masterKeyIncluded], [2, 1, expected.length, true]);
  assert.equal(
    report.rows,
    manifest.files.flatMap(({ database }) => Object.values(database?.rows ?? {})).reduce((a, b) => a + b),
  );
  assert.deepEqual([report.missingUploads, report.unreadableUploads, log.warnings], [[], [], []]);
  for (const path of pathsOf(target)) assert.equal(statSync(join(target, path)).mode & 0o777, 0o600, path);
  for (const folder of ['', 'organisations', 'uploads']) assert.equal(statSync(join(target, folder)).mode & 0o777, 0o700, folder);
  assert.deepEqual(readdirSync(join(target, '..')), ['backup'], 'nothing unfinished is left');
  assert.deepEqual(
    pathsOf(dataDir).filter((path) => !path.startsWith('lock')),
    before,
    'the data directory is as it was',
  );
});

/** Copies with something happening right after the first copy of an organisation. */
async function copyAround(
  t: TestContext,
  source: Source,
  meanwhile: () => void,
): Promise<{ apps(): string[]; owners(): string[]; listed(): string[]; copies: number; unlisted: readonly string[] }> {
  const to = prepareDataDir(join(temporaryDir(t), 'copy'));
  const { organisationId } = source.places[0];
  let copies = 0;
  const { unlisted } = copyDatabases(source.storage.layout, to, (from, target) => {
    copyDatabase(from, target);
    if (from !== source.storage.layout.organisation(organisationId)) return;
    copies += 1;
    if (copies === 1) meanwhile();
  });
  const ids = (path: string, sql: string) => {
    const db = openReader(path);
    t.after(() => db.close());
    return db
      .statement(sql)
      .all(sql.includes(':organisationId') ? { organisationId } : {})
      .map(({ id }) => id as string);
  };
  return {
    apps: () => ids(to.organisation(organisationId), 'SELECT id FROM apps ORDER BY id'),
    owners: () => ids(to.organisation(organisationId), 'SELECT organisation_id AS id FROM file_identity'),
    listed: () => ids(to.control, 'SELECT app_id AS id FROM app_directory WHERE organisation_id = :organisationId ORDER BY id'),
    copies,
    unlisted,
  };
}

function openBoth(t: TestContext, { storage, places }: Source) {
  const control = openWriter(storage.layout.control);
  const db = openWriter(storage.layout.organisation(places[0].organisationId));
  t.after(() => {
    control.close();
    db.close();
  });
  return { control, db, organisationId: places[0].organisationId };
}

test('BACKUP-2: an app that is deleted after its organisation was copied comes out neither here nor there', async (t) => {
  const source = await makeSource(t);
  const { control, db } = openBoth(t, source);
  const { appId } = source.places[0];
  const copied = await copyAround(t, source, () => {
    apps.deleteApp(db, { appId });
    organisations.unregisterApp(control, { appId });
  });
  assert.deepEqual([copied.apps(), copied.listed(), copied.copies, copied.unlisted], [[], [], 2, []]);
});

test('BACKUP-2: an app that is created after its organisation was copied comes out whole', async (t) => {
  const source = await makeSource(t);
  const { control, db, organisationId } = openBoth(t, source);
  const appId = source.places[0].appId.replace(/...$/, 'zzz');
  const copied = await copyAround(t, source, () => {
    organisations.registerApp(control, { organisationId, appId, keys: [], nowMs: 1 });
    apps.createApp(db, {
      appId,
      organisationId,
      name: 'New',
      platformHint: '',
      settings: {},
      sealedIdentitySecret: Buffer.from('s'),
      nowMs: 1,
    });
  });
  const both = [source.places[0].appId, appId].sort();
  assert.deepEqual([copied.apps(), copied.listed(), copied.copies], [both, both, 2]);
});

test('BACKUP-2: a file that did not say yet whose it is when it was copied is copied again, since the service would refuse it', async (t) => {
  const source = await makeSource(t);
  const { control, db, organisationId } = openBoth(t, source);
  const { appId } = source.places[0];
  apps.deleteApp(db, { appId });
  organisations.unregisterApp(control, { appId });
  db.statement('DELETE FROM file_identity').run();
  const copied = await copyAround(t, source, () => writeIdentity(db, organisationId));
  assert.deepEqual([copied.owners(), copied.copies], [[organisationId], 2]);
});

test('BACKUP-2: a directory that names no app since a crash is copied as it is, and is not waited for', async (t) => {
  const source = await makeSource(t);
  const { control, organisationId } = openBoth(t, source);
  organisations.registerApp(control, { organisationId, appId: source.places[0].appId.replace(/...$/, 'zzz'), keys: [], nowMs: 1 });
  const copied = await copyAround(t, source, () => undefined);
  assert.deepEqual([copied.apps().length, copied.listed().length, copied.copies, copied.unlisted], [1, 2, 2, []]);
});

test('BACKUP-2: an upload that is deleted meanwhile is named, a damaged one, too, and both are no reason to stop', async (t) => {
  const { dataDir, storage, places, uploadId } = await makeSource(t);
  const damaged = await addUpload(storage, places[1], 'other words');
  rmSync(storage.layout.upload(places[0].organisationId, uploadId));
  writeFileSync(storage.layout.upload(places[1].organisationId, damaged), 'not what was sealed');
  const log = testLog();
  const target = join(temporaryDir(t), 'backup');
  const report = await backUp({ dataDir, target, log });
  const missing = [`${places[0].organisationId}/${uploadId}`];
  const unreadable = [`${places[1].organisationId}/${damaged}`];
  assert.deepEqual([report.missingUploads, report.unreadableUploads, report.uploads], [missing, unreadable, 1]);
  const manifest = readManifest(target);
  assert.deepEqual([manifest.missing_uploads, manifest.unreadable_uploads], [missing, unreadable]);
  assert.equal(log.warnings.length, 2);
});

test('BACKUP-4: a target that holds something, a directory without data and a backup under way are refused with what to do', async (t) => {
  const { dataDir } = await makeSource(t);
  const log = testLog();
  const target = join(temporaryDir(t), 'backup');
  mkdirSync(target);
  writeFileSync(join(target, 'mine'), 'mine');
  await assert.rejects(backUp({ dataDir, target, log }), /is not empty\. Each backup is a folder of its own/);
  assert.deepEqual(readdirSync(target), ['mine']);
  rmSync(join(target, 'mine'));
  await assert.rejects(
    backUp({ dataDir: temporaryDir(t), target, log }),
    /is no data directory of this service: it has no control\.sqlite/,
  );
  mkdirSync(`${target}.partial`);
  const other = lockDataDir(`${target}.partial`);
  await assert.rejects(backUp({ dataDir, target, log }), /Another backup to .* is being written/);
  other.release();
  await backUp({ dataDir, target, log });
  assert.ok(existsSync(join(target, MANIFEST)), 'an empty folder is taken');
});

test('BACKUP-4: what a killed backup left is no backup, and the next one removes it', async (t) => {
  const { dataDir } = await makeSource(t);
  const target = join(temporaryDir(t), 'backup');
  mkdirSync(join(`${target}.partial`, 'backup', 'organisations'), { recursive: true });
  writeFileSync(join(`${target}.partial`, 'backup', 'control.sqlite'), 'half');
  assert.throws(() => readManifest(join(`${target}.partial`, 'backup')), /is missing: this is no backup, or one that was cut off/);
  const log = testLog();
  await backUp({ dataDir, target, log });
  assert.deepEqual(log.warnings, ['removed the partial copy of an interrupted backup']);
  assert.deepEqual([existsSync(`${target}.partial`), readFileSync(join(target, 'control.sqlite')).length > 100], [false, true]);
});

test('BACKUP-3: a damaged database is named, and there is no backup', async (t) => {
  const { dataDir, storage, places } = await makeSource(t);
  const path = storage.layout.organisation(places[1].organisationId);
  await storage.close();
  const bytes = readFileSync(path);
  bytes.fill(0x77, 4096, 3 * 4096);
  writeFileSync(path, bytes);
  const target = join(temporaryDir(t), 'backup');
  await assert.rejects(backUp({ dataDir, target, log: testLog() }), (error: Error) => error.message.includes(path));
  assert.deepEqual(readdirSync(join(target, '..')), []);
});

test('BACKUP-7: a master key from the environment is recognised later and not kept; another one, or none, is refused', async (t) => {
  const key = () => randomBytes(32).toString('base64');
  const masterKey = key();
  const { dataDir } = await makeSource(t, masterKey);
  const log = testLog();
  const target = join(temporaryDir(t), 'backup');
  await assert.rejects(backUp({ dataDir, target, log }), /set the same MASTER_KEY for the backup/);
  await assert.rejects(backUp({ dataDir, target, masterKey: key(), log }), /The master key does not open what is in the data directory/);
  const report = await backUp({ dataDir, target, masterKey, log });
  assert.equal(report.masterKeyIncluded, false);
  assert.equal(existsSync(join(target, 'master-key')), false);
  assert.ok(!readFileSync(join(target, MANIFEST), 'utf8').includes(masterKey.slice(0, 20)));
});
