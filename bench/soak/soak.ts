/** A soak: a service of two cells under mixed load that is disturbed all along, sampled, and judged flat or not. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Dice } from '../../tests/support/seeded.ts';
import { AT_LENGTH, DO_IT } from '../drill/site.ts';
import { readPlan } from '../loadtest/options.ts';
import { run, type Stopping } from '../loadtest/run.ts';
import { type Trend, trendOf } from './judge.ts';
import { emptySamples, MEASURES, MEMORY_FROM_MINUTES, type Measure, type MeasureId, takeSample } from './sampler.ts';
import { stillServes, visit } from './visitors.ts';
import { disturb, openWorld, type World } from './world.ts';

/** Bounds the samples of a long run; a second is enough for a short one. */
const SAMPLES_MAX = 1_500;
/** Between two disturbances: each has time to be over, and a short run meets each. */
const DISTURB_MS = [3_000, 30_000] as const;
const DISTURBED_MIN = 10;
/** Each load: two people who think. The machine waits most of the time, so that hours are of no harm to what else it does. */
const LOAD = ['--live', '--clients', '2', '--think', '400ms', '--drain', '30s', '--goodput', '0'];
const MIX = 'new=40,continue=30,components=5,read=8,confirm=8,reattach=5,history=10';
const TEXTS = ['Where is it?', AT_LENGTH, 'read: Please get order status of A-1042.', `confirm: ${DO_IT}`];

export type Soak = Awaited<ReturnType<typeof soakIn>>;

interface SoakPlan {
  readonly minutes: number;
  readonly dice: Dice;
  readonly stopping: Stopping;
  say(line: string): void;
}

function loadsOf({ site, node, workers, other, stays, moves }: World, { minutes, stopping }: SoakPlan) {
  const textsFile = join(site.dir, 'texts');
  writeFileSync(textsFile, `${TEXTS.join('\n')}\n`);
  const targets = [
    [node, stays],
    [workers, stays],
    [other, moves],
  ] as const;
  return targets.map(([{ baseUrl }, { liveKey }]) => {
    const asked = [...LOAD, '--mix', MIX, '--texts', textsFile, '--duration', `${minutes * 60}s`, '--url', baseUrl, '--key', liveKey];
    const plan = readPlan(asked);
    if (plan === undefined) throw new Error('no plan');
    return run(plan, { write: () => true }, stopping);
  });
}

async function sample(world: World, everyMs: number, until: AbortSignal) {
  const samples = emptySamples();
  const startMs = performance.now();
  while (!until.aborted) {
    const atS = (performance.now() - startMs) / 1_000;
    // The node lives all along: one that cannot be asked ends the soak.
    const taken = await takeSample(world);
    for (const [id, value] of Object.entries(taken)) if (Number.isFinite(value)) samples[id as MeasureId].push({ atS, value });
    await pause(everyMs, undefined, { signal: until }).catch(() => {});
  }
  return { samples, seconds: (performance.now() - startMs) / 1_000 };
}

export interface Judged extends Measure, Partial<Trend> {
  readonly id: MeasureId;
}

function judged(samples: ReturnType<typeof emptySamples>, seconds: number): readonly Judged[] {
  return Object.entries(MEASURES).map(([id, measure]: [string, Measure]) => {
    const { bound } = measure;
    const isJudged = bound !== undefined && seconds / 60 >= (bound.fromMinutes ?? 0);
    const trend = isJudged ? trendOf(samples[id as MeasureId], bound, seconds) : undefined;
    return { id: id as MeasureId, ...measure, ...trend };
  });
}

const shown = (value: number) => Number(value.toPrecision(3)).toString();

/** A sentence for each that is not flat. */
export function notFlat(series: readonly Judged[]): string[] {
  return series.flatMap(({ plot, name, unit, middle = 0, growth = 0, allowed = 0, isFlat }) =>
    isFlat === false
      ? [`${plot}, ${name}: it grows by ${shown(growth)} ${unit} in a run, around ${shown(middle)}; at most ${shown(allowed)} are allowed.`]
      : [],
  );
}

async function soakIn(world: World, plan: SoakPlan) {
  const { minutes, dice, stopping, say } = plan;
  const over = new AbortController();
  const ms = minutes * 60_000;
  const everyMs = Math.min(DISTURB_MS[1], Math.max(DISTURB_MS[0], ms / DISTURBED_MIN / 2));
  const loads = loadsOf(world, plan);
  const sampled = sample(world, Math.max(1_000, ms / SAMPLES_MAX), over.signal);
  const disturbed = disturb(world, dice, everyMs, over.signal);
  const visitors = visit(world, dice, over.signal);
  const stopped = new Promise((resolve) => stopping.gently.addEventListener('abort', resolve, { once: true }));
  try {
    await Promise.race([pause(ms), stopped, sampled]);
  } finally {
    over.abort();
  }
  const [reports, { samples, seconds }, { marks, failed }] = await Promise.all([Promise.all(loads), sampled, disturbed, visitors.ended]);
  say('the load has ended');
  const series = judged(samples, seconds);
  const wrong = reports.flatMap(({ faults, errors, target }) =>
    [...faults, ...errors.filter(({ name }) => name === 'history_lost')].map(({ name, count }) => `${target.url}: ${count} times ${name}`),
  );
  const idle = Object.entries(visitors.done).flatMap(([name, { done, lastWords }]) =>
    // A short run on a busy machine has no time for the longest of them.
    done === 0 && minutes >= MEMORY_FROM_MINUTES ? [`nothing was ${name}: ${lastWords}`] : [],
  );
  const twice = [...world.site.calls].flatMap(([id, times]) => (times > 1 ? [`the call ${id} reached the backend ${times} times`] : []));
  const violations = [...notFlat(series), ...wrong, ...failed, ...idle, ...twice, ...(await stillServes(world))];
  const turns = reports.reduce((sum, report) => sum + report.turns.ended, 0);
  const errors = reports.flatMap((report) => report.errors.map(({ name, count, example }) => ({ name, count, message: example.message })));
  return { minutes, seconds, turns, errors, done: visitors.done, marks, series, samples, violations, hasClock: world.clock !== undefined };
}

/** @throws Error when the service does not start, or the node that nobody ends has ended */
export async function soak(plan: SoakPlan): Promise<Soak> {
  const world = await openWorld();
  try {
    return await soakIn(world, plan);
  } finally {
    await world.close();
  }
}
