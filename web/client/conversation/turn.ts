/**
 * One turn as a client sees it, and what each event of its stream makes of it (CLIENT-5). Pure. Events that come again change nothing,
 * whichever connection brings them, so that a turn cut anywhere and taken up again is the same turn.
 *
 * | phase \ event         | turn.start | block.*   | turn.end                             | refusal ¹ | connection failed | retried |
 * |-----------------------|------------|-----------|--------------------------------------|-----------|-------------------|---------|
 * | waiting, preparing    | ignored    | ignored   | ignored                              | ignored   | ignored           | ignored |
 * | opening               | answering  | answering | completed / awaiting_… / failed ²    | failed ²  | failed            | ignored |
 * | answering             | answering  | stays     | completed / awaiting_… / failed ²    | failed ²  | failed            | ignored |
 * | awaiting_tool_results | answering  | stays     | stays                                | ignored   | ignored           | ignored |
 * | awaiting_confirmation | answering  | stays     | stays                                | ignored   | ignored           | ignored |
 * | continued             | answering  | stays     | stays                                | ignored   | ignored           | ignored |
 * | completed             | answering  | stays     | stays                                | ignored   | ignored           | ignored |
 * | failed                | answering  | stays     | stays                                | ignored   | ignored           | opening |
 *
 * ¹ an `error`, a `notice` or a `turn.end` that comes first over a connection that sent the request: the service opened nothing, so its
 * numbers are not the turn's.
 * ² a notice, or the end of a turn that was stopped while it waited, completes it; `model_busy` and `manifest_unknown` before any output open it once more.
 */
import type { ChatBody, TurnContext } from '../../../protocol/runtime/chat.ts';
import type { PendingInvocation, TurnEndStatus, TurnUsage } from '../../../protocol/runtime/stream-events.ts';
import type { NumberedEvent } from '../events.ts';
import { type Failure, ownFailure } from '../transport/failure.ts';
import type { StreamMode } from '../transport/turn-stream.ts';
import { type AnswerBlock, announce, grow, ready, settle } from './answer-blocks.ts';

/** What a turn carries: exactly one of a message, a submitted form and results of calls. */
export type Payload = Pick<ChatBody, 'message' | 'form_submission' | 'tool_results' | 'selection' | 'attachments'>;

export type TurnPhase =
  /** Behind another one of this client: not sent yet. */
  | 'waiting'
  | 'preparing'
  | 'opening'
  | 'answering'
  | 'completed'
  | 'awaiting_tool_results'
  | 'awaiting_confirmation'
  /** It awaited something that a later turn brought. */
  | 'continued'
  | 'failed';

/** What a turn takes from the tab that asked: what can be done and drawn there, and what surrounds the question. */
export interface TurnAround {
  readonly client: ChatBody['client'];
  readonly context?: TurnContext | undefined;
}

export interface TurnNotice {
  /** One of `NOTICE_REASONS`, or a later one. */
  readonly reason: string;
  readonly message: string;
  readonly resetsAt?: string;
}

export interface TurnEnding {
  readonly stopped: boolean;
  readonly truncated: boolean;
  readonly filtered: boolean;
  readonly usage?: TurnUsage;
}

export interface TurnState {
  readonly turnId: string;
  readonly payload: Payload;
  /** What is sent at every try; null before it is made, and of a turn that somebody else opened. */
  readonly request: ChatBody | null;
  /** The tab that asked (CLIENT-32), and what is there, where it is another one than leads. */
  readonly tab?: string | undefined;
  readonly around?: TurnAround | undefined;
  readonly phase: TurnPhase;
  readonly messageId?: string;
  readonly requestId?: string;
  readonly blocks: readonly AnswerBlock[];
  readonly pending: readonly PendingInvocation[];
  readonly failure?: Failure;
  readonly notice?: TurnNotice;
  /** Once it is over, and did not fail. */
  readonly ending?: TurnEnding;
  /** The person wants it stopped; it goes on until the service says that it did. */
  readonly isStopping: boolean;
  readonly isReconnecting: boolean;
  /** The one early retry (CLIENT-8) was made. */
  readonly hasEarlyRetried: boolean;
  /** The highest number of the turn so far, -1 before the first: for `Last-Event-ID`. */
  readonly lastSeq: number;
  /** What the present connection brings; nobody knows while it is `new`. With `none` it needs no connection, or none yet. */
  readonly connection: 'none' | 'new' | 'told' | 'refusal';
  /** The error event that a `turn.end` belongs to. */
  readonly told?: Failure;
  readonly sentAtMs: number;
}

