/**
 * The life of one chat turn (CHAT-17). Owns which state a turn is in, how many rounds
 * it may ask of the model, and what has to happen next; it emits those effects and performs none of them.
 * It does not own the blocks, the invocations or the words.
 *
 * | state \ event         | turn.open   | block.completed | round.finished                                                        | round.failed | calls.settled                                                           | turn.stop | turn.interrupted | turn.retry  | turn.resumed |
 * |-----------------------|-------------|-----------------|-----------------------------------------------------------------------|--------------|-------------------------------------------------------------------------|-----------|------------------|-------------|--------------|
 * | new                   | working / awaiting_tool_results / awaiting_confirmation / answering ¹ | ignored | ignored             | ignored      | ignored                                                                 | ignored   | ignored          | ignored     | ignored      |
 * | answering             | ignored     | stays           | working / awaiting_tool_results / awaiting_confirmation / completed ² | failed       | ignored                                                                 | completed | failed           | ignored     | ignored      |
 * | working               | ignored     | stays           | ignored                                                               | failed       | answering / awaiting_tool_results / awaiting_confirmation / completed ³ | completed | failed           | ignored     | ignored      |
 * | awaiting_tool_results | ignored     | ignored         | ignored                                                               | ignored      | ignored                                                                 | ignored   | ignored          | ignored     | continued    |
 * | awaiting_confirmation | ignored     | ignored         | ignored                                                               | ignored      | ignored                                                                 | ignored   | ignored          | ignored     | continued    |
 * | continued             | ignored     | ignored         | ignored                                                               | ignored      | ignored                                                                 | ignored   | ignored          | ignored     | ignored      |
 * | completed             | ignored     | ignored         | ignored                                                               | ignored      | ignored                                                                 | ignored   | ignored          | ignored     | ignored      |
 * | failed                | ignored     | ignored         | ignored                                                               | ignored      | ignored                                                                 | ignored   | ignored          | answering ⁴ | ignored      |
 *
 * ¹ works when a continuation hands confirmed calls to the server; else awaits at once when it leaves some of its round
 * unanswered, reads before confirmations.
 * ² works when the round called the server; else awaits reads, then confirmations; with nothing to wait for it is done.
 * ³ awaits what the round left to somebody else; else asks the model again, or is done after TURN_ROUNDS_MAX rounds.
 * ⁴ the next attempt, only after a failure that may be retried; one that may not stays failed, and so does that of attempt
 * ATTEMPTS_MAX unless the model was busy.
 */
import { assign, emit, setup } from 'xstate';
import { TURN_ROUNDS_MAX } from '../protocol/limits.ts';
import type { Notice } from '../protocol/runtime/notice.ts';
import type { FailureCause } from '../protocol/runtime/states.ts';
import type { TurnEndStatus } from '../protocol/runtime/stream-events.ts';

/** Why a turn failed: a wire code (HTTP-18). */
export interface TurnFailure {
  readonly code: 'model_busy' | 'internal' | 'quota_exceeded';
  readonly message: string;
  readonly retryable: boolean;
  /** Sent as this notice instead of as an error, because the build can show one. */
  readonly notice?: Notice;
  /** Seconds after which a retry makes sense, where known. */
  readonly retryAfterS?: number;
  /** For whoever runs the app; clients are not told. */
  readonly cause?: FailureCause;
}

/** How many calls of a round wait for somebody: the client's own reads, and what a person has to confirm. */
export interface Waiting {
  readonly reads: number;
  readonly confirmations: number;
}

export interface ChatTurnContext {
  /** 1 for the first attempt; a retry after a retryable failure is the next. */
  readonly attempt: number;
  /** Rounds asked of the model in this attempt. */
  readonly round: number;
  readonly waiting: Waiting;
  readonly stopped: boolean;
  readonly failure: TurnFailure | null;
}

/** Where the time of a round went, and its tokens, for whoever looks at the turn later: the machine decides nothing by it. */
export interface RoundCost {
  /** From the arrival of the request until the turn was open; in the first round alone. */
  readonly admittedMs?: number;
  /** Until the model was asked: knowledge was searched, and the request made. */
  readonly preparedMs: number;
  /** From there to the model's first word or call; absent: there was none. */
  readonly firstMs?: number;
  /** As the upstream reports them; absent: it does not. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Tokens that were read from the upstream's prompt cache, and tokens of reasoning, which are part of the two above. Absent: none. */
  readonly cachedTokens?: number;
  readonly reasoningTokens?: number;
  /** The model that answered or failed last, where there are several, and those that failed before it. Absent: one was asked. */
  readonly answeredBy?: string;
  readonly fallbacks?: readonly { readonly askedFirst: string; readonly kind: string }[];
}

