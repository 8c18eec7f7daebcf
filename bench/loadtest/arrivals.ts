/**
 * The schedule of the open model: each visit has its time before the run starts. A service that falls behind gets no fewer requests, and
 * latency counts from the intended start (no coordinated omission).
 */

export interface ArrivalsPlan {
  /** Visits a second once the ramp is over. */
  readonly rate: number;
  readonly rampMs: number;
  readonly durationMs: number;
  readonly arrivals: 'even' | 'poisson';
}

/** Milliseconds after the start at which `count` visits have begun: a linear ramp, then a constant rate. */
export function timeOfCount(count: number, { rate, rampMs }: Pick<ArrivalsPlan, 'rate' | 'rampMs'>): number {
  const perMs = rate / 1_000;
  const inRamp = (perMs * rampMs) / 2;
  if (count <= inRamp) return Math.sqrt((2 * count * rampMs) / perMs);
  return rampMs + (count - inRamp) / perMs;
}

/** The start times of all visits in order, generated lazily. `random` is in [0, 1). */
export function* arrivalTimes(plan: ArrivalsPlan, random: () => number): Generator<number> {
  const endMs = plan.rampMs + plan.durationMs;
  for (let count = 0; ; ) {
    const atMs = timeOfCount(count, plan);
    if (atMs >= endMs) return;
    yield atMs;
    count += plan.arrivals === 'even' ? 1 : -Math.log(1 - random());
  }
}
