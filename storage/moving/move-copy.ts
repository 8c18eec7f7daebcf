/**
 * The copy of an organisation that leaves (CELL-8): a backup of its sealed file and its uploads, whose manifest also has its rows of the
 * control file. The uploads stay where they are until they are sent. Blocks: runs in move-thread.ts.
 */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listed } from '../backup/backup.ts';
import { type BackupFile, MANIFEST, manifestText, rowsIn } from '../backup/backup-manifest.ts';
import { type DataLayout, makeFolder } from '../data-layout.ts';
import { controlMigrations } from '../migrations/control.ts';
import { organisationMigrations } from '../migrations/organisation.ts';
import { columns, integer, readIds } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { reading } from '../sqlite/database.ts';
import { copyDatabase } from '../sqlite/database-copy.ts';
import { readControlRows } from './control-rows.ts';
import { type CopyRecord, isMoveId } from './moves.ts';
import { readSeal } from './seal.ts';

/** Schema versions of the files that this program writes. Cells exchange organisations only when they are equal. */
export const SCHEMA_VERSIONS = { control: controlMigrations.length, organisation: organisationMigrations.length } as const;

export interface MoveRef {
  readonly organisationId: string;
  readonly moveId: string;
}

export type MoveSide = 'leaving' | 'arriving';

/** What names of the move's folders begin with. @throws Error for anything but ids. */
function prefixOf(side: MoveSide, { moveId }: MoveRef): string {
  if (!isMoveId(moveId)) throw new Error('not the id of a move');
  return `${side}-${moveId}-`;
}

/** A folder for one try at a move: two drivers of it may copy and send at the same time. */
export function newMoveFolder(layout: DataLayout, side: MoveSide, ref: MoveRef): string {
  const folder = layout.movesOf(ref.organisationId);
  makeFolder(folder);
  return mkdtempSync(join(folder, prefixOf(side, ref)));
}

/** All of the move's folders, also those that a crash left. */
export function moveFolders(layout: DataLayout, side: MoveSide, ref: MoveRef): string[] {
  const folder = layout.movesOf(ref.organisationId);
  const prefix = prefixOf(side, ref);
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(folder).flatMap((name) => (name.startsWith(prefix) ? [join(folder, name)] : []));
}

/** Blocks: for threads of their own. */
export function clearMoveFolders(layout: DataLayout, side: MoveSide, ref: MoveRef): void {
  for (const folder of moveFolders(layout, side, ref)) rmSync(folder, { recursive: true, force: true });
}

export function databaseName(organisationId: string): string {
  return `organisations/${organisationId}.sqlite`;
}

export function uploadsName(organisationId: string): string {
  return `uploads/${organisationId}/`;
}

/** @throws Error unless the copy carries this move's seal: a file that takes writes must not be copied. */
export function requireSealed(path: string, { organisationId, moveId }: MoveRef): void {
  const seal = reading(path, readSeal);
  if (seal?.moveId !== moveId || seal.sealedAtMs === null) throw new Error(`the file of ${organisationId} is not sealed by ${moveId}`);
}

const uploadSizes = columns({ bytes: integer.from('total(size)') });

/** What the organisation's uploads hold, by its rows. */
export function uploadBytesOf(db: Connection): number {
  return uploadSizes.get(db, 'FROM uploads')?.bytes ?? 0;
}

/** The organisation's uploads; `missing`: those with a row and without a file, which were lost before. */
function uploadsOf(layout: DataLayout, organisationId: string): { readonly uploads: BackupFile[]; readonly missing: string[] } {
  const uploads: BackupFile[] = [];
  const missing: string[] = [];
  for (const id of reading(layout.organisation(organisationId), (db) => readIds(db, 'FROM uploads ORDER BY id'))) {
    const size = statSync(layout.upload(organisationId, id), { throwIfNoEntry: false })?.size;
    if (size === undefined) missing.push(`${organisationId}/${id}`);
    else uploads.push(listed(layout.dir, { path: uploadsName(organisationId) + id, size }));
  }
  return { uploads, missing };
}

export interface CopyInput extends MoveRef {
  /** What was sent before, which it has to be again. */
  readonly copy?: CopyRecord | null;
  readonly keyFingerprint: string;
}

/** What was made, for the move's row, and the folder that it is in. */
export interface MoveCopy {
  readonly folder: string;
  /** The files of the manifest, some of them outside the folder, where they were. */
  readonly paths: readonly string[];
  readonly copy: CopyRecord;
}

/** Makes the copy and its manifest. @throws DamagedDatabase, StorageError, Error or the system's error; then it can be tried again. */
export function copyOrganisation(layout: DataLayout, { keyFingerprint, copy: before, ...ref }: CopyInput): MoveCopy {
  const { organisationId, moveId } = ref;
  const beganAt = new Date().toISOString();
  const folder = newMoveFolder(layout, 'leaving', ref);
  try {
    const path = databaseName(organisationId);
    makeFolder(join(folder, 'organisations'));
    copyDatabase(layout.organisation(organisationId), join(folder, path));
    requireSealed(join(folder, path), ref);
    const database = listed(folder, { path, size: statSync(join(folder, path)).size });
    const rows = rowsIn([database]);
    // What was emptied since is sealed as well.
    if (before != null && before.rows !== rows) throw new Error(`what is left of ${organisationId} here is not what was sent`);
    const { uploads, missing } = uploadsOf(layout, organisationId);
    const text = manifestText({
      began_at: beganAt,
      finished_at: new Date().toISOString(),
      master_key: { fingerprint: keyFingerprint, included: false },
      missing_uploads: missing,
      unreadable_uploads: [],
      files: [database, ...uploads],
      move: {
        organisation_id: organisationId,
        move_id: moveId,
        control_schema_version: SCHEMA_VERSIONS.control,
        control_rows: reading(layout.control, (control) => readControlRows(control, organisationId)),
      },
    });
    writeFileSync(join(folder, MANIFEST), text, { mode: 0o600, flag: 'wx' });
    const uploadBytes = uploads.reduce((sum, { size }) => sum + size, 0);
    const paths = [database, ...uploads].map((file) => file.path);
    return { folder, paths, copy: { bytes: database.size, rows, uploads: uploads.length, uploadBytes } };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}
