/**
 * The draft of an attempt at a turn, computed from the command and the rows: what it works with, its first step, and for a turn that opens
 * what that writes. Writes nothing but placeholders that the conversation did not have yet.
 */
import type { ChatTurnEffect, chatTurn } from '../../machines/chat-turn.ts';
import type { Stepper } from '../../machines/step.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import type { StreamEvent } from '../../protocol/runtime/stream-events.ts';
import type { OpeningFence, StoredMessage } from '../../storage/conversations/conversations.ts';
import { readExecutedBy, readUntold } from '../../storage/conversations/invocations.ts';
import type { OpenTurnInput } from '../../storage/conversations/turn-openings.ts';
import { readQuestion, type TurnRow } from '../../storage/conversations/turns.ts';
import { admissionOf, refuseTurn, usageOf } from './admission.ts';
import { textOf } from './attachments.ts';
import type { Command } from './command.ts';
import { startEvent, stepEvents } from './events.ts';
import { mint, type TurnFacts, type TurnPlace, type TurnServices, turnFacts, turnReceipt, turnTools } from './facts.ts';
import { planTurn, type TurnPlan } from './plan.ts';
import { requireBudget } from './spending.ts';
import { openedRows, turnMachine } from './turn-rows.ts';
import { retriedWords, type TurnWords, turnWords, withQuestion } from './words.ts';

/** An attempt whose first step is not committed yet. */
export interface Draft {
  readonly turn: TurnFacts;
  /** After its first step. */
  readonly machine: Stepper<typeof chatTurn>;
  /** What is done once the step is committed. */
  readonly effects: readonly ChatTurnEffect[];
  /** What is said then, from the seq `attemptSeq` on. */
  readonly events: readonly StreamEvent[];
  readonly attemptSeq: number;
}

export interface Opening extends Draft {
  readonly rows: OpenTurnInput;
  /**
   * Whether the model may be asked while `rows` are being committed (CHAT-22): all that it is asked is known. It is not where the opening
   * changes rows of earlier turns, which the model reads, or where something has to be said before the model's answer.
   */
  readonly mayAskEarly: boolean;
}

/** The events of an attempt's first step. It may be the last step too, when calls of an earlier turn still wait. */
function firstEvents(turn: TurnFacts, effects: readonly ChatTurnEffect[], confirmed: TurnPlan['confirmed']): StreamEvent[] {
  const { command, conversationId, messageId, modelName, work } = turn;
  const receipts = confirmed.flatMap((row) => {
    const receipt = turnReceipt(turn, command, row);
    return receipt === undefined ? [] : [{ invocation_id: row.id, receipt }];
  });
  return stepEvents(effects, {
    start: () => {
      const start = startEvent({ conversationId, messageId, model: modelName, requestId: command.requestId });
      return receipts.length === 0 ? start : { ...start, receipts };
    },
    end: ({ status }) => {
      const usage = usageOf(turn);
      return { type: 'turn.end', status, pending: work.left, billable: false, ...(usage === undefined ? {} : { usage }) };
    },
  });
}

function userMessage(services: TurnServices, plan: TurnPlan, { attachments }: TurnWords): OpenTurnInput['userMessage'] {
  if (plan.kind === 'continuation') return null;
  const uploads = attachments.map((attachment) => {
    const { uploadId: id, position, name } = attachment;
    return { id, position, name, text: textOf(attachment) };
  });
  return { id: mint(services, 'msg'), blocks: plan.said.map((block) => ({ ...block, id: mint(services, 'blk') })), uploads };
}

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
function isPlain({ executions, waiting }: TurnPlan): boolean {
  return executions.length === 0 && waiting.reads === 0 && waiting.confirmations === 0;
}

/** What the row of a turn keeps of the request, as JSON: what is asked of it later. */
function keptRequest({ person }: Command, { question, tellsWrite }: TurnPlan): string {
  return JSON.stringify({
    ...(person?.verified === true ? { signed: true } : {}),
    ...(tellsWrite ? { tells_write: true } : {}),
    ...(question === null ? {} : { question }),
  });
}

