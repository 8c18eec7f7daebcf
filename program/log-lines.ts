/**
 * Writes log lines asynchronously and in order, and flushes the rest before the process ends. A consumer of the log that is gone or does not
 * read neither stops the service nor keeps it from ending.
 */
import { write, writeSync } from 'node:fs';

/** Lines that wait for a slow consumer; lines beyond this are dropped and counted in a line of their own. */
const WAITING_MAX_CHARS = 16 * 1024 * 1024;
/** Characters per system call: some hundred lines. */
const BATCH_MAX_CHARS = 64 * 1024;
/** Pause before a full pipe is tried again. */
const FULL_PAUSE_MS = 50;
/** Tries at the end of the process. */
const END_TRIES_MAX = 20;
/** A write that takes longer than this waits for a consumer that does not read. */
const STUCK_MS = 1_000;
/** How long to wait for a write under way, which another thread performs. */
const UNDER_WAY_MS = 50;

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}

/** Blocks the thread: at the end of a process the loop no longer runs. */
function stand(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** A destination for pino, over a file descriptor. */
export class LogLines {
  readonly #fd: number;
  #lines: string[] = [];
  #chars = 0;
  #dropped = 0;
  /** When the write that is under way began; null: there is none. */
  #sinceMs: number | null = null;
  #isGone = false;
  #whenWritten: (() => void)[] = [];

  constructor(fd: number) {
    this.#fd = fd;
    process.on('exit', () => this.flushSync());
  }

  /** Writes `line`, which includes its line break. Never throws. */
  write(line: string): void {
    if (this.#isGone) return;
    if (this.#chars + line.length > WAITING_MAX_CHARS) {
      this.#dropped += 1;
      return;
    }
    this.#lines.push(line);
    this.#chars += line.length;
    if (this.#sinceMs === null) this.#next();
  }

  /** Calls `then` when everything is written; after a second also when it is not. */
  flush(then: () => void = () => {}): void {
    if (this.#sinceMs === null) {
      then();
      return;
    }
    const timer = setTimeout(then, STUCK_MS);
    this.#whenWritten.push(() => {
      clearTimeout(timer);
      then();
    });
  }

  /** Writes the waiting lines as far as possible now. pino calls it after a line at `fatal`. */
  flushSync(): void {
    if (this.#isGone) return;
    if (this.#sinceMs !== null) {
      if (performance.now() - this.#sinceMs > STUCK_MS) return;
      stand(UNDER_WAY_MS);
    }
    for (let batch = this.#take(); batch.length > 0 && !this.#isGone; batch = this.#take()) this.#writeNow(batch);
  }

  #take(): Buffer {
    if (this.#dropped > 0 && this.#chars < WAITING_MAX_CHARS / 2) {
      const said = { level: 'warn', time: new Date().toISOString(), dropped: this.#dropped, msg: 'lines of the log were dropped' };
      this.#lines.unshift(`${JSON.stringify(said)}\n`);
      this.#dropped = 0;
    }
    let count = 0;
    for (let chars = 0; count < this.#lines.length && chars < BATCH_MAX_CHARS; count++) chars += this.#lines[count]?.length ?? 0;
    const text = this.#lines.splice(0, count).join('');
    this.#chars = Math.max(0, this.#chars - text.length);
    return Buffer.from(text, 'utf8');
  }

  #next(): void {
    const batch = this.#take();
    this.#sinceMs = batch.length === 0 ? null : performance.now();
    if (batch.length > 0) {
      this.#write(batch);
      return;
    }
    for (const then of this.#whenWritten.splice(0)) then();
  }

  #write(batch: Buffer): void {
    write(this.#fd, batch, 0, batch.length, null, (error, written) => {
      if (codeOf(error) === 'EAGAIN') {
        setTimeout(() => this.#write(batch), FULL_PAUSE_MS).unref();
        return;
      }
      if (error !== null) this.#failed(error);
      else if (written < batch.length) {
        this.#write(batch.subarray(written));
        return;
      }
      this.#next();
    });
  }

  #writeNow(batch: Buffer): void {
    let rest = batch;
    for (let tries = 0; rest.length > 0 && tries < END_TRIES_MAX; ) {
      try {
        rest = rest.subarray(writeSync(this.#fd, rest));
      } catch (error) {
        if (codeOf(error) !== 'EAGAIN') {
          this.#failed(error);
          return;
        }
        tries += 1;
        stand(FULL_PAUSE_MS);
      }
    }
    // A consumer that took nothing of one line will take nothing of the others.
    if (rest.length > 0) this.#isGone = true;
  }

  /** A full disk may have room again; a pipe without a consumer stays broken. */
  #failed(error: unknown): void {
    if (codeOf(error) !== 'EPIPE' && codeOf(error) !== 'EBADF') return;
    this.#isGone = true;
    this.#lines = [];
    this.#chars = 0;
  }
}
