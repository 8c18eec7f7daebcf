/** A disk that a test may fill. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryDir } from './temporary-dir.ts';

/** A small disk of its own, in memory; undefined where this user may not mount one. */
export function smallDisk(t: TestContext): string | undefined {
  let mounted = false;
  // Before the folder's own end: it cannot be removed while something is mounted on it.
  t.after(() => mounted && execFileSync('umount', ['-l', dir]));
  const dir = temporaryDir(t);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=700', 'tmpfs', dir], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  mounted = true;
  return dir;
}

/** Leaves no room on it; returns the file to remove for some. */
export function fill(dir: string): string {
  const path = join(dir, 'filler');
  for (const size of [1024 * 1024, 64 * 1024, 4 * 1024]) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: 'a' });
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
    }
  }
  return path;
}
