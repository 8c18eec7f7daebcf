/**
 * The thirteen steps of a setup session's panel (STEP-1 to STEP-10). Owns the state of
 * each step and which step the agent was at last. It does not own the lines of the panel. It only
 * receives events and has no effects: its state is what the panel shows.
 *
 * The steps run beside each other, every one as this table says. "It" is the step; an event that names another step
 * changes it only where a note says so.
 *
 * | state \ event | session.claimed | step.reported                               | step.written  | step.observed | session.completed | session.failed ⁶ |
 * |---------------|-----------------|---------------------------------------------|---------------|---------------|-------------------|------------------|
 * | pending       | done ¹          | active / done ² / skipped / failed / stays ² | active       | done          | done ⁵            | failed           |
 * | active        | ignored         | done ² ³ / skipped / failed / stays         | done ³ / stays | done         | done ⁵            | failed           |
 * | done          | ignored         | active ⁴ / skipped ⁴ / failed ⁴ / stays     | stays         | ignored       | ignored           | failed           |
 * | failed        | ignored         | active / done ² / skipped / stays ²         | active        | done          | done ⁵            | ignored          |
 * | skipped       | ignored         | active / done ² / failed / stays ²          | active        | done          | done ⁵            | failed           |
 *
 * `started`, `progress` and `waiting` make it active, `skipped` and `failed` what they say.
 * ¹ waiting and connected only. ² `done` of a step that only the server closes is recorded and changes nothing.
 * ³ a step of writes is finished as soon as a report or a write names a later step. ⁴ what the agent has closed it may
 * take up again (`started`), skip or fail; what the server alone closes stays done for it, and `progress` reopens nothing.
 * ⁵ the step `done`; and of the steps of writes those that are active. ⁶ the step that is named, else the last one that a
 * report or a write named, else `connected`: that is where the agent was.
 */
import { assign, setup } from 'xstate';
import {
  type AgentStepId,
  type EventStatus,
  isClaimStep,
  isLaterStep,
  STEPS,
  type Step,
  type StepId,
  stepOf,
} from '../protocol/setup/steps.ts';

export interface StepPanelContext {
  /** What the agent last reported on or wrote to; null before. */
  readonly lastStep: AgentStepId | null;
}

export type StepPanelEvent =
  /** POST /start. */
  | { readonly type: 'session.claimed' }
  /** POST /events: the agent's own word. */
  | { readonly type: 'step.reported'; readonly step: AgentStepId; readonly status: EventStatus }
  /** An endpoint did what belongs to this step. */
  | { readonly type: 'step.written'; readonly step: AgentStepId }
  /** The service saw what this step is about. */
  | { readonly type: 'step.observed'; readonly step: StepId }
  | { readonly type: 'session.completed' }
  /** Null: POST /fail named no step. */
  | { readonly type: 'session.failed'; readonly step: AgentStepId | null };

interface Of {
  readonly step: StepId;
}

/** The agent's report on this step; undefined when the event is about something else. */
function reported(event: StepPanelEvent, { step }: Of): EventStatus | undefined {
  return event.type === 'step.reported' && event.step === step ? event.status : undefined;
}

function agentMayClose({ step }: Of): boolean {
  return stepOf(step).closedBy !== 'server';
}

const definition = setup({
  types: {
    context: {} as StepPanelContext,
    events: {} as StepPanelEvent,
  },
  guards: {
    isNamed: ({ event }, { step }: Of) => 'step' in event && event.step === step,
    isWorkedOn: ({ event }, of: Of) => ['started', 'progress', 'waiting'].includes(reported(event, of) ?? ''),
    isFinished: ({ event }, of: Of) => reported(event, of) === 'done' && agentMayClose(of),
    isSkipped: ({ event }, of: Of) => reported(event, of) === 'skipped',
    isFailed: ({ event }, of: Of) => reported(event, of) === 'failed',
    isReopened: ({ event }, of: Of) => reported(event, of) === 'started' && agentMayClose(of),
    isSkippedAfterAll: ({ event }, of: Of) => reported(event, of) === 'skipped' && agentMayClose(of),
    isFailedAfterAll: ({ event }, of: Of) => reported(event, of) === 'failed' && agentMayClose(of),
    isLeftBehind: ({ event }, { step }: Of) =>
      (event.type === 'step.reported' || event.type === 'step.written') && stepOf(step).isWrite && isLaterStep(event.step, step),
    closesOnClaim: (_, { step }: Of) => isClaimStep(step),
    isLast: (_, { step }: Of) => step === 'done',
    closesOnComplete: (_, { step }: Of) => step === 'done' || stepOf(step).isWrite,
    isBlamed: ({ context, event }, { step }: Of) =>
      event.type === 'session.failed' && (event.step ?? context.lastStep ?? 'connected') === step,
  },
  actions: {
    noteStep: assign({
      lastStep: ({ event, context }) => (event.type === 'step.reported' || event.type === 'step.written' ? event.step : context.lastStep),
    }),
  },
});

