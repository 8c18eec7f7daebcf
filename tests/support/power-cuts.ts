/**
 * Power cuts without a machine to cut off: a library that is preloaded into the program (power-journal.c) writes down what it does to its files
 * and fails syncs and writes on request; `replay` shows what a disk would hold at each moment.
 *
 * A file has what was synced. What was written since may be there or not, sector by sector, whatever came first. A page that was written before a sync that
 * failed counts as written no more: Linux marks it clean, and no later sync writes it. Names are there once their folder was synced.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { projectRoot } from './project-root.ts';
import { temporaryDir } from './temporary-dir.ts';

/** What Linux keeps in memory, and forgets, as one. */
const PAGE_BYTES = 4096;
/** What a disk writes whole or not at all. */
const SECTOR_BYTES = 512;
/** The size of the struct that the library reads. */
const FAILURES_BYTES = 64;
const SUFFIX_BYTES = 48;
const FAILED_AT = 12;

/** After `wait` syncs, or writes, of files whose paths end so, `count` of them fail. */
export interface SyncFailures {
  readonly wait: number;
  /** A write that fails has written half. */
  readonly writes?: boolean;
  /** Default 1. */
  readonly count?: number;
  readonly suffix?: string;
}

/** `path`: what POWER_FAILURES names. */
export function failSyncs(path: string, { wait, count = 1, suffix = '', writes = false }: SyncFailures): void {
  const bytes = readFileSync(path).fill(0, FAILURES_BYTES - SUFFIX_BYTES);
  bytes.writeInt32LE(wait, 0);
  bytes.writeInt32LE(count, 4);
  bytes.writeInt32LE(writes ? 1 : 0, 8);
  bytes.write(suffix, FAILURES_BYTES - SUFFIX_BYTES, 'latin1');
  // The library has mapped it, so it is not replaced.
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, 0);
  closeSync(file);
}

export interface PowerJournal {
  /** For the program that is watched. */
  readonly env: Readonly<Record<string, string>>;
  failSyncs(failures: SyncFailures): void;
  /** Syncs that have failed by now. */
  failed(): number;
  /** How much was written down by now: a moment that `replay` knows. */
  position(): number;
  read(): Buffer;
}

