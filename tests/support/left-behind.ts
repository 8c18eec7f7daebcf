/** Processes that are still there when the tests that started them have ended. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { MADE_FOR } from './temporary-dir.ts';

/** A TMPDIR for a run of tests: whoever works below it was started by them. Its name is short, because those of sockets may not be long. */
export function testFolder(within: string = tmpdir()): string {
  const folder = mkdtempSync(join(within, 't-'));
  // Some tests give up root, and pass through it.
  chmodSync(folder, 0o711);
  writeFileSync(join(folder, MADE_FOR), '');
  return folder;
}

interface LeftBehind {
  readonly pid: number;
  readonly command: string;
  /** The test whose directory it works on; undefined: it names none. */
  readonly test: string | undefined;
}

/** What killed programs need to be gone, and what ends by itself once its program has. */
const ENDING_MAX_MS = 5_000;

/** Processes of the group `group`, and those that left it and know a directory below `folder`. None where the system has no /proc. */
function leftBehind(group: number, folder: string): LeftBehind[] {
  if (!existsSync('/proc/self/stat')) return [];
  const made = readFileSync(join(folder, MADE_FOR), 'utf8').trimEnd().split('\n');
  const dirs = made.map((line) => line.split('\t') as [dir: string, test: string]).filter(([dir]) => dir !== '');
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [state, , ofGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
      const known = `${command}\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`;
      if (state === 'Z' || (Number(ofGroup) !== group && !known.includes(folder))) return [];
      return [{ pid: Number(pid), command, test: dirs.find(([dir]) => known.includes(dir))?.[1] }];
    } catch {
      // No process, one that has ended, or somebody else's.
      return [];
    }
  });
}

/** Ends what the tests of a group left behind, says so on standard error, and returns it. */
export async function endLeftBehind(group: number, folder: string, waitMs = ENDING_MAX_MS): Promise<readonly LeftBehind[]> {
  await eventually(() => leftBehind(group, folder).length === 0, waitMs).catch(() => {});
  const left = leftBehind(group, folder);
  for (const { pid, command, test } of left) {
    process.stderr.write(`left behind: ${command.slice(0, 200)} (${pid}), by ${test ?? 'a test that is not known'}\n`);
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended just now.
    }
  }
  return left;
}
