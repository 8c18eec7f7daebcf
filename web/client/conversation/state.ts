/** The state of one conversation, the events that change it and the effects that it asks for: what `logic.ts` decides and `conversation.ts` performs. */
import type { Block } from '../../../protocol/catalog/block.ts';
import type { ChatBody, ToolResult } from '../../../protocol/runtime/chat.ts';
import type { ConfirmReply } from '../../../protocol/runtime/invocations.ts';
import type { MessagesReply } from '../../../protocol/runtime/messages.ts';
import type { NumberedEvent } from '../events.ts';
import type { Failure } from '../transport/failure.ts';
import type { StreamMode } from '../transport/turn-stream.ts';
import type { Call, Calls, Decision } from './calls.ts';
import type { History } from './history.ts';
import type { Payload, TurnAround, TurnState } from './turn.ts';

export interface ConversationState {
  /** Undefined until the service has named it. */
  readonly conversationId: string | undefined;
  readonly history: History;
  /** What this client sent since, oldest first; and what it follows of others. */
  readonly turns: readonly TurnState[];
  readonly calls: Calls;
  /** What the person thinks of answers, by `message_id`. */
  readonly feedback: Readonly<Record<string, 1 | -1>>;
}

export interface KeptConversation {
  readonly conversationId?: string | undefined;
  readonly turns: readonly TurnState[];
  readonly calls: readonly Call[];
}

/** Events by name; facts in the past tense, wishes in the imperative. */
export type ConversationEvents = {
  /** A turn is to be sent: a message, a form, or results. `tab` asks; `around`: what is there, where another one leads. Of what was said in a tab that led: `saidIn`: the conversation, null before it has a name; `request`: it may have been sent so. */
  send: {
    readonly turnId: string;
    readonly payload: Payload;
    readonly nowMs: number;
    readonly tab?: string | undefined;
    readonly around?: TurnAround;
    readonly saidIn?: string | null;
    readonly request?: ChatBody | null;
  };
  /** Its request was made, and is never changed again. */
  prepared: { readonly turnId: string; readonly request: ChatBody };
  streamOpened: { readonly turnId: string; readonly mode: StreamMode };
  /** `isNumbered` is false for pings of a stream that waits. */
  eventTold: { readonly turnId: string; readonly event: NumberedEvent; readonly isNumbered: boolean };
  /** An event of a later service: only its number counts. */
  eventSkipped: { readonly turnId: string; readonly seq: number };
  streamLost: { readonly turnId: string };
  streamFailed: { readonly turnId: string; readonly failure: Failure };
  retry: { readonly turnId: string };
  /** The network is back: what failed for want of it is sent again. */
  wake: Record<never, never>;
  stop: { readonly turnId: string };
  stopFailed: { readonly turnId: string };
  discard: { readonly turnId: string };
  /** `decisionId`: of this decision, where it is the first for this card. */
  decide: {
    readonly invocationId: string;
    readonly decision: Decision;
    readonly typed?: string | undefined;
    readonly decisionId?: string;
    /** Where the person answered. */
    readonly tab?: string | undefined;
  };
  /** `isOurs`: it may be this client's answer that is recorded. */
  decided: { readonly invocationId: string; readonly reply: ConfirmReply; readonly isOurs: boolean };
  edit: { readonly invocationId: string; readonly values: Readonly<Record<string, unknown>> };
  edited: {
    readonly invocationId: string;
    readonly values: Readonly<Record<string, unknown>>;
    readonly revision: number;
    readonly block?: Block | undefined;
  };
  /** An answer to a card, or a change of it, was not taken. */
  cardRefused: { readonly invocationId: string; readonly failure: Failure };
  /** `around`: what is there now, of another tab than leads. */
  actionEnded: {
    readonly invocationId: string;
    readonly outcome: Pick<ToolResult, 'status' | 'result' | 'error'>;
    readonly around?: TurnAround | undefined;
  };
  /** Its handler is not to run here: another client of this installation began it. */
  actionTaken: { readonly invocationId: string };
  /** What an earlier page left, before anything is asked. */
  restored: { readonly kept: KeptConversation };
  historyAsked: Record<never, never>;
  newestRead: { readonly page: MessagesReply };
  earlierRead: { readonly page: MessagesReply };
  historyFailed: Record<never, never>;
  blockChanged: { readonly block: Block };
  rated: { readonly messageId: string; readonly rating: 1 | -1 | undefined };
  /** Another tab leads, and this is its state. */
  mirrored: { readonly state: ConversationState };
};

/** Effects by name: what somebody has to do. */
export type ConversationEffects = {
  prepare: { readonly turnId: string };
  follow: { readonly turnId: string; readonly mode: StreamMode; readonly afterMs: number };
  sendStop: { readonly turnId: string };
  runAction: { readonly call: Call };
  continueTurn: { readonly results: readonly ToolResult[] };
  sendDecision: { readonly call: Call; readonly decision: Decision; readonly typed: string | undefined };
  sendEdit: { readonly call: Call; readonly values: Readonly<Record<string, unknown>> };
  /** Somebody else's turn is over or gone: the service tells what came of it. */
  readHistory: Record<never, never>;
  registerAgain: Record<never, never>;
  keep: Record<never, never>;
  turnFailed: { readonly turnId: string; readonly failure: Failure };
};
