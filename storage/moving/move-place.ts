/**
 * An organisation's files in their place on the cell that it moves to, and emptied where it is no more (CELL-13, CELL-14). Blocks:
 * runs in move-thread.ts.
 *
 * Invariants: a file that takes writes is never touched. Who changes files in place first takes the organisation's lock, which the
 * kernel frees with its holder, and then looks at the rows: whoever slept meanwhile finds that it comes too late. A file that is
 * there stays the same file, because other processes have it open: SQLite fills and empties it, in one transaction.
 */
import { constants, copyFileSync, existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { Refusal } from '../../protocol/errors.ts';
import type { DataLayout } from '../data-layout.ts';
import { migrate } from '../migrations/migrate.ts';
import { organisationMigrations } from '../migrations/organisation.ts';
import { writeIdentity } from '../organisations/organisation-file.ts';
import type { Connection } from '../sqlite/connection.ts';
import { jitteredPauseMs, openReader, openWriter } from '../sqlite/database.ts';
import { DamagedDatabase, sha256OfFile, syncPath, verifyDatabase } from '../sqlite/database-copy.ts';
import { StorageError, storageErrorCodeOf } from '../sqlite/storage-error.ts';
import { readArrival } from './arrivals.ts';
import type { ControlRows } from './control-rows.ts';
import { type Manifest, type MoveRef, readManifest, SCHEMA_VERSIONS } from './move-copy.ts';
import { type Content, contentPath, lockPath, makeFolder, moveFolder } from './move-folders.ts';
import { readMove } from './moves.ts';
import { readSeal, type Seal, transactions as sealing } from './seal.ts';

/** All at once: nobody else is served by this thread. */
const ALL_PAGES = 0x7fff_ffff;
/** Writers of a sealed file let go of it at once, having written nothing. */
const FILL_WAIT_MAX_MS = 2_000;

function reading<T>(path: string, read: (db: Connection) => T): T {
  const db = openReader(path);
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** Runs `work` while no other process does the same for this organisation. @throws StorageError busy, at once, when one does. */
async function locked<T>(layout: DataLayout, organisationId: string, work: () => Promise<T>): Promise<T> {
  const path = lockPath(layout, organisationId);
  makeFolder(dirname(path));
  const lock = new Database(path, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return await work();
  } catch (error) {
    if (lock.inTransaction || storageErrorCodeOf(error) !== 'busy') throw error;
    throw new StorageError('busy', `another process is at the files of ${organisationId}`);
  } finally {
    lock.close();
  }
}

/** Everything in the WAL is in the file afterwards, on disk. @throws StorageError busy while somebody reads what was before. */
function checkpoint(path: string): void {
  const db = openWriter(path);
  try {
    const { busy } = db.statement('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {};
    if (busy !== 0) throw new StorageError('busy', `${path} is being read`);
  } finally {
    db.close();
  }
}

/** What tells one content of a file from another: both are written in one transaction with the rest. */
function markOf(path: string): string {
  return reading(path, (db) => JSON.stringify([readSeal(db), db.statement('PRAGMA page_count').get()]));
}

/**
 * Gives the file at `path` the content of `from`, in one transaction; connections to it stay good.
 * @throws StorageError busy when others kept writing to it.
 */
async function fill(path: string, from: string): Promise<void> {
  const source = new Database(from, { readonly: true, fileMustExist: true });
  try {
    const endMs = performance.now() + FILL_WAIT_MAX_MS;
    // The driver takes a file that is locked when it begins for one that is done: no page of it was counted then.
    for (let pages = 0; pages === 0; ) {
      pages = (await source.backup(path, { progress: () => ALL_PAGES })).totalPages;
      if (pages > 0) break;
      if (performance.now() > endMs) throw new StorageError('busy', `${path} is being written to`);
      await pause(jitteredPauseMs());
    }
  } finally {
    source.close();
  }
  checkpoint(path);
  if (markOf(path) !== markOf(from)) throw new StorageError('busy', `${path} could not be filled`);
}

/** Whole under its own name, or not there; refuses to replace. */
function placeNew(path: string, from: string): void {
  const unfinished = `${path}.part`;
  rmSync(unfinished, { force: true });
  copyFileSync(from, unfinished, constants.COPYFILE_FICLONE);
  syncPath(unfinished);
  linkSync(unfinished, path);
  rmSync(unfinished);
  syncPath(dirname(path));
}

async function placeDatabase(path: string, from: string, { organisationId, moveId }: MoveRef): Promise<void> {
  if (!existsSync(path)) {
    placeNew(path, from);
    return;
  }
  const seal = reading(path, readSeal);
  if (seal === undefined || seal.sealedAtMs === null) {
    throw new Refusal('conflict', `This cell has a file of ${organisationId} that is not sealed. It is left as it is.`);
  }
  if (seal.moveId === moveId) checkpoint(path);
  else await fill(path, from);
}

function placeUpload(layout: DataLayout, folder: string, organisationId: string, upload: Content & { id: string }): void {
  const path = layout.upload(organisationId, upload.id);
  const from = contentPath(folder, upload.sha256);
  if (existsSync(path) && sha256OfFile(path) === upload.sha256) return;
  try {
    linkSync(from, path);
  } catch {
    // Another file system, or a damaged file in its place.
    const unfinished = `${path}.move.part`;
    copyFileSync(from, unfinished);
    syncPath(unfinished);
    renameSync(unfinished, path);
  }
}

function placeUploads(layout: DataLayout, folder: string, { organisationId, uploads }: Manifest): void {
  if (uploads.length === 0) return;
  const place = layout.uploadsOf(organisationId);
  makeFolder(place);
  for (const upload of uploads) placeUpload(layout, folder, organisationId, upload);
  syncPath(place);
  syncPath(dirname(place));
}

/** @throws DamagedDatabase, Error or Refusal unless all that the manifest lists has come and is what it says. */
function requireComplete(folder: string, manifest: Manifest): void {
  const { database, controlSchemaVersion, moveId, uploads } = manifest;
  if (controlSchemaVersion !== SCHEMA_VERSIONS.control || database.schemaVersion !== SCHEMA_VERSIONS.organisation) {
    throw new Refusal('conflict', 'The two cells run different versions of the service. Bring both to the same one first.');
  }
  for (const { sha256, size } of [database, ...uploads]) {
    if (statSync(contentPath(folder, sha256), { throwIfNoEntry: false })?.size !== size) throw new Error(`${sha256} has not come yet`);
  }
  const path = contentPath(folder, database.sha256);
  const facts = verifyDatabase(path);
  const isSame = facts.sha256 === database.sha256 && facts.kind === 'organisation';
  if (!isSame || JSON.stringify(facts.rows) !== JSON.stringify(database.rows)) {
    throw new DamagedDatabase(path, 'is not what its manifest says.');
  }
  const seal = reading(path, readSeal);
  if (seal?.moveId !== moveId || seal.sealedAtMs === null) throw new DamagedDatabase(path, 'does not carry the seal of its move.');
}

/**
 * Looks through what has come and puts it in its place, under its seal. Answers the rows for the control file. May be repeated.
 * @throws Refusal conflict when there is a file that takes writes, or the arrival was called off; StorageError busy.
 */
export async function placeOrganisation(
  layout: DataLayout,
  { manifest: sha256, ...ref }: MoveRef & { manifest: string },
): Promise<ControlRows> {
  const { organisationId, moveId } = ref;
  const folder = moveFolder(layout, 'arriving', organisationId, moveId);
  const manifest = readManifest(folder, sha256, ref);
  requireComplete(folder, manifest);
  return locked(layout, organisationId, async () => {
    const arrival = reading(layout.control, (control) => readArrival(control, organisationId));
    if (arrival?.moveId !== moveId || arrival.step === 'discarded')
      throw new Refusal('conflict', `The arrival of ${organisationId} was called off.`);
    if (arrival.step === 'receiving') {
      await placeDatabase(layout.organisation(organisationId), contentPath(folder, manifest.database.sha256), ref);
      placeUploads(layout, folder, manifest);
    }
    return manifest.control;
  });
}

/** A file without rows that takes none: what is left of an organisation that is elsewhere. */
function makeEmpty(path: string, organisationId: string, { moveId, sealedAtMs }: Seal): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(path + ending, { force: true });
  const db = openWriter(path);
  try {
    migrate(db, organisationMigrations, 'organisation');
    writeIdentity(db, organisationId);
    // One later than it was: a file that was emptied is told from one that was not.
    sealing.sealOrganisation(db, { moveId, nowMs: (sealedAtMs ?? 0) + 1 });
  } finally {
    db.close();
  }
}

/** Whether the rows say that the organisation's files are to go, now. */
function isToGo(control: Connection, { organisationId, moveId, because }: EmptyInput): boolean {
  const row = because === 'moved' ? readMove(control, organisationId) : readArrival(control, organisationId);
  return row?.moveId === moveId && row.step === (because === 'moved' ? 'unsealed' : 'discarded');
}

export interface EmptyInput extends MoveRef {
  /** `moved`: it lives elsewhere now. `discarded`: it came here and is not to stay. */
  readonly because: 'moved' | 'discarded';
}

/**
 * Takes away what the organisation has here, and what the move left behind: its file stays, sealed and without rows. Does
 * nothing to a file with another seal, or when the rows say something else by now. May be repeated.
 * @throws StorageError busy; Error when a file is to go that has not this move's seal.
 */
export async function emptyOrganisation(layout: DataLayout, input: EmptyInput): Promise<void> {
  const { organisationId, moveId, because } = input;
  const folder = moveFolder(layout, because === 'moved' ? 'leaving' : 'arriving', organisationId, moveId);
  await locked(layout, organisationId, async () => {
    if (!reading(layout.control, (control) => isToGo(control, input))) return;
    const path = layout.organisation(organisationId);
    if (!existsSync(path)) return;
    const seal = reading(path, readSeal);
    if (seal?.moveId !== moveId) {
      if (because === 'discarded') return;
      throw new Error(`the file of ${organisationId} has the seal of ${seal?.moveId ?? 'nobody'} and not of ${moveId}`);
    }
    makeFolder(folder);
    const empty = join(folder, 'empty.sqlite');
    makeEmpty(empty, organisationId, seal);
    await fill(path, empty);
    rmSync(layout.uploadsOf(organisationId), { recursive: true, force: true });
  });
  rmSync(folder, { recursive: true, force: true });
}
