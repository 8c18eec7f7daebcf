import assert from 'node:assert/strict';
import test from 'node:test';
import { type Stepper, stepper } from '../../machines/step.ts';
import { type StepPanelContext, type StepPanelEvent, stepPanel } from '../../machines/step-panel.ts';
import {
  AGENT_STEPS,
  type AgentStepId,
  EVENT_STATUSES,
  type EventStatus,
  STEP_IDS,
  STEPS,
  type StepId,
  type StepState,
} from '../../protocol/setup/steps.ts';

/** The steps as the specification lists them, by what makes their rows differ. */
const KINDS = {
  claim: ['waiting', 'connected'],
  code: ['discover', 'install', 'identity'],
  write: ['appearance', 'experience', 'knowledge', 'screens', 'actions'],
  server: ['verify', 'test'],
  last: ['done'],
} as const satisfies Record<string, readonly StepId[]>;
type Kind = keyof typeof KINDS;
const ORDER: readonly StepId[] = [...KINDS.claim, ...KINDS.code, ...KINDS.write, ...KINDS.server, ...KINDS.last];

/** One state for every kind of step, or some kinds apart from the `rest`. */
type Cell = StepState | ({ readonly rest: StepState } & { readonly [K in Kind]?: StepState });

/** What may happen to a step, told apart by whether the event is about it or about another. */
type Column =
  | 'session.claimed'
  | `reported ${EventStatus}`
  | 'reported on a later step'
  | 'reported on an earlier step'
  | 'written'
  | 'written to a later step'
  | 'written to an earlier step'
  | 'observed'
  | 'observed another step'
  | 'session.completed'
  | 'failed at it'
  | 'failed where it was last'
  | 'failed elsewhere';

interface Case {
  readonly event: StepPanelEvent;
  readonly lastStep: AgentStepId | null;
}

const isAgentStep = (step: StepId): step is AgentStepId => (AGENT_STEPS as readonly StepId[]).includes(step);

function casesOf(step: StepId): Record<Column, readonly Case[]> {
  const mine = isAgentStep(step) ? [step] : [];
  const at = ORDER.indexOf(step);
  const later = ORDER.slice(at + 1).filter(isAgentStep);
  const earlier = ORDER.slice(0, at).filter(isAgentStep);
  const nowhere: readonly Case[] = [{ event: { type: 'session.failed', step: null }, lastStep: null }];
  const plain = (events: readonly StepPanelEvent[]): Case[] => events.map((event) => ({ event, lastStep: null }));
  const reported = (steps: readonly AgentStepId[], statuses: readonly EventStatus[]) =>
    plain(steps.flatMap((one) => statuses.map((status) => ({ type: 'step.reported', step: one, status }) as const)));
  const written = (steps: readonly AgentStepId[]) => plain(steps.map((one) => ({ type: 'step.written', step: one })));
  return {
    'session.claimed': plain([{ type: 'session.claimed' }]),
    'reported started': reported(mine, ['started']),
    'reported progress': reported(mine, ['progress']),
    'reported waiting': reported(mine, ['waiting']),
    'reported done': reported(mine, ['done']),
    'reported skipped': reported(mine, ['skipped']),
    'reported failed': reported(mine, ['failed']),
    'reported on a later step': reported(later, EVENT_STATUSES),
    'reported on an earlier step': reported(earlier, EVENT_STATUSES),
    written: written(mine),
    'written to a later step': written(later),
    'written to an earlier step': written(earlier),
    observed: plain([{ type: 'step.observed', step }]),
    'observed another step': plain(ORDER.filter((one) => one !== step).map((one) => ({ type: 'step.observed', step: one }))),
    'session.completed': plain([{ type: 'session.completed' }]),
    'failed at it': mine.flatMap((one) =>
      [null, 'discover' as const].map((lastStep): Case => ({ event: { type: 'session.failed', step: one }, lastStep })),
    ),
    'failed where it was last': [
      ...mine.map((lastStep): Case => ({ event: { type: 'session.failed', step: null }, lastStep })),
      // Before it said or wrote anything the agent was at its start.
      ...(step === 'connected' ? nowhere : []),
    ],
    'failed elsewhere': [
      ...(step === 'connected' ? [] : nowhere),
      ...[...earlier, ...later].flatMap((other): Case[] => [
        { event: { type: 'session.failed', step: null }, lastStep: other },
        { event: { type: 'session.failed', step: other }, lastStep: isAgentStep(step) ? step : null },
      ]),
    ],
  };
}

