/**
 * The life of one action call of the model (CONFIRM-5 to CONFIRM-18). Owns who may still
 * answer it and what a late, repeated or unconfirmed answer counts as. It does not run anything and keeps no result.
 *
 * | state \ event    | dispatch                     | confirm   | decline  | expire ³  | edit.begin       | edit.accept   | edit.reject      | result.received                     | execution.started | execution.settled  | process.lost  | answer.lost |
 * |------------------|------------------------------|-----------|----------|-----------|------------------|---------------|------------------|-------------------------------------|-------------------|--------------------|---------------|-------------|
 * | requested        | dispatched / pending.clean ¹ | ignored   | ignored  | ignored   | ignored          | ignored       | ignored          | ignored                             | executing ²       | ignored            | ignored       | ignored     |
 * | dispatched       | ignored                      | ignored   | ignored  | timed_out | ignored          | ignored       | ignored          | succeeded / failed / timed_out / declined | ignored     | ignored            | ignored       | ignored     |
 * | pending.clean    | ignored                      | confirmed | declined | expired   | pending.editing  | ignored       | ignored          | confirmed / succeeded / declined / failed ⁴ | ignored   | ignored            | ignored       | unknown     |
 * | pending.editing  | ignored                      | refused   | declined | expired   | ignored          | pending.clean | pending.rejected | declined / failed ⁵                 | ignored           | ignored            | pending.clean | unknown     |
 * | pending.rejected | ignored                      | refused   | declined | expired   | pending.editing  | ignored       | ignored          | declined / failed ⁵                 | ignored           | ignored            | ignored       | unknown     |
 * | confirmed        | ignored                      | ignored   | ignored  | expired   | ignored          | ignored       | ignored          | stays / succeeded / declined / failed ⁶ | executing ²   | ignored            | ignored       | ignored     |
 * | executing        | ignored                      | ignored   | ignored  | ignored   | ignored          | ignored       | ignored          | ignored                             | ignored           | succeeded / failed / unknown | unknown | ignored     |
 *
 * declined, expired, succeeded, failed, timed_out, unknown: everything is ignored, the recorded answer stands.
 * A call that was sent, and whose outcome cannot be determined, settles as unknown.
 * Refused is ignored here and a 400 for the person who asked (CONFIRM-14). A confirmation or a result that names another revision
 * than the card's does not get here: it is answered 409 with the card as it is.
 *
 * ¹ a client-side read is dispatched, a write or destructive call waits for a person; a server-side read is never
 * handed out. ² what runs on the server: a read without being asked, anything else once confirmed. ³ only once the time
 * it was given has passed; a recorded confirmation is given one of its own, one on trust has none and is used at once. ⁴ ok with confirmed: true succeeds, or (what runs on the server) is confirmed; ok without it,
 * or where the app records confirmations (there is no record yet), is declined; declined is declined; the rest is failed.
 * ⁵ a card that cannot be confirmed now is not confirmed by a result either: ok is declined.
 * ⁶ ok succeeds with confirmed: true or where the app records confirmations (there is a record now), and stays for what
 * the server runs itself; ok with neither is declined; declined is declined; the rest is failed.
 */
import { assign, setup } from 'xstate';
import type { Executor, Risk } from '../protocol/runtime/stream-events.ts';

export interface InvocationContext {
  readonly risk: Risk;
  readonly executor: Executor;
  /** The card's revision: every accepted edit raises it. */
  readonly revision: number;
  /** When the present state runs out; null in states that do not. */
  readonly expiresAtMs: number | null;
}

export type ResultStatus = 'ok' | 'error' | 'declined' | 'timeout' | 'unavailable';

/** How a call that the server ran has ended. */
export type ExecutionOutcome = 'succeeded' | 'failed' | 'unknown';

export type InvocationEvent =
  | { readonly type: 'dispatch'; readonly expiresAtMs: number }
  /** `expiresAtMs`: until when the confirmation is valid for a continuation. */
  | { readonly type: 'confirm'; readonly expiresAtMs: number }
  | { readonly type: 'decline' }
  | { readonly type: 'expire'; readonly nowMs: number }
  | { readonly type: 'edit.begin' }
  | { readonly type: 'edit.accept' }
  | { readonly type: 'edit.reject' }
  | {
      readonly type: 'result.received';
      readonly status: ResultStatus;
      readonly confirmed: boolean;
      /** The app's setting: only the server's own record of a confirmation counts. */
      readonly recordRequired: boolean;
    }
  | { readonly type: 'execution.started' }
  | { readonly type: 'execution.settled'; readonly outcome: ExecutionOutcome }
  | { readonly type: 'process.lost' }
  /** The rows come from a replica that may lack a person's answer, or that the call was made (REPLICA-9). */
  | { readonly type: 'answer.lost' };

