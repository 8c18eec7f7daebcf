/** What a command to open a turn does to the rows of its conversation. */
import { hideInAddresses } from '../../assistant/privacy/placeholder-gate.ts';
import type { Waiting } from '../../machines/chat-turn.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import { submissionProblems } from '../../protocol/catalog/form-submission.ts';
import type { FormField } from '../../protocol/catalog/forms.ts';
import { selectableIds, selectionProblem } from '../../protocol/catalog/selection.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { ChatRequest, ToolResult } from '../../protocol/runtime/chat.ts';
import { isUnsettled } from '../../protocol/runtime/states.ts';
import { summarise } from '../../protocol/schema/issues.ts';
import { saysSomething } from '../../protocol/schema/text.ts';
import type { AppRecord } from '../../storage/apps/apps.ts';
import { type NewBlock, type PickChange, readBlockOfConversation } from '../../storage/conversations/blocks.ts';
import {
  type InvocationChange,
  type InvocationRow,
  readInvocationById,
  readTurnInvocations,
} from '../../storage/conversations/invocations.ts';
import type { TurnMove } from '../../storage/conversations/turn-openings.ts';
import { isContinued, readQuestion, type TurnKind } from '../../storage/conversations/turns.ts';
import { definitionOf } from '../calls/call-definition.ts';
import { requireRevision, settledCard } from '../calls/card.ts';
import { answerChange, changed, expireChange, waitingAfter } from '../calls/invocation-step.ts';
import { pendingInvocation } from '../calls/pending-invocation.ts';
import { answeredPick } from '../people/answered-pick.ts';
import type { Command, SaidBody } from './command.ts';
import type { LeftWork, TurnPlace } from './facts.ts';
import { resumedTurns } from './turn-rows.ts';

/** What a command does to the rows beside opening its turn. A continuation says nothing new, and brings results of calls. */
export interface TurnPlan extends Omit<LeftWork, 'lost'> {
  readonly kind: TurnKind;
  readonly said: readonly Omit<NewBlock, 'id'>[];
  /** Blocks that the person answered with it, and cards of the calls, redrawn. */
  readonly picks: readonly PickChange[];
  readonly changes: readonly InvocationChange[];
  /** Earlier turns whose wait is over. */
  readonly resumed: readonly TurnMove[];
  readonly waiting: Waiting;
  /** Calls that this turn brings the person's agreement to. */
  readonly confirmed: readonly InvocationRow[];
}

/** The plan of a turn that says something new. */
function saying(kind: 'message' | 'form', said: TurnPlan['said'], picks: TurnPlan['picks']): TurnPlan {
  const calls = { changes: [], resumed: [], waiting: { reads: 0, confirmations: 0 }, left: [], executions: [], confirmed: [] };
  return { kind, said, picks, ...calls, question: null, tellsWrite: false };
}

/** The words of a form that was sent empty: a text block is never empty. */
const SENT_EMPTY = '(The form was sent empty.)';

function textBlock(position: number, md: string): Omit<NewBlock, 'id'> {
  return { position, blockType: 'text', revision: 1, body: JSON.stringify({ md }), fallbackText: null };
}

function answeredBlock({ conversationId, db }: TurnPlace, id: string, field: string): Block {
  const block = readBlockOfConversation(db, id, conversationId);
  if (block === undefined) throw new Refusal('invalid_request', `${field} names no block of this conversation`);
  return block;
}

/** The chosen ids as the block's row has them; the request has them as the device saw them. */
function keptIds(block: Block, { ids }: NonNullable<ChatRequest['selection']>, { redaction }: TurnPlace): string[] {
  const byShown = new Map(Array.from(selectableIds(block)?.keys() ?? [], (id) => [redaction.restore(id), id]));
  return ids.map((id) => byShown.get(id) ?? id);
}

/** @throws Refusal `invalid_request` when the selection does not fit the block that was shown (BLOCK-14). */
function planMessage(place: TurnPlace, { selection }: ChatRequest, kept: SaidBody): TurnPlan {
  const text = kept.message?.text ?? '';
  // What is attached may say it all, and a text block is never empty.
  const words = saysSomething(text) ? [textBlock(0, text)] : [];
  if (selection === undefined) return saying('message', words, []);
  const block = answeredBlock(place, selection.block_id, 'selection.block_id');
  const shown = { block_type: block.block_type, body: place.redaction.restore(block.body) };
  const problem = selectionProblem(shown, { ids: selection.ids, otherText: selection.other_text });
  if (problem !== undefined) throw new Refusal('invalid_request', `selection ${problem}`);
  const ownWords = kept.selection?.other_text?.trim() ?? '';
  const other = ownWords === '' ? [] : [textBlock(words.length, ownWords)];
  return saying('message', [...words, ...other], [answeredPick(block, keptIds(block, selection, place))]);
}

type Submission = NonNullable<ChatRequest['form_submission']>;

/** What a link, a definition or a tag needs. Honest names of fields and options have none of it. */
const ODD = /[<[\]\n]/;

