/**
 * Restores a backup (docs/backups.md) into an empty data directory. Files are first copied to a staging folder and verified, and only
 * then moved into place, `control.sqlite` last. An interrupted restore leaves the folder `restore.partial` and no `control.sqlite`:
 * the service refuses to start on that, and the next restore starts over.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { type DataLayout, dataLayout, makeFolder, prepareDataDir } from '../data-layout.ts';
import { controlMigrations } from '../migrations/control.ts';
import { migrate } from '../migrations/migrate.ts';
import { lookThroughAll } from '../organisations/organisation-uses.ts';
import type { Connection } from '../sqlite/connection.ts';
import { copyFileWhole, DamagedDatabase, sha256OfFile, syncFolders, syncPath, verifyDatabase } from '../sqlite/database-copy.ts';
import { type DataDirLock, lockDataDir } from '../sqlite/lock.ts';
import { writing } from '../sqlite/log-emptying.ts';
import type { ProgressLog } from './backup.ts';
import {
  type BackupFile,
  existingVault,
  filesBelow,
  MANIFEST,
  type Manifest,
  masterKeyFingerprint,
  readManifest,
  rowsIn,
} from './backup-manifest.ts';

export interface RestoreOptions {
  readonly source: string;
  /** Does not exist, or is empty. */
  readonly dataDir: string;
  /** MASTER_KEY that the service will have, when it is set. */
  readonly masterKey?: string | undefined;
  readonly log: ProgressLog;
}

export interface RestoreReport {
  readonly dataDir: string;
  /** RFC 3339: what was committed before is restored. */
  readonly backupBeganAt: string;
  readonly organisations: number;
  readonly rows: number;
  readonly uploads: number;
  /** `<organisation>/<upload>`: restored rows whose files were gone when the backup was made. */
  readonly missingUploads: readonly string[];
  readonly files: number;
  readonly bytes: number;
  /** False: the service needs the MASTER_KEY that was given here. */
  readonly masterKeyInstalled: boolean;
  readonly seconds: number;
}

const STAGING = 'restore.partial';
/** Files that a lock leaves behind, and what names the directory. The first one is never deleted, so that all processes lock the same file. */
const LOCK_FILES: ReadonlySet<string> = new Set(['lock.sqlite', 'lock.sqlite-journal', 'lock.pid', 'directory-id']);
/** A few problems are enough to identify the disk or transfer. */
const PROBLEMS_SHOWN = 5;

/** Whether a restore into this directory was interrupted, so that its data is incomplete. */
function isRestoreCutOff(dataDir: string): boolean {
  const { dir, control } = dataLayout(dataDir);
  return existsSync(join(dir, STAGING)) && !existsSync(control);
}

/** @throws Error when a restore into this directory was interrupted: the service would find no organisations in it. */
export function refuseCutOffRestore(dataDir: string): void {
  if (!isRestoreCutOff(dataDir)) return;
  throw new Error(`A restore into ${resolve(dataDir)} was interrupted, so its data is incomplete. Run the restore again; it starts over.`);
}

function refuse(source: string, problems: readonly string[]): void {
  if (problems.length === 0) return;
  const more = problems.length > PROBLEMS_SHOWN ? `; and ${problems.length - PROBLEMS_SHOWN} more` : '';
  const shown = problems.slice(0, PROBLEMS_SHOWN).join('; ');
  throw new Error(`The backup ${source} is damaged, nothing was restored: ${shown}${more}.`);
}

/** @throws Error naming files that are missing, unexpected, or of the wrong size; `needed` has to be among them. */
export function compareListing(source: string, { files }: Manifest, needed = 'control.sqlite'): void {
  const found = new Map([...filesBelow(source)].map((file) => [file.path, file]));
  const problems: string[] = [];
  for (const { path, size } of files) {
    const there = found.get(path);
    found.delete(path);
    if (there === undefined) problems.push(`${path} is missing`);
    else if (!there.isFile) problems.push(`${path} is no plain file`);
    else if (there.size !== size) problems.push(`${path} has ${there.size} bytes, not ${size}`);
  }
  found.delete(MANIFEST);
  for (const path of found.keys()) problems.push(`${path} is not in ${MANIFEST}`);
  if (!files.some(({ path }) => path === needed)) problems.push(`${needed} is missing`);
  refuse(source, problems);
}

/** @throws Error when the service could not open the restored data. */
function requireKey(source: string, { master_key: { fingerprint, included } }: Manifest, masterKey: string | undefined): void {
  const vault = existingVault(dataLayout(source), masterKey);
  if (vault === undefined) {
    throw new Error(
      `The backup ${source} does not hold the master key: set MASTER_KEY to the key that the service had, nothing was restored.`,
    );
  }
  if (masterKeyFingerprint(vault) === fingerprint) return;
  if (masterKey === undefined) refuse(source, ['master-key is another key than the one it was made with']);
  const other = included ? 'Unset MASTER_KEY (the backup holds its key), or set that key.' : 'Set the key that the service had then.';
  throw new Error(`MASTER_KEY is not the key that the backup ${source} was made with, nothing was restored. ${other}`);
}

function contents(dir: string): string[] {
  return existsSync(dir) ? readdirSync(dir).filter((name) => !LOCK_FILES.has(name)) : [];
}

/** Removes what an interrupted restore left: the directory was empty before it. */
function clearCutOff({ dir }: DataLayout, log: ProgressLog): void {
  for (const name of contents(dir)) rmSync(join(dir, name), { recursive: true });
  log.warn({ data_dir: dir }, 'removed the partial data of an interrupted restore');
}

