/**
 * The life of an app (LIVE-4, LIVE-6). Owns when an app goes live: by itself once its checks
 * pass, or because a person asks for it. Suspending an app is a setting, and an app that went live stays live.
 *
 * | state \ event | checks.evaluated | golive.requested |
 * |---------------|------------------|------------------|
 * | building      | live ¹ ⁴         | live ² ⁴         |
 * | live          | stays ³ ⁴        | stays ³ ⁴        |
 *
 * ¹ only when all four checks pass, the app may go live by itself, and no setup session is open: a session's own smoke
 * run must not end it before its POST /complete. ² whatever the checks say. ³ nothing happens but what ⁴ says.
 * ⁴ a setup session that is open by then ends: one opened in the same moment, or left open by a process that died.
 */
import { emit, setup } from 'xstate';

export type AppLifecycleState = 'building' | 'live';

export type AppLifecycleEvent =
  | {
      readonly type: 'checks.evaluated';
      /** All four of them. */
      readonly passed: boolean;
      readonly autoGoLive: boolean;
      readonly setupSessionOpen: boolean;
    }
  | { readonly type: 'golive.requested' };

export type AppLifecycleEffect = { readonly type: 'goLive' } | { readonly type: 'endSetupSession' };

const definition = setup({
  types: {
    events: {} as AppLifecycleEvent,
    emitted: {} as AppLifecycleEffect,
  },
  guards: {
    goesByItself: ({ event }) => event.type === 'checks.evaluated' && event.passed && event.autoGoLive && !event.setupSessionOpen,
  },
  actions: {
    goLive: emit({ type: 'goLive' }),
    endSetupSession: emit({ type: 'endSetupSession' }),
  },
});

export const appLifecycle = definition.createMachine({
  id: 'app-lifecycle',
  initial: 'building',
  states: {
    building: {
      on: {
        'checks.evaluated': { guard: 'goesByItself', target: 'live', actions: ['goLive', 'endSetupSession'] },
        'golive.requested': { target: 'live', actions: ['goLive', 'endSetupSession'] },
      },
    },
    live: { on: { 'checks.evaluated': { actions: 'endSetupSession' }, 'golive.requested': { actions: 'endSetupSession' } } },
  },
});
