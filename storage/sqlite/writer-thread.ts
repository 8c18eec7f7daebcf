/**
 * The body of the writer thread: the only place where rows are written. Collects what has arrived, groups it by file,
 * runs each group in one transaction and answers after COMMIT. Owns the open write connections.
 *
 * Invariants: writes of one file run in the order in which they were sent; a write that throws takes back its own rows
 * only; no answer leaves before the COMMIT (with its fsync) that carries it has returned; after an fsync that failed none leaves before what
 * was committed is on disk for certain.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import type { Connection } from './connection.ts';
import { jitteredPauseMs } from './database.ts';
import { commitGroup, type RunnableTransactions, type WritableFile } from './group.ts';
import { Checkpoints, closeKeepingLog, emptiesLog, emptyLog, logBytes, mend, nameLog } from './log-emptying.ts';
import { StorageError, type StorageErrorCode, storageErrorCodeOf } from './storage-error.ts';
import { WriteLease } from './write-lease.ts';
import type { Sealing } from './writer.ts';
import {
  type Failure,
  type FromThread,
  failureOf,
  type Settlement,
  type ThreadSettings,
  type ToThread,
  type WriteRequest,
} from './writer-messages.ts';

/** Write connections kept open: each costs up to 2 MB of pages and 3 descriptors; opening one again costs about 1 ms. */
const OPEN_FILES_MAX = 128;
/** Writes in one transaction: they hold the file's lock for some 5 ms, which leaves room for other processes. */
const GROUP_WRITES_MAX = 256;
/** Writes taken from the port per round, so that a flood cannot delay the first answers. */
const DRAIN_WRITES_MAX = 1_024;
/**
 * Tries for a locked file. Each waits up to 50 ms inside SQLite and pauses up to 20 ms: about two seconds in all, the worst case of a busy
 * disk and several nodes writing to one file.
 */
const BUSY_TRIES_MAX = 30;
/** A shorter log stays as it is on a disk that has little room: emptying it costs two fsyncs. */
const LOG_KEPT_BYTES = 1024 * 1024;

export interface Registry {
  readonly transactions: RunnableTransactions;
  open(path: string): Connection;
  /** Absent: none of these files is ever sealed. */
  readonly sealing?: Sealing;
  /** Names of transactions whose deleted data must not remain in any file, the write-ahead log included. */
  readonly erasing?: ReadonlySet<string>;
}

interface FileQueue {
  readonly path: string;
  readonly writes: WriteRequest[];
  busyTries: number;
  /** Pausing after a busy answer; the other files go on meanwhile. */
  paused: boolean;
}

export class WriterThread {
  readonly #port: MessagePort;
  readonly #registry: Registry;
  readonly #queues = new Map<string, FileQueue>();
  readonly #open = new LRUCache<string, WritableFile>({ max: OPEN_FILES_MAX, dispose: ({ connection }) => this.#dispose(connection) });
  /** Files of which something that was committed may not be on disk: of the log, or of the file itself, too. */
  readonly #doubts = new Map<string, 'log' | 'file'>();
  readonly #checkpoints: Checkpoints;
  readonly #replicated: boolean;
  readonly #lease: WriteLease | undefined;
  #rerunPlanned = false;

  constructor(port: MessagePort, registry: Registry, { replicated, lease }: ThreadSettings) {
    this.#port = port;
    this.#registry = registry;
    this.#replicated = replicated;
    this.#checkpoints = new Checkpoints(replicated);
    this.#lease = lease && new WriteLease(lease);
  }

  receive(first: ToThread): void {
    let received = 0;
    for (let message: ToThread | undefined = first; message !== undefined; ) {
      if (message.kind === 'close') {
        // Sent when no write is outstanding: before it came at most files to forget.
        this.#close();
        return;
      }
      received += this.#take(message);
      message = received < DRAIN_WRITES_MAX ? receiveMessageOnPort(this.#port)?.message : undefined;
    }
    this.#run();
  }

  #take(message: Exclude<ToThread, { kind: 'close' }>): number {
    if (message.kind === 'writes') return this.#accept(message.writes);
    if (message.kind === 'forget') this.#open.delete(message.path);
    else if (message.kind === 'doubt_log') this.#doubt(message.path, 'log');
    else this.#makeRoom();
    return 0;
  }

