/**
 * What Litestream's log tells about single databases: what was sent, that another generation began, and which one it fails with. It tries
 * again only when the database changes, so that a failure holds until something was sent.
 */
import { type Place, positionOf } from './lag.ts';

interface Trouble {
  sendingSinceMs: number | undefined;
  isRefused: boolean;
}

export type Told =
  | { readonly kind: 'sent'; readonly path: string; readonly place: Place }
  | { readonly kind: 'generation'; readonly path: string };

/** Sending takes milliseconds, of a snapshot seconds: one that takes longer is not there. */
const SENDING_MAX_MS = 5_000;
const LINE = /^time=\S{1,40} level=([A-Z]{4,5}) msg="?([^"=]{1,80}?)"? (?:db|path)=(?:"([^"]+)"|(\S+))(.*)/;
const BEGINS = /^write (?:wal segment|snapshot)$/;
const ENDS = /^(?:wal segment|snapshot) written$/;
/** Where what was sent begins, and how many bytes of the log it holds. */
const SENT = /^ replica=\S{1,20} position=([0-9a-f]{16})\/([0-9a-f]{8}):(\d{1,12}) elapsed=\S{1,40} sz=(\d{1,12})$/;

function placeIn(rest: string): Place | undefined {
  const [, generation, index = '', offset, size] = SENT.exec(rest) ?? [];
  return generation === undefined
    ? undefined
    : { generation, position: positionOf(Number.parseInt(index, 16), Number(offset) + Number(size)) };
}

export class LitestreamLog {
  // Bounded by the databases of one start.
  readonly #troubles = new Map<string, Trouble>();

  clear(): void {
    this.#troubles.clear();
  }

  /** Undefined: the line tells neither. */
  read(line: string, nowMs: number): Told | undefined {
    const [, level, message = '', quoted, plain, rest = ''] = LINE.exec(line) ?? [];
    const path = quoted ?? plain;
    if (level === undefined || path === undefined) return undefined;
    const trouble = this.#troubles.get(path) ?? { sendingSinceMs: undefined, isRefused: false };
    if (BEGINS.test(message)) trouble.sendingSinceMs ??= nowMs;
    if (ENDS.test(message) || level === 'ERROR') trouble.sendingSinceMs = undefined;
    if (ENDS.test(message)) trouble.isRefused = false;
    if (level === 'ERROR') trouble.isRefused ||= rest.includes(' replica=');
    this.#troubles.set(path, trouble);
    if (message === 'sync: new generation') return { kind: 'generation', path };
    const place = message === 'wal segment written' ? placeIn(rest) : undefined;
    return place && { kind: 'sent', path, place };
  }

  isStuck(nowMs: number): boolean {
    for (const { sendingSinceMs } of this.#troubles.values())
      if (sendingSinceMs !== undefined && nowMs - sendingSinceMs > SENDING_MAX_MS) return true;
    return false;
  }

  /** Whether sending any database failed, and nothing of it was sent since. */
  get isRefused(): boolean {
    for (const { isRefused } of this.#troubles.values()) if (isRefused) return true;
    return false;
  }
}
