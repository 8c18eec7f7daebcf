/**
 * Opens no file of an organisation in which there is nothing to do (STORE-19, STORE-20): the control file says which are in use, and what
 * is due in others. One without a write for a minute, and nothing under way, is closed again.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Logger } from 'pino';
import { organisationSpentToday, utcDay } from '../storage/billing/usage-ledger.ts';
import { dueOrganisations, NOBODY, organisationsUsedBy, usersOf, usingProcesses } from '../storage/organisations/organisation-uses.ts';
import { isHere, readOrganisation } from '../storage/organisations/organisations.ts';
import type { Connection } from '../storage/sqlite/connection.ts';
import type { Storage } from '../storage/storage.ts';
import { attempt, type EachServices, forEachOrganisation } from './for-each-organisation.ts';
import { readGlanceOf } from './organisation-glance.ts';
import { Serial } from './serial.ts';

/** Somebody has to put a file back or make room first, so there is no hurry. */
const RETRY_MS = 5_000;
/** Organisations in one round; the others come in the next rounds. */
const TRIED_AT_ONCE = 50;

/** Retries the work of organisations until it succeeds, as when a file was damaged or a disk full, without another start. */
class OrganisationRetries {
  readonly #waiting = new Set<string>();
  /** Logged already: a line for each retry would fill the log. */
  readonly #logged = new Set<string>();
  readonly #rounds = new Serial();
  readonly #services: EachServices;
  readonly #work: (organisationId: string) => Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #closed = false;

  constructor(services: EachServices, work: (organisationId: string) => Promise<void>) {
    this.#services = services;
    this.#work = work;
    this.#timer = setInterval(() => {
      if (this.#waiting.size === 0) return;
      this.#rounds
        .do(() => this.#tryAgain())
        .catch((error: unknown) =>
          services.log.error({ err: error }, 'retrying the work of organisations that failed before failed again'),
        );
    }, RETRY_MS).unref();
  }

  get size(): number {
    return this.#waiting.size;
  }

  has(organisationId: string): boolean {
    return this.#waiting.has(organisationId);
  }

  add(organisationIds: readonly string[]): void {
    for (const id of organisationIds) this.#waiting.add(id);
  }

