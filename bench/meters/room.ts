/** Whether the disk of the temporary folder has room for what a question writes. */
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** What is written beside it, and others who write: a full disk would end more than the benchmark. */
const SPARE = 2;

function freeBytes(): number {
  const { bavail, bsize } = statfsSync(tmpdir());
  return bavail * bsize;
}

export interface Fitting {
  /** As they were given, without the largest that do not fit. */
  readonly sizes: readonly number[];
  /** A line for each that is left out. */
  readonly leftOut: readonly string[];
}

/**
 * Leaves out sizes, the largest first, until the disk has twice the room that all that are left take together.
 * @param sizes from the smallest to the largest
 * @param bytesOf what all of these take
 */
export function fitting(sizes: readonly number[], bytesOf: (sizes: readonly number[]) => number, free = freeBytes()): Fitting {
  const bytes = bytesOf(sizes);
  const largest = sizes.at(-1);
  if (largest === undefined || bytes * SPARE <= free) return { sizes, leftOut: [] };
  const gb = (value: number): string => `${(value / 1e9).toFixed(1)} GB`;
  const why = `${gb(bytes)} would be written, and ${tmpdir()} has ${gb(free)} free, less than twice that. Set TMPDIR to a larger disk.`;
  const rest = fitting(sizes.slice(0, -1), bytesOf, free);
  return { sizes: rest.sizes, leftOut: [`${largest.toLocaleString('en-US')} is left out: ${why}`, ...rest.leftOut] };
}