const TABLE: Record<StepState, Record<Column, Cell>> = {
  pending: {
    'session.claimed': { rest: 'pending', claim: 'done' },
    'reported started': 'active',
    'reported progress': 'active',
    'reported waiting': 'active',
    'reported done': { rest: 'done', server: 'pending' },
    'reported skipped': 'skipped',
    'reported failed': 'failed',
    'reported on a later step': 'pending',
    'reported on an earlier step': 'pending',
    written: 'active',
    'written to a later step': 'pending',
    'written to an earlier step': 'pending',
    observed: 'done',
    'observed another step': 'pending',
    'session.completed': { rest: 'pending', last: 'done' },
    'failed at it': 'failed',
    'failed where it was last': 'failed',
    'failed elsewhere': 'pending',
  },
  active: {
    'session.claimed': 'active',
    'reported started': 'active',
    'reported progress': 'active',
    'reported waiting': 'active',
    'reported done': { rest: 'done', server: 'active' },
    'reported skipped': 'skipped',
    'reported failed': 'failed',
    'reported on a later step': { rest: 'active', write: 'done' },
    'reported on an earlier step': 'active',
    written: 'active',
    'written to a later step': { rest: 'active', write: 'done' },
    'written to an earlier step': 'active',
    observed: 'done',
    'observed another step': 'active',
    'session.completed': { rest: 'active', write: 'done', last: 'done' },
    'failed at it': 'failed',
    'failed where it was last': 'failed',
    'failed elsewhere': 'active',
  },
  done: {
    'session.claimed': 'done',
    'reported started': { rest: 'active', server: 'done' },
    'reported progress': 'done',
    'reported waiting': 'done',
    'reported done': 'done',
    'reported skipped': { rest: 'skipped', server: 'done' },
    'reported failed': { rest: 'failed', server: 'done' },
    'reported on a later step': 'done',
    'reported on an earlier step': 'done',
    written: 'done',
    'written to a later step': 'done',
    'written to an earlier step': 'done',
    observed: 'done',
    'observed another step': 'done',
    'session.completed': 'done',
    'failed at it': 'failed',
    'failed where it was last': 'failed',
    'failed elsewhere': 'done',
  },
  failed: {
    'session.claimed': 'failed',
    'reported started': 'active',
    'reported progress': 'active',
    'reported waiting': 'active',
    'reported done': { rest: 'done', server: 'failed' },
    'reported skipped': 'skipped',
    'reported failed': 'failed',
    'reported on a later step': 'failed',
    'reported on an earlier step': 'failed',
    written: 'active',
    'written to a later step': 'failed',
    'written to an earlier step': 'failed',
    observed: 'done',
    'observed another step': 'failed',
    'session.completed': { rest: 'failed', last: 'done' },
    'failed at it': 'failed',
    'failed where it was last': 'failed',
    'failed elsewhere': 'failed',
  },
  skipped: {
    'session.claimed': 'skipped',
    'reported started': 'active',
    'reported progress': 'active',
    'reported waiting': 'active',
    'reported done': { rest: 'done', server: 'skipped' },
    'reported skipped': 'skipped',
    'reported failed': 'failed',
    'reported on a later step': 'skipped',
    'reported on an earlier step': 'skipped',
    written: 'active',
    'written to a later step': 'skipped',
    'written to an earlier step': 'skipped',
    observed: 'done',
    'observed another step': 'skipped',
    'session.completed': { rest: 'skipped', last: 'done' },
    'failed at it': 'failed',
    'failed where it was last': 'failed',
    'failed elsewhere': 'skipped',
  },
};

type Panel = Stepper<typeof stepPanel>;
type Value = Record<StepId, StepState>;

const value = (panel: Panel): Value => panel.snapshot.value as Value;

/** A panel where one step is in this state and all others are pending. */
function panelWith(step: StepId, state: StepState, lastStep: StepPanelContext['lastStep']): Panel {
  const states = Object.fromEntries(ORDER.map((one) => [one, one === step ? state : 'pending']));
  return stepper(stepPanel, { stored: { state: states, context: { lastStep } } });
}

function proveCell(state: StepState, column: Column, cell: Cell): number {
  let proven = 0;
  for (const kind of Object.keys(KINDS) as Kind[]) {
    const to = typeof cell === 'string' ? cell : (cell[kind] ?? cell.rest);
    for (const step of KINDS[kind]) {
      for (const { event, lastStep } of casesOf(step)[column]) {
        const panel = panelWith(step, state, lastStep);
        panel.send(event);
        const label = JSON.stringify({ step, event, lastStep });
        assert.equal(value(panel)[step], to, label);
        const isWork = event.type === 'step.reported' || event.type === 'step.written';
        assert.equal(panel.snapshot.context.lastStep, isWork ? event.step : lastStep, label);
        proven += 1;
      }
    }
  }
  return proven;
}

for (const state of Object.keys(TABLE) as StepState[]) {
  test(`STEP-1: a step that is ${state}, whatever happens, at each of the thirteen`, async (t) => {
    for (const column of Object.keys(TABLE[state]) as Column[]) {
      await t.test(`${state} × ${column}`, () => assert.ok(proveCell(state, column, TABLE[state][column]) > 0));
    }
  });
}

test('STEP-1: thirteen in the order of the table, each with its label and who closes it', () => {
  assert.deepEqual(STEP_IDS, ORDER);
  assert.equal(STEP_IDS.length, 13);
  assert.deepEqual(AGENT_STEPS, ORDER.slice(2));
  const closedBy = (who: string) => STEPS.filter((step) => step.closedBy === who).map((step) => step.id);
  assert.deepEqual(closedBy('server'), [...KINDS.claim, ...KINDS.server]);
  assert.deepEqual(closedBy('agent'), KINDS.code);
  assert.deepEqual(closedBy('either'), [...KINDS.write, ...KINDS.last]);
  assert.deepEqual(
    STEPS.filter((step) => step.isWrite).map((step) => step.id),
    KINDS.write,
  );
  assert.equal(new Set(STEPS.map((step) => step.label)).size, 13);
});
