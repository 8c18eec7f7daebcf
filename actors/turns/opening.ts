/**
 * What an attempt at a turn begins with, computed from the command and the rows: for the first attempt the write that opens the turn, for a
 * retry the events that it begins with. Writes nothing but placeholders that the conversation did not have yet.
 */
import type { ChatTurnEffect, chatTurn } from '../../machines/chat-turn.ts';
import type { Stepper } from '../../machines/step.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import { toMicroUsd } from '../../protocol/money.ts';
import type { StreamEvent, TurnUsage } from '../../protocol/runtime/stream-events.ts';
import { turnsLeft } from '../../storage/billing/usage-ledger.ts';
import type { StoredMessage } from '../../storage/conversations/conversations.ts';
import { type InvocationRow, readExecutedBy, readUntold } from '../../storage/conversations/invocations.ts';
import type { OpenTurnInput } from '../../storage/conversations/turn-openings.ts';
import { readQuestion, type TurnRow } from '../../storage/conversations/turns.ts';
import { pendingInvocation } from '../calls/pending-invocation.ts';
import { refuseCapped, senderOf } from './admission.ts';
import { textOf } from './attachments.ts';
import type { TurnCommand } from './command.ts';
import type { OpeningFence } from './epoch.ts';
import { startEvent, stepEvents } from './events.ts';
import { packEntries } from './journal-entries.ts';
import { journalEvent } from './log.ts';
import { type Continued, isContinuation, planTurn, type TurnPlan } from './plan.ts';
import { type Attempt, type LeftWork, manifestOf, mint, type TurnPlace, type TurnServices, turnReceipt } from './scope.ts';
import { requireBudget } from './spending.ts';
import { openedMachineRow, turnMachine } from './turn-rows.ts';
import { retriedWords, type TurnWords, turnWords, withQuestion } from './words.ts';

/** The machine of an attempt in its first state, and what is done and said once that is committed. */
export interface FirstStep {
  readonly machine: Stepper<typeof chatTurn>;
  readonly effects: readonly ChatTurnEffect[];
  /** From its first seq on. */
  readonly events: readonly StreamEvent[];
}

export interface Opening {
  readonly first: FirstStep;
  readonly input: OpenTurnInput;
  /**
   * The attempt whose answer is told once `input` is committed. `dayLeft`: as that commit counted it; asked for behind it only. `isStored`:
   * whether `input` is committed already, so that the rows have the person's message.
   */
  attempt(dayLeft: () => number | null, isStored: boolean): Attempt;
  /**
   * Whether the model may be asked while `input` is being committed (CHAT-22): all that it is asked is known. It is not where the opening
   * changes rows of earlier turns, which the model reads, or where something has to be said before the model's answer.
   */
  readonly mayAskEarly: boolean;
}

/** For a turn that says something new. */
const NOTHING_CONTINUED: Continued = {
  changes: [],
  resumed: [],
  waiting: { reads: 0, confirmations: 0 },
  left: [],
  executions: [],
  confirmed: [],
  question: null,
  tellsWrite: false,
};

/** The events of an attempt's first step. It may be the last step too, when calls of an earlier turn still wait. */
function firstEvents(
  place: TurnPlace,
  effects: readonly ChatTurnEffect[],
  messageId: string,
  { confirmed, left }: Pick<Continued, 'confirmed' | 'left'>,
  usage?: TurnUsage,
): StreamEvent[] {
  const { services, command, conversationId } = place;
  const receipts = confirmed.flatMap((row) => {
    const receipt = turnReceipt(place, row);
    return receipt === undefined ? [] : [{ invocation_id: row.id, receipt }];
  });
  return stepEvents(effects, {
    start: () => ({
      ...startEvent({ conversationId, messageId, model: services.model.name, requestId: command.requestId }),
      ...(receipts.length === 0 ? {} : { receipts }),
    }),
    end: ({ status }) => ({
      type: 'turn.end',
      status,
      pending: left.map(pendingInvocation),
      billable: false,
      ...(usage === undefined ? {} : { usage }),
    }),
  });
}

/** What is left for the caller after this turn; undefined for turns that are not counted. */
function usageOf({ minuteLeft }: TurnCommand, dayLeft: number | undefined): TurnUsage | undefined {
  return minuteLeft === null || dayLeft === undefined ? undefined : { minute_left: minuteLeft(), day_left: dayLeft };
}

