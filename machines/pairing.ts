/**
 * The pairing of a test build with the console's Test page (docs/specification/pairing.md). Owns
 * until when a code can be claimed, and until when the build that claimed it is watched. It does not own the code, the
 * device or the watching; rows keep the times, and whoever reads one sends `pairing.expire` first.
 *
 * | state \ event | pairing.claim          | pairing.replaced | pairing.expire ¹ |
 * |---------------|------------------------|------------------|------------------|
 * | open          | expired ¹ / claimed ²  | expired ³        | expired          |
 * | claimed       | refused ⁴              | ignored          | over             |
 * | expired       | refused ⁴              | ignored          | ignored          |
 * | over          | refused ⁴              | ignored          | ignored          |
 *
 * ¹ once its time has passed: 15 minutes for a code, two hours for the watching; a claim that comes later finds it so.
 * ² the watching begins, and the time is its end from now on. ³ more codes wait than may: the oldest makes room.
 * ⁴ a code works once: whoever sends it is told what a wrong one is told.
 */
import { assign, setup } from 'xstate';

export type PairingState = 'open' | 'claimed' | 'expired' | 'over';

export interface PairingContext {
  /** When the present state runs out. */
  readonly dueAtMs: number;
}

export type PairingEvent =
  | { readonly type: 'pairing.claim'; readonly nowMs: number; readonly watchedUntilMs: number }
  | { readonly type: 'pairing.replaced' }
  | { readonly type: 'pairing.expire'; readonly nowMs: number };

const definition = setup({
  types: {
    context: {} as PairingContext,
    events: {} as PairingEvent,
    input: {} as PairingContext,
  },
  guards: {
    isDue: ({ context, event }) => 'nowMs' in event && event.nowMs >= context.dueAtMs,
  },
  actions: {
    watch: assign({ dueAtMs: ({ context, event }) => (event.type === 'pairing.claim' ? event.watchedUntilMs : context.dueAtMs) }),
  },
});

/** By `actors/pairing/pairings.ts`. */
const claimRefused = { refused: { 'pairing.claim': 'pairing_not_found' } };

export const pairing = definition.createMachine({
  id: 'pairing',
  context: ({ input }) => ({ dueAtMs: input.dueAtMs }),
  initial: 'open',
  states: {
    open: {
      on: {
        'pairing.claim': [
          { guard: 'isDue', target: 'expired' },
          { target: 'claimed', actions: 'watch' },
        ],
        'pairing.replaced': 'expired',
        'pairing.expire': { guard: 'isDue', target: 'expired' },
      },
    },
    claimed: { meta: claimRefused, on: { 'pairing.expire': { guard: 'isDue', target: 'over' } } },
    expired: { type: 'final', meta: claimRefused },
    over: { type: 'final', meta: claimRefused },
  },
});
