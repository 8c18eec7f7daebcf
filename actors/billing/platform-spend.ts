/**
 * The platform-wide daily ceiling behind all other caps (LIMIT-19): what all organisations spent today
 * (UTC), live and sandbox. Rows are the truth; this is their sum, taken at the start and carried on with every committed
 * charge, so that asking costs nothing. Exact within one process; nodes of a cell tell each other their charges, and add the
 * rows up again every minute, for what was lost on the way. Turns under way may go over it by what they cost.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import { spentOn } from '../../storage/billing/platform-spend.ts';
import { utcDay } from '../../storage/billing/usage-ledger.ts';
import type { Storage } from '../../storage/storage.ts';
import { type EachServices, forEachOrganisation, forEachOrganisationSync } from '../for-each-organisation.ts';

/** Organisations added up in one go: a file that is not open takes up to a millisecond. */
const SUMMED_AT_ONCE = 5;

const ADDING_UP = 'adding up what was spent today';

interface SpendServices {
  readonly storage: Pick<Storage, 'control' | 'layout' | 'organisation'>;
  readonly log: EachServices['log'];
}

/** A sum in the making: organisations up to `upTo` (ids sort) are in it. */
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
      this.#spentMicroUsd += spentOn(services.storage.organisation(id), nowMs);
    });
  }

  /** Whether the day of `nowMs` is spent. */
  isReached(nowMs: number): boolean {
    if (this.#budgetMicroUsd === null) return false;
    this.#turnTo(nowMs);
    return this.#spentMicroUsd >= this.#budgetMicroUsd;
  }

  /** A charge of the organisation was committed that its row dates `atMs`. */
  add(costMicroUsd: number, atMs: number, organisationId = ''): void {
    this.#turnTo(atMs);
    if (utcDay(atMs) !== this.#day) return;
    this.#spentMicroUsd += costMicroUsd;
    // Of an organisation that is still to be read its row will tell.
    if (this.#recount !== null && organisationId <= this.#recount.upTo) this.#recount.spentMicroUsd += costMicroUsd;
  }

  /**
   * Adds the rows up again, a few organisations at a time; `nowMs` says which day. A charge that is read from its row and told
   * right afterwards counts twice until the next time: too much for a minute, never too little. @throws what reading throws.
   */
  async recount(nowMs: number, isClosed: () => boolean = () => false): Promise<void> {
    if (this.#budgetMicroUsd === null || this.#recount !== null) return;
    this.#turnTo(nowMs);
    const recount: Recount = { day: this.#day, upTo: '', spentMicroUsd: 0 };
    this.#recount = recount;
    try {
      let summed = 0;
      const addUp = async (id: string) => {
        recount.upTo = id;
        recount.spentMicroUsd += spentOn(this.#services.storage.organisation(id), nowMs);
      };
      const breathe = () => {
        summed += 1;
        return summed % SUMMED_AT_ONCE === 0 ? nextTick() : undefined;
      };
      await forEachOrganisation(this.#services, ADDING_UP, addUp, { isClosed, breathe });
      if (isClosed()) return;
      // Across midnight it is the sum of yesterday.
      if (recount.day === this.#day) this.#spentMicroUsd = recount.spentMicroUsd;
    } finally {
      this.#recount = null;
    }
  }

  /** Days only go forward: a charge of yesterday that is heard of after midnight is yesterday's. */
  #turnTo(atMs: number): void {
    const day = utcDay(atMs);
    if (day <= this.#day) return;
    this.#day = day;
    this.#spentMicroUsd = 0;
  }
}
