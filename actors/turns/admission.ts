/**
 * Whose a turn is and which conversation it continues (PERSON-6, KEY-7); what keeps a turn from starting, and how the client learns of
 * that (CHAT-16, STREAM-12, VERSION-3). A cap is a notice for builds that can show one, and a calm error for others. What people read
 * never contains a number of the operator's.
 */

import semver from 'semver';
import { type ErrorCode, Refusal, type RefusalOptions } from '../../protocol/errors.ts';
import { MESSAGES_PER_DAY_ADDRESS_MIN, MESSAGES_PER_DAY_ADDRESS_SHARE } from '../../protocol/limits.ts';
import { toMicroUsd } from '../../protocol/money.ts';
import type { NoticeReason } from '../../protocol/runtime/notice.ts';
import { NOTICES_CAPABILITY, type TurnUsage } from '../../protocol/runtime/stream-events.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { creditResetsAtMs, isCreditExhaustedLately } from '../../storage/billing/usage.ts';
import { type Admission, type Cap, nextUtcDayMs, passCaps, type Sender, turnsLeft } from '../../storage/billing/usage-ledger.ts';
import { type ConversationRow, readConversation } from '../../storage/conversations/conversations.ts';
import { readTurn, type TurnRow } from '../../storage/conversations/turns.ts';
import { readEndUser } from '../../storage/people/end-users.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Caller } from '../caller.ts';
import { ownConversation } from '../people/ownership.ts';
import { type AnyCommand, type Command, isContinuation } from './command.ts';
import type { TurnFacts, TurnPlace, TurnServices } from './facts.ts';

export type TurnCap = Cap | 'monthly_credit' | 'platform_ceiling';

interface CapWording {
  readonly code: ErrorCode;
  readonly message: string;
  /** Null: worded for a developer, and always an error. */
  readonly notice: { readonly reason: NoticeReason; resetsAtMs(nowMs: number): number } | null;
}

const LAST_MESSAGE: CapWording = {
  code: 'rate_limited',
  message: 'That was the last message for today. The assistant is back tomorrow.',
  notice: { reason: 'user_limit', resetsAtMs: nextUtcDayMs },
};

const CAP_WORDINGS: Readonly<Record<TurnCap, CapWording>> = {
  messages_per_day: LAST_MESSAGE,
  // People behind one address need not learn that they are counted together.
  messages_per_day_per_address: LAST_MESSAGE,
  sandbox_conversations: {
    code: 'quota_exceeded',
    message:
      'The sandbox conversations of this organisation are used up for this month. Test keys start new ones on the 1st (UTC); live keys are not affected.',
    notice: null,
  },
  daily_model_budget: {
    code: 'quota_exceeded',
    message: 'The assistant is taking a break for today. It is back tomorrow.',
    notice: { reason: 'spend_paused', resetsAtMs: nextUtcDayMs },
  },
  monthly_credit: {
    code: 'quota_exceeded',
    message: 'The assistant cannot start new conversations at the moment.',
    notice: { reason: 'credit_exhausted', resetsAtMs: creditResetsAtMs },
  },
  platform_ceiling: {
    code: 'quota_exceeded',
    message: 'The assistant has a lot to do today and takes a break. It is back tomorrow.',
    notice: { reason: 'daily_ceiling', resetsAtMs: nextUtcDayMs },
  },
};

/** From these versions on a build hides its launcher itself; older ones get `quota_exceeded` (LIMIT-23). */
const HIDES_LAUNCHER: Readonly<Record<string, string>> = { flutter: '0.48.0', web: '0.25.0' };

/** `web/1.2.3` → platform and version; the handshake's schema holds the form. */
function buildOf(command: AnyCommand): readonly [platform: string, version: string] {
  const [platform = '', version = ''] = command.body.client.sdk.split('/');
  return [platform, version];
}

function isOlder(command: AnyCommand, floors: Readonly<Record<string, string>>): boolean {
  const [platform, version] = buildOf(command);
  const floor = Object.hasOwn(floors, platform) ? floors[platform] : undefined;
  return floor !== undefined && semver.valid(version) !== null && semver.lt(version, floor);
}

function showsNotice(command: AnyCommand, cap: TurnCap): boolean {
  if (!command.body.client.capabilities.includes(NOTICES_CAPABILITY)) return false;
  return cap !== 'monthly_credit' || !isOlder(command, HIDES_LAUNCHER);
}

/** How a turn that meets `cap` is answered: in the stream, with nothing stored and no turn.start (CHAT-16). */
export function capRefusal(command: AnyCommand, cap: TurnCap, nowMs: number): Refusal {
  const { code, message, notice } = CAP_WORDINGS[cap];
  const options: RefusalOptions =
    notice !== null && showsNotice(command, cap)
      ? { retryable: false, notice: { reason: notice.reason, resets_at: timestamp(notice.resetsAtMs(nowMs)) } }
      : { retryable: false };
  return new Refusal(code, message, options);
}

/**
 * What keeps every turn of the app, or of the build, from starting: asked before its conversation is. What a build brings of calls that it
 * was given ends what was begun: a card that it drew before the floor was raised is answered to its end. @throws Refusal
 */
export function refuseApp(command: AnyCommand): void {
  const { minSdk, suspended } = command.caller.app.settings;
  if (suspended) throw new Refusal('quota_exceeded', 'This app is suspended. Its operator can lift that in the console.');
  if (isContinuation(command.body) || !isOlder(command, minSdk)) return;
  const [platform, version] = buildOf(command);
  throw new Refusal(
    'upgrade_required',
    `This build is too old (${platform}/${version}). Update the app: the assistant needs ${platform}/${minSdk[platform]} or later.`,
  );
}

