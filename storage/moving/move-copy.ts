/**
 * The copy of an organisation that leaves (CELL-8): its sealed file, its rows of the control file, and the list of its uploads. A manifest
 * lists everything by digest. Blocks: runs in move-thread.ts.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DataLayout, makeFolder } from '../data-layout.ts';
import { controlMigrations } from '../migrations/control.ts';
import { organisationMigrations } from '../migrations/organisation.ts';
import { columns, integer, readIds } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { openReader } from '../sqlite/database.ts';
import { copyDatabase, type DatabaseFacts, putInPlace, sha256OfFile, syncPath, verifyDatabase } from '../sqlite/database-copy.ts';
import { type ControlRows, readControlRows } from './control-rows.ts';
import { type Content, contentPath, moveFolder } from './move-folders.ts';
import type { CopyRecord } from './moves.ts';
import { readSeal } from './seal.ts';

/** Schema versions of the files that this program writes. Cells exchange organisations only when they are equal. */
export const SCHEMA_VERSIONS = { control: controlMigrations.length, organisation: organisationMigrations.length } as const;

export interface MoveRef {
  readonly organisationId: string;
  readonly moveId: string;
}

export interface UploadContent extends Content {
  readonly id: string;
}

/** Everything that a move transfers. Stored beside the copy as JSON, named by its digest. */
export interface Manifest extends MoveRef {
  readonly database: Content & Pick<DatabaseFacts, 'schemaVersion' | 'rows'>;
  readonly controlSchemaVersion: number;
  readonly control: ControlRows;
  readonly uploads: readonly UploadContent[];
  /** Uploads with a row but no file: lost before the move. */
  readonly lostUploads: readonly string[];
}

const uploadSizes = columns({ bytes: integer.from('total(size)') });

/** What the organisation's uploads hold, by its rows. */
export function uploadBytesOf(db: Connection): number {
  return uploadSizes.get(db, 'FROM uploads')?.bytes ?? 0;
}

function uploadIds(layout: DataLayout, organisationId: string): string[] {
  const db = openReader(layout.organisation(organisationId));
  try {
    return readIds(db, 'FROM uploads ORDER BY id');
  } finally {
    db.close();
  }
}

/** The organisation's uploads by digest; `lost`: those without a file. */
function listUploads(layout: DataLayout, organisationId: string): { uploads: UploadContent[]; lost: string[] } {
  const uploads: UploadContent[] = [];
  const lost: string[] = [];
  for (const id of uploadIds(layout, organisationId)) {
    const path = layout.upload(organisationId, id);
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (size === undefined) lost.push(id);
    else uploads.push({ id, size, sha256: sha256OfFile(path) });
  }
  return { uploads, lost };
}

/** Writes the text under its digest. */
function keepText(folder: string, text: string): Content {
  const bytes = Buffer.from(text, 'utf8');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  putInPlace(contentPath(folder, sha256), (unfinished) => writeFileSync(unfinished, bytes, { mode: 0o600, flag: 'wx' }));
  return { sha256, size: bytes.length };
}

/** Copies the sealed file under its digest and verifies the copy. @throws Error unless it carries this move's seal. */
function copySealed(layout: DataLayout, folder: string, { organisationId, moveId }: MoveRef): DatabaseFacts {
  // A unique name, because two drivers of one move may copy at the same time.
  const unfinished = join(folder, `database.${randomBytes(4).toString('hex')}.part`);
  try {
    copyDatabase(layout.organisation(organisationId), unfinished);
    const copy = openReader(unfinished);
    const seal = readSeal(copy);
    copy.close();
    if (seal?.moveId !== moveId || seal.sealedAtMs === null) throw new Error(`the file of ${organisationId} is not sealed by ${moveId}`);
    const facts = verifyDatabase(unfinished);
    renameSync(unfinished, contentPath(folder, facts.sha256));
    syncPath(folder);
    return facts;
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

function controlRowsOf(layout: DataLayout, organisationId: string): ControlRows {
  const control = openReader(layout.control);
  try {
    return readControlRows(control, organisationId);
  } finally {
    control.close();
  }
}

/** Makes the copy and its manifest. @throws DamagedDatabase, StorageError or the system's error; then it can be tried again. */
export function copyOrganisation(layout: DataLayout, ref: MoveRef): CopyRecord {
  const { organisationId, moveId } = ref;
  const folder = moveFolder(layout, 'leaving', organisationId, moveId);
  makeFolder(folder);
  const { sha256, size, schemaVersion, rows } = copySealed(layout, folder, ref);
  const { uploads, lost } = listUploads(layout, organisationId);
  const manifest: Manifest = {
    organisationId,
    moveId,
    database: { sha256, size, schemaVersion, rows },
    controlSchemaVersion: SCHEMA_VERSIONS.control,
    control: controlRowsOf(layout, organisationId),
    uploads,
    lostUploads: lost,
  };
  return {
    manifest: keepText(folder, JSON.stringify(manifest)).sha256,
    bytes: size,
    rows: Object.values(rows).reduce((sum, count) => sum + count, 0),
    uploads: uploads.length,
    uploadBytes: uploads.reduce((sum, upload) => sum + upload.size, 0),
  };
}

/** The manifest with this digest. @throws Error when the file is missing, damaged or of another move. */
export function readManifest(folder: string, sha256: string, { organisationId, moveId }: MoveRef): Manifest {
  const bytes = readFileSync(contentPath(folder, sha256));
  if (createHash('sha256').update(bytes).digest('hex') !== sha256) throw new Error(`the manifest ${sha256} is damaged`);
  const manifest = JSON.parse(bytes.toString('utf8')) as Manifest;
  if (manifest.organisationId !== organisationId || manifest.moveId !== moveId) {
    throw new Error(`the manifest ${sha256} is of ${manifest.moveId} and not of ${moveId}`);
  }
  return manifest;
}