/** Makes in `dir` what is preloaded into a program; needs a C compiler. Returns the program's environment. */
export function powerEnv(dir: string, dataDir: string) {
  const [library, journal, failures] = ['power.so', 'journal', 'failures'].map((name) => join(dir, name)) as [string, string, string];
  const source = join(projectRoot(), 'tests/support/power-journal.c');
  execFileSync('gcc', ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl', '-lpthread']);
  writeFileSync(journal, '');
  writeFileSync(failures, Buffer.alloc(FAILURES_BYTES));
  mkdirSync(dataDir, { recursive: true });
  return { LD_PRELOAD: library, POWER_FOLDER: dataDir, POWER_JOURNAL: journal, POWER_FAILURES: failures } as const;
}

export function powerJournal(t: TestContext, dataDir: string): PowerJournal {
  const env = powerEnv(temporaryDir(t), dataDir);
  const { POWER_JOURNAL: journal, POWER_FAILURES: failures } = env;
  return {
    env,
    failSyncs: (which) => failSyncs(failures, which),
    failed: () => readFileSync(failures).readInt32LE(FAILED_AT),
    position: () => statSync(journal).size,
    read: () => readFileSync(journal),
  };
}

interface Entry {
  readonly what: 'create' | 'write' | 'truncate' | 'sync' | 'failed' | 'refused' | 'rename' | 'link' | 'remove';
  readonly path: string;
  readonly inode: number;
  readonly at: number;
  readonly to: string;
  readonly bytes: Buffer;
  /** Where its own line begins. */
  readonly position: number;
}

function* entriesOf(journal: Buffer): Generator<Entry> {
  for (let position = 0; position < journal.length; ) {
    const end = journal.indexOf('\n', position);
    const line = JSON.parse(journal.toString('utf8', position, end)) as Omit<Entry, 'bytes' | 'position'> & { bytes: number };
    yield { ...line, bytes: journal.subarray(end + 1, end + 1 + line.bytes), position };
    position = end + 1 + line.bytes;
  }
}

/** Bytes that may grow, without a copy at each time. */
class Content {
  #bytes: Buffer = Buffer.alloc(0);
  size = 0;

  resize(size: number): void {
    if (size > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], 2 * size);
    if (size < this.size) this.#bytes.fill(0, size, this.size);
    this.size = size;
  }

  put(at: number, bytes: Buffer): void {
    if (at + bytes.length > this.size) this.resize(at + bytes.length);
    bytes.copy(this.#bytes, at);
  }

  /** At most up to the end of the file. */
  get(from: number, to: number): Buffer {
    return this.#bytes.subarray(from, Math.min(to, this.size));
  }
}

/** A file as programs see it, and as the disk has it. */
class PoweredFile {
  readonly #seen = new Content();
  readonly #kept = new Content();
  readonly #dirty = new Set<number>();

  write(at: number, bytes: Buffer): void {
    this.#seen.put(at, bytes);
    for (let page = Math.floor(at / PAGE_BYTES); page * PAGE_BYTES < at + bytes.length; page += 1) this.#dirty.add(page);
  }

  truncate(size: number): void {
    this.#seen.resize(size);
  }

  sync(): void {
    this.#bring(this.#kept, () => true);
    this.#dirty.clear();
  }

  failToSync(): void {
    this.#dirty.clear();
  }

  /** Makes `kept` what the disk holds with those sectors of the unsynced pages that `has` says. */
  #bring(kept: Content, has: () => boolean): void {
    kept.resize(this.#seen.size);
    for (const page of this.#dirty) {
      const end = Math.min((page + 1) * PAGE_BYTES, this.#seen.size);
      for (let at = page * PAGE_BYTES; at < end; at += SECTOR_BYTES) if (has()) kept.put(at, this.#seen.get(at, at + SECTOR_BYTES));
    }
  }

  /** `luck`: whether something unsynced reached the disk all the same; absent: nothing did. */
  afterCut(luck: (() => boolean) | undefined): Buffer {
    if (luck === undefined || !luck()) return this.#kept.get(0, this.#kept.size);
    const left = new Content();
    left.put(0, this.#kept.get(0, this.#kept.size));
    this.#bring(left, luck);
    return left.get(0, left.size);
  }
}

/** What the disk holds at a moment. */
export class PoweredDisk {
  readonly #inodes = new Map<number, PoweredFile>();
  readonly #seen = new Map<string, PoweredFile>();
  readonly #kept = new Map<string, PoweredFile>();
  /** Changes of names that were not synced, by folder. */
  readonly #pending = new Map<string, [path: string, file: PoweredFile | undefined][]>();

  apply({ what, path, inode, at, to, bytes }: Entry): void {
    const file = this.#inodes.get(inode);
    if (what === 'create') {
      const made = new PoweredFile();
      this.#inodes.set(inode, made);
      this.#name(path, made);
    } else if (what === 'write') file?.write(at, bytes);
    else if (what === 'truncate') file?.truncate(at);
    else if (what === 'sync') this.#sync(path, file);
    else if (what === 'failed') file?.failToSync();
    else if (what !== 'refused') {
      const named = this.#seen.get(path);
      if (to !== '') this.#name(to, named);
      if (what !== 'link') this.#name(path, undefined);
    }
  }

  #name(path: string, file: PoweredFile | undefined): void {
    if (file === undefined) this.#seen.delete(path);
    else this.#seen.set(path, file);
    const folder = dirname(path);
    this.#pending.set(folder, [...(this.#pending.get(folder) ?? []), [path, file]]);
  }

  #sync(path: string, file: PoweredFile | undefined): void {
    file?.sync();
    for (const [name, named] of this.#pending.get(path) ?? []) {
      if (named === undefined) this.#kept.delete(name);
      else this.#kept.set(name, named);
    }
    this.#pending.delete(path);
  }

  /** The names of a folder that was not synced may have changed all the same, in their order. */
  #names(luck: (() => boolean) | undefined): ReadonlyMap<string, PoweredFile> {
    if (luck === undefined) return this.#kept;
    const names = new Map(this.#kept);
    for (const changes of this.#pending.values()) {
      for (const [name, named] of changes) {
        if (!luck()) break;
        if (named === undefined) names.delete(name);
        else names.set(name, named);
      }
    }
    return names;
  }

  /** Writes what is left after a cut into `target`, with paths below `source` at the same place there. */
  leave(source: string, target: string, luck?: () => boolean): void {
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    for (const [path, file] of this.#names(luck)) {
      const left = join(target, path.slice(source.length));
      mkdirSync(dirname(left), { recursive: true });
      writeFileSync(left, file.afterCut(luck));
    }
  }
}

/**
 * Goes through the journal and stops before each sync, where the most was said that the disk does not hold yet; `cut` gets the disk, the
 * moment, and how many syncs there were since one failed. @returns how many syncs there were, and how many of them and of writes failed.
 */
export function replay(journal: Buffer, cut: (disk: PoweredDisk, position: number, sinceFailed: number) => void) {
  const disk = new PoweredDisk();
  const count = { syncs: 0, failed: 0, refused: 0 };
  let sinceFailed = Infinity;
  for (const entry of entriesOf(journal)) {
    if (entry.what === 'sync' || entry.what === 'failed') {
      cut(disk, entry.position, sinceFailed);
      if (entry.what === 'sync') count.syncs += 1;
      else count.failed += 1;
      sinceFailed = entry.what === 'sync' ? sinceFailed + 1 : 0;
    }
    if (entry.what === 'refused') count.refused += 1;
    disk.apply(entry);
  }
  cut(disk, journal.length, sinceFailed);
  assert.ok(count.syncs > 0, 'the library was loaded');
  return count;
}