/** What counts the turn. Null: continuations go on with work that was counted already (LIMIT-12); the service's own questions never are. */
export function admissionOf({ storage }: TurnServices, command: Command): Admission | null {
  const { body, caller, purpose } = command;
  if (isContinuation(body) || purpose === 'smoke') return null;
  const { messagesPerDay, dailyModelBudgetUsd } = caller.app.settings;
  const dailyModelBudgetMicroUsd = dailyModelBudgetUsd === null ? null : toMicroUsd(dailyModelBudgetUsd);
  return { messagesPerDay, dailyModelBudgetMicroUsd, sender: senderOf(command, storage) };
}

/**
 * Refuses an attempt at a turn before any work on it, because redaction and reading documents cost far more than a refusal. The transaction
 * that counts a turn decides on the caps of `admission`; null: they do not apply.
 * @throws Refusal `quota_exceeded` (credit used up, for new conversations; a cap of the day), `rate_limited`. With `notice` where the build can show one.
 */
export function refuseTurn(
  { services, db }: TurnPlace,
  command: AnyCommand,
  isNewConversation: boolean,
  admission: Admission | null,
): void {
  const { billing, storage } = services;
  const { app, appId, channel, organisationId } = command.caller;
  const nowMs = services.nowMs();
  if (channel === 'live' && isNewConversation && app.settings.hardCap) {
    if (isCreditExhaustedLately(storage.control, db, organisationId, nowMs)) throw capRefusal(command, 'monthly_credit', nowMs);
  }
  const isCounted = admission !== null && !services.daysLeft.hasRoom(command, admission, nowMs);
  const { cap } = isCounted ? passCaps(db, { appId, channel, isNewConversation, nowMs }, admission) : { cap: null };
  if (cap !== null) throw capRefusal(command, cap, nowMs);
  // After all other caps, because it stops everything that spends. The service's own questions are not charged.
  if (command.purpose === 'person' && billing.platform.isReached(nowMs)) throw capRefusal(command, 'platform_ceiling', nowMs);
}

/** What its person and app may still send when the turn ends; undefined for turns that are not counted in the minute. */
export function usageOf({ command, db, opened, services }: TurnFacts): TurnUsage | undefined {
  const { app, appId, channel, minuteLeft } = command.caller;
  if (minuteLeft === null) return undefined;
  const limits = { messagesPerDay: app.settings.messagesPerDay, sender: senderOf(command, services.storage) };
  const dayLeft = opened?.dayLeft ?? turnsLeft(db, { appId, channel, nowMs: services.nowMs() }, limits);
  return { minute_left: minuteLeft(), day_left: dayLeft };
}

/**
 * The address to which the turn is counted. Null: a person signed for it, the app does not count addresses, or the key is a test key,
 * because developers and their CI share an address.
 */
function senderOf({ caller, person }: AnyCommand, { vault }: Storage): Sender | null {
  const { address, app, channel } = caller;
  const { messagesPerDay, messagesPerDayPerAddress } = app.settings;
  const share = Math.max(MESSAGES_PER_DAY_ADDRESS_MIN, Math.ceil(messagesPerDay / MESSAGES_PER_DAY_ADDRESS_SHARE));
  const limit = messagesPerDayPerAddress ?? share;
  if (person?.verified === true || limit === 0 || channel === 'sandbox') return null;
  return { address: vault.digest('address', Buffer.from(address)).toString('base64url'), messagesPerDay: limit };
}

export function reusedTurnId(): Refusal {
  return new Refusal(
    'invalid_request',
    'turn_id was used before with another body, device or person. Mint a new one for every turn and resend a retry unchanged.',
  );
}

/**
 * The conversation this turn goes on with, null for a new one. A thread that is not the caller's is not continued: a new one
 * opens, and a missing one is answered alike.
 * @throws Refusal `invalid_request` when there is nothing to answer in a new one.
 */
export function continuedConversation(db: Connection, { body, caller, person }: Command): ConversationRow | null {
  const { app, channel, deviceId } = caller;
  const id = body.conversation_id ?? null;
  if (id === null) return null;
  const row = readConversation(db, id);
  const endUserId = person === null ? null : readEndUser(db, app.id, channel, person.externalUserId)?.id;
  const isTheirs =
    row !== undefined &&
    row.appId === app.id &&
    row.channel === channel &&
    (person === null ? row.endUserId === null && row.deviceId === deviceId : row.endUserId === endUserId);
  if (isTheirs) return row;
  if (body.message !== undefined) return null;
  throw new Refusal('invalid_request', 'conversation_id names no conversation of this caller, so there is nothing to answer in it.');
}

/**
 * The turn, for the device that sent it and for the owner of its conversation (PERSON-13, PERSON-15).
 * @throws Refusal 404: one answer for a missing turn and for a stranger's.
 */
export function theirTurn(db: Connection, caller: Caller, turnId: string): TurnRow {
  const row = readTurn(db, caller.appId, turnId);
  const conversationId = row?.conversationId ?? '';
  // Both are asked whatever the other says, see people/ownership.ts.
  const isOwn = ownConversation(db, conversationId, caller) !== undefined;
  const channelOfTurn = readConversation(db, conversationId)?.channel;
  const isSender = row?.deviceId === caller.deviceId && channelOfTurn === caller.channel;
  if (row === undefined || !(isOwn || isSender)) {
    throw new Refusal('invalid_request', 'There is no such turn of this device.', { status: 404 });
  }
  return row;
}
