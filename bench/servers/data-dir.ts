/** Folders in which servers of a benchmark keep their data. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A server that was killed may still have a write under way. */
const RETRIES = 10;

export interface DataDir {
  readonly path: string;
  /** Removes the folder and all that is in it. Safe to call twice. */
  remove(): void;
}

/** A new folder in `TMPDIR`. It goes with this process at the latest: a run that is interrupted must not leave the gigabytes of its questions. */
export function newDataDir(name: string): DataDir {
  const path = mkdtempSync(join(tmpdir(), `${name}-`));
  const remove = (): void => {
    process.off('exit', remove);
    rmSync(path, { recursive: true, force: true, maxRetries: RETRIES });
  };
  process.on('exit', remove);
  return { path, remove };
}
