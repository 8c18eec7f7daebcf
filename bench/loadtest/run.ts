/** Runs a load test from its plan to its report: checks, load, drain, and an orderly end on a signal. */
import { setMaxListeners } from 'node:events';
import { Connections } from './connections.ts';
import { LiveView, type Output } from './live-view.ts';
import { runLoad } from './load.ts';
import type { Plan } from './options.ts';
import { preflight, shownKey } from './preflight.ts';
import { type Report, reportOf } from './report.ts';
import { Series } from './series.ts';
import { SilenceWatch } from './silence-watch.ts';
import { Tally } from './tally.ts';
import { loadTexts } from './texts.ts';
import { CannotRun } from './usage.ts';
import { Visits } from './visits.ts';

/** Shorter than --drain, because somebody waits at the terminal. */
const STOPPED_DRAIN_MS = 10_000;

/** For each key. A first answer may be slow, but one that drips for longer would keep a pipeline waiting for ever. */
const PREFLIGHT_MAX_MS = 60_000;

export interface Stopping {
  /** Start no more visits; open ones may end. */
  readonly gently: AbortSignal;
  /** Wait for nothing. */
  readonly atOnce: AbortSignal;
  readonly by: () => 'SIGINT' | 'SIGTERM' | undefined;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function stoppedEarly(signal: AbortSignal): Promise<never> {
  await aborted(signal);
  throw new CannotRun('stopped before it started.');
}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const tooLate = new CannotRun(`the first answers did not end within ${ms / 1_000} s: look at the service before you load it.`);
    timer = setTimeout(() => reject(tooLate), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until all visits have ended, the time is over, or a second signal arrives. */
async function drain(open: ReadonlySet<Promise<unknown>>, ms: number, stopping: Stopping): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, stopping.gently.aborted ? Math.min(ms, STOPPED_DRAIN_MS) : ms);
    // A signal during the drain shortens it.
    void aborted(stopping.gently).then(() => setTimeout(resolve, STOPPED_DRAIN_MS).unref());
  });
  await Promise.race([Promise.all(open), late, aborted(stopping.atOnce)]);
  clearTimeout(timer);
}

function introduction(plan: Plan, model: string | undefined): string {
  const { load, url, keys } = plan;
  const what = load.model === 'open' ? `${load.rate} visits a second` : `${load.clients} clients`;
  const mix = [...plan.mix].map(([kind, weight]) => `${kind}=${weight}`).join(',');
  return `${url.href} · ${keys.map(shownKey).join(', ')} · model ${model ?? 'unknown'} · ${what} for ${(plan.rampMs + plan.durationMs) / 1_000} s · ${mix}`;
}

export async function run(plan: Plan, out: Output, stopping: Stopping): Promise<Report> {
  // Every client listens to these.
  setMaxListeners(0, stopping.gently, stopping.atOnce);
  const texts = loadTexts(plan.textsFile);
  const connections = new Connections(plan.url);
  const silence = new SilenceWatch();
  try {
    const needsActions = plan.mix.has('read') || plan.mix.has('confirm');
    const target = { url: plan.url, connections, silence };
    const looked = preflight(target, plan.keys, plan.isLiveAllowed, needsActions, texts.pick('new'));
    const { apps, model } = await within(Promise.race([looked, stoppedEarly(stopping.gently)]), PREFLIGHT_MAX_MS * plan.keys.length);
    const tally = new Tally(plan.slo);
    let isOver = false;
    const visits = new Visits({ connections, silence, tally, pauseMs: plan.pauseMs, isOver: () => isOver }, apps, texts);
    const expectedMs = plan.rampMs + plan.durationMs;
    const view = new LiveView(out, tally, expectedMs / 1_000);
    view.say(introduction(plan, model));
    const [startedAt, startMs, cpu] = [new Date(), performance.now(), process.cpuUsage()];
    const series = new Series(tally, expectedMs + plan.drainMs, (point) => view.show(point));
    const open = await runLoad(plan, (beginning) => visits.play(beginning), tally, stopping.gently);
    await drain(open, plan.drainMs, stopping);
    isOver = true;
    silence.endAll({ code: 'unfinished', message: 'still open when the run ended' });
    // Open turns end as unfinished, and are counted.
    await Promise.race([Promise.all(open), new Promise((resolve) => setTimeout(resolve, 2_000).unref())]);
    series.close();
    view.close();
    const { user, system } = process.cpuUsage(cpu);
    return reportOf({
      plan,
      tally,
      series: series.points,
      startedAt,
      seconds: (performance.now() - startMs) / 1_000,
      model,
      stoppedBy: stopping.by(),
      cpuSeconds: (user + system) / 1e6,
      peakRssMb: Math.round(process.resourceUsage().maxRSS / 1_024),
    });
  } finally {
    silence.close();
    connections.close();
  }
}