/** The states of a step that the agent is at, or was. */
function takenUp(step: StepId) {
  const params: Of = { step };
  return {
    active: {
      on: {
        'step.reported': [
          { guard: { type: 'isFinished', params }, target: 'done', actions: 'noteStep' },
          { guard: { type: 'isSkipped', params }, target: 'skipped', actions: 'noteStep' },
          { guard: { type: 'isFailed', params }, target: 'failed', actions: 'noteStep' },
          { guard: { type: 'isNamed', params }, actions: 'noteStep' },
          { guard: { type: 'isLeftBehind', params }, target: 'done' },
        ],
        'step.written': [
          { guard: { type: 'isNamed', params }, actions: 'noteStep' },
          { guard: { type: 'isLeftBehind', params }, target: 'done' },
        ],
        'step.observed': { guard: { type: 'isNamed', params }, target: 'done' },
        'session.completed': { guard: { type: 'closesOnComplete', params }, target: 'done' },
        'session.failed': { guard: { type: 'isBlamed', params }, target: 'failed' },
      },
    },
    done: {
      on: {
        'step.reported': [
          { guard: { type: 'isReopened', params }, target: 'active', actions: 'noteStep' },
          { guard: { type: 'isSkippedAfterAll', params }, target: 'skipped', actions: 'noteStep' },
          { guard: { type: 'isFailedAfterAll', params }, target: 'failed', actions: 'noteStep' },
          { guard: { type: 'isNamed', params }, actions: 'noteStep' },
        ],
        'step.written': { guard: { type: 'isNamed', params }, actions: 'noteStep' },
        'session.failed': { guard: { type: 'isBlamed', params }, target: 'failed' },
      },
    },
  } as const;
}

/** One step beside the others. Every event that names it is noted, even if it changes nothing. */
function region({ id: step }: Step) {
  const params: Of = { step };
  const notAtWork = {
    'step.written': { guard: { type: 'isNamed', params }, target: 'active', actions: 'noteStep' },
    'step.observed': { guard: { type: 'isNamed', params }, target: 'done' },
    'session.completed': { guard: { type: 'isLast', params }, target: 'done' },
  } as const;
  return definition.createStateConfig({
    initial: 'pending',
    states: {
      pending: {
        on: {
          'session.claimed': { guard: { type: 'closesOnClaim', params }, target: 'done' },
          'step.reported': [
            { guard: { type: 'isWorkedOn', params }, target: 'active', actions: 'noteStep' },
            { guard: { type: 'isFinished', params }, target: 'done', actions: 'noteStep' },
            { guard: { type: 'isSkipped', params }, target: 'skipped', actions: 'noteStep' },
            { guard: { type: 'isFailed', params }, target: 'failed', actions: 'noteStep' },
            { guard: { type: 'isNamed', params }, actions: 'noteStep' },
          ],
          ...notAtWork,
          'session.failed': { guard: { type: 'isBlamed', params }, target: 'failed' },
        },
      },
      ...takenUp(step),
      failed: {
        on: {
          'step.reported': [
            { guard: { type: 'isWorkedOn', params }, target: 'active', actions: 'noteStep' },
            { guard: { type: 'isFinished', params }, target: 'done', actions: 'noteStep' },
            { guard: { type: 'isSkipped', params }, target: 'skipped', actions: 'noteStep' },
            { guard: { type: 'isNamed', params }, actions: 'noteStep' },
          ],
          ...notAtWork,
        },
      },
      skipped: {
        on: {
          'step.reported': [
            { guard: { type: 'isWorkedOn', params }, target: 'active', actions: 'noteStep' },
            { guard: { type: 'isFinished', params }, target: 'done', actions: 'noteStep' },
            { guard: { type: 'isFailed', params }, target: 'failed', actions: 'noteStep' },
            { guard: { type: 'isNamed', params }, actions: 'noteStep' },
          ],
          ...notAtWork,
          'session.failed': { guard: { type: 'isBlamed', params }, target: 'failed' },
        },
      },
    },
  });
}

type Regions = Record<StepId, ReturnType<typeof region>>;

export const stepPanel = definition.createMachine({
  id: 'step-panel',
  type: 'parallel',
  context: { lastStep: null },
  states: Object.fromEntries(STEPS.map((step) => [step.id, region(step)])) as Regions,
});
