/**
 * Where the log's lines go: written beside the event loop, in their order, and what is left at the end of the process before it ends. A
 * reader of the log that is gone, or that does not read, neither stops the service nor keeps it from ending.
 */
import { write, writeSync } from 'node:fs';

/** Lines that wait for a reader that is slow; what comes beyond them is dropped, and counted in a line of its own. */
const WAITING_MAX_CHARS = 16 * 1024 * 1024;
/** One call of the system: some hundred lines. */
const BATCH_MAX_CHARS = 64 * 1024;
/** A pipe that is full takes more once its reader has read. */
const FULL_PAUSE_MS = 50;
/** At the end nobody waits longer for a reader. */
const END_TRIES_MAX = 20;
/** A write that takes longer than this will not come back before the reader does. */
const STUCK_MS = 1_000;
/** A write that is under way is done by another thread, which needs a moment of a processor. */
const UNDER_WAY_MS = 50;

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}

/** Waits without giving the loop a turn: at the end of a process there is none any more. */
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
  /** Nobody reads any more. */
  #isGone = false;
  #whenWritten: (() => void)[] = [];

  constructor(fd: number) {
    this.#fd = fd;
    process.on('exit', () => this.flushSync());
  }

  /** `line` with its end. Never throws. */
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

  /** Writes what waits, as far as that can be done now. pino calls it after a line at `fatal`. */
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
    // A reader that read nothing of one will read nothing of the others.
    if (rest.length > 0) this.#isGone = true;
  }

  /** A full disk may have room again; a pipe without a reader stays so. */
  #failed(error: unknown): void {
    if (codeOf(error) !== 'EPIPE' && codeOf(error) !== 'EBADF') return;
    this.#isGone = true;
    this.#lines = [];
    this.#chars = 0;
  }
}
