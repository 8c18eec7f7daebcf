/**
 * Where Litestream 0.3 has read a database up to, from the copy of the log that it keeps beside it. Its metrics go on telling the size of
 * the copy before once it began another one, and tell no generation.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Place, positionOf } from './lag.ts';

const GENERATION = /^[0-9a-f]{16}$/;
const SEGMENT = /^([0-9a-f]{8})\.wal$/;

/** The end of the newest copied log of the database at `path`; undefined when there is none. */
export function shadowPlace(path: string): Place | undefined {
  const dir = join(dirname(path), `.${basename(path)}-litestream`);
  try {
    const generation = readFileSync(join(dir, 'generation'), 'utf8').trim();
    if (!GENERATION.test(generation)) return undefined;
    const logs = join(dir, 'generations', generation, 'wal');
    const newest = readdirSync(logs).sort().at(-1) ?? '';
    const [, index] = SEGMENT.exec(newest) ?? [];
    if (index === undefined) return undefined;
    return { generation, position: positionOf(Number.parseInt(index, 16), statSync(join(logs, newest)).size) };
  } catch {
    // It begins a new one at this moment: the next look finds it.
    return undefined;
  }
}
