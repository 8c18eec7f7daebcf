/** What once existed is never created again: an organisation's file that is away, empty, another's or damaged. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, renameSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { silentAnnouncer } from '../../../actors/announcements.ts';
import { startUploadSweep } from '../../../actors/uploads/deadlines.ts';
import { mintId } from '../../../protocol/ids.ts';
import { backUp } from '../../../storage/backup/backup.ts';
import { Conditions } from '../../../storage/health/conditions.ts';
import { openOrganisationFile } from '../../../storage/organisations/organisation-file.ts';
import { OrganisationFiles } from '../../../storage/organisations/organisation-files.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { isUnavailable } from '../../../storage/sqlite/storage-error.ts';
import { openStorage, type Storage } from '../../../storage/storage.ts';
import { writeUploadFile } from '../../../storage/uploads/upload-files.ts';
import { each } from '../../support/each.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const AUTO_TOP_UP = { enabled: false, amount_usd: 10 };
const SILENT = { error() {}, warn() {}, info() {} } as never;

async function makeOrganisation(storage: Storage, nowMs: number): Promise<string> {
  const id = mintId('org', nowMs);
  await storage.writeControl('createOrganisation', { id, name: 'Acme', plan: 'free', members: [], autoTopUp: AUTO_TOP_UP, nowMs });
  // Any first write makes the file and notes it.
  await storage.write(id, 'expireUploads', { nowMs: 0, limit: 1 });
  return id;
}

/** Two organisations, made and closed; the first one has the file of an upload. */
async function twoOrganisations(t: TestContext): Promise<{ dataDir: string; first: string; second: string; upload: string; path: string }> {
  const dataDir = temporaryDir(t);
  const storage = openStorage({ dataDir, masterKey: undefined, onFatal: assert.fail });
  const first = await makeOrganisation(storage, 1);
  const second = await makeOrganisation(storage, 2);
  const uploadId = mintId('upl', 1);
  await writeUploadFile(storage, first, uploadId, Buffer.from('what a person sent'));
  const upload = storage.layout.upload(first, uploadId);
  const path = storage.layout.organisation(first);
  await storage.close();
  return { dataDir, first, second, upload, path };
}

function isServed(storage: Storage, organisationId: string): boolean {
  try {
    storage.organisation(organisationId);
    return true;
  } catch (error) {
    if (isUnavailable(error)) return false;
    throw error;
  }
}

function reopen(t: TestContext, dataDir: string): Storage {
  const storage = openStorage({ dataDir, masterKey: undefined, onFatal: assert.fail });
  t.after(() => storage.close());
  return storage;
}

/** Anything but what was there. */
const HARM: Readonly<Record<string, (path: string, other: string) => void>> = {
  missing: (path) => renameSync(path, `${path}.away`),
  'empty, of 0 bytes': (path) => truncateSync(path),
  'empty, a database without tables'(path) {
    rmSync(path);
    const db = new Database(path);
    db.pragma('journal_mode = WAL');
    db.close();
  },
  "another organisation's": (path, other) => copyFileSync(other, path),
  "another program's"(path) {
    rmSync(path);
    const db = new Database(path);
    db.exec('CREATE TABLE notes (text)');
    db.close();
  },
  'no database': (path) => writeFileSync(path, 'x'.repeat(8_192)),
};

for (const [what, harm] of Object.entries(HARM)) {
  test(`STORE-9: a file that is ${what} at a start makes its organisation unavailable, stays as it is, and nothing is swept`, async (t) => {
    const { dataDir, first, second, upload, path } = await twoOrganisations(t);
    const saved = `${path}.saved`;
    copyFileSync(path, saved);
    harm(path, path.replace(first, second));
    const before = statSync(path, { throwIfNoEntry: false });
    const storage = reopen(t, dataDir);
    assert.throws(() => storage.organisation(first), isUnavailable);
    await assert.rejects(storage.write(first, 'expireUploads', { nowMs: 0, limit: 1 }), isUnavailable);
    assert.ok(storage.organisation(second), 'others are served');
    await startUploadSweep({ storage, log: SILENT, others: silentAnnouncer }, Date.now()).done;
    assert.ok(existsSync(upload), 'its uploads stay');
    const after = statSync(path, { throwIfNoEntry: false });
    assert.deepEqual([after?.size, after?.mtimeMs, after?.ino], [before?.size, before?.mtimeMs, before?.ino]);
    const [condition, ...more] = storage.conditions.list();
    assert.deepEqual([condition?.name, condition?.subject, more.length], ['organisation_unavailable', first, 0]);
    assert.match(condition?.detail ?? '', new RegExp(`${first}\\.sqlite (is|cannot)`));

    renameSync(saved, path);
    await eventually(
      () => isServed(storage, first),
      undefined,
      () => 'it is served again without a start',
    );
    assert.deepEqual(storage.conditions.list(), []);
    await storage.write(first, 'expireUploads', { nowMs: 0, limit: 1 });
  });
}

test('STORE-9: a crash between the making of a file and its note leaves a file that is taken as it is', async (t) => {
  const dataDir = temporaryDir(t);
  const storage = openStorage({ dataDir, masterKey: undefined, onFatal: assert.fail });
  const id = mintId('org', 1);
  await storage.writeControl('createOrganisation', { id, name: 'Acme', plan: 'free', members: [], autoTopUp: AUTO_TOP_UP, nowMs: 1 });
  const path = storage.layout.organisation(id);
  openOrganisationFile(path, id, false);
  storage.organisation(id);
  await storage.close();
  const { ino } = statSync(path);

  const again = openStorage({ dataDir, masterKey: undefined, onFatal: assert.fail });
  await Promise.all([1, 2, 3].map((nowMs) => again.write(id, 'expireUploads', { nowMs, limit: 1 })));
  assert.equal(statSync(path).ino, ino);
  await again.close();

  // And one that was not even begun, or only opened, is made.
  for (const ending of ['', '-wal', '-shm']) rmSync(path + ending, { force: true });
  const db = new Database(join(dataDir, 'control.sqlite'));
  db.exec('DELETE FROM organisation_files');
  db.close();
  writeFileSync(path, '');
  const third = reopen(t, dataDir);
  await third.write(id, 'expireUploads', { nowMs: 0, limit: 1 });
  assert.deepEqual(third.conditions.list(), []);
});

