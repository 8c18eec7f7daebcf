/** A request to open a turn. Its form is checked; no row has been compared yet. */
import type { Passage } from '../../assistant/models/model.ts';
import type { ChatRequest } from '../../protocol/runtime/chat.ts';
import type { AppRecord } from '../../storage/apps/apps.ts';
import type { DeviceRef } from '../caller.ts';

export interface TurnCommand extends DeviceRef {
  readonly app: AppRecord;
  /** What limits know the client's address by; '' when the service itself asks. */
  readonly address: string;
  /** Who is signed in on this turn; null: nobody. `verified`: the signature was checked. */
  readonly person: { readonly externalUserId: string; readonly verified: boolean } | null;
  /** The client's idempotency key, or one minted for it. */
  readonly turnId: string;
  /** Keyed digest of body, channel, device and person: what a retry repeats. */
  readonly fingerprint: string;
  readonly requestId: string;
  /** `smoke`: asked by the service itself, so it meets no cap and costs the organisation nothing. */
  readonly purpose: 'person' | 'smoke';
  readonly body: ChatRequest;
  /** When it arrived, in Unix time; absent where nobody looks at that. */
  readonly receivedAtMs?: number;
  /** The signed-in person's own token for actions with auth `user`; '' when none was sent. Lives in memory only. */
  readonly userToken: string;
  /** Requests like this one that still fit into the minute; null when they are not counted. */
  readonly minuteLeft: (() => number) | null;
  /** Called for each action that the model calls, with its name. */
  onAction?(name: string): void;
  /** Called each time the model is given passages. */
  onPassages?(passages: readonly Passage[]): void;
  /** Called at each beginning of an answer: whether the model marked it as one that says nothing. */
  onNoAnswer?(isNoAnswer: boolean): void;
}