export function newTurn(turnId: string, payload: Payload, sentAtMs: number): TurnState {
  return {
    turnId,
    payload,
    request: null,
    phase: 'waiting',
    blocks: [],
    pending: [],
    isStopping: false,
    isReconnecting: false,
    hasEarlyRetried: false,
    lastSeq: -1,
    connection: 'none',
    sentAtMs,
  };
}

/** Whether its stream is to be followed. */
export function isLive({ phase }: TurnState): boolean {
  return phase === 'opening' || phase === 'answering';
}

/** Whether it keeps others of this client waiting. */
export function isBusy(turn: TurnState): boolean {
  return isLive(turn) || turn.phase === 'preparing';
}

/** Whether it waits for something that a later turn brings. */
export function isAwaiting({ phase }: TurnState): boolean {
  return phase === 'awaiting_tool_results' || phase === 'awaiting_confirmation';
}

/** The one early retry: longer waits are shown with Retry. */
const EARLY_RETRY_MS = 3_000;
const EARLY_RETRY_MAX_MS = 10_000;

/** After how long a turn that failed is opened once more by itself; undefined: never (CLIENT-8). */
export function earlyRetryMs(turn: TurnState, failure: Failure): number | undefined {
  if (turn.hasEarlyRetried || turn.blocks.length > 0) return undefined;
  // Meanwhile the manifest is registered anew.
  if (failure.code === 'manifest_unknown') return EARLY_RETRY_MS;
  if (failure.code !== 'model_busy' || !failure.retryable) return undefined;
  const afterMs = Math.max(EARLY_RETRY_MS, failure.retryAfterMs ?? 0);
  return afterMs <= EARLY_RETRY_MAX_MS ? afterMs : undefined;
}

/** Whether it failed because the service does not know its manifest, or waits to be opened once more, which may be for that. */
export function isUnregistered({ failure, phase, connection, hasEarlyRetried }: TurnState): boolean {
  return failure?.code === 'manifest_unknown' || (hasEarlyRetried && phase === 'opening' && connection === 'none');
}

export function prepared(turn: TurnState, request: ChatBody | null): TurnState {
  if (request === null) return turn.phase === 'waiting' ? { ...turn, phase: 'preparing' } : turn;
  return turn.phase === 'preparing' ? { ...turn, phase: 'opening', request } : turn;
}

export function opened(turn: TurnState, mode: StreamMode): TurnState {
  return isLive(turn) ? { ...turn, connection: mode === 'send' ? 'new' : 'told' } : turn;
}

export function lost(turn: TurnState): TurnState {
  return isLive(turn) && !turn.isReconnecting ? { ...turn, isReconnecting: true } : turn;
}

/** The request could not be sent, or its stream could not be taken up again. Its blocks may go on: nothing said that they do not. */
export function failed(turn: TurnState, failure: Failure): TurnState {
  if (!isLive(turn)) return turn;
  return { ...turn, phase: 'failed', failure, isReconnecting: false, isStopping: false, connection: 'none' };
}

export function continued(turn: TurnState): TurnState {
  return isAwaiting(turn) ? { ...turn, phase: 'continued' } : turn;
}

/**
 * The person asks again, or the network is back: the same request once more. What is on the screen stays until the answer begins anew.
 * The numbers of a turn that brought no block are forgotten, so that a replay may bring what was lost on its way.
 */
export function retried(turn: TurnState): TurnState {
  if (turn.phase !== 'failed' || turn.request === null) return turn;
  const { failure: _, told: _told, ...rest } = turn;
  const lastSeq = turn.failure?.code === 'no_answer' ? -1 : turn.lastSeq;
  return { ...rest, phase: 'opening', lastSeq, isStopping: false };
}

type EventOf<Type extends NumberedEvent['type']> = Extract<NumberedEvent, { type: Type }>;

function failureOfEvent({ code, message, retryable, retry_after_s: afterS, details, block }: EventOf<'error'>): Failure {
  return {
    code,
    message,
    retryable,
    ...(afterS === undefined ? {} : { retryAfterMs: afterS * 1000 }),
    ...(details === undefined ? {} : { details }),
    ...(block === undefined ? {} : { block }),
  };
}

function started(turn: TurnState, event: EventOf<'turn.start'>): TurnState {
  const { failure: _, told: _told, notice: _notice, ending: _ending, ...rest } = turn;
  return {
    ...rest,
    phase: 'answering',
    messageId: event.message_id,
    requestId: event.request_id,
    // Blocks of an attempt before go now, not when it failed (CHAT-12).
    blocks: [],
    pending: [],
  };
}