export type ChatTurnEvent =
  | { readonly type: 'turn.open'; readonly serverCalls: number; readonly waiting: Waiting }
  /** `leftOut`: how many pictures of the block a client would have fetched from where it must not (BLOCK-24). */
  | { readonly type: 'block.completed'; readonly blockId: string; readonly leftOut?: number }
  | { readonly type: 'round.finished'; readonly serverCalls: number; readonly waiting: Waiting; readonly cost?: RoundCost }
  | { readonly type: 'round.failed'; readonly failure: TurnFailure; readonly cost?: RoundCost }
  | { readonly type: 'calls.settled' }
  | { readonly type: 'turn.stop' }
  | { readonly type: 'turn.interrupted'; readonly failure: TurnFailure }
  | { readonly type: 'turn.retry' }
  | { readonly type: 'turn.resumed' };

export type ChatTurnEffect =
  | { readonly type: 'sendStart' }
  | { readonly type: 'callModel'; readonly round: number }
  | { readonly type: 'sendBlock'; readonly blockId: string }
  | { readonly type: 'runCalls' }
  | { readonly type: 'abortModel' }
  | { readonly type: 'executeActions' }
  | { readonly type: 'sendError'; readonly failure: TurnFailure }
  | { readonly type: 'endTurn'; readonly status: TurnEndStatus; readonly stopped: boolean };

const NOBODY: Waiting = { reads: 0, confirmations: 0 };

/** Whether the model gets the results of its calls in another round: no other answers are awaited, and rounds are left. */
export function asksAgain({ waiting, round }: ChatTurnContext): boolean {
  return waiting.reads === 0 && waiting.confirmations === 0 && round < TURN_ROUNDS_MAX;
}

/** Each attempt may cost as much as a whole answer, while the message counts only once towards the day's limit. */
const ATTEMPTS_MAX = 10;

/** The failure of this attempt, not retryable after the last one. A busy upstream is exempt: it cost nothing, and it passes. */
function lastOf(failure: TurnFailure, attempt: number): TurnFailure {
  if (attempt < ATTEMPTS_MAX || !failure.retryable || failure.code === 'model_busy') return failure;
  const message = `The answer could not be finished in ${attempt} attempts, and is not tried again. Send another message instead.`;
  return { code: failure.code, message, retryable: false, ...(failure.cause && { cause: failure.cause }) };
}

const definition = setup({
  types: {
    context: {} as ChatTurnContext,
    events: {} as ChatTurnEvent,
    emitted: {} as ChatTurnEffect,
  },
  guards: {
    leavesReadsWaiting: ({ event }) => (event.type === 'turn.open' || event.type === 'round.finished') && event.waiting.reads > 0,
    leavesConfirmationsWaiting: ({ event }) =>
      (event.type === 'turn.open' || event.type === 'round.finished') && event.waiting.confirmations > 0,
    hasServerCalls: ({ event }) => (event.type === 'turn.open' || event.type === 'round.finished') && event.serverCalls > 0,
    /** Reads that an earlier turn handed out. */
    earlierReadsWait: ({ context }) => context.round === 0 && context.waiting.reads > 0,
    readsWait: ({ context }) => context.waiting.reads > 0,
    confirmationsWait: ({ context }) => context.waiting.confirmations > 0,
    asksAgain: ({ context }) => asksAgain(context),
    mayRetry: ({ context }) => context.failure?.retryable === true,
  },
  actions: {
    noteWaiting: assign({ waiting: ({ event, context }) => ('waiting' in event ? event.waiting : context.waiting) }),
    noteFailure: assign({
      failure: ({ event, context }) => ('failure' in event ? lastOf(event.failure, context.attempt) : context.failure),
    }),
    noteStop: assign({ stopped: true }),
    nextRound: assign({ round: ({ context }) => context.round + 1 }),
    nextAttempt: assign({ attempt: ({ context }) => context.attempt + 1, round: 0, waiting: NOBODY, failure: null }),
    sendStart: emit({ type: 'sendStart' }),
    callModel: emit(({ context }) => ({ type: 'callModel', round: context.round })),
    sendBlock: emit(({ event }) => ({ type: 'sendBlock', blockId: event.type === 'block.completed' ? event.blockId : '' })),
    runCalls: emit({ type: 'runCalls' }),
    abortModel: emit({ type: 'abortModel' }),
    executeActions: emit({ type: 'executeActions' }),
    sendError: emit(({ context }) => ({ type: 'sendError', failure: context.failure as TurnFailure })),
    endCompleted: emit(({ context }) => ({ type: 'endTurn', status: 'completed', stopped: context.stopped })),
    endAwaitingResults: emit({ type: 'endTurn', status: 'awaiting_tool_results', stopped: false }),
    endAwaitingConfirmation: emit({ type: 'endTurn', status: 'awaiting_confirmation', stopped: false }),
    endFailed: emit({ type: 'endTurn', status: 'error', stopped: false }),
  },
});