  #accept(writes: readonly WriteRequest[]): number {
    for (const write of writes) {
      const queue = this.#queues.get(write.path);
      if (queue === undefined) this.#queues.set(write.path, { path: write.path, writes: [write], busyTries: 0, paused: false });
      else queue.writes.push(write);
    }
    return writes.length;
  }

  /** Runs one group of every file that is not pausing. The rest waits for the next round, behind newly arrived files. */
  #run(): void {
    for (const queue of this.#queues.values()) {
      if (!queue.paused) this.#runGroup(queue);
    }
    for (const queue of this.#queues.values()) {
      if (!queue.paused) this.#planRerun();
    }
  }

  #planRerun(): void {
    if (this.#rerunPlanned) return;
    this.#rerunPlanned = true;
    setImmediate(() => {
      this.#rerunPlanned = false;
      this.#run();
    });
  }

  #runGroup(queue: FileQueue): void {
    const group = queue.writes.slice(0, GROUP_WRITES_MAX);
    let settlements: Settlement[];
    let committed = true;
    try {
      this.#lease?.require('nothing was tried');
      settlements = commitGroup(this.#file(queue.path), group);
      this.#lease?.require('what was written is not acknowledged');
    } catch (error) {
      const code = storageErrorCodeOf(error);
      if (code === 'busy' && queue.busyTries + 1 < BUSY_TRIES_MAX) {
        this.#pause(queue);
        return;
      }
      this.#failed(queue.path, code);
      settlements = failAll(group, failureOf(error));
      committed = false;
    }
    const { busyTries } = queue;
    queue.busyTries = 0;
    queue.writes.splice(0, group.length);
    if (queue.writes.length === 0) this.#queues.delete(queue.path);
    const answer = () => this.#answer({ settlements, committed, busyRetries: busyTries });
    const { erasing } = this.#registry;
    // The replicator holds the log of a file open, so waiting for it would only delay the answer; it empties the log itself.
    if (committed && !this.#replicated && erasing !== undefined && group.some(({ name }) => erasing.has(name)))
      emptyLog(() => this.#empties(queue.path), answer);
    else answer();
    if (committed) this.#move(queue.path, ({ connection }) => this.#checkpoints.afterGroup(connection, group.length));
  }

  /** After a disk error the connection's state is unknown, so the next write opens the file again. */
  #failed(path: string, code: StorageErrorCode): void {
    if (code === 'busy' || code === 'fenced') return;
    if (code === 'io') {
      this.#doubt(path, 'log');
      return;
    }
    if (code === 'disk_full' && !this.#replicated) this.#empties(path);
    this.#open.delete(path);
  }

  /** Notes that something may not be on disk, and puts it there if the disk allows it now; otherwise before the next write. */
  #doubt(path: string, what: 'log' | 'file'): void {
    if (what === 'file' || !this.#doubts.has(path)) this.#doubts.set(path, what);
    try {
      this.#file(path);
    } catch {
      // The next write fails of the same, or succeeds.
    }
  }

  /** Moves pages from the log of an open file into the file. What the disk refuses is safe in the log, unless a sync of the file failed. */
  #move<Value>(path: string, move: (file: WritableFile) => Value): Value | undefined {
    const file = this.#open.peek(path);
    // Pages of a log that is not on disk would overwrite the file's with nothing behind them.
    if (file === undefined || this.#doubts.has(path)) return undefined;
    try {
      return move(file);
    } catch (error) {
      if (storageErrorCodeOf(error) === 'io') this.#doubt(path, 'file');
      return undefined;
    }
  }

  /** Whether the log is empty now; so it is once the last connection was closed. */
  #empties(path: string): boolean {
    return !this.#open.has(path) || this.#move(path, ({ connection }) => emptiesLog(connection)) === true;
  }

  #makeRoom(): void {
    for (const path of [...this.#open.keys()]) {
      if (logBytes(path) <= LOG_KEPT_BYTES) continue;
      // SQLite cuts the log where it begins anew, which is when its replicator has read it.
      if (this.#replicated) this.#move(path, ({ connection }) => connection.exec(`PRAGMA journal_size_limit = ${LOG_KEPT_BYTES}`));
      else this.#empties(path);
    }
  }

  #dispose(connection: Connection): void {
    if (this.#doubts.has(connection.path)) closeKeepingLog(connection);
    else connection.close();
  }

  #pause(queue: FileQueue): void {
    queue.busyTries += 1;
    queue.paused = true;
    setTimeout(() => {
      queue.paused = false;
      this.#runGroup(queue);
      if (queue.writes.length > 0 && !queue.paused) this.#planRerun();
    }, jitteredPauseMs());
  }

  #file(path: string): WritableFile {
    const known = this.#open.get(path);
    const doubt = this.#doubts.get(path);
    if (known !== undefined && doubt === undefined) return known;
    // The one that failed stays open until then: without any the log would be read anew, and what failed be found in it.
    const connection = this.#registry.open(path);
    try {
      nameLog(connection);
      if (doubt !== undefined) mend(connection, doubt);
    } catch (error) {
      closeKeepingLog(connection);
      throw error;
    }
    this.#doubts.delete(path);
    const { sealing, transactions } = this.#registry;
    const file: WritableFile = {
      connection,
      transactions,
      sealing: sealing?.appliesTo(connection) === true ? sealing : undefined,
    };
    this.#open.set(path, file);
    return file;
  }

  #answer(message: FromThread): void {
    try {
      this.#port.postMessage(message);
    } catch {
      // One value cannot be cloned; sent one by one, only that one fails.
      message.settlements.forEach((settlement, index) => {
        const first = index === 0;
        this.#answerOne({ settlements: [settlement], committed: message.committed && first, busyRetries: first ? message.busyRetries : 0 });
      });
    }
  }

  #answerOne(message: FromThread): void {
    try {
      this.#port.postMessage(message);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const failure = failureOf(
        new StorageError('failed', `the write is committed, but its result cannot leave the writer thread: ${reason}`),
      );
      this.#port.postMessage({
        ...message,
        settlements: message.settlements.map(({ id }) => ({ id, ok: false, failure })),
      } satisfies FromThread);
    }
  }

  #close(): void {
    // Where it fails the rows are safe in the log. A replicator still reads it.
    for (const path of this.#replicated ? [] : [...this.#open.keys()]) this.#empties(path);
    this.#open.clear();
    this.#port.close();
  }
}

function failAll(group: readonly WriteRequest[], failure: Failure): Settlement[] {
  return group.map(({ id }) => ({ id, ok: false, failure }));
}

// Without a port it is imported by what runs it in a thread of its own choice, as the simulation does.
if (parentPort !== null) {
  const settings = workerData as ThreadSettings;
  const thread = new WriterThread(parentPort, (await import(settings.registryUrl)) as Registry, settings);
  // Messages that came before this line have waited in the port.
  parentPort.on('message', (message: ToThread) => thread.receive(message));
}
