/**
 * What follows from usage, off the path of every turn. At most once a second an organisation's credit is looked at, and what that asks for
 * is written as rows with deadlines of their own, so a crash loses that look alone. What nodes lose of what they tell each other is found
 * in rows, credit within a second and the ceiling's sum within a minute.
 */
import type { Logger } from 'pino';
import { USAGE_MAIL_THRESHOLDS } from '../../protocol/limits.ts';
import { type CreditState, creditState, noteBought, noteCharged } from '../../storage/billing/usage.ts';
import { type Channel, readOrganisation } from '../../storage/organisations/organisations.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Announcer } from '../announcements.ts';
import type { DeviceRef } from '../caller.ts';
import { createDeadlines, type DeadlineKind, nearerOf } from '../deadlines.ts';
import { AppHours, type EndedAttempt } from './app-hours.ts';
import { DeviceSightings } from './device-sightings.ts';
import type { Mailer } from './mail.ts';
import { isReached, MemberMails } from './member-mails.ts';
import type { Payments } from './payments.ts';
import { PlatformSpend } from './platform-spend.ts';
import { TopUps } from './top-ups.ts';

export interface BillingServices {
  readonly storage: Storage;
  readonly mailer: Mailer;
  readonly payments: Payments | null;
  /** Null: no ceiling. */
  readonly platformBudgetMicroUsd: number | null;
  readonly log: Logger;
  nowMs(): number;
  readonly others: Announcer;
}

export interface CommittedCharge {
  readonly channel: Channel;
  readonly costMicroUsd: number;
  /** It draws credit: its turn ended well. */
  readonly billed: boolean;
  readonly atMs: number;
}

/** How long after a charge the credit of its organisation is checked, for all charges since. */
const LOOK_MS = 1_000;
/** How long a charge of another node may be missing from the sum of the ceiling when its announcement was lost. */
const RECOUNT_MS = 60_000;

export class Billing {
  readonly #services: BillingServices;
  readonly #mails: MemberMails;
  readonly #topUps: TopUps;
  readonly #sightings: DeviceSightings;
  readonly hours: AppHours;
  readonly platform: PlatformSpend;
  // A mail server that does not answer must not hold up top-ups, nor these each other's deadlines.
  readonly #mailDeadlines: ReturnType<typeof createDeadlines>;
  readonly #topUpDeadlines: ReturnType<typeof createDeadlines>;
  readonly #looks = new Map<string, NodeJS.Timeout>();
  /** Those whose look failed count as in use until the next one succeeds. */
  readonly #failed = new Set<string>();
  readonly #stopRecounts: () => void;
  #closed = false;