  async #tryAgain(): Promise<void> {
    const { storage, log } = this.#services;
    const error = (facts: object, text?: string) => {
      const id = (facts as { organisation_id?: string }).organisation_id ?? '';
      if (!this.#logged.has(id)) log.error(facts, text);
      this.#logged.add(id);
    };
    const ids = [...this.#waiting].slice(0, TRIED_AT_ONCE);
    const options = { ids, isClosed: () => this.#closed, breathe: nextTick };
    const failed = new Set(await forEachOrganisation({ storage, log: { error } }, 'resuming unfinished work', this.#work, options));
    for (const id of ids) {
      this.#waiting.delete(id);
      if (failed.has(id)) this.#waiting.add(id);
      else this.#logged.delete(id);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#rounds.done();
  }
}

export interface UpkeepServices {
  readonly storage: Storage;
  readonly log: Pick<Logger, 'error'>;
  nowMs(): number;
  /** Whether a process still is, by the name under which it used files. Gone is for good. */
  liveness(process: string): Promise<'alive' | 'silent' | 'gone'>;
  /** Resumes what is unfinished in the organisation, after `learn`. It may be under way elsewhere, too. */
  resume(organisationId: string): Promise<void>;
  /** Learns from rows when something is due, and minds it. */
  learn(organisationId: string): void;
  forget(organisationId: string): void;
  /** Whether work is under way in the organisation, or waits, that has no deadline. */
  isUnfinished(organisationId: string): boolean;
  /** Brings a file in order that is about to be closed: what is left to do is done now, because the file may stay closed for long. */
  tidy(organisationId: string): Promise<void>;
  next(organisationId: string): number | null;
  /** Lets tests shorten what takes seconds. */
  readonly times?: { readonly roundMs?: number; readonly quietMs?: number };
}

/** How late something that is due may be noticed; a round that finds nothing takes some 10 µs. */
const ROUND_MS = 1_000;
/** In use for so long after a write: for a busy file nothing is noted, and after a crash as many are looked through. */
const QUIET_MS = 60_000;
/** Files of one round, each some milliseconds. */
const AT_ONCE = 50;

export class OrganisationUpkeep {
  readonly #services: UpkeepServices;
  readonly #retries: OrganisationRetries;
  readonly #rounds = new Serial();
  readonly #quietMs: number;
  readonly #isClosed = () => this.#closed;
  #timer: NodeJS.Timeout | undefined;
  #takingUp: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(services: UpkeepServices) {
    this.#services = services;
    this.#quietMs = services.times?.quietMs ?? QUIET_MS;
    this.#retries = new OrganisationRetries(services, (id) => this.lookThrough(id));
  }

  begin(isAlone: boolean): void {
    if (isAlone) this.#takingUp = this.#logged(async () => this.#lookThroughEach(await this.left()));
    this.#timer = setInterval(() => {
      if (this.#rounds.waiting === 0) void this.#logged(() => this.#rounds.do(() => this.round()));
    }, this.#services.times?.roundMs ?? ROUND_MS).unref();
  }

  async #logged(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#closed) this.#services.log.error({ err: error }, 'looking for organisations with something to do failed: trying again');
    }
  }

  /** Organisations that processes used which are gone, or silent. */
  async left(): Promise<string[]> {
    const { liveness, storage } = this.#services;
    const ids = new Set<string>();
    for (const process of usingProcesses(storage.control)) {
      if (process === storage.process || process === NOBODY || (await liveness(process)) === 'alive') continue;
      for (const id of organisationsUsedBy(storage.control, process)) ids.add(id);
    }
    return [...ids];
  }

  /** Resumes what is unfinished in the organisation, whoever left it. @throws what reading or writing its file throws. */
  async lookThrough(organisationId: string): Promise<void> {
    const { liveness, resume, storage } = this.#services;
    // Before others are forgotten: at any moment somebody is noted until it was looked through.
    await storage.use(organisationId);
    const gone: string[] = [];
    for (const process of usersOf(storage.control, organisationId)) {
      if (process === storage.process) continue;
      // One that is silent may go on, and does not note again what it notes once.
      if (process === NOBODY || (await liveness(process)) === 'gone') gone.push(process);
    }
    await resume(organisationId);
    if (gone.length > 0) await storage.writeControl('forgetUses', { organisationId, processes: gone });
  }

  /** Those that cannot be looked through are tried again. Returns how many could. */
  async #lookThroughEach(ids: readonly string[]): Promise<number> {
    const { storage } = this.#services;
    const options = { ids, isClosed: this.#isClosed, breathe: nextTick };
    const lookThrough = async (id: string) => {
      await this.lookThrough(id);
      // After a crash there may be many, of which few have requests.
      storage.closeReader(id);
    };
    const failed = await forEachOrganisation(this.#services, 'resuming unfinished work', lookThrough, options);
    this.#retries.add(failed);
    return ids.length - failed.length;
  }

  async round(): Promise<void> {
    for (let lookedThrough = 1; lookedThrough > 0 && !this.#closed; ) lookedThrough = await this.#lookThroughEach(this.#due());
    for (const id of this.#services.storage.quiet(this.#quietMs, AT_ONCE)) {
      if (this.#closed) return;
      const outcome = await attempt(this.#services, id, 'closing the file', () => this.#leave(id));
      if (outcome === 'failed') this.#retries.add([id]);
      await nextTick();
    }
  }

  #due(): string[] {
    const { nowMs, storage } = this.#services;
    // Those that are tried again must not keep the others from their turn.
    const limit = AT_ONCE + this.#retries.size;
    const ids = [...organisationsUsedBy(storage.control, NOBODY, limit), ...dueOrganisations(storage.control, nowMs(), limit)];
    return ids.filter((id) => !this.#retries.has(id)).slice(0, AT_ONCE);
  }

  async #leave(organisationId: string): Promise<void> {
    const { storage, tidy } = this.#services;
    // One that has moved to another cell is brought in order there.
    if (isHere(storage.control, organisationId)) await tidy(organisationId);
    await this.#endUse(organisationId);
  }

  async #endUse(organisationId: string): Promise<void> {
    const { forget, learn, storage } = this.#services;
    let isForgotten = false;
    let hasEnded = false;
    const lookThrough = (db: Connection) => {
      const found = this.#find(organisationId, db);
      if (found === null) return null;
      // At this moment: whoever writes from now on notes its deadlines itself.
      forget(organisationId);
      isForgotten = true;
      return found;
    };
    try {
      hasEnded = await storage.endUse(organisationId, lookThrough);
    } finally {
      if (isForgotten && !hasEnded) learn(organisationId);
    }
    // One that has moved to another cell was not looked through.
    if (hasEnded && !isForgotten) forget(organisationId);
  }

  /** Null while something is under way: what is due has not been done by whoever minds it. */
  #find(organisationId: string, db: Connection) {
    const { isUnfinished, next, nowMs, storage } = this.#services;
    const atMs = nowMs();
    const dueAtMs = next(organisationId);
    if (isUnfinished(organisationId) || (dueAtMs !== null && dueAtMs <= atMs)) return null;
    const isKnown = isHere(storage.control, organisationId) && readOrganisation(storage.control, organisationId) !== undefined;
    const glance = isKnown ? JSON.stringify(readGlanceOf(storage.control, db, organisationId, atMs)) : '';
    return { dueAtMs, spentDay: utcDay(atMs), spentMicroUsd: organisationSpentToday(db, atMs), glance };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#takingUp;
    await this.#rounds.done();
    await this.#retries.close();
  }
}
