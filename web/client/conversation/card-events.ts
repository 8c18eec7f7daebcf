/** What becomes of confirmation cards: answered, changed, refused (CLIENT-11). Pure. */
import type { Block } from '../../../protocol/catalog/block.ts';
import * as calls from './calls.ts';
import { changeBlock, type Enqueue, type EventNamed, findBlock, type State, withCalls } from './changes.ts';
import { advance } from './turn-events.ts';

export function decide(state: State, { invocationId, decision, typed, decisionId }: EventNamed<'decide'>, enq: Enqueue): State {
  const next = calls.decide(state.calls, invocationId, decision, decisionId);
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
  return failure.block === undefined ? next : changeBlock(next, failure.block);
}
