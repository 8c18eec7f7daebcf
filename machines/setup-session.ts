/**
 * The life of one setup session (SETUP-3 to SETUP-7). Owns whether a call with the
 * session's token is admitted or refused: in the four states of the end every call is refused, which is how the token is
 * revoked. It does not own the token, the steps of the panel (`step-panel`) or what the calls write.
 *
 * | state \ event | session.claim                                                   | session.call                                     | session.complete | session.fail | session.stop | session.replaced | session.expire ¹ | app.live ² |
 * |---------------|-----------------------------------------------------------------|--------------------------------------------------|------------------|--------------|--------------|------------------|------------------|------------|
 * | open          | expired ¹ / refuses app_live ³ / running                        | expired ¹ / refuses app_live ³ / refuses not_started | ignored      | ignored      | cancelled    | cancelled        | expired          | cancelled  |
 * | running       | expired ¹ / refuses app_live ³ / stays ⁴ / refuses already_claimed | expired ¹ / refuses app_live ³ / stays        | completed        | failed       | cancelled    | cancelled        | expired          | cancelled  |
 * | completed     | refuses session_closed                                          | refuses session_closed                           | ignored          | ignored      | ignored      | ignored          | ignored          | ignored    |
 * | failed        | refuses session_closed                                          | refuses session_closed                           | ignored          | ignored      | ignored      | ignored          | ignored          | ignored    |
 * | cancelled     | refuses session_closed                                          | refuses session_closed                           | ignored          | ignored      | ignored      | ignored          | ignored          | ignored    |
 * | expired       | refuses session_closed                                          | refuses session_closed                           | ignored          | ignored      | ignored      | ignored          | ignored          | ignored    |
 *
 * When several outcomes are listed, the first that applies counts. "Refuses" changes nothing and emits `refuse` with that code.
 * ¹ once its time has passed: the panel is closed, and the call refused as session_closed.
 * ² only a setup session; a sync session works on a live app. ³ a setup session on a live app, if it is still open.
 * ⁴ the same tool, model and os: the agent starts again.
 *
 * POST /complete and POST /fail are calls like any other: `session.call` is asked first, then their own event is sent.
 */
import { assign, emit, setup } from 'xstate';
import type { SessionKind } from '../protocol/console/sessions.ts';

/** Who claimed the session: two agents are the same when all three are. */
export interface AgentIdentity {
  readonly tool: string;
  readonly model: string | null;
  readonly os: string | null;
}

export interface SetupSessionContext {
  readonly kind: SessionKind;
  readonly expiresAtMs: number;
  /** Null until the claim. */
  readonly agent: AgentIdentity | null;
}

export type SetupSessionState = 'open' | 'running' | 'completed' | 'failed' | 'cancelled' | 'expired';
export type SetupSessionOutcome = Exclude<SetupSessionState, 'open' | 'running'>;

export type SetupSessionEvent =
  | { readonly type: 'session.claim'; readonly agent: AgentIdentity; readonly nowMs: number; readonly appLive: boolean }
  | { readonly type: 'session.call'; readonly nowMs: number; readonly appLive: boolean }
  | { readonly type: 'session.complete' }
  | { readonly type: 'session.fail' }
  | { readonly type: 'session.stop' }
  | { readonly type: 'session.replaced' }
  | { readonly type: 'session.expire'; readonly nowMs: number }
  | { readonly type: 'app.live' };

export type SetupSessionEffect =
  | { readonly type: 'admit'; readonly restart: boolean }
  | { readonly type: 'refuse'; readonly code: 'not_started' | 'already_claimed' | 'session_closed' | 'app_live' }
  | { readonly type: 'closePanel'; readonly outcome: SetupSessionOutcome };

function isSameAgent(one: AgentIdentity | null, other: AgentIdentity): boolean {
  return one !== null && one.tool === other.tool && one.model === other.model && one.os === other.os;
}

