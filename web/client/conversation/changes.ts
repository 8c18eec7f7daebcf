/** The changes that all events of a conversation are made of: of one turn, of one block wherever it is shown, of the calls. Pure. */
import type { EnqueueObject, ExtractEvents } from '@xstate/store';
import type { Block } from '../../../protocol/catalog/block.ts';
import { replace } from './answer-blocks.ts';
import * as calls from './calls.ts';
import { withBlock } from './history.ts';
import type { ConversationEffects, ConversationEvents, ConversationState } from './state.ts';
import type { TurnState } from './turn.ts';

export type State = ConversationState;
/** Takes effects, in the order in which they are to be performed. */
export type Enqueue = EnqueueObject<State, ExtractEvents<ConversationEffects>, ConversationEvents>;
export type EventNamed<Name extends keyof ConversationEvents> = { type: Name } & ConversationEvents[Name];

export function findTurn(state: State, turnId: string): TurnState | undefined {
  return state.turns.find((turn) => turn.turnId === turnId);
}

/** Whether it was said in another conversation than this one. */
export function isOfAnother({ saidIn }: Pick<EventNamed<'send'>, 'saidIn'>, { conversationId }: State): boolean {
  return saidIn !== undefined && saidIn !== (conversationId ?? null);
}

export function changeTurn(state: State, turnId: string, change: (turn: TurnState) => TurnState): State {
  const at = state.turns.findIndex((turn) => turn.turnId === turnId);
  const before = state.turns[at];
  if (before === undefined) return state;
  const after = change(before);
  return after === before ? state : { ...state, turns: state.turns.with(at, after) };
}

/** The calls changed: handlers of those that run now are begun. */
export function withCalls(state: State, next: calls.Calls, enq: Enqueue): State {
  if (next === state.calls) return state;
  for (const call of next) {
    if (call.phase !== 'running') continue;
    if (calls.findCall(state.calls, call.invocation_id)?.phase !== 'running') enq.emit.runAction({ call });
  }
  return { ...state, calls: next };
}

export function changeBlock(state: State, block: Block): State {
  const changed = state.turns.map((turn) => {
    const blocks = replace(turn.blocks, block);
    return blocks === turn.blocks ? turn : { ...turn, blocks };
  });
  return { ...state, turns: changed, history: withBlock(state.history, block), calls: calls.shown(state.calls, block) };
}

export function findBlock(state: State, blockId: string): Block | undefined {
  for (const { blocks } of state.turns) {
    for (const each of blocks) if (each.phase === 'ready' && each.id === blockId) return each.block;
  }
  return state.history.messages.flatMap(({ blocks }) => blocks).find(({ id }) => id === blockId);
}
