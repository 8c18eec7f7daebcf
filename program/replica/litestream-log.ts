/**
 * What Litestream's log tells about single databases: which one it is sending something of, and which one it failed with. After a start
 * Litestream 0.3 has no metric of a replica before it has something to send, so the log alone says whether silence is good.
 */

interface Trouble {
  /** Something is being sent since then; undefined: nothing is. */
  sendingSinceMs: number | undefined;
  failedAtMs: number;
}

/** A complaint is repeated with every try, a second later or some: one that was not is over. */
const FAILED_KEPT_MS = 15_000;
/** Sending takes milliseconds, of a snapshot seconds: one that takes longer is not there. */
const SENDING_MAX_MS = 5_000;
const LINE = /^time=\S{1,40} level=([A-Z]{4,5}) msg="?([^"=]{1,80}?)"? (?:db|path)=(?:"([^"]{1,4096})"|(\S{1,4096}))/;
const BEGINS = /^write (?:wal segment|snapshot)$/;
const ENDS = /^(?:wal segment|snapshot) written$/;

export class LitestreamLog {
  // Bounded by the databases of one start.
  readonly #troubles = new Map<string, Trouble>();

  /** Litestream starts anew. */
  clear(): void {
    this.#troubles.clear();
  }

  read(line: string, nowMs: number): void {
    const [, level, message = '', quoted, plain] = LINE.exec(line) ?? [];
    const path = quoted ?? plain;
    if (level === undefined || path === undefined) return;
    const trouble = this.#troubles.get(path) ?? { sendingSinceMs: undefined, failedAtMs: Number.NEGATIVE_INFINITY };
    if (BEGINS.test(message)) trouble.sendingSinceMs ??= nowMs;
    if (ENDS.test(message) || level === 'ERROR') trouble.sendingSinceMs = undefined;
    if (level === 'ERROR') trouble.failedAtMs = nowMs;
    this.#troubles.set(path, trouble);
  }

  /** Whether something of this database failed of late, or is being sent for so long that it stands still. */
  isTroubled(path: string, nowMs: number): boolean {
    const trouble = this.#troubles.get(path);
    if (trouble === undefined) return false;
    const { sendingSinceMs, failedAtMs } = trouble;
    return nowMs - failedAtMs < FAILED_KEPT_MS || (sendingSinceMs !== undefined && nowMs - sendingSinceMs > SENDING_MAX_MS);
  }
}