/**
 * The submission as the person's own words. Names and options come from the model: where they could turn what the person filled in into an
 * address, values in addresses are not put back. Otherwise the person's words come back exactly.
 */
function filledWords(fields: readonly FormField[], values: readonly (readonly [string, unknown])[]): string {
  const filled = values.map(([name, value]) => `- ${name}: ${Array.isArray(value) ? value.join(', ') : value}`).join('\n');
  const isOdd = fields.some(({ name, options = [] }) => ODD.test(name) || options.some((option) => ODD.test(option)));
  return isOdd ? hideInAddresses(filled) : filled;
}

/** @throws Refusal `invalid_request` naming the field of the form whose value does not fit. */
function planForm(place: TurnPlace, submission: Submission, kept: SaidBody): TurnPlan {
  const block = answeredBlock(place, submission.form_id, 'form_submission.form_id');
  if (block.block_type !== 'form') throw new Refusal('invalid_request', 'form_submission.form_id names a block that is no form');
  if (block.body.status !== 'open') throw new Refusal('invalid_request', 'form_submission answers a form that is not open any more');
  const problems = submissionProblems(place.redaction.restore(block.body), submission.values).map(({ path, message }) => ({
    path: `form_submission.${path}`,
    message,
  }));
  if (problems.length > 0) throw new Refusal('invalid_request', summarise(problems), { details: problems });
  const values = Object.entries(kept.form_submission?.values ?? {});
  const filled = filledWords(block.body.fields as readonly FormField[], values);
  return saying('form', [textBlock(0, filled || SENT_EMPTY)], [answeredPick(block, [])]);
}

/**
 * A continuation: each result moves its call, and the model is asked again once nothing of those turns waits.
 * @throws Refusal `invalid_request` when a result names no call of this conversation; `conflict` with the card when it names another revision.
 */
function planResults({ conversationId, db, redaction }: TurnPlace, app: AppRecord, kept: SaidBody, nowMs: number): TurnPlan {
  const results: readonly ToolResult[] = kept.tool_results ?? [];
  const changes = new Map<string, InvocationChange>();
  const turns = new Set<number>();
  const executions: InvocationRow[] = [];
  const confirmed: InvocationRow[] = [];
  let tellsWrite = false;
  results.forEach((result, index) => {
    const row = readInvocationById(db, result.invocation_id);
    if (row === undefined || row.conversationId !== conversationId) {
      throw new Refusal('invalid_request', `tool_results[${index}].invocation_id names no call of this conversation`);
    }
    turns.add(row.turn);
    if (changes.has(row.id)) return;
    if (result.status === 'ok' && row.risk !== 'read' && isUnsettled(row.state))
      requireRevision(db, row, result.revision, (value) => redaction.restore(value));
    // Words that a person has to type prove something only when the service has seen them.
    const recordRequired = app.settings.recordConfirmations || definitionOf(row)?.action.type_to_confirm !== undefined;
    const { change, executes } = answerChange(row, result, recordRequired, nowMs);
    if (change === null) return;
    changes.set(row.id, change);
    const answered = changed(row, change);
    if (answered.confirmedAtMs !== null && (executes || change.to === 'succeeded')) confirmed.push(answered);
    if (executes) executions.push(answered);
    if (row.risk !== 'read' && answered.confirmedAtMs !== null) tellsWrite = true;
  });
  if (changes.size === 0 && [...turns].every((turn) => isContinued(db, turn))) {
    // Continuations are not counted: repeating one must not be a way to ask the model for nothing.
    throw new Refusal(
      'invalid_request',
      'tool_results holds only calls that were answered before. Resend a retry with the turn_id it had.',
    );
  }
  const rows = [...turns].flatMap((turn) => readTurnInvocations(db, turn));
  for (const row of rows) {
    const expired = changes.has(row.id) ? null : expireChange(row, nowMs);
    if (expired !== null) changes.set(row.id, expired);
  }
  const made = [...changes.values()];
  const picks = made.flatMap((change) => settledCard(db, change) ?? []);
  const others = rows.filter((row) => !executions.some(({ id }) => id === row.id));
  const waiting = waitingAfter(others, made);
  const left = others.filter((row) => isUnsettled(changes.get(row.id)?.to ?? row.state)).map(pendingInvocation);
  const resumed = left.length === 0 ? resumedTurns(db, conversationId, [...turns]) : [];
  const question = readQuestion(db, Math.max(...turns));
  return { kind: 'continuation', said: [], picks, changes: made, resumed, waiting, left, executions, confirmed, question, tellsWrite };
}

/**
 * Reads what the command needs of the conversation's rows.
 * @throws Refusal `invalid_request` naming the field that does not fit them.
 */
export function planTurn(place: TurnPlace, { body, caller }: Command, kept: SaidBody, nowMs: number): TurnPlan {
  if (body.message !== undefined) return planMessage(place, body, kept);
  if (body.form_submission !== undefined) return planForm(place, body.form_submission, kept);
  return planResults(place, caller.app, kept, nowMs);
}
