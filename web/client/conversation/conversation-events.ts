/** What events do to a conversation: its turns, its cards (CLIENT-11), and what the service's word on it changes after a reload or a reading (CLIENT-13). Pure. */

import type { Block } from '../../../protocol/catalog/block.ts';
import { TOOL_RESULTS_MAX } from '../../../protocol/limits.ts';
import type { NumberedEvent } from '../events.ts';
import type { Failure } from '../transport/failure.ts';
import * as calls from './calls.ts';
import {
  changeBlock,
  changeTurn,
  type Enqueue,
  type EventNamed,
  findBlock,
  findTurn,
  isOfAnother,
  type State,
  withCalls,
} from './changes.ts';
import { bounded, notTold, withNewest, withoutTurn } from './history.ts';
import * as turns from './turn.ts';

type TurnState = turns.TurnState;

/** Whether a turn has ended in a way that waits for results. One that is not here was told by the history. */
function isAwaited(state: State): (turnId: string) => boolean {
  return (turnId) => {
    const turn = findTurn(state, turnId);
    return turn === undefined || turns.isAwaiting(turn) || turn.phase === 'continued';
  };
}

/** What comes next, once nothing is under way: results before messages, one turn at a time. */
export function advance(state: State, enq: Enqueue): State {
  if (state.turns.some(turns.isBusy)) return state;
  const results = state.conversationId === undefined ? [] : calls.dueResults(state.calls, TOOL_RESULTS_MAX, isAwaited(state));
  if (results.length > 0) {
    enq.emit.continueTurn({ results });
    const ids = results.map(({ invocation_id: id }) => id);
    return { ...state, calls: calls.send(state.calls, ids, '') };
  }
  const next = state.turns.find(({ phase }) => phase === 'waiting');
  if (next === undefined || (next.payload.tool_results === undefined && calls.isWorking(state.calls))) return state;
  enq.emit.prepare({ turnId: next.turnId });
  return changeTurn(state, next.turnId, (turn) => turns.prepared(turn, null));
}

export function send(state: State, event: EventNamed<'send'>, enq: Enqueue): State {
  const { turnId, payload, nowMs, request = null } = event;
  if (findTurn(state, turnId) !== undefined || isOfAnother(event, state)) return state;
  const ids = (payload.tool_results ?? []).map(({ invocation_id: id }) => id);
  // Results go on with the turn that asked for them, where that one was asked.
  const { tab, around } = findTurn(state, calls.findCall(state.calls, ids[0] ?? '')?.askedBy ?? '') ?? event;
  const turn = { ...turns.newTurn(turnId, payload, nowMs), tab, around, request };
  const at = ids.length === 0 ? -1 : state.turns.findIndex(({ phase }) => phase === 'waiting');
  const placed = at < 0 ? [...state.turns, turn] : state.turns.toSpliced(at, 0, turn);
  enq.emit.keep();
  return advance({ ...state, turns: placed, calls: calls.send(state.calls, ids, turnId) }, enq);
}

/** The blocks that a turn answered are answered, once the service took the turn. */
function answerBlocks(state: State, { payload }: TurnState): State {
  const { selection, form_submission: form } = payload;
  const block = findBlock(state, selection?.block_id ?? form?.form_id ?? '');
  if (block === undefined) return state;
  const chosen = selection === undefined ? {} : { selected_ids: selection.ids };
  return changeBlock(state, { ...block, body: { ...block.body, status: 'answered', ...chosen } });
}

function begun(state: State, turn: TurnState, event: Extract<NumberedEvent, { type: 'turn.start' }>, enq: Enqueue): State {
  const ids = new Set((turn.payload.tool_results ?? []).map(({ invocation_id: id }) => id));
  const asked = new Set(state.calls.flatMap(({ invocation_id: id, askedBy }) => (ids.has(id) && askedBy !== undefined ? [askedBy] : [])));
  const delivered = calls.receipted(calls.delivered(state.calls, turn.turnId), event.receipts ?? []);
  enq.emit.keep();
  return answerBlocks(
    {
      ...state,
      conversationId: event.conversation_id,
      calls: delivered,
      history: withoutTurn(state.history, turn, false),
      turns: state.turns.map((each) => (asked.has(each.turnId) ? turns.continued(each) : each)),
    },
    turn,
  );
}

