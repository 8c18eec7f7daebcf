/** What happened in a conversation, as the app is told of it (WIDGET-41): of two states that follow each other, each thing once. */
import { type Call, findCall } from '../client/conversation/calls.ts';
import { findTurn } from '../client/conversation/changes.ts';
import type { ConversationState } from '../client/conversation/state.ts';
import type { TurnPhase, TurnState } from '../client/conversation/turn.ts';
import type { WidgetEvent } from './options.ts';

const ENDED: ReadonlySet<TurnPhase> = new Set(['completed', 'failed', 'awaiting_confirmation']);

export interface Telling {
  /** Whether what belongs to this tab is told here: where somebody asked or agreed. */
  readonly isOwn: (tab: string | undefined) => boolean;
  /** What was asked before is of an earlier page. */
  readonly sinceMs: number;
  readonly nowMs: number;
  /** When actions began that run. */
  readonly began: Map<string, number>;
}

/** The question that a turn goes on with, over results of reads; undefined behind a card that a person answered: that question is answered. */
function questionOf(state: ConversationState, turn: TurnState): TurnState | undefined {
  const [result] = turn.payload.tool_results ?? [];
  if (result === undefined) return turn;
  const call = findCall(state.calls, result.invocation_id);
  const asking = call?.risk === 'read' ? findTurn(state, call.askedBy ?? '') : undefined;
  return asking === undefined ? undefined : questionOf(state, asking);
}

const hasWords = (turn: TurnState | undefined) => turn?.blocks.some((block) => block.phase !== 'announced' || block.text !== '') === true;

function* ofTurn(before: ConversationState, now: ConversationState, turn: TurnState, telling: Telling): Generator<WidgetEvent> {
  const last = findTurn(before, turn.turnId);
  const { turnId: turn_id, phase, failure, requestId: request_id = '', payload } = turn;
  const isNew = last === undefined && payload.tool_results === undefined && turn.sentAtMs >= telling.sinceMs;
  if (isNew) yield { type: 'message_sent', turn_id };
  const question = questionOf(now, turn);
  // Nobody here knows when another device sent its turn.
  if (question !== undefined && question.sentAtMs > 0) {
    const of = { turn_id: question.turnId, ms: telling.nowMs - question.sentAtMs };
    const isSeen = last !== undefined || isNew;
    const isFirst = () => now.turns.every((each) => each === turn || !hasWords(each) || questionOf(now, each) !== question);
    if (isSeen && !hasWords(last) && hasWords(turn) && isFirst()) yield { type: 'first_word', ...of };
    if (last !== undefined && last.phase !== phase && ENDED.has(phase)) yield { type: 'answer_ended', ...of, status: phase };
  }
  if (last !== undefined && last.phase !== 'failed' && failure !== undefined && phase === 'failed') {
    yield { type: 'error', code: failure.code, turn_id, request_id };
  }
}

const isAtWork = (call: Call | undefined) =>
  call?.phase === 'running' || (call?.executor === 'server' && call.outcome === 'confirmed' && call.phase !== 'settled');

function* ofCall(now: ConversationState, last: Call | undefined, call: Call, { sinceMs, nowMs, began }: Telling): Generator<WidgetEvent> {
  const of = { invocation_id: call.invocation_id, name: call.name };
  const askedAtMs = findTurn(now, call.askedBy ?? '')?.sentAtMs ?? 0;
  if (last === undefined && call.phase === 'asking' && askedAtMs >= sinceMs) yield { type: 'card_shown', ...of };
  if (last?.phase === 'editing' && call.phase === 'asking' && call.failure === undefined) yield { type: 'card_edited', ...of };
  if (call.outcome !== undefined && last?.outcome !== call.outcome) {
    const type = call.outcome === 'confirmed' ? 'card_confirmed' : call.outcome === 'declined' ? 'card_declined' : 'card_expired';
    yield { type, ...of };
  }
  if (!isAtWork(last) && isAtWork(call)) {
    began.set(call.invocation_id, nowMs);
    yield { type: 'action_started', ...of };
  }
  if (isAtWork(last) && !isAtWork(call)) {
    const ms = nowMs - (began.get(call.invocation_id) ?? nowMs);
    began.delete(call.invocation_id);
    yield { type: 'action_ended', ...of, status: call.result?.status ?? 'unknown', ms };
  }
}

/** In the order in which it is told. */
export function happened(before: ConversationState, now: ConversationState, telling: Telling): WidgetEvent[] {
  const told: WidgetEvent[] = [];
  // Nearly all stand where they stood.
  now.calls.forEach((call, n) => {
    if (before.calls[n] === call) return;
    const last = findCall(before.calls, call.invocation_id);
    if (last !== call && telling.isOwn(call.tab)) told.push(...ofCall(now, last, call, telling));
  });
  now.turns.forEach((turn, n) => {
    if (before.turns[n] === turn || findTurn(before, turn.turnId) === turn) return;
    if (telling.isOwn(turn.tab)) told.push(...ofTurn(before, now, turn, telling));
  });
  return told;
}
