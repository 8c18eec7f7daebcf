/** Automatic top-up (LIMIT-29 to LIMIT-32). One is pending at a time and retried as the same payment, so nothing charges twice. */
import type { Logger } from 'pino';
import { mintId } from '../../protocol/ids.ts';
import { TOP_UP_BELOW_USD } from '../../protocol/limits.ts';
import { toMicroUsd } from '../../protocol/money.ts';
import { countTopUps, type DueTopUp, dueTopUp, listTopUps, nextTopUpAtMs, type TopUp } from '../../storage/billing/top-ups.ts';
import { type CreditState, creditLeft, noteBought } from '../../storage/billing/usage.ts';
import { type OrganisationRecord, readOrganisation } from '../../storage/organisations/organisations.ts';
import type { Storage } from '../../storage/storage.ts';
import type { DeadlineKind } from '../deadlines.ts';
import type { PaymentOutcome, Payments } from './payments.ts';

export interface TopUpServices {
  readonly storage: Storage;
  /** Null: nothing is charged, and top-ups are recorded as `manual`. */
  readonly payments: Payments | null;
  readonly log: Logger;
  nowMs(): number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** A card that was declined is declined again; its bank counts such attempts. */
const AFTER_FAILURE_MS = DAY_MS;
/** Top-ups in 24 hours. An organisation that needs more should choose a larger amount. */
const TOP_UPS_PER_DAY_MAX = 100;
const BACK_OFF_FIRST_MS = 30_000;
/** The outcome of a charge must be known, so it is asked for once an hour, without end. */
const BACK_OFF_MAX_MS = 3_600_000;
const MICRO_USD_PER_CENT = 10_000;

function backOffMs(attempts: number): number {
  return Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** Math.min(attempts, 20));
}

export class TopUps {
  readonly #services: TopUpServices;

  constructor(services: TopUpServices) {
    this.#services = services;
  }

  /** `newest` was read before `credit`: what another top-up brought meanwhile is not topped up again. True when one was begun. */
  plan(organisation: OrganisationRecord, credit: CreditState, newest: TopUp | undefined): Promise<boolean> {
    const { autoTopUp, id: organisationId } = organisation;
    const atMs = this.#services.nowMs();
    if (!autoTopUp.enabled || creditLeft(credit) >= toMicroUsd(TOP_UP_BELOW_USD)) return Promise.resolve(false);
    if (newest?.state === 'pending') return Promise.resolve(false);
    if (newest?.state === 'failed' && atMs < newest.createdAtMs + AFTER_FAILURE_MS) return Promise.resolve(false);
    const { storage } = this.#services;
    if (countTopUps(storage.organisation(organisationId), atMs - DAY_MS) >= TOP_UPS_PER_DAY_MAX) return Promise.resolve(false);
    const amountMicroUsd = toMicroUsd(autoTopUp.amount_usd);
    return storage.write(organisationId, 'beginTopUp', {
      id: mintId('top', atMs),
      newest: newest?.id ?? null,
      amountMicroUsd,
      nowMs: atMs,
    });
  }

  newest(organisationId: string): TopUp | undefined {
    return listTopUps(this.#services.storage.organisation(organisationId), 1)[0];
  }

  deadlines(): DeadlineKind {
    return { next: nextTopUpAtMs, settle: (organisationId) => this.charge(organisationId) };
  }

  async charge(organisationId: string): Promise<void> {
    const { storage, nowMs } = this.#services;
    const topUp = dueTopUp(storage.organisation(organisationId), nowMs());
    const organisation = readOrganisation(storage.control, organisationId);
    if (topUp === undefined || organisation === undefined) return;
    const retryAtMs = nowMs() + backOffMs(topUp.attempts);
    // Committed before the card is charged: the row shows that it may have been.
    if (!(await storage.write(organisationId, 'attemptTopUp', { id: topUp.id, retryAtMs }))) return;
    await this.#settle(organisation, topUp, await this.#outcome(organisation, topUp));
  }

  async #outcome({ id: organisationId, name, autoTopUp }: OrganisationRecord, topUp: DueTopUp): Promise<PaymentOutcome | 'manual'> {
    const { payments } = this.#services;
    if (payments === null) return 'manual';
    const customer = autoTopUp.stripe_customer;
    if (customer === undefined) {
      const reason = 'No card is registered: set auto_top_up.stripe_customer.';
      // A payment that was tried before may have been charged, and without its customer that cannot be looked up.
      return topUp.attempts > 0 ? { state: 'pending', reason } : { state: 'failed', reason };
    }
    return payments.charge({
      id: `${organisationId}-${topUp.ordinal}`,
      customer,
      amountCents: Math.round(topUp.amountMicroUsd / MICRO_USD_PER_CENT),
      description: `Usage credit of ${name}`,
    });
  }

  async #settle({ id: organisationId }: OrganisationRecord, { id }: DueTopUp, outcome: PaymentOutcome | 'manual'): Promise<void> {
    const { storage, log } = this.#services;
    const nowMs = this.#services.nowMs();
    const state = outcome === 'manual' ? outcome : outcome.state;
    const reason = outcome === 'manual' || outcome.state === 'charged' ? null : outcome.reason;
    log[reason === null ? 'info' : 'warn']({ organisation_id: organisationId, top_up: id, state, reason }, 'automatic top-up');
    if (state === 'pending') {
      await storage.write(organisationId, 'postponeTopUp', { id, error: reason ?? '' });
      return;
    }
    const paymentId = outcome !== 'manual' && outcome.state === 'charged' ? outcome.paymentId : null;
    await storage.write(organisationId, 'settleTopUp', { id, state, paymentId, error: reason, nowMs });
    noteBought(storage.organisation(organisationId));
  }
}
