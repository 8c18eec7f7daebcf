/**
 * The files of uploads, one each below `DATA_DIR/uploads`, sealed with the master key. Rows say whose they are. A file is complete or
 * absent; one without a row is deleted at a start.
 */
import { randomBytes } from 'node:crypto';
import { access, constants, type FileHandle, mkdir, open, opendir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isId } from '../../protocol/ids.ts';
import type { DataLayout } from '../data-layout.ts';
import { readSealed, writeSealed } from '../secrets/sealed-file.ts';
import type { Vault } from '../secrets/vault.ts';

const UNFINISHED = '.part';
/** File names held in memory at once: a directory may have millions. */
const NAMES_PER_SWEEP = 500;

function purposeOf(uploadId: string): string {
  return `upload:${uploadId}`;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Writes under a temporary name first, so that a crash leaves either the whole file or one that is ignored. */
async function writeWhole(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  const unfinished = `${path}.${randomBytes(4).toString('hex')}${UNFINISHED}`;
  try {
    const file = await open(unfinished, 'wx', 0o600);
    try {
      await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

interface Kept {
  readonly layout: DataLayout;
  readonly vault: Vault;
}

/** They are on disk once this resolves. @throws the system's error when the disk refuses. */
export async function writeUploadFile({ layout, vault }: Kept, organisationId: string, uploadId: string, bytes: Uint8Array): Promise<void> {
  const path = layout.upload(organisationId, uploadId);
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Each time: who made the folder may have failed to sync its name, or not be so far.
  await syncFolder(dirname(folder));
  await writeWhole(path, (file) => writeSealed(file, vault, purposeOf(uploadId), bytes));
  await syncFolder(folder);
}

export function hasUploadFile(layout: DataLayout, organisationId: string, uploadId: string): Promise<boolean> {
  const isReadable = access(layout.upload(organisationId, uploadId), constants.R_OK);
  return isReadable.then(() => true).catch(() => false);
}

/** In pieces, never in memory as a whole. @throws ENOENT when the file is gone, Error when it was changed or cannot be read. */
export async function* uploadPieces(
  { layout, vault }: Kept,
  organisationId: string,
  uploadId: string,
): AsyncGenerator<Buffer, void, undefined> {
  const file = await open(layout.upload(organisationId, uploadId), 'r');
  try {
    yield* readSealed(file, vault, purposeOf(uploadId));
  } finally {
    await file.close();
  }
}

/** The whole upload; undefined when the file is gone. @throws Error when it was changed or cannot be read. */
export async function readUploadFile(storage: Kept, organisationId: string, uploadId: string): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of uploadPieces(storage, organisationId, uploadId)) pieces.push(piece);
    return Buffer.concat(pieces);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export async function readUploadHead(storage: Kept, organisationId: string, uploadId: string): Promise<Buffer | undefined> {
  try {
    for await (const piece of uploadPieces(storage, organisationId, uploadId)) return piece;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return undefined;
}

function namePurposeOf(uploadId: string): string {
  return `upload-name:${uploadId}`;
}

/** Seals the file's name for its row until a message uses it: names reveal as much of people as files do. */
export function sealUploadName(vault: Vault, uploadId: string, name: string): string {
  return vault.seal(namePurposeOf(uploadId), Buffer.from(name, 'utf8')).toString('base64');
}

export function openUploadName(vault: Vault, uploadId: string, sealed: string): string {
  return vault.open(namePurposeOf(uploadId), Buffer.from(sealed, 'base64')).toString('utf8');
}

/** Deletes these uploads' files; one that is gone already is no error. */
export async function deleteUploadFiles(layout: DataLayout, organisationId: string, uploadIds: readonly string[]): Promise<void> {
  for (const id of uploadIds) await rm(layout.upload(organisationId, id), { force: true });
}

async function* namesIn(folder: string): AsyncGenerator<string[]> {
  let names: string[] = [];
  try {
    for await (const { name } of await opendir(folder)) {
      names.push(name);
      if (names.length < NAMES_PER_SWEEP) continue;
      yield names;
      names = [];
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  if (names.length > 0) yield names;
}

/** Deletes files without a row, and unfinished ones, older than the id `before`: a newer one's row may come yet. Returns how many. */
export async function sweepUploadFiles(
  layout: DataLayout,
  organisationId: string,
  before: string,
  known: (ids: readonly string[]) => ReadonlySet<string>,
): Promise<number> {
  const folder = layout.uploadsOf(organisationId);
  let swept = 0;
  for await (const names of namesIn(folder)) {
    const old = names.filter((name) => name < before);
    const ids = old.filter((name) => isId('upl', name));
    const rows = ids.length === 0 ? new Set<string>() : known(ids);
    const stray = [...ids.filter((id) => !rows.has(id)), ...old.filter((name) => name.startsWith('upl_') && name.endsWith(UNFINISHED))];
    for (const name of stray) await rm(join(folder, name), { force: true });
    swept += stray.length;
  }
  return swept;
}
