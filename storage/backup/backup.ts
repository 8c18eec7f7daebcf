/**
 * Backups of a data directory while any number of nodes use it (docs/backups.md): databases first, then the files that their rows
 * name, so that every row has its file unless it was deleted meanwhile. Takes no lock of the service and writes nothing into the
 * data directory; the command notes there that it ended well. A backup gets its name only once it is whole and was verified from the disk.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readIdentitySecrets } from '../apps/identity-secrets.ts';
import { type DataLayout, dataLayout, makeFolder, prepareDataDir } from '../data-layout.ts';
import type { Vault } from '../secrets/vault.ts';
import { readIds } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { openReader } from '../sqlite/database.ts';
import { copyFileWhole, DamagedDatabase, sha256OfFile, syncFolders, syncPath, verifyDatabase } from '../sqlite/database-copy.ts';
import { lockDataDir } from '../sqlite/lock.ts';
import { sqliteCodeOf } from '../sqlite/storage-error.ts';
import { readUploadFile } from '../uploads/upload-files.ts';
import { copyDatabases } from './backup-databases.ts';
import {
  type BackupFile,
  existingVault,
  filesBelow,
  isBackupName,
  MANIFEST,
  manifestText,
  masterKeyFingerprint,
  readManifest,
  rowsIn,
} from './backup-manifest.ts';

export interface ProgressLog {
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
}

export interface BackupOptions {
  readonly dataDir: string;
  /** The backup, a folder that does not exist or is empty. */
  readonly target: string;
  /** MASTER_KEY of the service, when it is set. */
  readonly masterKey?: string | undefined;
  readonly log: ProgressLog;
}

export interface BackupReport {
  readonly target: string;
  readonly organisations: number;
  readonly rows: number;
  readonly uploads: number;
  /** `<organisation>/<upload>`: deleted while the backup was made; their rows are in it. */
  readonly missingUploads: readonly string[];
  /** Uploads whose files were damaged already; they were copied as they are. */
  readonly unreadableUploads: readonly string[];
  readonly files: number;
  readonly bytes: number;
  /** False when MASTER_KEY is set: the operator keeps the key elsewhere. */
  readonly masterKeyIncluded: boolean;
  readonly seconds: number;
}

/** Suffix of an unfinished backup: `<target>.partial` holds a lock and the folder that is renamed at the end. */
const PARTIAL = '.partial';
const UPLOADS_PER_PAGE = 1_000;

function requireEmptyTarget(target: string): void {
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new Error(`${target} is not empty. Each backup is a folder of its own: give the name of a new one.`);
  }
}

function requireVault(layout: DataLayout, masterKey: string | undefined): Vault {
  if (!existsSync(layout.control))
    throw new Error(`${layout.dir} is no data directory of this service: it has no ${basename(layout.control)}.`);
  const vault = existingVault(layout, masterKey);
  if (vault !== undefined) return vault;
  throw new Error(`${layout.masterKey} is missing. The service has its key in MASTER_KEY: set the same MASTER_KEY for the backup.`);
}

/** Creates `<target>.partial`, and removes the remains of an interrupted backup. @throws Error when another backup is being written. */
function beginPartial(target: string, log: ProgressLog): { readonly folder: string; end(): void } {
  const partial = `${target}${PARTIAL}`;
  const folder = join(partial, 'backup');
  makeFolder(partial);
  let lock: ReturnType<typeof lockDataDir>;
  try {
    lock = lockDataDir(partial);
  } catch (error) {
    throw new Error(`Another backup to ${target} is being written: wait for its end, or give another folder.`, { cause: error });
  }
  if (existsSync(folder)) {
    rmSync(folder, { recursive: true });
    log.warn({ partial }, 'removed the partial copy of an interrupted backup');
  }
  return {
    folder,
    end() {
      // The lock is still held, so another backup is refused meanwhile.
      rmSync(partial, { recursive: true, force: true });
      lock.release();
    },
  };
}

/** Refuses a wrong key now rather than at the restore. @throws Error when the key opens nothing. */
function requireFittingKey(vault: Vault, copy: DataLayout, organisations: readonly string[]): void {
  let refused = false;
  for (const organisationId of organisations) {
    const db = openReader(copy.organisation(organisationId));
    try {
      const [appId] = readIds(db, 'FROM apps LIMIT 1');
      if (appId === undefined) continue;
      readIdentitySecrets(db, vault, appId, 0);
      return;
    } catch (error) {
      // A file of an older release, or one that is being created, may lack the columns. That says nothing about the key.
      refused ||= sqliteCodeOf(error) === undefined;
    } finally {
      db.close();
    }
  }
  if (refused)
    throw new Error('The master key does not open what is in the data directory: give the backup the MASTER_KEY that the service has.');
}

function* uploadIds(db: Connection): Generator<string> {
  // A file of an older release, or one that is being created, has no such table.
  if (db.statement("SELECT 1 FROM sqlite_schema WHERE name = 'uploads'").get() === undefined) return;
  const page = (after: string) =>
    readIds(db, 'FROM uploads WHERE id > :after ORDER BY id LIMIT :limit', { after, limit: UPLOADS_PER_PAGE });
  for (let ids = page(''); ids.length > 0; ids = page(ids.at(-1) ?? '')) yield* ids;
}

