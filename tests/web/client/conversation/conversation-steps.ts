/** Steps the logic of a conversation purely, for tests: events in, state and effects out. */
import type { ExtractEvents } from '@xstate/store';
import type { ChatBody } from '../../../../protocol/runtime/chat.ts';
import type { StreamEvent } from '../../../../protocol/runtime/stream-events.ts';
import { type ConversationStore, conversationLogic, NEW_CONVERSATION } from '../../../../web/client/conversation/logic.ts';
import type { ConversationEffects, ConversationEvents, ConversationState } from '../../../../web/client/conversation/state.ts';
import type { Payload, TurnState } from '../../../../web/client/conversation/turn.ts';
import type { StreamMode } from '../../../../web/client/transport/turn-stream.ts';

export type Effect = ExtractEvents<ConversationEffects>;
type Event = ExtractEvents<ConversationEvents>;

export const TURN_ID = '3f0c8a52-6f7e-4d1b-9d0e-0d6f3f6a9b11';

/** As a composer makes it. */
export function requestOf(turnId: string, payload: Payload): ChatBody {
  return { turn_id: turnId, ...payload, client: { protocol: 1, sdk: 'web/1.0.0', catalog_version: '2026-11.a', components: [] } };
}

export class ConversationSteps {
  readonly #store: ConversationStore;
  #snapshot: ReturnType<ConversationStore['getSnapshot']>;
  /** All so far. */
  readonly effects: Effect[] = [];

  constructor(state: ConversationState = NEW_CONVERSATION) {
    this.#store = conversationLogic.createStore(state);
    this.#snapshot = this.#store.getSnapshot();
  }

  get state(): ConversationState {
    return this.#snapshot.context;
  }

  /** The effects of this event. */
  send(event: Event): readonly Effect[] {
    const [next, effects] = this.#store.transition(this.#snapshot, event);
    this.#snapshot = next;
    const performed = effects.filter((effect): effect is Effect => typeof effect !== 'function');
    this.effects.push(...performed);
    return performed;
  }

  /** A turn that was sent, over a connection that is open. */
  begin(turnId: string = TURN_ID, payload: Payload = { message: { text: 'Hello' } }): this {
    this.send({ type: 'send', turnId, payload, nowMs: 1 });
    this.send({ type: 'prepared', turnId, request: requestOf(turnId, payload) });
    return this.open('send', turnId);
  }

  open(mode: StreamMode, turnId: string = TURN_ID): this {
    this.send({ type: 'streamOpened', turnId, mode });
    return this;
  }

  tell(seq: number, event: StreamEvent, turnId: string = TURN_ID): readonly Effect[] {
    return this.send({ type: 'eventTold', turnId, event: { ...event, seq }, isNumbered: true });
  }

  turn(turnId: string = TURN_ID): TurnState {
    const turn = this.state.turns.find((each) => each.turnId === turnId);
    if (turn === undefined) throw new Error(`no turn ${turnId}`);
    return turn;
  }

  /** Effects of this type, in order. */
  of<Type extends Effect['type']>(type: Type): Extract<Effect, { type: Type }>[] {
    return this.effects.filter((effect): effect is Extract<Effect, { type: Type }> => effect.type === type);
  }
}

/** What a person sees of a conversation: how its events came to this client is left out. */
export function essenceOf({ turns, ...state }: ConversationState): object {
  return { ...state, turns: turns.map(({ connection: _, isReconnecting: _again, ...turn }) => turn) };
}