/** Locks the empty directory for this process alone. @throws Error when it is in use or not empty. */
function takeDirectory(layout: DataLayout, log: ProgressLog): DataDirLock {
  const { dir } = layout;
  makeFolder(dir);
  // A directory with other contents is refused. A lock file shows that a service used it.
  if (contents(dir).length > 0 && !existsSync(join(dir, 'lock.sqlite')) && !isRestoreCutOff(dir)) throw notEmpty(dir);
  const lock = lockDataDir(dir);
  try {
    chmodSync(join(dir, 'lock.sqlite'), 0o600);
    if (isRestoreCutOff(dir)) clearCutOff(layout, log);
    if (contents(dir).length > 0) throw notEmpty(dir);
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** @throws Error when nothing can be restored into the directory because of what it holds. */
export function requireEmpty(dir: string): void {
  if (contents(dir).length > 0 && !isRestoreCutOff(dir)) throw notEmpty(dir);
}

function notEmpty(dir: string): Error {
  const shown = contents(dir).slice(0, PROBLEMS_SHOWN).join(', ');
  return new Error(`${dir} is not empty (${shown}), nothing was restored. Move it away, or give another DATA_DIR.`);
}

function stage(source: string, files: readonly BackupFile[], staging: string): void {
  for (const { path } of files) {
    const target = join(staging, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    copyFileWhole(join(source, path), target);
  }
}

/** Verifies the files of a backup where they lie below `staging`. @throws Error naming those that are damaged. */
export function requireUndamaged(source: string, files: readonly BackupFile[], staging: string): void {
  const problems = files.flatMap((file) => {
    const problem = problemOf(file, join(staging, file.path));
    return problem === undefined ? [] : [`${file.path} ${problem}`];
  });
  refuse(source, problems);
}

function problemOf({ path, sha256, database }: BackupFile, staged: string): string | undefined {
  if (sha256OfFile(staged) !== sha256) return 'has other bytes than were written to it';
  if (!path.endsWith('.sqlite')) return undefined;
  try {
    const { schemaVersion, rows } = verifyDatabase(staged, path === 'control.sqlite' ? 'control' : 'organisation');
    const expected = JSON.stringify(database);
    const found = JSON.stringify({ schema_version: schemaVersion, rows });
    return expected === found ? undefined : `does not hold the rows that were counted in it`;
  } catch (error) {
    if (error instanceof DamagedDatabase) return error.what;
    throw error;
  }
}

/** Moves the verified files into place, `control.sqlite` last: with it the directory becomes a data directory. */
function install({ dir, control }: DataLayout, staging: string): void {
  chmodSync(dir, 0o700);
  const last = basename(control);
  for (const name of readdirSync(staging)) {
    if (name !== last) renameSync(join(staging, name), join(dir, name));
  }
  syncPath(dir);
  renameSync(join(staging, last), control);
  rmSync(staging, { recursive: true });
  syncPath(dir);
}

/** The control file was copied after the others, so it need not know what is due in them: the next start looks through each. */
function haveAllLookedThrough(control: string): void {
  const lookThrough = (db: Connection) => {
    migrate(db, controlMigrations, 'control');
    lookThroughAll(db);
  };
  writing(control, lookThrough, { mustExist: true });
}

/**
 * Makes the empty directory `dataDir` a data directory of what `fill` puts into a staging folder, and verifies there. Only a failure after
 * the first move leaves something (see `isRestoreCutOff`).
 * @throws Error when the directory is in use or not empty; what `fill` throws. Then nothing was restored.
 */
export async function restoreInto<Value>(
  dataDir: string,
  log: ProgressLog,
  fill: (staging: DataLayout) => Value | Promise<Value>,
): Promise<Value> {
  const layout = dataLayout(dataDir);
  const directory = takeDirectory(layout, log);
  const staging = join(layout.dir, STAGING);
  try {
    let value: Value;
    try {
      // Includes the empty folders that the service expects.
      value = await fill(prepareDataDir(staging));
      haveAllLookedThrough(dataLayout(staging).control);
      syncFolders(staging);
    } catch (error) {
      rmSync(staging, { recursive: true, force: true });
      throw error;
    }
    log.info({}, 'what is restored is complete and undamaged');
    install(layout, staging);
    return value;
  } finally {
    directory.release();
  }
}

/**
 * Restores a backup into an empty data directory. The service starts on it as it was when the backup began. Every file is verified
 * before the first one is moved into place. Blocks the thread.
 * @throws Error with one sentence for the operator: the directory is in use or not empty, the backup is damaged (naming the files), of a
 * newer release or under another master key; the system's error. Then nothing was restored.
 */
export async function restore({ source: given, dataDir, masterKey, log }: RestoreOptions): Promise<RestoreReport> {
  const startedMs = performance.now();
  const source = resolve(given);
  const layout = dataLayout(dataDir);
  if (`${layout.dir}${sep}`.startsWith(`${source}${sep}`)) throw new Error(`${layout.dir} lies inside the backup: give another DATA_DIR.`);
  const manifest = readManifest(source);
  compareListing(source, manifest);
  requireKey(source, manifest, masterKey);
  await restoreInto(dataDir, log, ({ dir }) => {
    stage(source, manifest.files, dir);
    requireUndamaged(source, manifest.files, dir);
  });
  const count = (folder: string) => manifest.files.filter(({ path }) => path.startsWith(folder)).length;
  return {
    dataDir: layout.dir,
    backupBeganAt: manifest.began_at,
    organisations: count('organisations/'),
    rows: rowsIn(manifest.files),
    uploads: count('uploads/'),
    missingUploads: manifest.missing_uploads,
    files: manifest.files.length,
    bytes: manifest.files.reduce((sum, { size }) => sum + size, 0),
    masterKeyInstalled: manifest.master_key.included,
    seconds: (performance.now() - startedMs) / 1_000,
  };
}
