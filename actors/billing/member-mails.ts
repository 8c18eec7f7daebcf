/**
 * Mails to members: at 80 % and 100 % of a month's credit (LIMIT-26), and what others wrote down for them (LIVE-9). Claimed (`sending`)
 * before it is handed over and settled afterwards, a mail is never sent twice: interrupted, it may have arrived and stays `sending`.
 */
import type { Logger } from 'pino';
import { USAGE_MAIL_THRESHOLDS } from '../../protocol/limits.ts';
import {
  dueMemberMails,
  type MemberMail,
  mailedAddresses,
  nextMemberMailAtMs,
  type PlannedMails,
  type UsageMailThreshold,
} from '../../storage/billing/member-mails.ts';
import { type CreditState, creditLeft } from '../../storage/billing/usage.ts';
import { type OrganisationRecord, readOrganisation } from '../../storage/organisations/organisations.ts';
import type { Storage } from '../../storage/storage.ts';
import type { DeadlineKind } from '../deadlines.ts';
import type { Mailer, MailOutcome } from './mail.ts';

export interface MemberMailServices {
  readonly storage: Storage;
  readonly mailer: Mailer;
  readonly log: Logger;
  nowMs(): number;
}

/** Some ten hours in all; a later warning is of no use. */
const ATTEMPTS_MAX = 15;
const BACK_OFF_FIRST_MS = 30_000;
const BACK_OFF_MAX_MS = 3_600_000;
const BATCH_MAX = 50;

function backOffMs(attempts: number): number {
  return Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** Math.max(0, attempts - 1));
}

/** The month's credit is what was spent in it and what is left. Used is also what attempts cost that drew no credit (LIMIT-17). */
export function isReached(threshold: UsageMailThreshold, credit: CreditState): boolean {
  return (credit.spentMicroUsd + credit.failedMicroUsd) * 100 >= threshold * (credit.spentMicroUsd + creditLeft(credit));
}

/** `byFailures`: credit is left, because what used it up with the rest drew none. */
function wordsOf(
  { name }: OrganisationRecord,
  month: string,
  threshold: UsageMailThreshold,
  byFailures: boolean,
): readonly [string, string] {
  if (threshold !== 100) {
    return [
      `${name} has used ${threshold} % of its usage credit for ${month}.`,
      'When it is used up, new conversations do not start until credit is added or the month ends, except in apps whose hard cap is off.',
    ];
  }
  if (!byFailures) {
    return [
      `The usage credit of ${name} for ${month} is used up.`,
      'New conversations do not start until credit is added or the month ends, except in apps whose hard cap is off. Conversations that are open go on.',
    ];
  }
  return [
    `The model usage of ${name} for ${month} is as much as its usage credit, answers that failed included.`,
    'These draw no credit, so that some of it is left. Look at what fails: the model is paid for it all the same.',
  ];
}

function usageMails(organisation: OrganisationRecord, { month, exhausted }: CreditState, threshold: UsageMailThreshold): PlannedMails {
  const byFailures = threshold === 100 && !exhausted;
  const advice = 'Add credit or change the plan in the console of the service. This is the only mail about it this month.';
  return {
    about: `${month} ${threshold}`,
    emails: organisation.members.map(({ email }) => email),
    subject:
      threshold === 100 && !byFailures
        ? `${organisation.name}: usage credit is used up`
        : `${organisation.name}: ${threshold} % of usage credit used`,
    text: `${[...wordsOf(organisation, month, threshold, byFailures), advice].join('\n\n')}\n`,
  };
}

export class MemberMails {
  readonly #services: MemberMailServices;

  constructor(services: MemberMailServices) {
    this.#services = services;
  }

  async plan(organisation: OrganisationRecord, credit: CreditState): Promise<boolean> {
    const { storage, nowMs } = this.#services;
    const db = storage.organisation(organisation.id);
    let planned = 0;
    for (const threshold of USAGE_MAIL_THRESHOLDS) {
      if (!isReached(threshold, credit)) continue;
      const mails = usageMails(organisation, credit, threshold);
      const mailed = mailedAddresses(db, mails.about);
      if (mails.emails.every((email) => mailed.has(email.toLowerCase()))) continue;
      planned += await storage.write(organisation.id, 'planMemberMails', { ...mails, nowMs: nowMs() });
    }
    return planned > 0;
  }

  deadlines(): DeadlineKind {
    return { next: nextMemberMailAtMs, settle: (organisationId) => this.deliver(organisationId) };
  }

  async deliver(organisationId: string): Promise<void> {
    const { storage, mailer, nowMs } = this.#services;
    const due = dueMemberMails(storage.organisation(organisationId), nowMs(), BATCH_MAX);
    const organisation = readOrganisation(storage.control, organisationId);
    if (due.length === 0 || organisation === undefined) return;
    if (!(await mailer.ready())) {
      for (const _ of due) this.#noteOutcome(true);
      const attempts = Math.max(...due.map((mail) => mail.attempts)) + 1;
      const atMs = nowMs();
      const retryAtMs = atMs + backOffMs(attempts);
      await storage.write(organisationId, 'postponeMemberMails', { nowMs: atMs, retryAtMs, attemptsMax: ATTEMPTS_MAX });
      return;
    }
    for (const mail of due) await this.#send(organisation, mail);
  }

  async #send(organisation: OrganisationRecord, mail: MemberMail): Promise<void> {
    const { storage, mailer, log, nowMs } = this.#services;
    const { about, email, attempts, subject, text } = mail;
    if (!(await storage.write(organisation.id, 'claimMemberMail', { about, email, nowMs: nowMs() }))) return;
    const isMember = organisation.members.some((member) => member.email.toLowerCase() === email);
    const outcome = isMember ? await mailer.send({ key: `${organisation.id} ${about} ${email}`, to: email, subject, text }) : 'refused';
    // An address that is refused is not about the mail server.
    if (outcome !== 'refused') this.#noteOutcome(outcome !== 'sent');
    if (outcome !== 'sent') log.warn({ organisation_id: organisation.id, about, outcome }, 'a mail to a member was not sent');
    // It may have arrived, and a second copy would be worse than none.
    if (outcome === 'unknown') return;
    await storage.write(organisation.id, 'settleMemberMail', { about, email, ...this.#settlement(outcome, attempts + 1), nowMs: nowMs() });
  }

  #noteOutcome(failed: boolean): void {
    const failing = failed ? 'The mail server took none of the last mails: check SMTP_URL.' : undefined;
    this.#services.storage.conditions.tried('mail_failing', '', failing);
  }

  #settlement(outcome: Exclude<MailOutcome, 'unknown'>, attempts: number) {
    if (outcome === 'sent') return { state: 'sent', retryAtMs: null } as const;
    if (outcome === 'refused' || attempts >= ATTEMPTS_MAX) return { state: 'failed', retryAtMs: null } as const;
    return { state: 'pending', retryAtMs: this.#services.nowMs() + backOffMs(attempts) } as const;
  }
}
