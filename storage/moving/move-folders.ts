/**
 * The folders of a move: the copy on the source cell, and the received files on the target cell. Each file is named by the digest of its
 * content, so that it is either correct or absent, whoever wrote it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataLayout } from '../data-layout.ts';
import { syncPath } from '../sqlite/database-copy.ts';
import { isMoveId } from './moves.ts';

/** A file identified by its content. */
export interface Content {
  /** Hex. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
}

export type MoveSide = 'leaving' | 'arriving';

const SHA256 = /^[0-9a-f]{64}$/;

export function isSha256(text: string): boolean {
  return SHA256.test(text);
}

/** One move's folder. @throws Error for anything but ids. */
export function moveFolder(layout: DataLayout, side: MoveSide, organisationId: string, moveId: string): string {
  if (!isMoveId(moveId)) throw new Error('not the id of a move');
  return join(layout.movesOf(organisationId), `${side}-${moveId}`);
}

export function contentPath(folder: string, sha256: string): string {
  if (!isSha256(sha256)) throw new Error('not a digest');
  return join(folder, sha256);
}

/** The lock under which the organisation's file is put in place, or emptied (move-files.ts). */
export function lockPath(layout: DataLayout, organisationId: string): string {
  return join(layout.movesOf(organisationId), 'lock.sqlite');
}

/** Whether the folder holds all of the content. */
export async function holds(folder: string, { sha256, size }: Content): Promise<boolean> {
  try {
    return (await stat(contentPath(folder, sha256))).size === size;
  } catch {
    return false;
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/**
 * Stores one piece of a file whose pieces arrive in order; true once the whole file is on disk and verified. A piece may arrive again, and
 * from two senders at once, which send the same bytes.
 * @throws Error when the complete file has another digest; then it must be sent again from the beginning.
 */
export async function keepPiece(folder: string, content: Content, offset: number, bytes: Uint8Array): Promise<boolean> {
  const path = contentPath(folder, content.sha256);
  if (await holds(folder, content)) {
    // Who completed it may have failed in this.
    syncPath(folder);
    return true;
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // A file that arrives in one piece does not depend on earlier pieces.
  const isWhole = offset === 0 && bytes.length === content.size;
  const unfinished = isWhole ? `${path}.${randomBytes(4).toString('hex')}.part` : `${path}.part`;
  const file = await open(unfinished, existsSync(unfinished) ? 'r+' : 'w+', 0o600);
  try {
    await file.write(bytes, 0, bytes.length, offset);
    if (offset + bytes.length < content.size) return false;
    await file.sync();
  } finally {
    await file.close();
  }
  const found = isWhole ? createHash('sha256').update(bytes).digest('hex') : await digestOf(unfinished);
  if (found !== content.sha256) throw new Error(`what came for ${content.sha256} is ${found}`);
  await rename(unfinished, path).catch(async (error: unknown) => {
    // The other sender has completed the file meanwhile.
    if (!(await holds(folder, content))) throw error;
  });
  syncPath(folder);
  return true;
}
