/**
 * What becomes of a conversation with everything that happens to it (CLIENT-5): one `@xstate/store` logic whose `transition` is pure.
 * It decides and performs nothing: its effects are performed by `conversation.ts`.
 */
import { createStoreLogic } from '@xstate/store';
import * as calls from './calls.ts';
import * as cardEvents from './card-events.ts';
import { changeBlock, changeTurn, type EventNamed, type State } from './changes.ts';
import { isDone, NO_HISTORY, withEarlier } from './history.ts';
import * as historyEvents from './history-events.ts';
import type { ConversationEffects, ConversationEvents } from './state.ts';
import * as turns from './turn.ts';
import * as turnEvents from './turn-events.ts';

export const NEW_CONVERSATION: State = { conversationId: undefined, history: NO_HISTORY, turns: [], calls: [], feedback: {} };

function rated(state: State, { messageId, rating }: EventNamed<'rated'>): State {
  const { [messageId]: _, ...others } = state.feedback;
  return { ...state, feedback: rating === undefined ? others : { ...others, [messageId]: rating } };
}

/** A number of the stream was used up by something that this build cannot read. */
function skipped(turn: turns.TurnState, seq: number): turns.TurnState {
  return turns.isLive(turn) && turn.connection !== 'refusal' && seq > turn.lastSeq ? { ...turn, lastSeq: seq } : turn;
}

/** A tab that mirrors may bring a page of the conversation that was open before this one. */
function earlierRead(state: State, { page }: EventNamed<'earlierRead'>): State {
  if (page.conversation_id !== state.conversationId) return state;
  return { ...state, history: withEarlier(state.history, page, state.turns) };
}

function asked(state: State): State {
  const covers = state.turns.filter(isDone).map(({ turnId }) => turnId);
  return { ...state, history: { ...state.history, phase: 'reading', covers } };
}

export const conversationLogic = createStoreLogic<State, ConversationEvents, ConversationEffects, State>({
  context: (state) => state,
  on: {
    send: turnEvents.send,
    prepared: (state, { turnId, request }, enq) => {
      const next = changeTurn(state, turnId, (turn) => turns.prepared(turn, request));
      if (next === state) return state;
      enq.emit.follow({ turnId, mode: 'send', afterMs: 0 });
      enq.emit.keep();
      return next;
    },
    streamOpened: (state, { turnId, mode }) => changeTurn(state, turnId, (turn) => turns.opened(turn, mode)),
    eventTold: turnEvents.eventTold,
    eventSkipped: (state, { turnId, seq }) => changeTurn(state, turnId, (turn) => skipped(turn, seq)),
    streamLost: (state, { turnId }) => changeTurn(state, turnId, turns.lost),
    streamFailed: turnEvents.streamFailed,
    retry: (state, { turnId }, enq) => turnEvents.retry(state, turnId, enq),
    wake: (state, _event, enq) => turnEvents.wake(state, enq),
    stop: (state, { turnId }, enq) => turnEvents.stop(state, turnId, enq),
    stopFailed: (state, { turnId }) => changeTurn(state, turnId, (turn) => ({ ...turn, isStopping: false })),
    discard: (state, { turnId }, enq) => turnEvents.discard(state, turnId, enq),
    decide: cardEvents.decide,
    decided: cardEvents.decided,
    edit: cardEvents.edit,
    edited: cardEvents.edited,
    cardRefused: cardEvents.cardRefused,
    actionEnded: (state, { invocationId, outcome }, enq) => {
      enq.emit.keep();
      return turnEvents.advance({ ...state, calls: calls.ran(state.calls, invocationId, outcome) }, enq);
    },
    actionTaken: (state, { invocationId }, enq) => {
      enq.emit.readHistory();
      return { ...state, calls: calls.taken(state.calls, invocationId) };
    },
    restored: historyEvents.restored,
    historyAsked: asked,
    newestRead: historyEvents.newestRead,
    earlierRead,
    historyFailed: (state) => ({ ...state, history: { ...state.history, phase: 'failed' } }),
    blockChanged: (state, { block }) => changeBlock(state, block),
    rated,
    mirrored: (_state, { state }) => state,
  },
});

export type ConversationStore = ReturnType<typeof conversationLogic.createStore>;
