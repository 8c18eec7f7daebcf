import assert from 'node:assert/strict';
import test from 'node:test';
import { type AppLifecycleEffect, type AppLifecycleEvent, type AppLifecycleState, appLifecycle } from '../../machines/app-lifecycle.ts';
import { APP_EVENTS } from '../../machines/simulator/samples.ts';
import { stepper } from '../../machines/step.ts';

type EventType = AppLifecycleEvent['type'];

interface Branch {
  readonly on: readonly AppLifecycleEvent[];
  readonly to: AppLifecycleState;
  readonly effects: readonly AppLifecycleEffect[];
}

/** Null: ignored, whatever the event carries. */
type Cell = readonly Branch[] | null;

function evaluated(passed: boolean, autoGoLive: boolean, setupSessionOpen: boolean): AppLifecycleEvent {
  return { type: 'checks.evaluated', passed, autoGoLive, setupSessionOpen };
}

const TABLE: Record<AppLifecycleState, Record<EventType, Cell>> = {
  building: {
    'checks.evaluated': [
      { on: [evaluated(true, true, false)], to: 'live', effects: [{ type: 'goLive' }, { type: 'endSetupSession' }] },
      {
        on: [
          evaluated(true, true, true),
          evaluated(true, false, false),
          evaluated(true, false, true),
          evaluated(false, true, false),
          evaluated(false, true, true),
          evaluated(false, false, false),
          evaluated(false, false, true),
        ],
        to: 'building',
        effects: [],
      },
    ],
    'golive.requested': [{ on: APP_EVENTS['golive.requested'], to: 'live', effects: [{ type: 'goLive' }, { type: 'endSetupSession' }] }],
  },
  live: {
    'checks.evaluated': [{ on: APP_EVENTS['checks.evaluated'], to: 'live', effects: [{ type: 'endSetupSession' }] }],
    'golive.requested': [{ on: APP_EVENTS['golive.requested'], to: 'live', effects: [{ type: 'endSetupSession' }] }],
  },
};

function proveCell(state: AppLifecycleState, type: EventType, cell: Cell): void {
  const branches: readonly Branch[] = cell ?? [{ on: APP_EVENTS[type], to: state, effects: [] }];
  const proven: string[] = [];
  for (const { on, to, effects } of branches) {
    for (const event of on) {
      const step = stepper(appLifecycle, { stored: { state, context: {} } }).send(event);
      assert.equal(step.state, to, JSON.stringify(event));
      assert.deepEqual(step.effects, effects, JSON.stringify(event));
      proven.push(JSON.stringify(event));
    }
  }
  assert.deepEqual(proven.sort(), APP_EVENTS[type].map((event) => JSON.stringify(event)).sort(), 'each payload belongs to one branch');
}

for (const state of Object.keys(TABLE) as AppLifecycleState[]) {
  for (const type of Object.keys(TABLE[state]) as EventType[]) {
    test(`LIVE-4, LIVE-6: ${state} × ${type}`, () => proveCell(state, type, TABLE[state][type]));
  }
}

test('LIVE-4: an app goes live once, and stays live', () => {
  const machine = stepper(appLifecycle);
  assert.equal(machine.state, 'building');
  const events = [...Object.values(APP_EVENTS).flat(), ...Object.values(APP_EVENTS).flat()];
  const effects = events.flatMap((event) => machine.send(event).effects);
  assert.equal(effects.filter((effect) => effect.type === 'goLive').length, 1);
  assert.equal(machine.state, 'live');
});
