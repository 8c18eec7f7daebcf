/**
 * The platform-wide daily ceiling behind all other caps (service.md "Limits" rule 9): what all organisations spent today
 * (UTC), live and sandbox. Rows are the truth; this is their sum, taken at the start and carried on with every committed
 * charge, so that asking costs nothing. Exact within one process. Turns under way may go over it by what they cost.
 */
import { organisationIds } from '../storage/organisations.ts';
import { spentOn } from '../storage/platform-spend.ts';
import type { Storage } from '../storage/storage.ts';
import { utcDay } from '../storage/usage-ledger.ts';

export class PlatformSpend {
  readonly #budgetMicroUsd: number | null;
  #day: string;
  #spentMicroUsd: number;

  /** `budgetMicroUsd` null: no ceiling, and nothing is summed. */
  constructor(storage: Pick<Storage, 'control' | 'organisation'>, budgetMicroUsd: number | null, nowMs: number) {
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

  /** A charge was committed that its row dates `atMs`. */
  add(costMicroUsd: number, atMs: number): void {
    this.#turnTo(atMs);
    if (utcDay(atMs) === this.#day) this.#spentMicroUsd += costMicroUsd;
  }

  /** Days only go forward: a charge of yesterday that is heard of after midnight is yesterday's. */
  #turnTo(atMs: number): void {
    const day = utcDay(atMs);
    if (day <= this.#day) return;
    this.#day = day;
    this.#spentMicroUsd = 0;
  }
}