function failed(state: State, turn: TurnState, failure: Failure, isTold: boolean, enq: Enqueue): State {
  enq.emit.turnFailed({ turnId: turn.turnId, failure });
  enq.emit.keep();
  if (failure.code === 'manifest_unknown') enq.emit.registerAgain();
  const shown = failure.block === undefined ? state : changeBlock(state, failure.block);
  const known = isTold ? calls.abandoned(shown.calls, turn.turnId) : shown.calls;
  const left = failure.retryable ? known : calls.undelivered(known, turn.turnId, failure.block);
  if (turn.request !== null) return { ...shown, calls: left };
  enq.emit.readHistory();
  return { ...shown, calls: left, turns: shown.turns.filter(({ turnId }) => turnId !== turn.turnId) };
}

/** The stream said that the turn is over. `againMs`: it is opened once more by itself after so long. */
function over(
  state: State,
  turn: TurnState,
  { told, againMs }: { told?: Failure | undefined; againMs: number | undefined },
  enq: Enqueue,
): State {
  if (againMs !== undefined) {
    if (told?.code === 'manifest_unknown') enq.emit.registerAgain();
    enq.emit.follow({ turnId: turn.turnId, mode: 'send', afterMs: againMs });
    return state;
  }
  if (turn.failure !== undefined) return advance(failed(state, turn, turn.failure, true, enq), enq);
  enq.emit.keep();
  const asked = withCalls(state, calls.left(state.calls, turn.pending, turn), enq);
  // A card is shown before its call is known.
  const blocks = turn.blocks.flatMap((each) => (each.phase === 'ready' ? [each.block] : []));
  const known = { ...asked, calls: blocks.reduce(calls.shown, asked.calls), ...bounded(asked.history, asked.turns) };
  return advance(known, enq);
}

export function eventTold(state: State, { turnId, event, isNumbered }: EventNamed<'eventTold'>, enq: Enqueue): State {
  const before = findTurn(state, turnId);
  if (before === undefined) return state;
  const after = turns.told(before, event, isNumbered);
  const next = after === before ? state : changeTurn(state, turnId, () => after);
  const isNew = after.lastSeq === event.seq && before.lastSeq !== event.seq;
  if (event.type === 'turn.start') return isNew ? begun(next, after, event, enq) : next;
  if (event.type === 'action.execute' && isNumbered) return withCalls(next, calls.execute(next.calls, event, after), enq);
  if (event.type === 'block.ready') {
    if (isNew) enq.emit.keep();
    return { ...next, calls: calls.shown(next.calls, event.block) };
  }
  const isOver = turns.isLive(before) && after.connection === 'none';
  if (event.type !== 'turn.end' || !isOver) return next;
  const { told } = before;
  const againMs = event.status === 'error' && told !== undefined ? turns.earlyRetryMs(before, told) : undefined;
  return over(next, after, { told, againMs }, enq);
}

export function streamFailed(state: State, { turnId, failure }: EventNamed<'streamFailed'>, enq: Enqueue): State {
  const next = changeTurn(state, turnId, (turn) => turns.failed(turn, failure));
  const turn = findTurn(next, turnId);
  return turn === undefined || next === state ? state : advance(failed(next, turn, failure, false, enq), enq);
}

/** A turn that the service never opened is opened now: behind all that was said since, as the history will have it. */
function atItsPlace(state: State, turnId: string): State {
  const turn = findTurn(state, turnId);
  if (turn?.phase !== 'opening' || turn.messageId !== undefined) return state;
  const others = state.turns.filter((each) => each !== turn);
  const waiting = others.findIndex(({ phase }) => phase === 'waiting');
  return { ...state, turns: others.toSpliced(waiting < 0 ? others.length : waiting, 0, turn) };
}

/** The person asks again. One turn runs at a time. */
export function retry(state: State, turnId: string, enq: Enqueue): State {
  if (state.turns.some(turns.isBusy)) return state;
  const next = atItsPlace(changeTurn(state, turnId, turns.retried), turnId);
  if (next === state) return state;
  enq.emit.follow({ turnId, mode: 'send', afterMs: 0 });
  enq.emit.keep();
  return next;
}

