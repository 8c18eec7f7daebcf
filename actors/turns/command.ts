/** A request to open a turn. Its form is checked; no row has been compared yet. */
import type { Passage } from '../../assistant/models/model.ts';
import type { ChatRequest } from '../../protocol/runtime/chat.ts';
import type { AppRecord } from '../../storage/apps/apps.ts';
import type { Caller } from '../caller.ts';

/** Who sends it, as it was admitted. */
export interface TurnCaller extends Caller {
  readonly app: AppRecord;
  /** What limits know the client's address by; '' when the service itself asks. */
  readonly address: string;
  /** Requests like this one that still fit into the minute; null when they are not counted. */
  readonly minuteLeft: (() => number) | null;
}

/** What is asked with, and said with it. */
export type SaidBody = Pick<ChatRequest, 'client' | 'message' | 'form_submission' | 'tool_results' | 'selection' | 'context'>;

/** `Body`: as it was sent, or what a turn keeps of it, in placeholder form. */
export interface Command<Body extends SaidBody = ChatRequest> {
  readonly caller: TurnCaller;
  /** Who is signed in on this turn, if anyone. `verified`: the signature was checked. */
  readonly person: { readonly externalUserId: string; readonly verified: boolean } | null;
  /** The signed-in person's own token for actions with auth `user`; '' when none was sent. Lives in memory only. */
  readonly userToken: string;
  readonly body: Body;
  /** The client's idempotency key, or one minted for it. */
  readonly turnId: string;
  /** Keyed digest of body, channel, device and person: what a retry repeats. */
  readonly fingerprint: string;
  readonly requestId: string;
  /** `smoke`: asked by the service itself, so it meets no cap and costs the organisation nothing. */
  readonly purpose: 'person' | 'smoke';
  /** When it arrived, in Unix time; absent where that is not measured. */
  readonly receivedAtMs?: number | undefined;
  /** Told of what the answer is made of, in this process. */
  readonly listen?: TurnListener | undefined;
}

/** Whether the request says nothing new and only brings results of calls. */
export function isContinuation({ message, form_submission }: Pick<ChatRequest, 'message' | 'form_submission'>): boolean {
  return message === undefined && form_submission === undefined;
}

/** Whatever of a command does not depend on its words. */
export type AnyCommand = Command<SaidBody>;

export interface TurnListener {
  /** For each action that the model calls. */
  action(name: string): void;
  /** Each time the model is given passages. */
  passages(found: readonly Passage[]): void;
  /** At each beginning of an answer: whether the model marked it as one that says nothing. */
  noAnswer(isNoAnswer: boolean): void;
}
