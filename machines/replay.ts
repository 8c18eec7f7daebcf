/**
 * Replays a trace: a fresh machine is sent the events that were kept, and each state and effect is compared with the one that was kept. Pure:
 * effects are compared and never performed.
 */
import type { AnyStateMachine } from 'xstate';
import { type Stepper, stepper } from './step.ts';
import { type Kept, type KeptEvent, keptEffects, type TraceStep } from './trace.ts';

/** Where a replay and a trace part. */
export interface Difference {
  /** 1 for the first step. */
  readonly step: number;
  /** `beginning`: the trace does not begin where the machine does. */
  readonly of: 'beginning' | 'state' | 'effects';
  readonly kept: string;
  readonly replayed: string;
  /** The same for people. */
  readonly sentence: string;
}

export interface Replay {
  /** Steps that the machine took as the trace has them. */
  readonly same: number;
  readonly difference: Difference | null;
}

export interface Replayable {
  /** What the machine began with, if it takes an input. */
  readonly input?: Kept;
  readonly steps: readonly TraceStep[];
}

/** JSON with the fields in one order: those of an event that was kept and of one that is made anew may differ in it. */
function inOrder(value: Kept): Kept {
  if (Array.isArray(value)) return (value as readonly Kept[]).map(inOrder);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field]) => [name, inOrder(field)]),
  );
}

function textOf(effects: readonly KeptEvent[]): string {
  return JSON.stringify(effects.map(inOrder));
}

/** One state in one spelling: JSON of parallel regions may come in any order. */
function sameState(a: string, b: string): boolean {
  if (a === b) return true;
  if (!a.startsWith('{') || !b.startsWith('{')) return false;
  try {
    return JSON.stringify(inOrder(JSON.parse(a) as Kept)) === JSON.stringify(inOrder(JSON.parse(b) as Kept));
  } catch {
    // A file from outside may hold anything.
    return false;
  }
}

function namesOf(effects: readonly KeptEvent[]): string {
  return effects.length === 0 ? 'none' : effects.map(({ type }) => type).join(', ');
}

/** The machine with this input; undefined when it cannot begin with it, because the piece that had its own is no longer kept. */
function started(machine: AnyStateMachine, input: Kept | undefined): Stepper<AnyStateMachine> | undefined {
  try {
    return stepper(machine, input === undefined ? {} : { input });
  } catch {
    return undefined;
  }
}

function needsInput(kept: string): Difference {
  const sentence = `The trace begins in ${kept}, and lacks what the machine begins with: its first steps are no longer kept.`;
  return { step: 1, of: 'beginning', kept, replayed: '', sentence };
}

function beginsElsewhere(kept: string, replayed: string): Difference {
  const sentence = `The trace begins in ${kept}, and the machine in ${replayed}: its first steps are no longer kept.`;
  return { step: 1, of: 'beginning', kept, replayed, sentence };
}

/** What differs between a step and the machine after its event; null when nothing does. */
function differenceOf(step: number, kept: TraceStep, state: string, effects: readonly KeptEvent[]): Difference | null {
  const { type } = kept.event;
  if (!sameState(kept.to, state)) {
    const sentence = `Step ${step}, ${type}: the trace goes to ${kept.to}, and the machine to ${state}.`;
    return { step, of: 'state', kept: kept.to, replayed: state, sentence };
  }
  const [before, after] = [textOf(kept.effects), textOf(effects)];
  if (before === after) return null;
  const sentence = `Step ${step}, ${type}: the effects of the trace are ${namesOf(kept.effects)}, and those of the machine ${namesOf(effects)}.`;
  return { step, of: 'effects', kept: before, replayed: after, sentence };
}

/** Steps a fresh `machine` through the trace, up to the first step that differs. Payloads are compared as traces keep them. */
export function replay(machine: AnyStateMachine, { input, steps }: Replayable): Replay {
  if (steps.length === 0) return { same: 0, difference: null };
  const fresh = started(machine, input);
  if (fresh === undefined) return { same: 0, difference: needsInput(steps[0]?.from ?? '') };
  const begins = fresh.state;
  const [first] = steps;
  if (first !== undefined && !sameState(first.from, begins)) return { same: 0, difference: beginsElsewhere(first.from, begins) };
  for (const [index, kept] of steps.entries()) {
    const { state, effects } = fresh.send(kept.event);
    const difference = differenceOf(index + 1, kept, state, keptEffects(effects as { readonly type: string }[]));
    if (difference !== null) return { same: index, difference };
  }
  return { same: steps.length, difference: null };
}
