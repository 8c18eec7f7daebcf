/**
 * The daily ceiling of the whole platform, behind all other caps (LIMIT-19): what all organisations spent today (UTC), live and sandbox. Rows are
 * the truth. This is their sum, computed at the start and updated with every committed charge, so that a check costs nothing. It is exact within
 * one process. Nodes of a cell announce their charges to each other, and add the rows up again every minute in case an announcement was
 * lost. Turns under way may exceed the ceiling by what they cost.
 *
 * Not a store: each turn asks once, nothing waits for a change, and a recount runs beside the charges that it has to include.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import { organisationSpentToday, utcDay } from '../../storage/billing/usage-ledger.ts';
import type { Storage } from '../../storage/storage.ts';
import { type EachServices, forEachOrganisation, forEachOrganisationSync } from '../for-each-organisation.ts';

/** Organisations added up in one go: a file that is not open takes up to a millisecond. */
const SUMMED_AT_ONCE = 5;

const ADDING_UP = 'adding up what was spent today';

interface SpendServices {
  readonly storage: Pick<Storage, 'control' | 'layout' | 'organisation'>;
  readonly log: EachServices['log'];
}

/** A recount under way: it holds the organisations with ids up to `upTo`. */
interface Recount {
  readonly day: string;
  upTo: string;
  spentMicroUsd: number;
}

export class PlatformSpend {
  readonly #services: SpendServices;
  readonly #budgetMicroUsd: number | null;
  #day: string;
  #spentMicroUsd: number;
  #recount: Recount | null = null;

  /** `budgetMicroUsd` null: no ceiling, and nothing is summed. */
  constructor(services: SpendServices, budgetMicroUsd: number | null, nowMs: number) {
    this.#services = services;
    this.#budgetMicroUsd = budgetMicroUsd;
    this.#day = utcDay(nowMs);
    this.#spentMicroUsd = 0;
    if (budgetMicroUsd === null) return;
    forEachOrganisationSync(services, ADDING_UP, (id) => {
      this.#spentMicroUsd += organisationSpentToday(services.storage.organisation(id), nowMs);
    });
  }

  /** Whether the ceiling of the day of `nowMs` is reached. */
  isReached(nowMs: number): boolean {
    if (this.#budgetMicroUsd === null) return false;
    this.#advanceTo(nowMs);
    return this.#spentMicroUsd >= this.#budgetMicroUsd;
  }

  /** Adds a committed charge of the organisation, dated `atMs` in its row. */
  add(costMicroUsd: number, atMs: number, organisationId = ''): void {
    this.#advanceTo(atMs);
    if (utcDay(atMs) !== this.#day) return;
    this.#spentMicroUsd += costMicroUsd;
    // The recount has yet to read the rows of later organisations.
    if (this.#recount !== null && organisationId <= this.#recount.upTo) this.#recount.spentMicroUsd += costMicroUsd;
  }

  /**
   * Adds the rows of the day of `nowMs` up again, a few organisations at a time. A charge that is read from its row and then added counts twice
   * until the next recount: too much for a minute, never too little. @throws errors of reading.
   */
  async recount(nowMs: number, isClosed: () => boolean = () => false): Promise<void> {
    if (this.#budgetMicroUsd === null || this.#recount !== null) return;
    this.#advanceTo(nowMs);
    const recount: Recount = { day: this.#day, upTo: '', spentMicroUsd: 0 };
    this.#recount = recount;
    try {
      let summed = 0;
      const addUp = async (id: string) => {
        recount.upTo = id;
        recount.spentMicroUsd += organisationSpentToday(this.#services.storage.organisation(id), nowMs);
      };
      const breathe = () => {
        summed += 1;
        return summed % SUMMED_AT_ONCE === 0 ? nextTick() : undefined;
      };
      await forEachOrganisation(this.#services, ADDING_UP, addUp, { isClosed, breathe });
      if (isClosed()) return;
      // After midnight it is yesterday's sum.
      if (recount.day === this.#day) this.#spentMicroUsd = recount.spentMicroUsd;
    } finally {
      this.#recount = null;
    }
  }

  /** Days only go forward: a charge of yesterday that arrives after midnight counts for yesterday. */
  #advanceTo(atMs: number): void {
    const day = utcDay(atMs);
    if (day <= this.#day) return;
    this.#day = day;
    this.#spentMicroUsd = 0;
  }
}
