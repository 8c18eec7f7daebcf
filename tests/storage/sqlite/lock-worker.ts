/** A process that takes the lock on the directory named by its argument, says how that went, and stays. */
import { writeSync } from 'node:fs';
import { lockDataDir } from '../../../storage/sqlite/lock.ts';

const [dir = '', mode = 'alone'] = process.argv.slice(2);
try {
  lockDataDir(dir, mode === 'shared' ? 'shared' : 'alone');
  writeSync(1, 'held\n');
  // Keeps the process alive until it is killed.
  setInterval(() => {}, 60_000);
} catch (error) {
  writeSync(1, `${error instanceof Error ? error.message : String(error)}\n`);
}
