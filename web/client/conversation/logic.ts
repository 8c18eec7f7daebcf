/** What becomes of a conversation with everything that happens to it (CLIENT-5). It decides, and performs nothing. */
import { createStoreLogic } from '@xstate/store';
import * as calls from './calls.ts';
import { changeBlock, changeTurn, type EventNamed, type State } from './changes.ts';
import * as events from './conversation-events.ts';
import { isDone, NO_HISTORY, withEarlier } from './history.ts';
import type { ConversationEffects, ConversationEvents } from './state.ts';
import * as turns from './turn.ts';

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
    send: events.send,
    prepared: (state, { turnId, request }, enq) => {
      const next = changeTurn(state, turnId, (turn) => turns.prepared(turn, request));
      if (next === state) return state;
      enq.emit.follow({ turnId, mode: 'send', afterMs: 0 });
      enq.emit.keep();
      return next;
    },
    streamOpened: (state, { turnId, mode }) => changeTurn(state, turnId, (turn) => turns.opened(turn, mode)),
    eventTold: events.eventTold,
    eventSkipped: (state, { turnId, seq }) => changeTurn(state, turnId, (turn) => skipped(turn, seq)),
    streamLost: (state, { turnId }) => changeTurn(state, turnId, turns.lost),
    streamFailed: events.streamFailed,
    retry: (state, { turnId }, enq) => events.retry(state, turnId, enq),
    wake: (state, _event, enq) => events.wake(state, enq),
    stop: (state, { turnId }, enq) => events.stop(state, turnId, enq),
    stopFailed: (state, { turnId }) => changeTurn(state, turnId, (turn) => ({ ...turn, isStopping: false })),
    discard: (state, { turnId }, enq) => events.discard(state, turnId, enq),
    decide: events.decide,
    decided: events.decided,
    edit: events.edit,
    edited: events.edited,
    cardRefused: events.cardRefused,
    actionEnded: (state, { invocationId, outcome, around }, enq) => {
      enq.emit.keep();
      const { askedBy = '', tab } = calls.findCall(state.calls, invocationId) ?? {};
      const told = changeTurn(state, askedBy, (turn) => (around === undefined || turn.tab !== tab ? turn : { ...turn, around }));
      return events.advance({ ...told, calls: calls.ran(state.calls, invocationId, outcome) }, enq);
    },
    actionTaken: (state, { invocationId }, enq) => {
      enq.emit.readHistory();
      return { ...state, calls: calls.taken(state.calls, invocationId) };
    },
    restored: events.restored,
    historyAsked: asked,
    newestRead: events.newestRead,
    earlierRead,
    historyFailed: (state) => ({ ...state, history: { ...state.history, phase: 'failed' } }),
    blockChanged: (state, { block }) => changeBlock(state, block),
    rated,
    mirrored: (_state, { state }) => state,
  },
});

export type ConversationStore = ReturnType<typeof conversationLogic.createStore>;