const definition = setup({
  types: {
    context: {} as SetupSessionContext,
    events: {} as SetupSessionEvent,
    emitted: {} as SetupSessionEffect,
    input: {} as { readonly kind: SessionKind; readonly expiresAtMs: number },
  },
  guards: {
    isDue: ({ context, event }) => 'nowMs' in event && event.nowMs >= context.expiresAtMs,
    isShutOut: ({ context, event }) => context.kind === 'setup' && 'appLive' in event && event.appLive,
    isSameAgent: ({ context, event }) => event.type === 'session.claim' && isSameAgent(context.agent, event.agent),
    endsWhenLive: ({ context }) => context.kind === 'setup',
  },
  actions: {
    noteAgent: assign({ agent: ({ event, context }) => (event.type === 'session.claim' ? event.agent : context.agent) }),
    admit: emit({ type: 'admit', restart: false }),
    admitAgain: emit({ type: 'admit', restart: true }),
    refuseNotStarted: emit({ type: 'refuse', code: 'not_started' }),
    refuseAlreadyClaimed: emit({ type: 'refuse', code: 'already_claimed' }),
    refuseAppLive: emit({ type: 'refuse', code: 'app_live' }),
    refuseClosed: emit({ type: 'refuse', code: 'session_closed' }),
    closeCompleted: emit({ type: 'closePanel', outcome: 'completed' }),
    closeFailed: emit({ type: 'closePanel', outcome: 'failed' }),
    closeCancelled: emit({ type: 'closePanel', outcome: 'cancelled' }),
    closeExpired: emit({ type: 'closePanel', outcome: 'expired' }),
  },
});

// The token stays known after the end, so that its further use is answered with session_closed.
const closed = definition.createStateConfig({
  on: { 'session.claim': { actions: 'refuseClosed' }, 'session.call': { actions: 'refuseClosed' } },
});

export const setupSession = definition.createMachine({
  id: 'setup-session',
  context: ({ input }) => ({ kind: input.kind, expiresAtMs: input.expiresAtMs, agent: null }),
  initial: 'open',
  states: {
    open: {
      on: {
        'session.claim': [
          { guard: 'isDue', target: 'expired', actions: ['closeExpired', 'refuseClosed'] },
          { guard: 'isShutOut', actions: 'refuseAppLive' },
          { target: 'running', actions: ['noteAgent', 'admit'] },
        ],
        'session.call': [
          { guard: 'isDue', target: 'expired', actions: ['closeExpired', 'refuseClosed'] },
          { guard: 'isShutOut', actions: 'refuseAppLive' },
          { actions: 'refuseNotStarted' },
        ],
        'session.stop': { target: 'cancelled', actions: ['closeCancelled'] },
        'session.replaced': { target: 'cancelled', actions: ['closeCancelled'] },
        'session.expire': { guard: 'isDue', target: 'expired', actions: ['closeExpired'] },
        'app.live': { guard: 'endsWhenLive', target: 'cancelled', actions: ['closeCancelled'] },
      },
    },
    running: {
      on: {
        'session.claim': [
          { guard: 'isDue', target: 'expired', actions: ['closeExpired', 'refuseClosed'] },
          { guard: 'isShutOut', actions: 'refuseAppLive' },
          { guard: 'isSameAgent', actions: 'admitAgain' },
          { actions: 'refuseAlreadyClaimed' },
        ],
        'session.call': [
          { guard: 'isDue', target: 'expired', actions: ['closeExpired', 'refuseClosed'] },
          { guard: 'isShutOut', actions: 'refuseAppLive' },
          { actions: 'admit' },
        ],
        'session.complete': { target: 'completed', actions: ['closeCompleted'] },
        'session.fail': { target: 'failed', actions: ['closeFailed'] },
        'session.stop': { target: 'cancelled', actions: ['closeCancelled'] },
        'session.replaced': { target: 'cancelled', actions: ['closeCancelled'] },
        'session.expire': { guard: 'isDue', target: 'expired', actions: ['closeExpired'] },
        'app.live': { guard: 'endsWhenLive', target: 'cancelled', actions: ['closeCancelled'] },
      },
    },
    completed: closed,
    failed: closed,
    cancelled: closed,
    expired: closed,
  },
});
