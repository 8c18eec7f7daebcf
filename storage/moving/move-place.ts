/**
 * Puts an organisation's files in place on the target cell of a move, and empties them on the cell that it left (CELL-13, CELL-14).
 * Blocks: runs in move-thread.ts.
 *
 * Invariants: a file that takes writes is never touched. Whoever changes files in place takes the organisation's lock, which the kernel
 * frees with its holder, and then reads the rows again, so that a delayed process sees that it is too late. An existing file is not
 * replaced, because other processes have it open: SQLite fills or empties it in one transaction.
 */
import { constants, copyFileSync, existsSync, linkSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { Refusal } from '../../protocol/errors.ts';
import { type BackupFile, type Manifest, readManifest } from '../backup/backup-manifest.ts';
import { compareListing, requireUndamaged } from '../backup/restore.ts';
import { type DataLayout, makeFolder } from '../data-layout.ts';
import { migrate } from '../migrations/migrate.ts';
import { organisationMigrations } from '../migrations/organisation.ts';
import { writeIdentity } from '../organisations/organisation-file.ts';
import type { Connection } from '../sqlite/connection.ts';
import { jitteredPauseMs, reading } from '../sqlite/database.ts';
import { putInPlace, sha256OfFile, syncPath } from '../sqlite/database-copy.ts';
import { rewriteLog, writing } from '../sqlite/log-emptying.ts';
import { StorageError, storageErrorCodeOf } from '../sqlite/storage-error.ts';
import { readArrival } from './arrivals.ts';
import type { ControlRows } from './control-rows.ts';
import { clearMoveFolders, databaseName, type MoveRef, newMoveFolder, requireSealed, SCHEMA_VERSIONS, uploadsName } from './move-copy.ts';
import { readMove } from './moves.ts';
import { readSeal, type Seal, transactions as sealing } from './seal.ts';

/** All pages in one step: this thread serves nobody else. */
const ALL_PAGES = 0x7fff_ffff;
/** Writers release a sealed file at once, without writing. */
const FILL_WAIT_MAX_MS = 2_000;

/** The lock under which the organisation's file is put in place, or emptied. */
export function lockPath(layout: DataLayout, organisationId: string): string {
  return join(layout.movesOf(organisationId), 'lock.sqlite');
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

/** Moves the whole WAL into the file, on disk. @throws StorageError busy while somebody reads an older state. */
function checkpoint(path: string): void {
  writing(path, (db) => {
    rewriteLog(db);
    const { busy } = db.statement('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {};
    if (busy !== 0) throw new StorageError('busy', `${path} is being read`);
  });
}

/** Identifies the content of a file: both values are written in one transaction with the rest. */
function markOf(path: string): string {
  return reading(path, (db) => JSON.stringify([readSeal(db), db.statement('PRAGMA page_count').get()]));
}

/**
 * Replaces the content of the file at `path` by that of `from`, in one transaction; open connections stay valid.
 * @throws StorageError busy when others kept writing to it.
 */
async function fill(path: string, from: string): Promise<void> {
  const source = new Database(from, { readonly: true, fileMustExist: true });
  try {
    const endMs = performance.now() + FILL_WAIT_MAX_MS;
    // When the file is locked at the start, the driver reports success after 0 pages.
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

/** Places a new file, complete or not at all; refuses to replace one. */
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
  // An earlier try may have placed the file and failed in this.
  syncPath(dirname(path));
}

/** Puts one in place, unless it is there already. */
function placeUpload(path: string, from: string, sha256: string): void {
  if (existsSync(path) && sha256OfFile(path) === sha256) return;
  try {
    linkSync(from, path);
  } catch {
    // The target is on another file system, or a damaged file is in its place.
    putInPlace(path, (unfinished) => copyFileSync(from, unfinished));
  }
}

function placeUploads(layout: DataLayout, folder: string, organisationId: string, files: readonly BackupFile[]): void {
  const uploads = files.filter(({ path }) => path.startsWith(uploadsName(organisationId)));
  if (uploads.length === 0) return;
  const place = layout.uploadsOf(organisationId);
  makeFolder(place);
  for (const { path, sha256 } of uploads) placeUpload(join(layout.dir, path), join(folder, path), sha256);
  syncPath(place);
  syncPath(dirname(place));
}

/** The manifest of what has come, of which all is there and undamaged. @throws DamagedDatabase, Error or Refusal */
function requireComplete(folder: string, ref: MoveRef): Manifest & { readonly move: NonNullable<Manifest['move']> } {
  const { organisationId, moveId } = ref;
  const manifest = readManifest(folder);
  const { move, files } = manifest;
  if (move?.organisation_id !== organisationId || move.move_id !== moveId)
    throw new Error(`what has come is of ${move?.move_id}, not of ${moveId}`);
  const name = databaseName(organisationId);
  const schemaVersion = files.find(({ path }) => path === name)?.database?.schema_version;
  if (move.control_schema_version !== SCHEMA_VERSIONS.control || schemaVersion !== SCHEMA_VERSIONS.organisation) {
    throw new Refusal('conflict', 'The two cells run different versions of the service. Bring both to the same one first.');
  }
  compareListing(folder, manifest, name);
  requireUndamaged(folder, files, folder);
  requireSealed(join(folder, name), ref);
  return { ...manifest, move };
}

export interface PlaceInput extends MoveRef {
  readonly folder: string;
}

/**
 * Verifies the received files and puts them in place, sealed. Returns the rows for the control file. May be repeated.
 * @throws Refusal conflict when a file there takes writes, or the arrival was called off; StorageError busy.
 */
export async function placeOrganisation(layout: DataLayout, { folder, ...ref }: PlaceInput): Promise<ControlRows> {
  const { organisationId, moveId } = ref;
  const { files, move } = requireComplete(folder, ref);
  return locked(layout, organisationId, async () => {
    const arrival = reading(layout.control, (control) => readArrival(control, organisationId));
    if (arrival?.moveId !== moveId || arrival.step === 'discarded')
      throw new Refusal('conflict', `The arrival of ${organisationId} was called off.`);
    if (arrival.step === 'receiving') {
      await placeDatabase(layout.organisation(organisationId), join(folder, databaseName(organisationId)), ref);
      placeUploads(layout, folder, organisationId, files);
    }
    return move.control_rows;
  });
}

/** Makes the empty, sealed file that remains of an organisation that lives elsewhere. */
function makeEmpty(path: string, organisationId: string, { moveId, sealedAtMs }: Seal): void {
  writing(path, (db) => {
    migrate(db, organisationMigrations, 'organisation');
    writeIdentity(db, organisationId);
    // 1 ms later than before, which distinguishes an emptied file from a full one.
    sealing.sealOrganisation(db, { moveId, nowMs: (sealedAtMs ?? 0) + 1 });
  });
}

/** Whether the rows say that the organisation's files are to be deleted now. */
function isToGo(control: Connection, { organisationId, moveId, because }: EmptyInput): boolean {
  const row = because === 'moved' ? readMove(control, organisationId) : readArrival(control, organisationId);
  return row?.moveId === moveId && row.step === (because === 'moved' ? 'switched' : 'discarded');
}

export interface EmptyInput extends MoveRef {
  /** `moved`: the organisation lives elsewhere now. `discarded`: its arrival here was called off. */
  readonly because: 'moved' | 'discarded';
}

/**
 * Deletes the organisation's data on this cell and what the move left behind; its file stays, sealed and without rows. Does nothing when
 * the rows no longer ask for it. May be repeated.
 * @throws StorageError busy; Error when the file has another seal than this move's.
 */
export async function emptyOrganisation(layout: DataLayout, input: EmptyInput): Promise<void> {
  const { organisationId, moveId, because } = input;
  const side = because === 'moved' ? 'leaving' : 'arriving';
  await locked(layout, organisationId, async () => {
    const path = layout.organisation(organisationId);
    if (!reading(layout.control, (control) => isToGo(control, input)) || !existsSync(path)) return;
    const seal = reading(path, readSeal);
    if (seal?.moveId !== moveId) {
      if (because === 'discarded') return;
      throw new Error(`the file of ${organisationId} has the seal of ${seal?.moveId ?? 'nobody'} and not of ${moveId}`);
    }
    const empty = join(newMoveFolder(layout, side, input), 'empty.sqlite');
    makeEmpty(empty, organisationId, seal);
    await fill(path, empty);
    rmSync(layout.uploadsOf(organisationId), { recursive: true, force: true });
  });
  clearMoveFolders(layout, side, input);
}