  constructor(services: BillingServices) {
    const { storage, log, nowMs, others, platformBudgetMicroUsd } = services;
    this.#services = services;
    this.#mails = new MemberMails(services);
    this.#topUps = new TopUps(services);
    this.#sightings = new DeviceSightings(storage, log, nowMs);
    this.hours = new AppHours(storage, log, nowMs);
    storage.conditions.watch((name, subject, isFailed) => this.hours.tried(name, subject, isFailed));
    this.platform = new PlatformSpend({ storage, log }, platformBudgetMicroUsd, nowMs());
    this.#mailDeadlines = createDeadlines({ storage, log, nowMs, others });
    this.#topUpDeadlines = createDeadlines({ storage, log, nowMs, others });
    this.#mailDeadlines.watch([this.#mails.deadlines()]);
    this.#topUpDeadlines.watch([this.#toldTopUps()]);
    others.listen('charged', ({ organisationId, ...charge }) => this.#heard(organisationId, charge));
    this.#stopRecounts = others.lookEvery(RECOUNT_MS, () => void this.#recount());
  }

  async #recount(): Promise<void> {
    try {
      await this.platform.recount(this.#services.nowMs(), () => this.#closed);
    } catch (error) {
      if (!this.#closed)
        this.#services.log.error({ err: error }, 'adding up the day’s spend of all organisations failed: trying again within a minute');
    }
  }

  /** What the path of its file says is all that a cache needs: a file that is not open here stays closed. */
  #file(organisationId: string): { readonly path: string } {
    return { path: this.#services.storage.layout.organisation(organisationId) };
  }

  /** Another node charged, or added credit (a cost of 0). The node that committed the charge acts on it. */
  #heard(organisationId: string, { channel, costMicroUsd, atMs, billed }: CommittedCharge): void {
    if (costMicroUsd === 0) {
      noteBought(this.#file(organisationId));
      return;
    }
    this.platform.add(costMicroUsd, atMs, organisationId);
    if (channel === 'live' && billed) noteCharged(this.#file(organisationId), costMicroUsd);
  }

  charged(organisationId: string, { channel, costMicroUsd, atMs, billed }: CommittedCharge): void {
    if (costMicroUsd === 0) return;
    this.platform.add(costMicroUsd, atMs, organisationId);
    this.#services.others.announce('charged', { organisationId, channel, costMicroUsd, atMs, billed });
    if (channel !== 'live') return;
    if (billed) noteCharged(this.#file(organisationId), costMicroUsd);
    if (this.#closed || this.#looks.has(organisationId)) return;
    this.#looks.set(organisationId, setTimeout(() => this.#look(organisationId), LOOK_MS).unref());
  }

  bought(organisationId: string): void {
    const { nowMs, others } = this.#services;
    noteBought(this.#file(organisationId));
    others.announce('charged', { organisationId, channel: 'live', costMicroUsd: 0, atMs: nowMs(), billed: true });
  }

  #look(organisationId: string): void {
    this.#looks.delete(organisationId);
    this.evaluate(organisationId).catch((error: unknown) => {
      this.#failed.add(organisationId);
      // The next charge checks again, and so does whoever looks the organisation's file through.
      if (!this.#closed)
        this.#services.log.error(
          { err: error, organisation_id: organisationId },
          'checking an organisation’s usage for alerts and top-ups failed: checked again after its next charge',
        );
    });
  }

  async evaluate(organisationId: string): Promise<void> {
    const { storage, nowMs } = this.#services;
    const organisation = readOrganisation(storage.control, organisationId);
    if (organisation === undefined) return;
    // In this order: see TopUps.plan.
    const newest = this.#topUps.newest(organisationId);
    const credit = creditState(storage.control, storage.organisation(organisationId), organisationId, nowMs());
    this.#noteCredit(organisationId, credit);
    if (await this.#topUps.plan(organisation, credit, newest)) this.#topUpDeadlines.note(organisationId, nowMs());
    if (await this.#mails.plan(organisation, credit)) this.#mailDeadlines.note(organisationId, nowMs());
    this.#failed.delete(organisationId);
  }

  #noteCredit(organisationId: string, credit: CreditState): void {
    const { conditions } = this.#services.storage;
    const [warnedAt] = USAGE_MAIL_THRESHOLDS;
    if (!isReached(warnedAt, credit)) {
      conditions.close('credit_ends', organisationId);
      return;
    }
    const used = isReached(100, credit) ? 'is used up' : `is used to ${warnedAt} % or more`;
    conditions.open('credit_ends', `The usage credit for ${credit.month} ${used}.`, organisationId);
  }

  seen(device: DeviceRef): void {
    this.#sightings.seen(device);
  }

  ended(attempt: EndedAttempt): void {
    this.hours.ended(attempt);
  }

  /** Learns from rows which mails and top-ups of the organisation are pending, and when each is due. */
  learn(organisationId: string): void {
    this.#mailDeadlines.look(organisationId);
    this.#topUpDeadlines.look(organisationId);
  }

  isUnfinished(organisationId: string): boolean {
    return this.#looks.has(organisationId) || this.#failed.has(organisationId);
  }

  next(organisationId: string): number | null {
    return nearerOf(this.#mailDeadlines.next(organisationId), this.#topUpDeadlines.next(organisationId));
  }

  forget(organisationId: string): void {
    this.#mailDeadlines.forget(organisationId);
    this.#topUpDeadlines.forget(organisationId);
  }

  /** Top-ups add credit, which is announced to the other nodes. */
  #toldTopUps(): DeadlineKind {
    const kind = this.#topUps.deadlines();
    const settle = async (organisationId: string) => {
      await kind.settle(organisationId);
      this.bought(organisationId);
    };
    return { next: kind.next, settle };
  }

  /** A node was lost: finds what only that node knew to be due. */
  async lookAgain(): Promise<void> {
    await this.#mailDeadlines.lookAgain();
    await this.#topUpDeadlines.lookAgain();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopRecounts();
    for (const timer of this.#looks.values()) clearTimeout(timer);
    this.#mailDeadlines.close();
    this.#topUpDeadlines.close();
    await this.#sightings.flush();
    await this.hours.flush();
  }
}
