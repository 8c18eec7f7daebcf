/** Secrets that the first start mints into a file of the data directory (CLUSTER-2), also when several starts race for it. */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';

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

/** The file appears with all that it holds, or not at all; one that is there stays. */
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
      // A file system without links: then it must do without, and the lock of the start keeps others away.
      writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
    }
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/**
 * The line that `file` holds, without space around it; where there is no file, `mint()` is put into it (mode 0600). Of several
 * processes that come together one mints, and all are answered the same. @throws the system's error.
 */
export function readOrMint(file: string, mint: () => string): string {
  const known = written(file);
  if (known !== undefined) return known;
  place(file, `${mint()}\n`);
  return readFileSync(file, 'utf8').trim();
}
