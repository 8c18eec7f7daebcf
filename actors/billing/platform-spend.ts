/**
 * The daily ceiling of the whole platform (LIMIT-19): the sum of rows, updated with every charge, exact within one process. Only files in
 * use are read; what the others had spent stands in the control file.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import { organisationSpentToday, utcDay } from '../../storage/billing/usage-ledger.ts';
import { spentByUnused, usedOrganisations } from '../../storage/organisations/organisation-uses.ts';
import type { Storage } from '../../storage/storage.ts';
import { type EachServices, forEachOrganisation, forEachOrganisationSync } from '../for-each-organisation.ts';

/** Organisations added up in one go: a file that is not open takes up to a millisecond. */
const SUMMED_AT_ONCE = 5;

const ADDING_UP = 'adding up what was spent today';

interface SpendServices {
  readonly storage: Pick<Storage, 'closeReader' | 'control' | 'layout' | 'organisation'>;
  readonly log: EachServices['log'];
}

interface Recount {
  readonly day: string;
  readonly unread: Set<string>;
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
    const { control } = services.storage;
    // In this order: an organisation that comes out of use in between counts twice until the next recount, and not never.
    const ids = [...usedOrganisations(control)];
    this.#spentMicroUsd = spentByUnused(control, this.#day);
    const addUp = (id: string) => {
      this.#spentMicroUsd += organisationSpentToday(services.storage.organisation(id), nowMs);
      // There may be thousands, which nobody may ask for soon.
      services.storage.closeReader(id);
    };
    forEachOrganisationSync(services, ADDING_UP, addUp, ids);
  }

  isReached(nowMs: number): boolean {
    if (this.#budgetMicroUsd === null) return false;
    this.#advanceTo(nowMs);
    return this.#spentMicroUsd >= this.#budgetMicroUsd;
  }

  /** `atMs`: what the row of the charge is dated. */
  add(costMicroUsd: number, atMs: number, organisationId = ''): void {
    this.#advanceTo(atMs);
    if (utcDay(atMs) !== this.#day) return;
    this.#spentMicroUsd += costMicroUsd;
    if (this.#recount !== null && !this.#recount.unread.has(organisationId)) this.#recount.spentMicroUsd += costMicroUsd;
  }

  /** A charge that is read from its row and then added counts twice until the next recount: too much for a minute, never too little. */
  async recount(nowMs: number, isClosed: () => boolean = () => false): Promise<void> {
    if (this.#budgetMicroUsd === null || this.#recount !== null) return;
    this.#advanceTo(nowMs);
    const { control } = this.#services.storage;
    const ids = [...usedOrganisations(control)];
    const recount: Recount = { day: this.#day, unread: new Set(ids), spentMicroUsd: spentByUnused(control, this.#day) };
    this.#recount = recount;
    try {
      let summed = 0;
      const addUp = async (id: string) => {
        recount.unread.delete(id);
        recount.spentMicroUsd += organisationSpentToday(this.#services.storage.organisation(id), nowMs);
      };
      const breathe = () => {
        summed += 1;
        return summed % SUMMED_AT_ONCE === 0 ? nextTick() : undefined;
      };
      await forEachOrganisation(this.#services, ADDING_UP, addUp, { ids, isClosed, breathe });
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
