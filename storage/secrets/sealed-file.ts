/**
 * Large files sealed piece by piece, so that no file is ever held in memory as a whole. Owns the format: frames of FRAME_BYTES, the last
 * one shorter. Each frame is bound to its place in its file and to whether it is the last, so a truncated, shuffled or spliced file does
 * not open.
 */
import type { FileHandle } from 'node:fs/promises';
import type { Vault } from './vault.ts';

/** Sealing or opening one piece takes well under a millisecond. */
export const PIECE_BYTES = 192 * 1024;
/** What the vault puts around a piece: nonce and tag. */
const SEAL_BYTES = 28;
const FRAME_BYTES = PIECE_BYTES + SEAL_BYTES;

function purposeOf(purpose: string, piece: number, isLast: boolean): string {
  return `${purpose}#${piece}${isLast ? '.' : ''}`;
}

/** Writes `bytes`, at least one, sealed for `purpose`. Yields to the event loop between pieces. @throws the system's error when the disk refuses. */
export async function writeSealed(file: FileHandle, vault: Vault, purpose: string, bytes: Uint8Array): Promise<void> {
  const pieces = Math.ceil(bytes.length / PIECE_BYTES);
  for (let piece = 0; piece < pieces; piece++) {
    const plain = bytes.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES);
    await file.writeFile(vault.seal(purposeOf(purpose, piece, piece === pieces - 1), plain));
  }
}

async function readFrame(file: FileHandle, at: number, size: number): Promise<Buffer> {
  const frame = Buffer.allocUnsafe(Math.min(FRAME_BYTES, size - at));
  for (let filled = 0; filled < frame.length; ) {
    const { bytesRead } = await file.read(frame, filled, frame.length - filled, at + filled);
    if (bytesRead === 0) throw new Error('a sealed file became shorter while it was read');
    filled += bytesRead;
  }
  return frame;
}

/** The plain content in pieces of PIECE_BYTES, the last one shorter. The caller owns each piece. @throws Error when it was changed or truncated. */
export async function* readSealed(file: FileHandle, vault: Vault, purpose: string): AsyncGenerator<Buffer, void, undefined> {
  const { size } = await file.stat();
  const frames = Math.max(1, Math.ceil(size / FRAME_BYTES));
  for (let piece = 0; piece < frames; piece++) {
    const frame = await readFrame(file, piece * FRAME_BYTES, size);
    yield vault.open(purposeOf(purpose, piece, piece === frames - 1), frame);
  }
}
