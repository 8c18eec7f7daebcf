/**
 * Counts how the turns of each app end, in memory, and adds the counts to rows: a turn's own commits are no dearer for it (CONSOLE-31). A
 * crash loses what was counted since the last time, some seconds.
 */
import type { Logger } from 'pino';
import { type CountedHour, countFirstWord, HOUR_MS } from '../../storage/billing/app-hours.ts';
import type { Channel } from '../../storage/organisations/organisations.ts';
import type { Storage } from '../../storage/storage.ts';

/** Well under the minute after which the file of an organisation that is quiet is closed: it is not opened again for this. */
const FLUSH_MS = 20_000;
/** Apps by kind of key and hour that are counted at once, some 300 bytes each. Beyond it they are added to rows at once. */
const COUNTED_MAX = 10_000;

export interface EndedAttempt {
  readonly organisationId: string;
  readonly appId: string;
  readonly channel: Channel;
  readonly failed: boolean;
  /** From the request on; undefined: no word was said, or when it came is not known. */
  readonly firstWordMs: number | undefined;
}

type Counted = { -readonly [Name in keyof CountedHour]: CountedHour[Name] } & { readonly organisationId: string; firstWords: number[] };

export class AppHours {
  readonly #storage: Pick<Storage, 'write'>;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #nowMs: () => number;
  #counted = new Map<string, Counted>();
  #timer: NodeJS.Timeout | null = null;

  constructor(storage: Pick<Storage, 'write'>, log: Pick<Logger, 'warn'>, nowMs: () => number) {
    this.#storage = storage;
    this.#log = log;
    this.#nowMs = nowMs;
  }

  ended({ organisationId, appId, channel, failed, firstWordMs }: EndedAttempt): void {
    const hour = Math.floor(this.#nowMs() / HOUR_MS);
    const key = `${appId} ${channel} ${hour}`;
    let counted = this.#counted.get(key);
    if (counted === undefined) {
      if (this.#counted.size >= COUNTED_MAX) void this.flush();
      counted = { organisationId, appId, channel, hour, ended: 0, failed: 0, people: 0, firstWords: [] };
      this.#counted.set(key, counted);
    }
    counted.ended += 1;
    if (failed) counted.failed += 1;
    if (firstWordMs !== undefined) countFirstWord(counted.firstWords, firstWordMs);
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Adds what was counted to rows, of all organisations or of one. What cannot be stored is dropped and logged. */
  async flush(only?: string): Promise<void> {
    const taken = new Map<string, CountedHour[]>();
    for (const [key, { organisationId, ...counted }] of this.#counted) {
      if (only !== undefined && only !== organisationId) continue;
      this.#counted.delete(key);
      const own = taken.get(organisationId);
      if (own === undefined) taken.set(organisationId, [counted]);
      else own.push(counted);
    }
    if (this.#counted.size === 0 && this.#timer !== null) {
      clearTimeout(this.#timer);
      this.#timer = null;
    }
    for (const [organisationId, hours] of taken) {
      try {
        await this.#storage.write(organisationId, 'addAppHours', { hours });
      } catch (error) {
        this.#log.warn(
          { err: error, organisation_id: organisationId },
          'storing counts of turns by the hour failed: the console shows too few',
        );
      }
    }
  }
}