/**
 * What `command` would write, and its attempt.
 * @throws Refusal of a cap, `manifest_unknown`, or `invalid_request` when the command does not fit the conversation's rows.
 */
export async function draftOpening(place: TurnPlace, command: Command, fence: OpeningFence): Promise<Opening> {
  const { services, conversationId, db, redaction } = place;
  const { nowMs, storage } = services;
  const admission = admissionOf(services, command);
  const isNew = fence.expectedEpoch === null;
  refuseTurn(place, command, isNew, admission);
  // Refuses an unknown manifest before anything is written.
  const tools = turnTools(place, command);
  const words = await turnWords(storage, command, redaction, nowMs());
  const atMs = nowMs();
  const plan = planTurn(place, command, words.command.body, atMs);
  const { executions, left, question, tellsWrite, waiting } = plan;
  const machine = turnMachine();
  const { effects } = machine.send({ type: 'turn.open', serverCalls: executions.length, waiting });
  if (plan.kind === 'continuation' && !tellsWrite && effects.some(({ type }) => type === 'callModel')) requireBudget(command, db, atMs);
  const message = userMessage(services, plan, words);
  // Before this turn is one of them.
  const lost = place.mayHaveCalls ? readUntold(db, conversationId) : [];
  const turn = turnFacts(place, withQuestion(words, storage, question), tools, {
    isNew,
    messageId: mint(services, 'msg'),
    work: { question, executions, lost, left, tellsWrite },
    // A new conversation is told from the command.
    unstored: isNew ? null : asStored(message, atMs),
    opened: null,
  });
  const events = firstEvents(turn, effects, plan.confirmed);
  const { state, attempt, snapshot, trace, nextSeq, journal } = openedRows(machine, events, isPlain(plan));
  const rows: OpenTurnInput = {
    appId: command.caller.appId,
    channel: command.caller.channel,
    conversationId,
    runBy: services.ownership.process,
    turnId: command.turnId,
    kind: plan.kind,
    fingerprint: command.fingerprint,
    deviceId: command.caller.deviceId,
    manifestHash: command.body.client.manifest_hash ?? null,
    requestId: command.requestId,
    request: keptRequest(command, plan),
    model: turn.modelName,
    nowMs: atMs,
    fence,
    person: command.person === null ? null : { newId: mint(services, 'usr'), ...command.person },
    userMessage: message,
    placeholders: isNew ? redaction.newRows() : [],
    messageId: turn.messageId,
    state,
    attempt,
    snapshot,
    trace: trace ?? null,
    nextSeq,
    journal,
    ended: effects.some((effect) => effect.type === 'endTurn'),
    admission,
    picks: plan.picks,
    invocationChanges: plan.changes,
    resumed: plan.resumed,
  };
  return {
    turn,
    machine,
    effects,
    events,
    attemptSeq: 0,
    rows,
    mayAskEarly: plan.kind !== 'continuation' && plan.picks.length === 0 && lost.length === 0,
  };
}

/**
 * A new attempt of a turn that failed.
 * @throws Refusal when the day's model budget is spent, `manifest_unknown`.
 */
export async function draftRetry(
  place: TurnPlace,
  command: Command,
  row: TurnRow,
  { machine, effects }: Pick<Draft, 'machine' | 'effects'>,
): Promise<Draft> {
  const { services, db, redaction } = place;
  const { storage, nowMs } = services;
  const tellsWrite = (JSON.parse(row.request) as { tells_write?: boolean }).tells_write === true;
  refuseTurn(place, command, false, null);
  if (!tellsWrite) requireBudget(command, db, nowMs());
  const tools = turnTools(place, command);
  const question = readQuestion(db, row.turn);
  const words = await retriedWords(storage, command, redaction, question);
  const lost = readExecutedBy(db, row.turn).filter(({ state }) => state === 'unknown');
  const turn = turnFacts(place, words, tools, {
    isNew: false,
    messageId: row.messageId,
    work: { question, executions: [], lost, left: [], tellsWrite },
    unstored: null,
    opened: { turn: row.turn, dayLeft: null },
  });
  return { turn, machine, effects, events: firstEvents(turn, effects, []), attemptSeq: row.nextSeq };
}
