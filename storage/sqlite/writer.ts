/**
 * The door to the writer thread: named transactions, typed by their registry, run off the event loop in groups.
 * Owns the queue's bound, the batching of one tick's writes into one message, and the promises. Knows no SQL.
 *
 * Invariants: a promise resolves only after the COMMIT with its rows (and fsync) returned; writes of one file commit in
 * the order of the calls; every promise settles, also when the thread dies.
 */
import { Worker } from 'node:worker_threads';
import { passing } from '../../watch/sections.ts';
import type { Connection } from './connection.ts';
import { StorageError } from './storage-error.ts';
import type { WriteLease } from './write-lease.ts';
import { errorOf, type FromThread, type Settlement, type ThreadSettings, type ToThread, type WriteRequest } from './writer-messages.ts';

/** A grouped write takes some 20 µs, so 8,192 are a backlog of a fifth of a second; later writes are refused. */
export const WRITES_QUEUED_MAX = 8_192;

/**
 * Writes resolved in one loop tick: their callers continue at once, and starting a turn then takes a millisecond. Larger groups are resolved
 * in parts, a share per tick, so that other work is not delayed by all of them and slow ticks still keep up.
 */
const ANSWERED_AT_ONCE_MIN = 16;
const ANSWERED_SHARE = 0.125;

/**
 * A named transaction: synchronous, its rows all or nothing. Input and output are cloned between threads, so they are
 * plain data (a Buffer arrives as Uint8Array). It throws a Refusal for an expected "no", and a Withdrawal to take its rows
 * back and yet succeed. When one of its group throws it is run once more, so that it depends on rows and input alone. It must not begin or end
 * transactions, nor leave a deferred constraint to COMMIT, where it would fail the neighbours in the group too.
 */
export type Transactions = Readonly<Record<string, (db: Connection, input: never) => unknown>>;

/** How a file can refuse writes as a whole. The thread asks inside the transaction of the writes. */
export interface Sealing {
  /** Whether files of this kind can be sealed; asked once for each connection. */
  appliesTo(db: Connection): boolean;
  /** Which transactions the file refuses as it is now, by name; undefined: none. One indexed read. */
  refusals(db: Connection): ((name: string) => boolean) | undefined;
  isChangedBy(name: string): boolean;
}

export interface WriterOptions<Registry extends Transactions = Transactions> {
  /** A module that exports `transactions`, `open(path): Connection` and perhaps `sealing`; the thread imports it. */
  readonly registryUrl: URL;
  readonly maxQueued?: number;
  /** Another program replicates the files and makes their checkpoints (REPLICA-3). */
  readonly replicated?: boolean;
  /** Writes are made while it holds only; absent: always. */
  readonly lease?: WriteLease | undefined;
  /** The thread has died; every write rejects from now on. Called at most once. */
  readonly onFatal?: (error: StorageError) => void;
  /** Whose thread it uses, for other files; absent: it starts one. One at a time, closed before the other. */
  readonly beside?: Writer<Registry> | undefined;
}

/** Ids of a writer beside another begin here, so that each knows the answers to its own writes. */
const IDS_BESIDE = 2 ** 40;

interface Waiter {
  readonly path: string;
  readonly sinceMs: number;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Starts a thread, which keeps the process alive until `close()`. A registry that cannot be imported shows as a dead thread (`onFatal`). */
export class Writer<Registry extends Transactions> {
  readonly #worker: Worker;
  readonly #maxQueued: number;
  readonly #onFatal: (error: StorageError) => void;
  readonly #exited: Promise<void>;
  #leave: () => void = () => {};
  readonly #waiters = new Map<number, Waiter>();
  #batch: WriteRequest[] = [];
  /** Settlements not yet delivered, by file and in the order of their commits. */
  readonly #settlements = new Map<string, Settlement[]>();
  #lastId: number;
  /** Files whose connections are closed at the end, because the thread goes on without this writer; null: it is this one's. */
  readonly #paths: Set<string> | null;
  #dead: StorageError | undefined;
  #closing: Promise<void> | undefined;
  #whenDrained: (() => void) | undefined;
  readonly #counts = { succeeded: 0, failed: 0, overloaded: 0, commits: 0, largestGroup: 0, busyRetries: 0 };

