/**
 * A walk: a machine stepped by hand, event by event, from what it began with. Everything about it follows from its beginning and its
 * events, so a walk is stored as these alone.
 */
import type { AnyStateMachine } from 'xstate';
import { MACHINES } from '../index.ts';
import { type MachineSamples, SAMPLES, type SampleEvent } from './samples.ts';
import { beginning, judge, type Moment, type Verdict } from './verdict.ts';

/** More than anybody steps by hand; it bounds links, and what a page computes for one. */
export const WALK_EVENTS_MAX = 200;

export interface SimulatedMachine {
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly samples: MachineSamples;
}

export interface Walk {
  /** Which of the samples' inputs the machine began with; 0 where it takes none. */
  readonly input: number;
  readonly events: readonly SampleEvent[];
}

export interface WalkStep {
  readonly event: SampleEvent;
  readonly before: Moment;
  readonly verdict: Verdict;
}

export interface WalkedWay {
  readonly start: Moment;
  readonly steps: readonly WalkStep[];
}

/** The machine of this name with its samples; undefined: there is none. */
export function simulatedMachine(name: string): SimulatedMachine | undefined {
  const listed = MACHINES.find((one) => one.name === name);
  const samples = Object.hasOwn(SAMPLES, name) ? SAMPLES[name] : undefined;
  return listed === undefined || samples === undefined ? undefined : { name, machine: listed.machine, samples };
}

/** Every step of the walk, computed anew from its start. */
export function walked({ machine, samples }: SimulatedMachine, { input, events }: Walk): WalkedWay {
  const start = beginning(machine, samples.inputs[input]);
  const steps: WalkStep[] = [];
  let before = start;
  for (const event of events) {
    const verdict = judge(machine, before, event);
    steps.push({ event, before, verdict });
    before = verdict.after;
  }
  return { start, steps };
}

/** Where the machine is after the first `count` steps. */
export function momentAfter({ start, steps }: WalkedWay, count: number): Moment {
  return count === 0 ? start : (steps[count - 1]?.verdict.after ?? start);
}