function withoutAnswer(turn: TurnState, event: EventOf<'turn.end'>): boolean {
  return event.status === 'completed' && !event.stopped && turn.blocks.length === 0 && turn.notice === undefined;
}

const NO_ANSWER = ownFailure('no_answer', 'No answer came. Try again.', true);
const UNTOLD = ownFailure('unreadable', 'The assistant could not answer. Try again.', true);

function endedWith(turn: TurnState, failure: Failure): TurnState {
  const isEarly = earlyRetryMs(turn, failure) !== undefined;
  const { told: _, ...rest } = turn;
  if (isEarly) return { ...rest, phase: 'opening', connection: 'none', blocks: [], hasEarlyRetried: true };
  return { ...rest, phase: 'failed', connection: 'none', failure, blocks: settle(turn.blocks), isStopping: false };
}

function ended(turn: TurnState, event: EventOf<'turn.end'>): TurnState {
  if (event.status === 'error') return endedWith(turn, turn.told ?? UNTOLD);
  if (withoutAnswer(turn, event)) return endedWith(turn, NO_ANSWER);
  const { told: _, ...rest } = turn;
  const status: Exclude<TurnEndStatus, 'error'> = event.status;
  return {
    ...rest,
    phase: status,
    connection: 'none',
    blocks: settle(turn.blocks),
    pending: event.pending ?? [],
    isStopping: false,
    ending: {
      stopped: event.stopped === true,
      truncated: event.truncated === true,
      filtered: event.filtered === true,
      ...(event.usage === undefined ? {} : { usage: event.usage }),
    },
  };
}

function applied(turn: TurnState, event: NumberedEvent): TurnState {
  switch (event.type) {
    case 'turn.start':
      return started(turn, event);
    case 'block.start':
      return { ...turn, phase: 'answering', blocks: announce(turn.blocks, event.index, event.id, event.block_type) };
    case 'block.delta':
      return { ...turn, phase: 'answering', blocks: grow(turn.blocks, event.index, event.text_delta) };
    case 'block.ready':
      return { ...turn, phase: 'answering', blocks: ready(turn.blocks, event.index, event.block) };
    case 'error':
      return { ...turn, told: failureOfEvent(event) };
    case 'notice': {
      const { reason, message, resets_at: resetsAt } = event;
      return { ...turn, notice: { reason, message, ...(resetsAt === undefined ? {} : { resetsAt }) } };
    }
    case 'turn.end':
      return ended(turn, event);
    // Calls are the conversation's: `calls.ts`. A ping says only that somebody is there.
    case 'action.execute':
    case 'ping':
      return turn;
  }
}

/** Whether the event, the first over its connection, refuses the request instead of beginning or continuing the turn. */
function refuses(turn: TurnState, { type }: NumberedEvent): boolean {
  return turn.connection === 'new' && (type === 'error' || type === 'notice' || type === 'turn.end');
}

/** An event of a refusal. The numbers that were told before stay: these are not of the turn. */
function refused(turn: TurnState, event: NumberedEvent): TurnState {
  const next = isLive(turn) ? applied(turn, event) : turn;
  return isLive(next) && next.connection !== 'none' ? { ...next, connection: 'refusal' } : next;
}

/** A replayed block is told as it is by now: a card that was answered since says so. */
function retold(turn: TurnState, event: NumberedEvent): TurnState {
  if (event.type !== 'block.ready') return turn;
  const before = turn.blocks.find(({ index }) => index === event.index);
  if (before?.phase !== 'ready' || before.id !== event.block.id) return turn;
  return { ...turn, blocks: ready(turn.blocks, event.index, event.block) };
}

/** The turn after an event of its stream. One that is over takes a new attempt, and newer states of its blocks. */
export function told(turn: TurnState, event: NumberedEvent, isNumbered: boolean): TurnState {
  // Somebody is there: that is all that a stream which waits says.
  const heard = turn.isReconnecting ? { ...turn, isReconnecting: false } : turn;
  if (turn.phase === 'waiting' || turn.phase === 'preparing' || !isNumbered) return heard;
  if (turn.connection === 'refusal' || refuses(turn, event)) return refused(heard, event);
  const known: TurnState = heard.connection === 'new' && event.type !== 'ping' ? { ...heard, connection: 'told' } : heard;
  if (event.seq <= turn.lastSeq) return retold(known, event);
  if (!isLive(turn) && event.type !== 'turn.start') return known;
  return { ...applied(known, event), lastSeq: event.seq };
}
