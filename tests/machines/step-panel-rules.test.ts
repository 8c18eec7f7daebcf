import assert from 'node:assert/strict';
import test from 'node:test';
import { type Stepper, stepper } from '../../machines/step.ts';
import { type StepPanelContext, type StepPanelEvent, stepPanel } from '../../machines/step-panel.ts';
import { EVENT_STATUSES, STEP_IDS, type StepId, type StepState } from '../../protocol/setup/steps.ts';

type Value = Record<StepId, StepState>;

const CODE = ['discover', 'install', 'identity'] as const;
const WRITES = ['appearance', 'experience', 'knowledge', 'screens', 'actions'] as const;

const value = (panel: Stepper<typeof stepPanel>): Value => panel.snapshot.value as Value;

test('STEP-10: a session that writes, observes and completes ends with all thirteen done', () => {
  const panel = stepper(stepPanel);
  assert.deepEqual(new Set(Object.values(value(panel))), new Set(['pending']));
  const events: StepPanelEvent[] = [
    { type: 'session.claimed' },
    ...CODE.map((step) => ({ type: 'step.reported', step, status: 'done' }) as const),
    ...WRITES.map((step) => ({ type: 'step.written', step }) as const),
    { type: 'step.observed', step: 'verify' },
    { type: 'step.observed', step: 'test' },
    { type: 'session.completed' },
  ];
  const active = events.flatMap((event) => {
    panel.send(event);
    return STEP_IDS.filter((step) => value(panel)[step] === 'active');
  });
  assert.deepEqual(value(panel), Object.fromEntries(STEP_IDS.map((step) => [step, 'done'])));
  assert.deepEqual([...new Set(active)], WRITES);
});

test('STEP-3: a step of writes is finished in the step that names a later one, and in that one only', () => {
  const panel = stepper(stepPanel);
  panel.send({ type: 'step.written', step: 'appearance' });
  panel.send({ type: 'step.written', step: 'experience' });
  const before = value(panel);
  assert.deepEqual([before.appearance, before.experience], ['done', 'active']);
  panel.send({ type: 'step.reported', step: 'verify', status: 'started' });
  assert.deepEqual(value(panel), { ...before, experience: 'done', verify: 'active' });
});

test('STEP-8: verify turns done when the app calls in, also after it failed, and stays so whatever the agent says', () => {
  const panel = stepper(stepPanel);
  panel.send({ type: 'step.reported', step: 'verify', status: 'failed' });
  assert.equal(value(panel).verify, 'failed');
  panel.send({ type: 'step.observed', step: 'verify' });
  for (const status of EVENT_STATUSES) {
    panel.send({ type: 'step.reported', step: 'verify', status });
    assert.equal(value(panel).verify, 'done', status);
  }
});

test('SETUP-8: a panel restored from what was stored goes on as the one that was not', () => {
  const events: StepPanelEvent[] = [
    { type: 'session.claimed' },
    { type: 'step.written', step: 'knowledge' },
    { type: 'step.reported', step: 'screens', status: 'skipped' },
    { type: 'session.failed', step: null },
  ];
  const whole = stepper(stepPanel);
  let state = whole.state;
  let context: StepPanelContext = whole.snapshot.context;
  for (const event of events) {
    whole.send(event);
    for (const from of [state, JSON.parse(state) as Value]) {
      const restored = stepper(stepPanel, { stored: { state: from, context } }).send(event);
      assert.deepEqual([restored.state, restored.snapshot.context], [whole.state, whole.snapshot.context]);
    }
    state = whole.state;
    context = whole.snapshot.context;
  }
  assert.equal((JSON.parse(state) as Value).screens, 'failed');
});
