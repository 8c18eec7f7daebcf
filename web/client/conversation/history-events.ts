/** What the service's word on a conversation does to it: after a reload, and whenever the history is read (CLIENT-13). Pure. */
import * as calls from './calls.ts';
import { type Enqueue, type EventNamed, type State, withCalls } from './changes.ts';
import { notTold, withNewest, withoutTurn } from './history.ts';
import * as turns from './turn.ts';
import { advance } from './turn-events.ts';

type TurnState = turns.TurnState;

export function restored(state: State, { kept }: EventNamed<'restored'>, enq: Enqueue): State {
  const known = kept.turns.map((turn): TurnState => {
    const phase = turn.phase === 'preparing' ? 'waiting' : turn.phase;
    return { ...turn, phase, connection: 'none', isReconnecting: false, isStopping: false };
  });
  const next = withCalls({ ...state, conversationId: kept.conversationId, turns: known }, calls.afterReload(kept.calls), enq);
  // Without a conversation there is no history to ask first.
  if (kept.conversationId !== undefined) return next;
  for (const { turnId } of known.filter(turns.isLive)) enq.emit.follow({ turnId, mode: 'send', afterMs: 0 });
  return advance(next, enq);
}

export function newestRead(state: State, { page }: EventNamed<'newestRead'>, enq: Enqueue): State {
  const { turn: open, pending } = page.open;
  const known = notTold(state.turns, state.history, page).map((turn) =>
    turn.turnId === open?.turn_id ? { ...turn, messageId: open.message_id } : turn,
  );
  const others: readonly TurnState[] =
    open === undefined || known.some(({ turnId }) => turnId === open.turn_id)
      ? []
      : [{ ...turns.newTurn(open.turn_id, {}, 0), phase: 'answering', messageId: open.message_id }];
  const all = [...others, ...known];
  const shown = all.filter(({ messageId }) => messageId !== undefined);
  const history = shown.reduce((before, turn, at) => withoutTurn(before, turn, at === shown.length - 1), withNewest(state.history, page));
  const isSending = (turnId: string): boolean => all.some((turn) => turn.turnId === turnId);
  const asked = withCalls({ ...state, turns: all, history }, calls.restore(state.calls, pending, isSending), enq);
  for (const call of asked.calls) {
    const isAsked = call.phase === 'deciding' && calls.findCall(state.calls, call.invocation_id)?.phase === 'asking';
    if (isAsked) enq.emit.sendDecision({ call, decision: 'confirm', typed: undefined });
  }
  const cards = history.messages.flatMap(({ blocks }) => blocks).reduce(calls.shown, asked.calls);
  for (const turn of all.filter(turns.isLive)) {
    const isThere = turn.phase === 'answering' || turn.turnId === open?.turn_id;
    enq.emit.follow({ turnId: turn.turnId, mode: isThere ? 'attach' : 'send', afterMs: 0 });
  }
  enq.emit.keep();
  return advance({ ...asked, calls: cards }, enq);
}
