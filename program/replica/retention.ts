/**
 * Sees to it that Litestream forgets (REPLICA-10). It deletes what is older than a day, but looks for that only an hour after its start, and
 * each organisation that comes starts it anew: where one comes every hour nothing would ever go. After a day in which it could not, it is
 * told to look a minute after its start. When it last looked is kept beside the data, so that restarts of the service count as well.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DataLayout, replaceFile } from '../../storage/data-layout.ts';

/** Litestream's own interval, at which each database costs three requests. */
const USUAL_MS = 3_600_000;
const SOON_MS = 60_000;
/** What is deleted is a day old by then, and two at most. */
const OVERDUE_MS = 12 * 3_600_000;
/** Looking takes a while where there are thousands. */
const LOOKING_MS = 60_000;

export class Retention {
  readonly #path: string;
  #intervalMs = USUAL_MS;
  #startedAtMs = 0;

  constructor({ replica }: DataLayout) {
    this.#path = join(replica, 'retention-looked-at');
  }

  /** Litestream is started now. Returns after how many seconds it is to look; undefined: as it does anyway. */
  begin(nowMs: number): number | undefined {
    this.#startedAtMs = nowMs;
    this.#intervalMs = nowMs - this.#lookedAtMs(nowMs) > OVERDUE_MS ? SOON_MS : USUAL_MS;
    return this.#intervalMs === SOON_MS ? SOON_MS / 1_000 : undefined;
  }

  /** To be called while it runs. True: it has looked as soon as it was told to, and is to be started as usual again. */
  isDone(nowMs: number): boolean {
    if (nowMs - this.#startedAtMs < this.#intervalMs + LOOKING_MS) return false;
    if (nowMs - this.#lookedAtMs(nowMs) >= USUAL_MS) this.#note(nowMs);
    return this.#intervalMs === SOON_MS;
  }

  /** The first time counts from now: there is nothing old yet. */
  #lookedAtMs(nowMs: number): number {
    try {
      const atMs = Number(readFileSync(this.#path, 'utf8'));
      if (Number.isSafeInteger(atMs) && atMs <= nowMs) return atMs;
    } catch {
      // It was never noted.
    }
    this.#note(nowMs);
    return nowMs;
  }

  #note(nowMs: number): void {
    replaceFile(this.#path, String(nowMs));
  }
}
