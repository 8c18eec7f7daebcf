/** The report of a run as plain data: the content of `--json`, and the input of the reports for people. */
import type { RecordableHistogram } from 'node:perf_hooks';
import { FAULTS } from '../../tools/turn-checker/faults.ts';
import { isTold } from '../page/line-plot.ts';
import { adviceFor } from './advice.ts';
import { formatPercent, formatTime } from './failure.ts';
import { commandOf, type Plan } from './options.ts';
import { shownKey } from './preflight.ts';
import type { Point } from './series.ts';
import { MEASURE_WORDS, MEASURES, type Measure } from './slo.ts';
import type { Counted, Tally } from './tally.ts';

/** Percentiles of a plot, denser towards the slow end. */
const PLOTTED = [
  0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 97, 98, 99, 99.5, 99.7, 99.9, 99.95, 99.97, 99.99, 99.995, 99.999, 100,
];

export type Times = NonNullable<ReturnType<typeof timesOf>>;
export type Named = ReturnType<typeof named>[number];
/** What `--json` writes. */
export type Report = ReturnType<typeof reportOf>;

export interface RunResult {
  readonly plan: Plan;
  readonly tally: Tally;
  readonly series: readonly Point[];
  readonly startedAt: Date;
  readonly seconds: number;
  readonly model: string | undefined;
  readonly stoppedBy: 'SIGINT' | 'SIGTERM' | undefined;
  /** CPU time of this process during the run. */
  readonly cpuSeconds: number;
  readonly peakRssMb: number;
}

/** Above these the load tester itself distorts the figures. */
const LATE_MAX_MS = 50;
const CPU_SHARE_MAX = 0.9;

function ms(microseconds: number): number {
  return Math.round(microseconds) / 1_000;
}

function timesOf(name: string, histogram: RecordableHistogram) {
  if (histogram.count === 0) return undefined;
  const at = (percentile: number): number => ms(percentile === 0 ? histogram.min : histogram.percentile(percentile));
  return {
    name,
    count: histogram.count,
    mean: ms(histogram.mean),
    p50: at(50),
    p90: at(90),
    p99: at(99),
    /** Undefined of fewer measurements than a thousandth of can be told. */
    p999: isTold(0.999, histogram.count) ? at(99.9) : undefined,
    max: ms(histogram.max),
    percentiles: PLOTTED.map((percentile) => [percentile, at(percentile)] as const),
  };
}

function named(counted: ReadonlyMap<string, Counted>, words: (name: string) => string | undefined) {
  const all = [...counted].map(([name, { count, example }]) => {
    return { name, words: words(name), count, example: { request_id: example.requestId, message: example.message } };
  });
  return all.sort((one, other) => other.count - one.count);
}

const many = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

/** The exit code of shells: 128 plus the number of the signal. */
export function stoppedCode(by: 'SIGINT' | 'SIGTERM'): number {
  return by === 'SIGINT' ? 130 : 143;
}

/** The verdict in words, and as an exit code for pipelines. */
function verdictOf({ plan, tally, stoppedBy }: RunResult) {
  const words: string[] = [];
  const total = tally.judged + tally.notStartedCount;
  if (total > 0 && tally.good / total < plan.goodput) {
    words.push(`The goodput is ${formatPercent(tally.good / total)}, and ${formatPercent(plan.goodput)} are asked for.`);
  }
  if (tally.faulty > 0)
    words.push(`${many(tally.faulty, 'stream')} of ${tally.ended} ${tally.faulty === 1 ? 'was' : 'were'} wrong: see Wrong streams.`);
  const historyErrors = ['history_lost', 'not_confirmed'].filter((code) => tally.errors.has(code));
  if (historyErrors.length > 0) words.push(`Something else was wrong: ${historyErrors.join(', ')}.`);
  const failed = words.length > 0;
  if (tally.judged === 0) words.push('No turn ended after the ramp, so there is no goodput.');
  if (stoppedBy !== undefined) words.push(`It was stopped before its time (${stoppedBy}): these are figures of what result.`);
  const exitCode = stoppedBy !== undefined ? stoppedCode(stoppedBy) : failed || tally.judged === 0 ? 1 : 0;
  if (words.length === 0) words.push('All is well.');
  return { exit_code: exitCode, words, stopped_by: stoppedBy };
}

function ownWords(lateMs: number, cpuShare: number): string | undefined {
  if (lateMs > LATE_MAX_MS)
    return `This load tester itself sent visits ${formatTime(lateMs)} late (p99): times are longer than the service took. Take less load, or a second machine.`;
  if (cpuShare > CPU_SHARE_MAX)
    return 'This load tester used nearly all of its core: times may be longer than the service took. Take less load, or a second machine.';
  return undefined;
}

function planOf(plan: Plan) {
  const { load, rampMs, durationMs, drainMs, maxOpen, mix, textsFile, pauseMs } = plan;
  return {
    load,
    ramp_ms: rampMs,
    duration_ms: durationMs,
    drain_ms: drainMs,
    max_open: maxOpen,
    mix: Object.fromEntries(mix),
    texts: textsFile,
    pause_ms: pauseMs,
  };
}

export function reportOf(result: RunResult) {
  const { plan, tally, seconds } = result;
  const total = tally.judged + tally.notStartedCount;
  const times = Object.fromEntries(MEASURES.map((measure) => [measure, timesOf(MEASURE_WORDS[measure], tally.times[measure])]));
  const lateMs = tally.late.count === 0 ? 0 : ms(tally.late.percentile(99));
  const cpuShare = seconds > 0 ? result.cpuSeconds / seconds : 0;
  const { pauses } = tally;
  return {
    version: 1 as const,
    started_at: result.startedAt.toISOString(),
    seconds,
    target: { url: plan.url.href, keys: plan.keys.map(shownKey), model: result.model },
    plan: planOf(plan),
    command: commandOf(plan),
    verdict: verdictOf(result),
    goodput: {
      share: total === 0 ? undefined : tally.good / total,
      aim: plan.goodput,
      good: tally.good,
      judged: total,
      slo: Object.fromEntries(plan.slo) as Readonly<Record<string, number>>,
    },
    turns: {
      begun: tally.begun,
      ended: tally.ended,
      whole: tally.whole,
      recovered: tally.recovered,
      faulty: tally.faulty,
      peak_open: tally.peakOpen,
    },
    requests: tally.requests,
    events: tally.events,
    tokens_per_s: seconds > 0 ? tally.chars / 4 / seconds : 0,
    visits: [...tally.visits].map(([kind, visit]) => ({ kind, ...visit, called_no_action: tally.withoutCall.get(kind) ?? 0 })),
    times: { ...times, history_read: timesOf('history read', tally.historyReads) } as Readonly<
      Partial<Record<Measure | 'history_read', Times>>
    >,
    errors: named(tally.errors, adviceFor),
    faults: named(tally.faults, (kind) => (FAULTS as Readonly<Record<string, string>>)[kind]),
    pauses: {
      over_ms: plan.pauseMs,
      count: pauses.count,
      longest_ms: Math.round(pauses.longestMs),
      example: pauses.example === undefined ? undefined : { request_id: pauses.example.requestId, message: pauses.example.message },
    },
    load_tester: { sent_late_p99_ms: lateMs, cpu_share: cpuShare, peak_rss_mb: result.peakRssMb, words: ownWords(lateMs, cpuShare) },
    series: result.series,
  };
}
