/** The one door to parsing what strangers send, in processes where it does no harm: what is too much ends its parser alone. */
import { isIsolated, isLimitedBySystem, launchOf, type ParserLimits } from './launch.ts';
import type { ParseJob, ParseJobs } from './parse-jobs.ts';
import { type Document, type FailureKind, ParseFailure, ParserProcess } from './parser-process.ts';
import { Places, type Waiter } from './places.ts';

/** For each node. Two, so that one document never blocks all others; more would only share the cores. */
const PARSERS_MAX = 2;
/** Wall time, long enough to use the allowed CPU time even on a busy host. */
export const PARSE_TIMEOUT_MS = 30_000;
/** The largest ordinary documents (a PDF of 20 MB, a page of 10 MB) need half of this memory, and two seconds of a slow core. */
const LIMITS: ParserLimits = { heapMaxMb: 256, dataMaxMb: 512, cpuMaxS: 12 };
/** Resident memory counts the program's own code, too. */
const WATCH_ABOVE_DATA_MB = 128;
/** A parser is kept until it has used a third of its time, so that every document has at least the other two. */
const CPU_KEPT_MS = (LIMITS.cpuMaxS * 1_000) / 3;
/** Documents parsed by one process, so that leftovers of earlier ones end with it. */
const DOCUMENTS_EACH = 50;
/** Memory that an idle process may hold; with all libraries loaded it has 140 MB. */
const RSS_KEPT_MB = 220;
/** How long an idle process is kept: links of a setup and a person's files come in quick succession. */
const IDLE_MS = 20_000;

export interface ParsersOptions {
  readonly limits?: ParserLimits;
  readonly parsers?: number;
  readonly idleMs?: number;
}

export interface ParseOptions extends Waiter {
  /** From when a parser begins: waiting for one does not count. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Too many documents wait already; to be retried after some seconds. */
export class ParsersBusy extends Error {
  constructor() {
    super('too many documents wait to be read');
    this.name = 'ParsersBusy';
  }
}

export class Parsers {
  /** How many parsers died of their document, or could not be started. */
  readonly deaths: Record<FailureKind, number> = { memory: 0, time: 0, broken: 0, unavailable: 0 };
  readonly #limits: ParserLimits;
  readonly #idleMs: number;
  readonly #places: Places;
  readonly #all = new Set<ParserProcess>();
  readonly #idle: { readonly parser: ParserProcess; readonly timer: NodeJS.Timeout }[] = [];

  constructor({ limits = LIMITS, parsers = PARSERS_MAX, idleMs = IDLE_MS }: ParsersOptions = {}) {
    this.#limits = limits;
    this.#idleMs = idleMs;
    this.#places = new Places(parsers);
  }

  get processes(): number {
    return this.#all.size;
  }

  hasRoom(waiter: Waiter, count: number): boolean {
    return this.#places.hasRoom(waiter, count);
  }

  /** @throws ParsersBusy; ParseFailure; what `load` threw; the reason of the signal. */
  async parse<Kind extends ParseJob>(
    job: Kind,
    input: ParseJobs[Kind]['input'],
    load: () => Uint8Array | Promise<Uint8Array>,
    { timeoutMs = PARSE_TIMEOUT_MS, signal, ...waiter }: ParseOptions,
  ): Promise<ParseJobs[Kind]['answer']> {
    const giveBack = await this.#places.take(waiter, signal);
    if (giveBack === undefined) throw new ParsersBusy();
    try {
      return (await this.#parseWithin(timeoutMs, { request: { job, input }, bytes: await load(), signal })) as ParseJobs[Kind]['answer'];
    } finally {
      giveBack();
    }
  }

  /** A document is not to blame for what the ones before it left behind: a parser that breaks and had others is tried again. */
  async #parseWithin(timeoutMs: number, document: Omit<Document, 'timeoutMs'>): Promise<unknown> {
    const begunAtMs = performance.now();
    const parser = this.#idleParser();
    if (parser === undefined) return this.#parseBy(this.#start(), { ...document, timeoutMs });
    try {
      return await this.#parseBy(parser, { ...document, timeoutMs });
    } catch (error) {
      const leftMs = begunAtMs + timeoutMs - performance.now();
      if (!(error instanceof ParseFailure) || error.kind === 'time' || leftMs <= 0) throw error;
      return await this.#parseBy(this.#start(), { ...document, timeoutMs: leftMs });
    }
  }

  async close(): Promise<void> {
    for (const parser of this.#all) parser.end();
    await Promise.all([...this.#all].map((parser) => parser.ended));
  }

  #start(): ParserProcess {
    const parser = new ParserProcess(launchOf(this.#limits, this.#limits.dataMaxMb + WATCH_ABOVE_DATA_MB));
    this.#all.add(parser);
    void parser.ended.then(() => this.#all.delete(parser));
    return parser;
  }

  #idleParser(): ParserProcess | undefined {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      clearTimeout(last.timer);
      if (last.parser.isAlive) return last.parser;
    }
    return undefined;
  }

  async #parseBy(parser: ParserProcess, document: Document): Promise<unknown> {
    try {
      return await parser.parse(document);
    } catch (error) {
      if (error instanceof ParseFailure) this.deaths[error.kind] += 1;
      throw error;
    } finally {
      const { cpuMs, rssMb } = parser.used;
      const isSpent = parser.documents >= DOCUMENTS_EACH || cpuMs > CPU_KEPT_MS || rssMb > RSS_KEPT_MB;
      if (parser.isAlive && !isSpent) this.#keep(parser);
      else parser.end();
    }
  }

  #keep(parser: ParserProcess): void {
    const timer = setTimeout(() => parser.end(), this.#idleMs).unref();
    this.#idle.push({ parser, timer });
  }
}

/** The parsers of this process of the service: bounds on memory are worth something only where they are bounds on all of it. */
export const parsers = new Parsers();

export { isIsolated, isLimitedBySystem };
