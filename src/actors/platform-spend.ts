/**
 * The platform-wide daily ceiling behind all other caps (service.md "Limits" rule 9): what all organisations spent today
 * (UTC), live and sandbox. Rows are the truth; this is their sum, taken at the start and carried on with every committed
 * charge, so that asking costs nothing. Exact within one process; nodes of a cell tell each other their charges, and add the
 * rows up again every minute, for what was lost on the way. Turns under way may go over it by what they cost.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import { organisationIds } from '../storage/organisations.ts';
import { spentOn } from '../storage/platform-spend.ts';
import type { Storage } from '../storage/storage.ts';
import { utcDay } from '../storage/usage-ledger.ts';

/** Organisations added up in one go: a file that is not open takes up to a millisecond. */
const SUMMED_AT_ONCE = 5;

/** A sum in the making: organisations up to `upTo` (ids sort) are in it. */
interface Recount {
  readonly day: string;
  upTo: string;
  spentMicroUsd: number;
}

export class PlatformSpend {
  readonly #storage: Pick<Storage, 'control' | 'organisation'>;
  readonly #budgetMicroUsd: number | null;
  #day: string;
  #spentMicroUsd: number;
  #recount: Recount | null = null;

  /** `budgetMicroUsd` null: no ceiling, and nothing is summed. */
  constructor(storage: Pick<Storage, 'control' | 'organisation'>, budgetMicroUsd: number | null, nowMs: number) {
    this.#storage = storage;
    this.#budgetMicroUsd = budgetMicroUsd;
    this.#day = utcDay(nowMs);
    this.#spentMicroUsd = 0;
    if (budgetMicroUsd === null) return;
    for (const id of organisationIds(storage.control)) this.#spentMicroUsd += spentOn(storage.organisation(id), nowMs);
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
      for (const id of organisationIds(this.#storage.control)) {
        if (isClosed()) return;
        recount.spentMicroUsd += spentOn(this.#storage.organisation(id), nowMs);
        recount.upTo = id;
        summed += 1;
        if (summed % SUMMED_AT_ONCE === 0) await nextTick();
      }
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
