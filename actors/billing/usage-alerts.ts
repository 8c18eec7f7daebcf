/**
 * Mails at 80 % and 100 % of a month's credit, once a month each to each member (LIMIT-26). Rows say who
 * is owed which mail and who has it, so that nothing is sent twice: not by two nodes at once, not after a crash.
 *
 * A mail is claimed (`sending`) before it is handed to the server and settled afterwards. If that is interrupted the mail stays `sending`,
 * because it may have arrived. Only a mail that was certainly not accepted is retried.
 */
import type { Logger } from 'pino';
import { USAGE_MAIL_THRESHOLDS } from '../../protocol/limits.ts';
import { type CreditState, creditLeft, creditState } from '../../storage/billing/usage.ts';
import {
  dueUsageMails,
  mailedAddresses,
  nextUsageMailAtMs,
  type UsageMail,
  type UsageMailThreshold,
} from '../../storage/billing/usage-mails.ts';
import { type OrganisationRecord, readOrganisation } from '../../storage/organisations/organisations.ts';
import type { Storage } from '../../storage/storage.ts';
import type { DeadlineKind } from '../deadlines.ts';
import type { Mail, Mailer, MailOutcome } from './mail.ts';

export interface UsageAlertServices {
  readonly storage: Storage;
  readonly mailer: Mailer;
  readonly log: Logger;
  nowMs(): number;
}

/** Some ten hours in all; a later warning is of no use. */
const ATTEMPTS_MAX = 15;
const BACK_OFF_FIRST_MS = 30_000;
const BACK_OFF_MAX_MS = 3_600_000;
/** Mails sent in one go. */
const BATCH_MAX = 50;

function backOffMs(attempts: number): number {
  return Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** Math.max(0, attempts - 1));
}

/**
 * Whether `threshold` percent of the month's credit are used. The month's credit is what was spent in it and what is left:
 * plan and purchases, less what earlier months owe. Used is also what attempts cost that drew no credit (LIMIT-17).
 */
export function isReached(threshold: UsageMailThreshold, credit: CreditState): boolean {
  return (credit.spentMicroUsd + credit.failedMicroUsd) * 100 >= threshold * (credit.spentMicroUsd + creditLeft(credit));
}

/** What a mail says; `byFailures`: credit is left, because what used it up with the rest drew none. */
function wordsOf({ name }: OrganisationRecord, { month, threshold }: UsageMail, byFailures: boolean): readonly [string, string] {
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

function mailOf(organisation: OrganisationRecord, mail: UsageMail, byFailures: boolean): Mail {
  const { month, threshold, email } = mail;
  const advice = 'Add credit or change the plan in the console of the service. This is the only mail about it this month.';
  return {
    key: `${organisation.id} ${month} ${threshold} ${email}`,
    to: email,
    subject:
      threshold === 100 && !byFailures
        ? `${organisation.name}: usage credit is used up`
        : `${organisation.name}: ${threshold} % of usage credit used`,
    text: `${[...wordsOf(organisation, mail, byFailures), advice].join('\n\n')}\n`,
  };
}

export class UsageAlerts {
  readonly #services: UsageAlertServices;

  constructor(services: UsageAlertServices) {
    this.#services = services;
  }

  /** Notes the mails that the organisation's members are owed. True when some are new. */
  async plan({ id, members }: OrganisationRecord, credit: CreditState): Promise<boolean> {
    const { storage, nowMs } = this.#services;
    const db = storage.organisation(id);
    let planned = 0;
    for (const threshold of USAGE_MAIL_THRESHOLDS) {
      if (!isReached(threshold, credit)) continue;
      const mailed = mailedAddresses(db, credit.month, threshold);
      const emails = members.map(({ email }) => email.toLowerCase()).filter((email) => !mailed.has(email));
      if (emails.length === 0) continue;
      planned += await storage.write(id, 'planUsageMails', { month: credit.month, threshold, emails, nowMs: nowMs() });
    }
    return planned > 0;
  }

  deadlines(): DeadlineKind {
    return { next: nextUsageMailAtMs, settle: (organisationId) => this.deliver(organisationId) };
  }

  /** Sends the mails that are due, one after the other. */
  async deliver(organisationId: string): Promise<void> {
    const { storage, mailer, nowMs } = this.#services;
    const due = dueUsageMails(storage.organisation(organisationId), nowMs(), BATCH_MAX);
    const organisation = readOrganisation(storage.control, organisationId);
    if (due.length === 0 || organisation === undefined) return;
    if (!(await mailer.ready())) {
      const attempts = Math.max(...due.map((mail) => mail.attempts)) + 1;
      const atMs = nowMs();
      const retryAtMs = atMs + backOffMs(attempts);
      await storage.write(organisationId, 'postponeUsageMails', { nowMs: atMs, retryAtMs, attemptsMax: ATTEMPTS_MAX });
      return;
    }
    for (const mail of due) await this.#send(organisation, mail);
  }

  async #send(organisation: OrganisationRecord, mail: UsageMail): Promise<void> {
    const { storage, mailer, log, nowMs } = this.#services;
    const { attempts, ...key } = mail;
    if (!(await storage.write(organisation.id, 'claimUsageMail', { ...key, nowMs: nowMs() }))) return;
    const isMember = organisation.members.some(({ email }) => email.toLowerCase() === mail.email);
    const outcome = isMember ? await mailer.send(mailOf(organisation, mail, this.#isByFailures(organisation.id))) : 'refused';
    if (outcome !== 'sent') log.warn({ organisation_id: organisation.id, threshold: mail.threshold, outcome }, 'a usage mail was not sent');
    // It may have arrived, and a second copy would be worse than none.
    if (outcome === 'unknown') return;
    await storage.write(organisation.id, 'settleUsageMail', { ...key, ...this.#settlement(outcome, attempts + 1), nowMs: nowMs() });
  }

  /** Credit that was added since has been used up, too. */
  #isByFailures(organisationId: string): boolean {
    const { storage, nowMs } = this.#services;
    const { exhausted, failedMicroUsd } = creditState(storage.control, storage.organisation(organisationId), organisationId, nowMs());
    return !exhausted && failedMicroUsd > 0;
  }

  #settlement(outcome: Exclude<MailOutcome, 'unknown'>, attempts: number) {
    if (outcome === 'sent') return { state: 'sent', retryAtMs: null } as const;
    if (outcome === 'refused' || attempts >= ATTEMPTS_MAX) return { state: 'failed', retryAtMs: null } as const;
    return { state: 'pending', retryAtMs: this.#services.nowMs() + backOffMs(attempts) } as const;
  }
}
