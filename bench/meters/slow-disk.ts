/**
 * A disk whose syncs take longer, for a server under test: `slow-disk.c` is preloaded into it. Owns what the environment variable
 * SYNC_DELAY_US says, the compiled library, and the count of syncs, by which it shows that the delay takes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../arguments.ts';
import { compileC, projectDir } from '../load/compile.ts';

/** A second: a disk that is slower is broken. */
const DELAY_MAX_US = 1_000_000;
/** Two 64-bit numbers, see slow-disk.c. */
const COUNTS_BYTES = 16;

/** What `SYNC_DELAY_US` adds to each sync of a server under test, in microseconds; 0 without it. @throws UsageError */
export function syncDelayUs({ SYNC_DELAY_US: given }: Readonly<Record<string, string | undefined>>): number {
  if (given === undefined || given === '') return 0;
  if (/^\d+$/.test(given) && Number(given) <= DELAY_MAX_US) return Number(given);
  throw new UsageError(`SYNC_DELAY_US takes a whole number of microseconds from 0 to ${DELAY_MAX_US}`);
}

export type Syncs = ReturnType<SlowDisk['syncs']>;

/** The disk of one server, which may have several processes. */
export class SlowDisk {
  readonly delayUs: number;
  /** What makes a program that is started with it meet this disk. */
  readonly env: Readonly<Record<string, string>>;
  readonly #name: string;
  readonly #countsFile: string;

  /** @param name of the server: its count is kept in a file of that name in `outDir` */
  constructor(outDir: string, name: string, delayUs: number) {
    this.delayUs = delayUs;
    this.#name = name;
    this.#countsFile = join(outDir, `${name}-syncs`);
    writeFileSync(this.#countsFile, Buffer.alloc(COUNTS_BYTES));
    this.env = { LD_PRELOAD: libraryIn(outDir), SYNC_DELAY_US: String(delayUs), SYNC_COUNTS: this.#countsFile };
  }

  syncs() {
    const numbers = readFileSync(this.#countsFile);
    const count = Number(numbers.readBigUInt64LE(0));
    return { count, meanUs: Number(numbers.readBigUInt64LE(8)) / 1e3 / count };
  }

  /** To be asked once the server has stored something. @throws when its syncs do not take as long as they should */
  check(): void {
    const { count, meanUs } = this.syncs();
    if (count > 0 && meanUs >= this.delayUs) return;
    const seen = count === 0 ? 'none of its syncs went through the C library' : `its syncs took ${Math.round(meanUs)} µs on average`;
    throw new Error(`${this.#name} should have met a disk that takes ${this.delayUs} µs longer for each sync, but ${seen}`);
  }
}

/** Compiled by this run, by the folder that it lies in. */
const libraries = new Map<string, string>();

function libraryIn(outDir: string): string {
  const known = libraries.get(outDir);
  if (known !== undefined) return known;
  const library = join(outDir, 'slow-disk.so');
  compileC(join(projectDir(), 'bench/meters/slow-disk.c'), library, ['-shared', '-fPIC']);
  libraries.set(outDir, library);
  return library;
}

/** The disk that the environment asks for, for a server of this run; undefined: the disk as it is. */
export function diskOfRun(outDir: string, name: string): SlowDisk | undefined {
  const delayUs = syncDelayUs(process.env);
  return delayUs === 0 ? undefined : new SlowDisk(outDir, name, delayUs);
}
