/** Starts visits: by the clock in the open model, by clients that loop in the closed model. */
import { setImmediate } from 'node:timers/promises';
import type { ClosedLoad, OpenLoad, Plan } from './options.ts';
import { pickKind } from './slo.ts';
import type { Tally } from './tally.ts';
import type { Beginning } from './visits.ts';

/** Back-off of a client whose visit failed, so that the closed model does not hammer a failing service. */
const AFTER_FAILURE_MS = 1_000;
/** Visits that are late start in a row. The loop yields after this many, so that responses are read in time. */
const IN_A_ROW_MAX = 16;

export type LoadPlan = Pick<Plan, 'load' | 'rampMs' | 'durationMs' | 'maxOpen' | 'mix'>;
type Play = (beginning: Beginning) => Promise<boolean>;

/**
 * The schedule of the open model: each visit has its time before the run starts. A service that falls behind gets no fewer requests, and
 * latency counts from the intended start (no coordinated omission).
 */
interface ArrivalsPlan {
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

function wait(ms: number, stopped: AbortSignal): Promise<void> {
  if (stopped.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      stopped.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.max(0, ms));
    stopped.addEventListener('abort', done);
  });
}

async function runOpen(plan: LoadPlan, load: OpenLoad, play: Play, tally: Tally, stopped: AbortSignal): Promise<Set<Promise<unknown>>> {
  const { mix, rampMs, durationMs, maxOpen } = plan;
  const startMs = performance.now();
  const open = new Set<Promise<unknown>>();
  let inARow = 0;
  for (const atMs of arrivalTimes({ ...load, rampMs, durationMs }, Math.random)) {
    const fromMs = startMs + atMs;
    if (fromMs > performance.now()) {
      await wait(fromMs - performance.now(), stopped);
      inARow = 0;
    } else if (++inARow % IN_A_ROW_MAX === 0) await setImmediate();
    if (stopped.aborted) break;
    if (open.size >= maxOpen) {
      tally.notStarted(`${maxOpen} visits were open (--max-open)`, atMs < rampMs);
      continue;
    }
    const visit = play({ kind: pickKind(mix, Math.random()), fromMs, isRamp: atMs < rampMs });
    open.add(visit);
    void visit.finally(() => open.delete(visit));
  }
  // The run lasts until its scheduled end, also after the last start.
  await wait(startMs + rampMs + durationMs - performance.now(), stopped);
  return open;
}

async function runClient(plan: LoadPlan, { thinkMs }: ClosedLoad, waitMs: number, play: Play, stopped: AbortSignal): Promise<void> {
  const startMs = performance.now();
  const endMs = startMs + plan.rampMs + plan.durationMs;
  if (waitMs > 0) await wait(waitMs, stopped);
  while (!stopped.aborted && performance.now() < endMs) {
    const fromMs = performance.now();
    const went = await play({ kind: pickKind(plan.mix, Math.random()), fromMs, isRamp: fromMs - startMs < plan.rampMs });
    const pauseMs = went ? thinkMs : Math.max(thinkMs, AFTER_FAILURE_MS);
    // The next visit would start after the end.
    if (performance.now() + pauseMs >= endMs) return;
    if (pauseMs > 0) await wait(pauseMs, stopped);
  }
}

/** Starts visits until the scheduled end or until `stopped`. Returns those that are still open. */
export async function runLoad(plan: LoadPlan, play: Play, tally: Tally, stopped: AbortSignal): Promise<ReadonlySet<Promise<unknown>>> {
  const { load } = plan;
  if (load.model === 'open') return runOpen(plan, load, play, tally, stopped);
  const clients = Array.from({ length: load.clients }, (_, index) =>
    runClient(plan, load, (plan.rampMs * index) / load.clients, play, stopped),
  );
  await wait(plan.rampMs + plan.durationMs, stopped);
  return new Set(clients);
}