export const chatTurn = definition.createMachine({
  id: 'chat-turn',
  context: { attempt: 1, round: 0, waiting: NOBODY, stopped: false, failure: null },
  initial: 'new',
  states: {
    new: {
      on: {
        'turn.open': [
          { guard: 'hasServerCalls', target: 'working', actions: ['noteWaiting', 'sendStart', 'runCalls'] },
          { guard: 'leavesReadsWaiting', target: 'awaiting_tool_results', actions: ['noteWaiting', 'sendStart', 'endAwaitingResults'] },
          {
            guard: 'leavesConfirmationsWaiting',
            target: 'awaiting_confirmation',
            actions: ['noteWaiting', 'sendStart', 'endAwaitingConfirmation'],
          },
          { target: 'answering', actions: ['sendStart', 'nextRound', 'callModel'] },
        ],
      },
    },
    answering: {
      on: {
        'block.completed': { actions: 'sendBlock' },
        'round.finished': [
          { guard: 'hasServerCalls', target: 'working', actions: ['noteWaiting', 'runCalls'] },
          {
            guard: 'leavesReadsWaiting',
            target: 'awaiting_tool_results',
            actions: ['noteWaiting', 'executeActions', 'endAwaitingResults'],
          },
          { guard: 'leavesConfirmationsWaiting', target: 'awaiting_confirmation', actions: ['noteWaiting', 'endAwaitingConfirmation'] },
          { target: 'completed', actions: 'endCompleted' },
        ],
        'round.failed': { target: 'failed', actions: ['noteFailure', 'sendError', 'endFailed'] },
        'turn.stop': { target: 'completed', actions: ['noteStop', 'abortModel', 'endCompleted'] },
        'turn.interrupted': { target: 'failed', actions: ['noteFailure', 'abortModel', 'sendError', 'endFailed'] },
      },
    },
    working: {
      on: {
        'block.completed': { actions: 'sendBlock' },
        'calls.settled': [
          { guard: 'earlierReadsWait', target: 'awaiting_tool_results', actions: 'endAwaitingResults' },
          { guard: 'readsWait', target: 'awaiting_tool_results', actions: ['executeActions', 'endAwaitingResults'] },
          { guard: 'confirmationsWait', target: 'awaiting_confirmation', actions: 'endAwaitingConfirmation' },
          { guard: 'asksAgain', target: 'answering', actions: ['nextRound', 'callModel'] },
          { target: 'completed', actions: 'endCompleted' },
        ],
        'round.failed': { target: 'failed', actions: ['noteFailure', 'sendError', 'endFailed'] },
        'turn.stop': { target: 'completed', actions: ['noteStop', 'abortModel', 'endCompleted'] },
        'turn.interrupted': { target: 'failed', actions: ['noteFailure', 'abortModel', 'sendError', 'endFailed'] },
      },
    },
    awaiting_tool_results: { on: { 'turn.resumed': 'continued' } },
    awaiting_confirmation: { on: { 'turn.resumed': 'continued' } },
    continued: { type: 'final' },
    completed: { type: 'final' },
    failed: {
      on: {
        'turn.retry': { guard: 'mayRetry', target: 'answering', actions: ['nextAttempt', 'sendStart', 'nextRound', 'callModel'] },
      },
    },
  },
});