/** Made here, because it lives as long as the attempt: within `prepareOpening` it would hold all that was prepared, too. */
function usageTeller(command: TurnCommand, leftNow: number | undefined, dayLeft: () => number | null): Attempt['usage'] {
  return () => usageOf(command, leftNow ?? dayLeft() ?? undefined);
}

function dayLeftOf({ storage, nowMs }: TurnServices, command: TurnCommand): number {
  const { app, channel, organisationId } = command;
  const limits = { ...app.settings, sender: senderOf(command, storage) };
  return turnsLeft(storage.organisation(organisationId), { appId: app.id, channel, nowMs: nowMs() }, limits);
}

/** Continuations go on with work that was counted already (LIMIT-12); the service's own questions never are. */
function admissionOf({ storage }: TurnServices, command: TurnCommand): OpenTurnInput['admission'] {
  if (isContinuation(command.body) || command.purpose === 'smoke') return null;
  const { messagesPerDay, dailyModelBudgetUsd } = command.app.settings;
  return {
    messagesPerDay,
    sender: senderOf(command, storage),
    dailyModelBudgetMicroUsd: dailyModelBudgetUsd === null ? null : toMicroUsd(dailyModelBudgetUsd),
  };
}

function userMessage(services: TurnServices, plan: TurnPlan, { attachments }: TurnWords): OpenTurnInput['userMessage'] {
  if (plan.kind === 'continuation') return null;
  const uploads = attachments.map((attachment) => {
    const { uploadId: id, position, name } = attachment;
    return { id, position, name, text: textOf(attachment) };
  });
  return { id: mint(services, 'msg'), blocks: plan.said.map((block) => ({ ...block, id: mint(services, 'blk') })), uploads };
}

/** The person's message as its rows will have it. */
function asStored(message: OpenTurnInput['userMessage'], createdAtMs: number): StoredMessage | null {
  if (message === null) return null;
  const blocks = message.blocks.map(({ id, position, blockType, revision, body }) => ({
    id,
    index: position,
    block_type: blockType,
    revision,
    body: JSON.parse(body) as Block['body'],
  }));
  return { id: message.id, role: 'user', createdAtMs, blocks };
}

/** Whether the turn neither runs calls of an earlier one nor leaves some open. */
function isPlain({ executions, waiting }: Continued): boolean {
  return executions.length === 0 && waiting.reads === 0 && waiting.confirmations === 0;
}

/** What the row of a turn keeps of the request, as JSON: what is asked of it later. */
function keptRequest({ person }: TurnCommand, { question, tellsWrite }: Continued): string {
  return JSON.stringify({
    ...(person?.verified === true ? { signed: true } : {}),
    ...(tellsWrite ? { tells_write: true } : {}),
    ...(question === null ? {} : { question }),
  });
}

/** What the journal keeps of the first step; null: its start alone, which can be told from the turn's row. */
function openingJournal(events: readonly StreamEvent[]): string | null {
  const [start] = events;
  if (events.length === 1 && start?.type === 'turn.start' && start.receipts === undefined) return null;
  return packEntries(events.map((event, seq) => journalEvent(seq, event)));
}

/** What the rows of a turn that begins are made from. */
interface Begun {
  readonly plan: TurnPlan;
  readonly continued: Continued;
  readonly words: TurnWords;
  readonly admission: OpenTurnInput['admission'];
  readonly messageId: string;
  readonly atMs: number;
  readonly first: FirstStep;
}

function openingRows({ services, command, conversationId, redaction }: TurnPlace, fence: OpeningFence, begun: Begun): OpenTurnInput {
  const { plan, continued, words, admission, messageId, atMs, first } = begun;
  const { machine, effects, events } = first;
  return {
    appId: command.app.id,
    channel: command.channel,
    turnId: command.turnId,
    kind: plan.kind,
    fingerprint: command.fingerprint,
    deviceId: command.deviceId,
    manifestHash: command.body.client.manifest_hash ?? null,
    requestId: command.requestId,
    request: keptRequest(command, continued),
    model: services.model.name,
    runBy: services.ownership.process,
    nowMs: atMs,
    conversation: { id: conversationId, ...fence },
    person: command.person === null ? null : { newId: mint(services, 'usr'), ...command.person },
    userMessage: userMessage(services, plan, words),
    placeholders: fence.expectedEpoch === null ? redaction.newRows() : [],
    assistantMessageId: messageId,
    ...openedMachineRow(machine, isPlain(continued)),
    nextSeq: events.length,
    journal: openingJournal(events),
    ended: effects.some((effect) => effect.type === 'endTurn'),
    admission,
    picks: plan.picks,
    invocationChanges: continued.changes,
    resumed: continued.resumed,
  };
}