test('STORE-10: a file that is taken away while it is in use gets no more writes, and none are lost when it comes back', async (t) => {
  const { dataDir, first, path } = await twoOrganisations(t);
  const storage = reopen(t, dataDir);
  await storage.write(first, 'expireUploads', { nowMs: 0, limit: 1 });
  storage.organisation(first);
  renameSync(path, `${path}.away`);
  await eventually(
    () => !isServed(storage, first),
    undefined,
    () => 'a file that was taken away is served on',
  );
  await assert.rejects(storage.write(first, 'expireUploads', { nowMs: 0, limit: 1 }), isUnavailable);
  assert.throws(() => storage.organisation(first), isUnavailable);
  assert.equal(existsSync(path), false);
});

test('STORE-9: looking around never throws: what one file meets keeps no other from being looked at', async (t) => {
  const { dataDir, first, second } = await twoOrganisations(t);
  const { control, layout } = reopen(t, dataDir);
  const conditions = new Conditions(SILENT, Date.now);
  const files = new OrganisationFiles({
    ...{ layout, control, conditions },
    note: async () => {},
    noteReturn: async () => {},
    doubtLog() {},
    forget(organisationId) {
      if (organisationId === first) throw new Error('nobody thought of this');
    },
  });
  for (const id of [first, second]) {
    files.prepare(id);
    renameSync(layout.organisation(id), `${layout.organisation(id)}.away`);
  }
  files.lookAround();
  assert.deepEqual(each(conditions.list(), 'subject'), [first, second]);
  for (const id of [first, second]) renameSync(`${layout.organisation(id)}.away`, layout.organisation(id));
  const isBack = () => {
    files.lookAround();
    return conditions.list().length === 0;
  };
  await eventually(isBack, undefined, () => `${conditions.list().length} files are still said to be away`);
});

test('STORE-22: a log that a process finds is written again by the writer thread, before later writes, and not by the loop', async (t) => {
  const { dataDir, first, path } = await twoOrganisations(t);
  const storage = reopen(t, dataDir);
  const other = openWriter(path, { mustExist: true });
  t.after(() => other.close());
  const version = Number(other.statement('PRAGMA user_version').get()?.user_version);
  other.exec(`PRAGMA user_version = ${version}`);
  const log = `${path}-wal`;
  utimesSync(log, 1, 1);
  const doubted: string[] = [];
  const files = new OrganisationFiles({
    ...storage,
    note: async () => {},
    noteReturn: async () => {},
    doubtLog: (id) => doubted.push(id),
    forget() {},
  });
  files.prepare(first);
  assert.deepEqual([statSync(log).mtimeMs, doubted], [1_000, [first]]);
  const { size } = statSync(log);
  other.exec('BEGIN IMMEDIATE');
  storage.organisation(first);
  const written = storage.write(first, 'expireUploads', { nowMs: 0, limit: 1 });
  await makeOrganisation(storage, 3);
  assert.deepEqual([statSync(log).mtimeMs, statSync(log).size], [1_000, size], 'nothing is written while another holds the file');
  other.exec('ROLLBACK');
  await written;
  assert.ok(statSync(log).mtimeMs > 1_000);
  utimesSync(log, 1, 1);
  reopen(t, dataDir).organisation(first);
  await eventually(
    () => statSync(log).mtimeMs > 1_000,
    undefined,
    () => 'the log is not written again',
  );
});

test('STORE-9: a data directory that lost its control file or its master key is not made anew', async (t) => {
  const { dataDir } = await twoOrganisations(t);
  const start = () => openStorage({ dataDir, masterKey: undefined, onFatal: assert.fail });
  const control = join(dataDir, 'control.sqlite');
  renameSync(control, `${control}.away`);
  assert.throws(start, /control\.sqlite is missing or empty, and there are files of 2 organisations beside it/);
  writeFileSync(control, '');
  assert.throws(start, /control\.sqlite is missing or empty/);
  renameSync(`${control}.away`, control);
  const key = join(dataDir, 'master-key');
  renameSync(key, `${key}.away`);
  assert.throws(start, /master-key is missing, and MASTER_KEY is not set/);
  assert.equal(existsSync(key), false);
});

test('BACKUP-3: a backup without an organisation’s file is none, and names the file', async (t) => {
  const { dataDir, first, second, path } = await twoOrganisations(t);
  const backup = (name: string) => backUp({ dataDir, target: join(temporaryDir(t), name), log: SILENT });
  await backup('whole');
  const saved = `${path}.saved`;
  renameSync(path, saved);
  await assert.rejects(backup('missing'), new RegExp(`${first}\\.sqlite is missing or empty\\. No backup was made`));
  writeFileSync(path, '');
  await assert.rejects(backup('empty'), new RegExp(`${first}\\.sqlite`));
  copyFileSync(path.replace(first, second), path);
  await assert.rejects(backup('foreign'), new RegExp(`${first}\\.sqlite is the file of ${second}, not of ${first}`));
  renameSync(saved, path);
  await backup('whole again');
});
