/** The model's round that a step of a turn is part of: when it was asked for, when it was over, and by what. */
import type { KeptEvent, TraceStep } from './trace.ts';

/** A request to the model, as the steps of a turn tell it. */
export interface ModelRound {
  readonly round: number;
  readonly askedAtMs: number;
  /** Null while it goes on, as far as the trace goes. */
  readonly endedAtMs: number | null;
  /** The event that ended it. */
  readonly endedBy: string | null;
}

const STAYS_IN_ROUND = 'block.completed';

function askedIn(effects: readonly KeptEvent[]): number | undefined {
  const round = effects.find(({ type }) => type === 'callModel')?.round;
  return typeof round === 'number' ? round : undefined;
}

/** The round that the step at `index` asks for, takes part in or ends; undefined: the model has nothing to do with it. */
export function modelRoundAt(steps: readonly TraceStep[], index: number): ModelRound | undefined {
  let asked = index;
  while (asked >= 0 && askedIn(steps[asked]?.effects ?? []) === undefined) {
    // A step that ended a round before this one: no round was going on since.
    if (asked < index && steps[asked]?.event.type !== STAYS_IN_ROUND) return undefined;
    asked -= 1;
  }
  const begun = steps[asked];
  const round = askedIn(begun?.effects ?? []);
  if (begun === undefined || round === undefined) return undefined;
  const end = steps.slice(asked + 1).find(({ event }) => event.type !== STAYS_IN_ROUND);
  return { round, askedAtMs: begun.atMs, endedAtMs: end?.atMs ?? null, endedBy: end?.event.type ?? null };
}