/**
 * What `command` would write, its first step and its attempt.
 * @throws Refusal of a cap, `manifest_unknown`, or `invalid_request` when the command does not fit the conversation's rows.
 */
export async function prepareOpening(place: TurnPlace, fence: OpeningFence): Promise<Opening> {
  const { services, command, conversationId, redaction } = place;
  const { storage, nowMs } = services;
  const db = storage.organisation(command.organisationId);
  const admission = admissionOf(services, command);
  const isNew = fence.expectedEpoch === null;
  refuseCapped(command, admission, isNew, db, nowMs());
  // Refuses an unknown manifest before anything is written.
  manifestOf(services, command);
  const words = await turnWords(storage, command, redaction, nowMs());
  const atMs = nowMs();
  const restore = <T>(value: T) => redaction.restore(value);
  const plan = planTurn(db, conversationId, command.app, { sent: command.body, kept: words.body, restore }, atMs);
  const continued = plan.kind === 'continuation' ? plan : NOTHING_CONTINUED;
  const { executions, left, question, tellsWrite, waiting } = continued;
  const machine = turnMachine();
  const { effects } = machine.send({ type: 'turn.open', serverCalls: executions.length, waiting });
  if (plan.kind === 'continuation' && !tellsWrite && effects.some(({ type }) => type === 'callModel')) requireBudget(command, db, atMs);
  const messageId = mint(services, 'msg');
  // Before this turn is one of them.
  const lost = isNew ? [] : readUntold(db, conversationId);
  // A continuation is not counted, so what is left is known before it is opened.
  const leftNow = plan.kind === 'continuation' ? dayLeftOf(services, command) : undefined;
  const events = firstEvents(place, effects, messageId, continued, usageOf(command, leftNow));
  const first: FirstStep = { machine, effects, events };
  const input = openingRows(place, fence, { plan, continued, words, admission, messageId, atMs, first });
  const mayAskEarly = plan.kind !== 'continuation' && plan.picks.length === 0 && lost.length === 0;
  return {
    first,
    input,
    mayAskEarly,
    attempt: (dayLeft, isStored) => ({
      isNew,
      unstored: isStored ? null : asStored(input.userMessage, atMs),
      messageId,
      words: withQuestion(words, storage, command.organisationId, question),
      work: { question, executions, lost, left: left.map(pendingInvocation), tellsWrite },
      usage: usageTeller(command, leftNow, dayLeft),
    }),
  };
}

/**
 * A new attempt of a turn that failed, and what is said first.
 * @throws Refusal when the day's model budget is spent, `manifest_unknown`.
 */
export async function prepareRetry(
  place: TurnPlace,
  row: TurnRow,
  effects: readonly ChatTurnEffect[],
): Promise<{ readonly attempt: Attempt; readonly events: readonly StreamEvent[] }> {
  const { services, command, redaction } = place;
  const { storage, nowMs } = services;
  const db = storage.organisation(command.organisationId);
  const tellsWrite = (JSON.parse(row.request) as { tells_write?: boolean }).tells_write === true;
  if (!tellsWrite) requireBudget(command, db, nowMs());
  manifestOf(services, command);
  const question = readQuestion(db, row.turn);
  const words = await retriedWords(storage, command, redaction, question);
  const lost: readonly InvocationRow[] = readExecutedBy(db, row.turn).filter(({ state }) => state === 'unknown');
  const messageId = row.assistantMessageId;
  const work: LeftWork = { question, executions: [], lost, left: [], tellsWrite };
  const attempt: Attempt = {
    isNew: false,
    unstored: null,
    messageId,
    words,
    work,
    usage: () => usageOf(command, dayLeftOf(services, command)),
  };
  return { attempt, events: firstEvents(place, effects, messageId, NOTHING_CONTINUED) };
}
