/**
 * Counts how the turns of each app end, and what it leans on answers, in memory, and adds the counts to rows: a turn's own commits are no dearer for it (CONSOLE-31). A
 * crash loses what was counted since the last time, some seconds.
 */
import type { Logger } from 'pino';
import { isId } from '../../protocol/ids.ts';
import { type CountedHour, countFirstWord, HOUR_MS, type LeanedOn, type TriedHour } from '../../storage/billing/app-hours.ts';
import type { ConditionName } from '../../storage/health/conditions.ts';
import { type Channel, organisationOfApp } from '../../storage/organisations/organisations.ts';
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
type Tried = { -readonly [Name in keyof TriedHour]: TriedHour[Name] } & { readonly organisationId: string };

const LEANED_ON_OF: Partial<Readonly<Record<ConditionName, LeanedOn>>> = {
  model_failing: 'model',
  backend_failing: 'backend',
  knowledge_failing: 'knowledge',
};

export class AppHours {
  readonly #storage: Pick<Storage, 'write' | 'control'>;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #nowMs: () => number;
  readonly #counted = new Map<string, Counted>();
  readonly #tried = new Map<string, Tried>();
  #timer: NodeJS.Timeout | null = null;

  constructor(storage: Pick<Storage, 'write' | 'control'>, log: Pick<Logger, 'warn'>, nowMs: () => number) {
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
    this.#flushLater();
  }

  /** As conditions tell it. Counts what is about an app. */
  tried(name: ConditionName, appId: string, isFailed: boolean): void {
    const kind = LEANED_ON_OF[name];
    if (kind === undefined || !isId('app', appId)) return;
    const hour = Math.floor(this.#nowMs() / HOUR_MS);
    const key = `${appId} ${kind} ${hour}`;
    let counted = this.#tried.get(key);
    if (counted === undefined) {
      const organisationId = organisationOfApp(this.#storage.control, appId);
      if (organisationId === undefined) return;
      if (this.#tried.size >= COUNTED_MAX) void this.flush();
      counted = { organisationId, appId, kind, hour, tried: 0, failed: 0 };
      this.#tried.set(key, counted);
    }
    counted.tried += 1;
    if (isFailed) counted.failed += 1;
    this.#flushLater();
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Adds what was counted to rows, of all organisations or of one. What cannot be stored is dropped and logged. */
  async flush(only?: string): Promise<void> {
    const taken = new Map<string, { readonly hours: CountedHour[]; readonly tried: TriedHour[] }>();
    const takenOf = (organisationId: string) => {
      const own = taken.get(organisationId) ?? { hours: [], tried: [] };
      taken.set(organisationId, own);
      return own;
    };
    for (const [key, { organisationId, ...counted }] of this.#counted) {
      if (only !== undefined && only !== organisationId) continue;
      this.#counted.delete(key);
      takenOf(organisationId).hours.push(counted);
    }
    for (const [key, { organisationId, ...counted }] of this.#tried) {
      if (only !== undefined && only !== organisationId) continue;
      this.#tried.delete(key);
      takenOf(organisationId).tried.push(counted);
    }
    if (this.#counted.size + this.#tried.size === 0 && this.#timer !== null) {
      clearTimeout(this.#timer);
      this.#timer = null;
    }
    for (const [organisationId, counts] of taken) {
      try {
        await this.#storage.write(organisationId, 'addAppHours', counts);
      } catch (error) {
        this.#log.warn(
          { err: error, organisation_id: organisationId },
          'storing counts of turns by the hour failed: the console shows too few',
        );
      }
    }
  }
}
