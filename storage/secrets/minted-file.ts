/** Secrets that the first start mints into a file of the data directory (CLUSTER-2), also when several processes start together. */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncPath } from '../sqlite/database-copy.ts';

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function written(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** The file appears with its whole content or not at all. An existing file stays. */
function place(file: string, text: string): void {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}.part`;
  try {
    const handle = openSync(unfinished, 'wx', 0o600);
    try {
      writeSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    try {
      linkSync(unfinished, file);
    } catch (error) {
      if (isCode(error, 'EEXIST')) return;
      // A file system without hard links: the start lock keeps other processes away.
      writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
    }
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** The trimmed content of `file`, created (mode 0600) with `mint()` where missing. Of several processes one mints, and all get its value. */
export function readOrMint(file: string, mint: () => string): string {
  if (written(file) === undefined) place(file, `${mint()}\n`);
  // Also of a file that was there: an earlier start may have failed in this.
  syncPath(dirname(file));
  return readFileSync(file, 'utf8').trim();
}