interface CopiedUploads {
  copied: number;
  readonly missing: string[];
  readonly unreadable: string[];
}

async function copyUploads(organisationId: string, from: DataLayout, to: DataLayout, vault: Vault, found: CopiedUploads): Promise<void> {
  const db = openReader(to.organisation(organisationId));
  try {
    for (const id of uploadIds(db)) {
      mkdirSync(to.uploadsOf(organisationId), { recursive: true, mode: 0o700 });
      try {
        copyFileWhole(from.upload(organisationId, id), to.upload(organisationId, id));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        found.missing.push(`${organisationId}/${id}`);
        continue;
      }
      found.copied += 1;
      try {
        await readUploadFile({ layout: to, vault }, organisationId, id);
      } catch {
        found.unreadable.push(`${organisationId}/${id}`);
      }
    }
  } finally {
    db.close();
  }
}

/** Files beside the databases: the key, and mails that still wait in the outbox. What opens the console stays: a restore mints another token. */
function copyPlainFiles(from: DataLayout, to: DataLayout, withMasterKey: boolean): void {
  const copyIfThere = (source: string, target: string) => {
    try {
      copyFileWhole(source, target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  };
  if (withMasterKey) copyFileWhole(from.masterKey, to.masterKey);
  const mails = existsSync(from.outbox) ? readdirSync(from.outbox).filter((name) => isBackupName(`outbox/${name}`)) : [];
  for (const name of mails) copyIfThere(join(from.outbox, name), join(to.outbox, name));
}

/** What a manifest says of a file below `folder`, which is read from the disk. @throws DamagedDatabase */
export function listed(folder: string, { path, size }: { readonly path: string; readonly size: number }): BackupFile {
  const copy = join(folder, path);
  if (!path.endsWith('.sqlite')) return { path, size, sha256: sha256OfFile(copy) };
  const { schemaVersion, rows, sha256 } = verifyDatabase(copy);
  return { path, size, sha256, database: { schema_version: schemaVersion, rows } };
}

/** Reads every file of the copy in `to` from the disk. @throws Error naming the database of `from` that is damaged. */
function verified(from: DataLayout, to: DataLayout): BackupFile[] {
  return [...filesBelow(to.dir)].map((file) => {
    try {
      return listed(to.dir, file);
    } catch (error) {
      if (!(error instanceof DamagedDatabase)) throw error;
      throw new Error(`${join(from.dir, file.path)}: its copy ${error.what}`, { cause: error });
    }
  });
}

type Measured = Omit<BackupReport, 'target' | 'seconds'>;

async function write(from: DataLayout, folder: string, vault: Vault, { masterKey, log }: BackupOptions): Promise<Measured> {
  const beganAt = new Date().toISOString();
  const to = prepareDataDir(folder);
  const { organisations, unlisted } = copyDatabases(from, to);
  if (unlisted.length > 0)
    log.warn(
      { organisations: unlisted },
      'these organisations have apps that control.sqlite does not list: normal for one that is arriving from another cell',
    );
  requireFittingKey(vault, to, organisations);
  log.info({ organisations: organisations.length }, 'databases copied');
  const uploads: CopiedUploads = { copied: 0, missing: [], unreadable: [] };
  for (const id of organisations) await copyUploads(id, from, to, vault, uploads);
  const { missing, unreadable } = uploads;
  if (missing.length > 0)
    log.warn({ uploads: missing.length }, 'uploads were deleted during the backup: it holds their rows without their files');
  if (unreadable.length > 0) log.warn({ uploads: unreadable }, 'these uploads are damaged in the data directory: copied as they are');
  const included = masterKey === undefined;
  copyPlainFiles(from, to, included);
  log.info({ uploads: uploads.copied }, 'files copied');
  const files = verified(from, to);
  const text = manifestText({
    began_at: beganAt,
    finished_at: new Date().toISOString(),
    master_key: { fingerprint: masterKeyFingerprint(vault), included },
    missing_uploads: missing,
    unreadable_uploads: unreadable,
    files,
  });
  writeFileSync(join(folder, MANIFEST), text, { mode: 0o600, flag: 'wx', flush: true });
  readManifest(folder);
  syncFolders(folder);
  return {
    organisations: organisations.length,
    rows: rowsIn(files),
    uploads: uploads.copied,
    missingUploads: missing,
    unreadableUploads: unreadable,
    files: files.length,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    masterKeyIncluded: included,
  };
}

/**
 * Writes a backup of `dataDir` into the new folder `target`, with everything that was committed before the call. Blocks the thread for
 * most of the time.
 * @throws Error with one sentence for the operator: the target is not empty, another backup is being written there, the key is missing
 * or wrong, a database is damaged; the system's error, e.g. when the disk is full. Then there is no `target`.
 */
export async function backUp(options: BackupOptions): Promise<BackupReport> {
  const startedMs = performance.now();
  const target = resolve(options.target);
  const from = dataLayout(options.dataDir);
  requireEmptyTarget(target);
  const vault = requireVault(from, options.masterKey);
  const partial = beginPartial(target, options.log);
  try {
    const measured = await write(from, partial.folder, vault, options);
    renameSync(partial.folder, target);
    syncPath(dirname(target));
    return { target, ...measured, seconds: (performance.now() - startedMs) / 1_000 };
  } finally {
    partial.end();
  }
}
