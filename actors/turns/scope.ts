/** What one turn knows of its surroundings: fixed when it opens, handed to whoever works on it. */
import type { Logger } from 'pino';
import type { ChatMessage, Model, Passage } from '../../assistant/models/model.ts';
import type { Sender } from '../../assistant/models/openai/sending-budget.ts';
import type { PriceTable } from '../../assistant/prices.ts';
import type { Toolset } from '../../assistant/toolset.ts';
import type { TurnFailure } from '../../machines/chat-turn.ts';
import type { IdPrefix } from '../../protocol/ids.ts';
import type { TurnContext } from '../../protocol/runtime/chat.ts';
import type { PendingInvocation, TurnUsage } from '../../protocol/runtime/stream-events.ts';
import type { AppRecord } from '../../storage/apps/apps.ts';
import type { InvocationRow } from '../../storage/conversations/invocations.ts';
import type { CommitTurnInput } from '../../storage/conversations/turns.ts';
import type { Channel } from '../../storage/organisations/organisations.ts';
import type { ActionOutcome, ActionRunner } from '../calls/http-call.ts';
import type { AnswerRoom } from './answer-room.ts';
import type { AnswerShare } from './long-answers.ts';

/** What a step writes; the conversation adds whose turn it is and the fence. */
export type TurnCommit = Pick<
  CommitTurnInput,
  | 'state'
  | 'attempt'
  | 'snapshot'
  | 'attemptSeq'
  | 'nextSeq'
  | 'journal'
  | 'replacesAttempt'
  | 'cutOff'
  | 'blocks'
  | 'invocations'
  | 'ended'
  | 'charge'
>;

export interface TurnScope {
  readonly app: AppRecord;
  readonly channel: Channel;
  /** Whether what it costs goes into the ledger. */
  readonly isCharged: boolean;
  readonly conversationId: string;
  readonly messageId: string;
  readonly requestId: string;
  /** For whom the model is asked. */
  readonly sender: Sender;
  readonly locale: string | null;
  readonly context: TurnContext | undefined;
  readonly toolset: Toolset;
  /** Action kinds the client runs; empty: all. */
  readonly actionKinds: ReadonlySet<string>;
  readonly model: Model;
  /** For what waits for commits; shared by all turns of the process. */
  readonly room: AnswerRoom;
  /** How much it may read from the model. */
  readonly share: AnswerShare;
  readonly prices: PriceTable;
  readonly log: Logger;
  /** Trusted instructions. */
  readonly system: string;
  /** JSON of what is known of the person, null when nothing is. */
  readonly traits: string | null;
  nowMs(): number;
  mint(prefix: IdPrefix): string;
  /** The conversation so far, ending with what is to be answered. */
  transcript(): ChatMessage[];
  /** What this turn has written from this block of its answer on, as far as it is stored, and as much of it as of a conversation. */
  written(fromBlock: number): string;
  search(text: string): Passage[];
  /** There when searches go by meaning, too: settles when that of `text` is known or will not be; undefined when it need not wait. */
  prepareSearch?(text: string): Promise<void> | undefined;
  /** Personal data into placeholders, and back; the words of both are the same length of life as the conversation's. */
  conceal<T>(value: T): T | Promise<T>;
  restore<T>(value: T): T;
  /** The same of what the model wrote itself: a placeholder in it is one. */
  readonly concealOwn: <T>(value: T) => T | Promise<T>;
  /** The signed-in person's own token, '' when there is none. In memory only. */
  readonly userToken: string;
  /** Calls an HTTP action of the app. */
  readonly runAction: ActionRunner['run'];
  /** Confirmed writes that this turn runs before it asks the model; their rows say `executing`. */
  readonly executions: readonly InvocationRow[];
  /** Writes of an earlier attempt of which nobody knows how they ended. */
  readonly lost: readonly InvocationRow[];
  /** Calls that still wait for somebody else since an earlier turn. */
  readonly left: readonly PendingInvocation[];
  /** The turn brings how a write ended that a person confirmed, or runs one: its first round tells the person, whatever was spent. */
  readonly tellsWrite: boolean;
  /** What the turn ends with when the app's day is spent, `spentMicroUsd` of this turn included that is no row yet; null while it is not. */
  overBudget(spentMicroUsd: number): TurnFailure | null;
  /** The signed receipt of a confirmed call. */
  receipt(row: InvocationRow): string | undefined;
  /** Whether the row of a write still says that it is being executed. */
  isExecuting(row: InvocationRow): boolean;
  /** Stores how a write ended. */
  settle(row: InvocationRow, outcome: ActionOutcome): Promise<void>;
  /** Hears of each action the model calls, by name. */
  onAction(name: string): void;
  /** Hears of each beginning of an answer whether the model marked it as one that says nothing. */
  onNothing(isNothing: boolean): void;
  /** What its person and app may still send; told when the turn ends. */
  usage(): TurnUsage | undefined;
  /** False when the fence refused: the conversation has another owner. */
  commit(step: TurnCommit): Promise<boolean>;
}