const definition = setup({
  types: {
    context: {} as InvocationContext,
    events: {} as InvocationEvent,
    input: {} as { readonly risk: Risk; readonly executor: Executor },
  },
  guards: {
    isClientRead: ({ context }) => context.risk === 'read' && context.executor === 'client',
    asksPerson: ({ context }) => context.risk !== 'read',
    isServerRead: ({ context }) => context.risk === 'read' && context.executor === 'server',
    isServerSide: ({ context }) => context.executor === 'server',
    isDue: ({ context, event }) => event.type === 'expire' && context.expiresAtMs !== null && event.nowMs >= context.expiresAtMs,
    isOk: ({ event }) => event.type === 'result.received' && event.status === 'ok',
    isTimeout: ({ event }) => event.type === 'result.received' && event.status === 'timeout',
    isDeclined: ({ event }) => event.type === 'result.received' && event.status === 'declined',
    okByServerOnTrust: ({ context, event }) =>
      context.executor === 'server' &&
      event.type === 'result.received' &&
      event.status === 'ok' &&
      event.confirmed &&
      !event.recordRequired,
    passedOnToServer: ({ context, event }) =>
      context.executor === 'server' &&
      event.type === 'result.received' &&
      event.status === 'ok' &&
      (event.confirmed || event.recordRequired),
    okOnTrust: ({ event }) => event.type === 'result.received' && event.status === 'ok' && event.confirmed && !event.recordRequired,
    okOnRecord: ({ event }) => event.type === 'result.received' && event.status === 'ok' && (event.confirmed || event.recordRequired),
    isDone: ({ event }) => event.type === 'execution.settled' && event.outcome === 'succeeded',
    isUncertain: ({ event }) => event.type === 'execution.settled' && event.outcome === 'unknown',
  },
  actions: {
    startClock: assign({ expiresAtMs: ({ event, context }) => ('expiresAtMs' in event ? event.expiresAtMs : context.expiresAtMs) }),
    stopClock: assign({ expiresAtMs: null }),
    raiseRevision: assign({ revision: ({ context }) => context.revision + 1 }),
  },
});

/** By `actors/calls/confirmation.ts` (CONFIRM-14). */
const confirmRefused = { refused: { confirm: 'invalid_request' } };

export const invocation = definition.createMachine({
  id: 'invocation',
  context: ({ input }) => ({ risk: input.risk, executor: input.executor, revision: 1, expiresAtMs: null }),
  initial: 'requested',
  states: {
    requested: {
      on: {
        dispatch: [
          { guard: 'isClientRead', target: 'dispatched', actions: 'startClock' },
          { guard: 'asksPerson', target: 'pending', actions: 'startClock' },
        ],
        'execution.started': { guard: 'isServerRead', target: 'executing' },
      },
    },
    dispatched: {
      exit: 'stopClock',
      on: {
        'result.received': [
          { guard: 'isOk', target: 'succeeded' },
          { guard: 'isTimeout', target: 'timed_out' },
          { guard: 'isDeclined', target: 'declined' },
          { target: 'failed' },
        ],
        expire: { guard: 'isDue', target: 'timed_out' },
      },
    },
    pending: {
      exit: 'stopClock',
      initial: 'clean',
      on: {
        decline: 'declined',
        'answer.lost': 'unknown',
        expire: { guard: 'isDue', target: 'expired' },
        'result.received': [{ guard: 'isOk', target: 'declined' }, { guard: 'isDeclined', target: 'declined' }, { target: 'failed' }],
      },
      states: {
        clean: {
          on: {
            confirm: { target: '#invocation.confirmed', actions: 'startClock' },
            'edit.begin': 'editing',
            // A result confirms only a card that could be confirmed now; `pending` handles the rest.
            'result.received': [
              { guard: 'okByServerOnTrust', target: '#invocation.confirmed' },
              { guard: 'okOnTrust', target: '#invocation.succeeded' },
            ],
          },
        },
        editing: {
          meta: confirmRefused,
          on: { 'edit.accept': { target: 'clean', actions: 'raiseRevision' }, 'edit.reject': 'rejected', 'process.lost': 'clean' },
        },
        rejected: { meta: confirmRefused, on: { 'edit.begin': 'editing' } },
      },
    },
    confirmed: {
      exit: 'stopClock',
      on: {
        expire: { guard: 'isDue', target: 'expired' },
        'result.received': [
          // The client only passes the confirmation on; the server runs the action and reports the outcome.
          { guard: 'passedOnToServer' },
          { guard: 'okOnRecord', target: 'succeeded' },
          { guard: 'isOk', target: 'declined' },
          { guard: 'isDeclined', target: 'declined' },
          { target: 'failed' },
        ],
        'execution.started': { guard: 'isServerSide', target: 'executing' },
      },
    },
    executing: {
      on: {
        'execution.settled': [{ guard: 'isDone', target: 'succeeded' }, { guard: 'isUncertain', target: 'unknown' }, { target: 'failed' }],
        'process.lost': 'unknown',
      },
    },
    declined: { type: 'final' },
    expired: { type: 'final' },
    succeeded: { type: 'final' },
    failed: { type: 'final' },
    timed_out: { type: 'final' },
    unknown: { type: 'final' },
  },
});