/** Failures that the network explains. */
const OF_THE_NETWORK: ReadonlySet<string> = new Set(['unreachable', 'timeout']);

/** The network is back: what failed last for want of it is sent again. */
export function wake(state: State, enq: Enqueue): State {
  const last = state.turns.at(-1);
  return last?.failure !== undefined && OF_THE_NETWORK.has(last.failure.code) ? retry(state, last.turnId, enq) : state;
}

/** Ends a turn that was not sent, takes back one that failed, and asks the service to end one that runs. */
export function stop(state: State, turnId: string, enq: Enqueue): State {
  const turn = findTurn(state, turnId);
  if (turn === undefined) return state;
  if (turns.isLive(turn)) {
    enq.emit.sendStop({ turnId });
    return changeTurn(state, turnId, (each) => ({ ...each, isStopping: true }));
  }
  return discard(state, turnId, enq);
}

export function discard(state: State, turnId: string, enq: Enqueue): State {
  const turn = findTurn(state, turnId);
  if (turn === undefined || !(turn.phase === 'waiting' || turn.phase === 'preparing' || turn.phase === 'failed')) return state;
  enq.emit.keep();
  const left = calls.undelivered(state.calls, turnId, undefined);
  return advance({ ...state, calls: left, turns: state.turns.filter((each) => each !== turn) }, enq);
}

export function decide(state: State, { invocationId, decision, typed, decisionId, tab }: EventNamed<'decide'>, enq: Enqueue): State {
  const next = calls.decide(state.calls, invocationId, decision, decisionId, tab);
  const call = calls.findCall(next, invocationId);
  if (next === state.calls || call?.phase !== 'deciding') return state;
  enq.emit.sendDecision({ call, decision, typed });
  enq.emit.keep();
  return { ...state, calls: next };
}

export function edit(state: State, { invocationId, values }: EventNamed<'edit'>, enq: Enqueue): State {
  const next = calls.edit(state.calls, invocationId);
  const call = calls.findCall(next, invocationId);
  if (next === state.calls || call?.phase !== 'editing') return state;
  enq.emit.sendEdit({ call, values });
  return { ...state, calls: next };
}

export function decided(state: State, { invocationId, reply, isOurs }: EventNamed<'decided'>, enq: Enqueue): State {
  const block = findCard(state, invocationId);
  const next = withCalls(state, calls.decided(state.calls, invocationId, reply, isOurs), enq);
  const shown = block === undefined ? next : changeBlock(next, { ...block, body: { ...block.body, status: reply.status } });
  enq.emit.keep();
  return advance(shown, enq);
}

function findCard(state: State, invocationId: string): Block | undefined {
  const blockId = calls.findCall(state.calls, invocationId)?.block_id;
  return blockId === undefined ? undefined : findBlock(state, blockId);
}

export function edited(state: State, { invocationId, values, revision, block }: EventNamed<'edited'>): State {
  const next = { ...state, calls: calls.edited(state.calls, invocationId, values, revision) };
  return block === undefined ? next : changeBlock(next, block);
}

export function cardRefused(state: State, { invocationId, failure }: EventNamed<'cardRefused'>, enq: Enqueue): State {
  enq.emit.keep();
  const next = { ...state, calls: calls.refused(state.calls, invocationId, failure) };
  // What was agreed to and not begun is asked about again.
  const agreed = calls.findCall(state.calls, invocationId)?.phase === 'running' ? findCard(state, invocationId) : undefined;
  const block = failure.block ?? (agreed && { ...agreed, body: { ...agreed.body, status: 'pending' } });
  return block === undefined ? next : changeBlock(next, block);
}

export function restored(state: State, { kept }: EventNamed<'restored'>, enq: Enqueue): State {
  const known = kept.turns.map((turn): TurnState => {
    const phase = turn.phase === 'preparing' ? 'waiting' : turn.phase;
    return { ...turn, phase, connection: 'none', isReconnecting: false, isStopping: false };
  });
  const next = withCalls({ ...state, conversationId: kept.conversationId, turns: known, calls: [] }, calls.afterReload(kept.calls), enq);
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
