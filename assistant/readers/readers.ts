/**
 * Reads what strangers send (documents, pages, logos) in processes of its own, where it can do no harm: the one door to them. Owns how
 * many there are, what each may use, and how long one is kept. A document that is too much ends its reader and fails for that
 * reason; nothing else notices.
 */
import { isLimitedBySystem, launchOf, type ReaderLimits } from './launch.ts';
import { Places, type Waiter } from './places.ts';
import { type Document, ReaderProcess, ReadingFailure } from './reader-process.ts';
import type { Reading, Readings } from './readings.ts';

/** For each node. Two, so that one document never blocks all others; more would only share the cores. */
const READERS_MAX = 2;
/** Wall time, long enough to use the allowed CPU time even on a busy host. */
export const READING_TIMEOUT_MS = 30_000;
/**
 * The largest ordinary documents (a PDF of 20 MB, a page of 10 MB) need half of this memory, and two seconds of a slow core.
 */
const LIMITS: ReaderLimits = { heapMaxMb: 256, dataMaxMb: 512, cpuMaxS: 12 };
/** Resident memory counts the program's own code, too. */
const WATCH_ABOVE_DATA_MB = 128;
/** A reader is kept until it has used a third of its time, so that every document has at least the other two. */
const CPU_KEPT_MS = (LIMITS.cpuMaxS * 1_000) / 3;
/** Documents parsed by one process, so that leftovers of earlier ones end with it. */
const DOCUMENTS_EACH = 50;
/** Memory that an idle process may hold; with all libraries loaded it has 140 MB. */
const RSS_KEPT_MB = 220;
/** How long an idle process is kept: links of a setup and a person's files come in quick succession. */
const IDLE_MS = 20_000;

export interface ReadersOptions {
  readonly limits?: ReaderLimits;
  readonly readers?: number;
  readonly idleMs?: number;
}

export interface ReadingOptions extends Waiter {
  /** From when a reader begins: waiting for one does not count. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Too many documents wait already; to be retried after some seconds. */
export class ReadersBusy extends Error {
  constructor() {
    super('too many documents wait to be read');
    this.name = 'ReadersBusy';
  }
}

export interface Readers {
  /**
   * Reads the bytes, which `load` brings once a reader is free; `timeoutMs` is READING_TIMEOUT_MS unless given.
   * @throws ReadersBusy; ReadingFailure; what `load` threw; the reason of the signal.
   */
  read<Kind extends Reading>(
    reading: Kind,
    input: Readings[Kind]['input'],
    load: () => Uint8Array | Promise<Uint8Array>,
    options: ReadingOptions,
  ): Promise<Readings[Kind]['answer']>;
  /** Whether so many more documents of this asker may wait. */
  hasRoom(waiter: Waiter, count: number): boolean;
  /** Processes that are there now, reading or not. */
  readonly processes: number;
  /** Ends them all; what they read fails. Others may be started afterwards. Idempotent. */
  close(): Promise<void>;
}

class ReaderPool implements Readers {
  readonly #limits: ReaderLimits;
  readonly #idleMs: number;
  readonly #places: Places;
  readonly #all = new Set<ReaderProcess>();
  /** The last used comes first, so that the others expire. */
  readonly #idle: { readonly reader: ReaderProcess; readonly timer: NodeJS.Timeout }[] = [];

  constructor({ limits = LIMITS, readers = READERS_MAX, idleMs = IDLE_MS }: ReadersOptions) {
    this.#limits = limits;
    this.#idleMs = idleMs;
    this.#places = new Places(readers);
  }

  get processes(): number {
    return this.#all.size;
  }

  hasRoom(waiter: Waiter, count: number): boolean {
    return this.#places.hasRoom(waiter, count);
  }

  async read<Kind extends Reading>(
    reading: Kind,
    input: Readings[Kind]['input'],
    load: () => Uint8Array | Promise<Uint8Array>,
    { timeoutMs = READING_TIMEOUT_MS, signal, ...waiter }: ReadingOptions,
  ): Promise<Readings[Kind]['answer']> {
    const giveBack = await this.#places.take(waiter, signal);
    if (giveBack === undefined) throw new ReadersBusy();
    try {
      return (await this.#readWithin(timeoutMs, { request: { reading, input }, bytes: await load(), signal })) as Readings[Kind]['answer'];
    } finally {
      giveBack();
    }
  }

  /** A document is not to blame for what the ones before it left behind: a reader that breaks and had others is tried again. */
  async #readWithin(timeoutMs: number, document: Omit<Document, 'timeoutMs'>): Promise<unknown> {
    const begunAtMs = performance.now();
    const reader = this.#idleReader();
    if (reader === undefined) return this.#readBy(this.#start(), { ...document, timeoutMs });
    try {
      return await this.#readBy(reader, { ...document, timeoutMs });
    } catch (error) {
      const leftMs = begunAtMs + timeoutMs - performance.now();
      if (!(error instanceof ReadingFailure) || error.kind === 'time' || leftMs <= 0) throw error;
      return await this.#readBy(this.#start(), { ...document, timeoutMs: leftMs });
    }
  }

  async close(): Promise<void> {
    for (const reader of this.#all) reader.end();
    await Promise.all([...this.#all].map((reader) => reader.ended));
  }

  #start(): ReaderProcess {
    const reader = new ReaderProcess(launchOf(this.#limits, this.#limits.dataMaxMb + WATCH_ABOVE_DATA_MB));
    this.#all.add(reader);
    void reader.ended.then(() => this.#all.delete(reader));
    return reader;
  }

  #idleReader(): ReaderProcess | undefined {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      clearTimeout(last.timer);
      if (last.reader.isAlive) return last.reader;
    }
    return undefined;
  }

  async #readBy(reader: ReaderProcess, document: Document): Promise<unknown> {
    try {
      return await reader.read(document);
    } finally {
      const { cpuMs, rssMb } = reader.used;
      const isSpent = reader.documents >= DOCUMENTS_EACH || cpuMs > CPU_KEPT_MS || rssMb > RSS_KEPT_MB;
      if (reader.isAlive && !isSpent) this.#keep(reader);
      else reader.end();
    }
  }

  #keep(reader: ReaderProcess): void {
    const timer = setTimeout(() => reader.end(), this.#idleMs).unref();
    this.#idle.push({ reader, timer });
  }
}

export function createReaders(options: ReadersOptions = {}): Readers {
  return new ReaderPool(options);
}

/** The readers of this process of the service: bounds on memory are worth something only where they are bounds on all of it. */
export const readers = createReaders();

export { isLimitedBySystem };