  constructor(options: WriterOptions<Registry>) {
    this.#maxQueued = options.maxQueued ?? WRITES_QUEUED_MAX;
    this.#onFatal = options.onFatal ?? (() => {});
    this.#lastId = options.beside === undefined ? 0 : IDS_BESIDE;
    this.#paths = options.beside === undefined ? null : new Set();
    const workerData: ThreadSettings = {
      registryUrl: options.registryUrl.href,
      replicated: options.replicated ?? false,
      lease: options.lease?.buffer,
    };
    // `.js`: the path of a worker is not an import, so the compiler does not rewrite its extension.
    const start = () => new Worker(new URL('./writer-thread.js', import.meta.url), { workerData, name: 'writer' });
    this.#worker = options.beside === undefined ? start() : options.beside.#worker;
    this.#exited = new Promise((resolve) => {
      const listeners = {
        message: (message: FromThread) => this.#settle(message),
        messageerror: (error: Error) => this.#die(error),
        error: (error: Error) => this.#die(error),
        exit: (code: number) => {
          if (this.#closing === undefined || this.#waiters.size > 0) this.#die(new Error(`it exited with code ${code}`));
          resolve();
        },
      };
      for (const [event, listener] of Object.entries(listeners)) this.#worker.on(event, listener);
      this.#leave = () => {
        for (const [event, listener] of Object.entries(listeners)) this.#worker.off(event, listener);
        resolve();
      };
    });
  }

  /**
   * Runs the transaction `name` on the file at `path`. Resolves with its output after COMMIT; rejects with the Refusal it
   * threw or with a StorageError, and then none of its rows exist. `input` is cloned at the end of the tick: do not change it.
   */
  write<N extends keyof Registry & string>(path: string, name: N, input: Parameters<Registry[N]>[1]): Promise<ReturnType<Registry[N]>> {
    if (this.#dead !== undefined) return Promise.reject(this.#dead);
    if (this.#closing !== undefined) return Promise.reject(new StorageError('closed', `the writer is closed; ${name} was not written`));
    if (this.#waiters.size >= this.#maxQueued) {
      this.#counts.overloaded += 1;
      return Promise.reject(new StorageError('overloaded', `${this.#maxQueued} writes wait already; ${name} was not tried`));
    }
    this.#lastId += 1;
    const id = this.#lastId;
    if (this.#batch.length === 0) this.#planFlush();
    this.#batch.push({ id, path, name, input });
    this.#paths?.add(path);
    // The registry's types exist only on this side; the thread sees names and plain data.
    return new Promise((resolve, reject) => this.#waiters.set(id, { path, resolve, reject, sinceMs: performance.now() }));
  }

  /** Closes the connection to the file at `path`, which was replaced or is gone: later writes open it again. */
  forget(path: string): void {
    if (this.#dead === undefined && this.#closing === undefined) this.#post({ kind: 'forget', path });
  }

  /** The log of the file at `path` may not be on disk: it is written again, before any later write of this process to the file. */
  doubtLog(path: string): void {
    if (this.#dead === undefined && this.#closing === undefined) this.#post({ kind: 'doubt_log', path });
  }

  makeRoom(): void {
    if (this.#dead === undefined && this.#closing === undefined && this.#paths === null) this.#post({ kind: 'make_room' });
  }

  /** `outstanding`: called and not yet settled. `overloaded`: refused. `busyRetries`: tries for a lock that another process held. */
  stats() {
    // Ids rise, so the first one waits the longest.
    const [oldest] = this.#waiters.values();
    const oldestMs = oldest === undefined ? 0 : performance.now() - oldest.sinceMs;
    return { outstanding: this.#waiters.size, oldestMs, ...this.#counts };
  }

  /** Waits for what is outstanding, checkpoints the open files, ends the thread. Later writes reject. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#drainAndEnd();
    return this.#closing;
  }

  async #drainAndEnd(): Promise<void> {
    if (this.#waiters.size > 0) {
      await new Promise<void>((resolve) => {
        this.#whenDrained = resolve;
      });
    }
    if (this.#paths !== null) {
      for (const path of this.#paths) this.#worker.postMessage({ kind: 'forget', path } satisfies ToThread);
      this.#leave();
    } else if (this.#dead === undefined) this.#post({ kind: 'close' });
    await this.#exited;
  }

  #planFlush(): void {
    // A lone write leaves at the end of this callback. While the thread is busy, waiting for the end of the tick costs nothing and
    // puts the writes of many callbacks into one message.
    if (this.#waiters.size === 0) queueMicrotask(() => this.#flush());
    else setImmediate(() => this.#flush());
  }

  #flush(): void {
    const writes = this.#batch;
    this.#batch = [];
    // Empty when the thread has died meanwhile.
    if (writes.length === 0) return;
    try {
      this.#post({ kind: 'writes', writes });
    } catch {
      // One input cannot be cloned; sent one by one, only that one fails.
      for (const write of writes) this.#postAlone(write);
    }
  }

  #postAlone(write: WriteRequest): void {
    try {
      this.#post({ kind: 'writes', writes: [write] });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#reject(write.id, new StorageError('failed', `the input of ${write.name} cannot enter the writer thread: ${reason}`));
      this.#noteDrained();
    }
  }

  #post(message: ToThread): void {
    this.#worker.postMessage(message);
  }

  #settle({ settlements, committed, busyRetries }: FromThread): void {
    // Those of one message are of one file, and so of one writer.
    if (!this.#waiters.has(settlements[0]?.id ?? 0)) return;
    this.#counts.busyRetries += busyRetries;
    if (committed) this.#counts.commits += 1;
    this.#counts.largestGroup = Math.max(this.#counts.largestGroup, settlements.length);
    const isUnderWay = this.#settlements.size > 0;
    for (const settlement of settlements) {
      const path = this.#waiters.get(settlement.id)?.path ?? '';
      const line = this.#settlements.get(path);
      if (line === undefined) this.#settlements.set(path, [settlement]);
      else line.push(settlement);
    }
    if (!isUnderWay) this.#answerSome();
  }

  /** Rotates through the files, so that a few writes to one do not wait for many to another. */
  #answerSome(): void {
    passing('writes were answered');
    const settlements: Settlement[] = [];
    let waiting = 0;
    for (const line of this.#settlements.values()) waiting += line.length;
    const atOnce = Math.max(ANSWERED_AT_ONCE_MIN, Math.ceil(waiting * ANSWERED_SHARE));
    const ofEach = Math.ceil(atOnce / this.#settlements.size);
    for (const [path, line] of this.#settlements) {
      if (settlements.length >= atOnce) break;
      settlements.push(...line.splice(0, Math.min(ofEach, atOnce - settlements.length)));
      this.#settlements.delete(path);
      // Put last, so that the loop reaches it again.
      if (line.length > 0) this.#settlements.set(path, line);
    }
    this.#answer(settlements);
    if (this.#settlements.size > 0) setImmediate(() => this.#answerSome());
  }

  #answer(settlements: readonly Settlement[]): void {
    for (const settlement of settlements) {
      if (settlement.ok) {
        const waiter = this.#waiters.get(settlement.id);
        this.#waiters.delete(settlement.id);
        this.#counts.succeeded += 1;
        waiter?.resolve(settlement.value);
      } else {
        this.#reject(settlement.id, errorOf(settlement.failure));
      }
    }
    this.#noteDrained();
  }

  #reject(id: number, error: Error): void {
    const waiter = this.#waiters.get(id);
    this.#waiters.delete(id);
    this.#counts.failed += 1;
    waiter?.reject(error);
  }

  #noteDrained(): void {
    if (this.#waiters.size === 0) this.#whenDrained?.();
  }

  #die(cause: Error): void {
    if (this.#dead !== undefined) return;
    const dead = new StorageError('writer_dead', `the writer thread has died: ${cause.message}`);
    dead.cause = cause;
    this.#dead = dead;
    this.#batch = [];
    // Committed writes still resolve.
    this.#answer([...this.#settlements.values()].flat());
    this.#settlements.clear();
    for (const id of [...this.#waiters.keys()]) this.#reject(id, dead);
    this.#noteDrained();
    // An unreadable message does not end the thread by itself, and `close` waits for its end.
    if (this.#paths === null) void this.#worker.terminate();
    this.#onFatal(dead);
  }
}
