/** The workloads by name: what the upstream sends, how the load client asks, and what the service aims at. */
import type { Aim } from './aims.ts';

/** Characters of every token of the upstream. */
export const TOKEN_CHARS = 4;

/** With one client, when the server is nearly idle. */
const ADDED_ALONE: readonly Aim[] = [
  { of: 'added_p50_ms', most: 0.7 },
  { of: 'added_p99_ms', most: 2 },
];

export interface Workload {
  readonly name: string;
  readonly what: string;
  readonly model: string;
  readonly tokens: number;
  readonly streams: number;
  /** Streams of one measured round. */
  readonly requests: number;
  /** The first requests are spread over this long, so that steady work is measured and not one thundering herd. */
  readonly rampMs?: number;
  /** How long a round begins streams, where that is longer than in others: a steady load has its ramp, and its first streams their time. */
  readonly roundS?: number;
  /** Pause of a single client between two turns: added latency is measured without the work of the turn before. */
  readonly gapMs?: number;
  /** What CPU time is divided by. */
  readonly unit: 'delta' | 'turn';
  readonly aims: readonly Aim[];
}

export const WORKLOADS: readonly Workload[] = [
  {
    name: 'W1',
    what: '200 deltas, no delay, 32 streams',
    model: 'fake-200-0',
    tokens: 200,
    streams: 32,
    requests: 2_000,
    unit: 'delta',
    aims: [{ of: 'ratio', most: 1.3 }],
  },
  {
    name: 'W1B',
    what: '200 deltas in bursts of 8, no delay, 32 streams',
    model: 'fake-200-0-b8',
    tokens: 200,
    streams: 32,
    requests: 4_000,
    unit: 'delta',
    aims: [{ of: 'ratio', most: 3 }],
  },
  {
    name: 'W2',
    what: '100 deltas at 20 ms, 500 open streams',
    model: 'fake-100-20',
    tokens: 100,
    streams: 500,
    requests: 2_000,
    roundS: 5,
    rampMs: 2_000,
    unit: 'delta',
    aims: [
      { of: 'ratio', most: 1.4 },
      { of: 'added_p99_ms', most: 25 },
      { of: 'peak_ratio', most: 1.3 },
    ],
  },
  {
    name: 'W3',
    what: '1-token turns, 64 at a time',
    model: 'fake-1-0',
    tokens: 1,
    streams: 64,
    requests: 15_000,
    unit: 'turn',
    aims: [{ of: 'ratio', most: 6 }],
  },
  {
    name: 'W4',
    what: '1-token turn, one client',
    model: 'fake-1-0',
    tokens: 1,
    streams: 1,
    requests: 500,
    gapMs: 3,
    unit: 'turn',
    aims: ADDED_ALONE,
  },
  {
    name: 'W4S',
    what: '20 tokens at 20 ms, one client',
    model: 'fake-20-20',
    tokens: 20,
    streams: 1,
    requests: 12,
    gapMs: 3,
    unit: 'turn',
    aims: ADDED_ALONE,
  },
  {
    name: 'W5',
    what: '100 deltas at 20 ms, 1,500 open streams',
    model: 'fake-100-20',
    tokens: 100,
    streams: 1_500,
    requests: 6_000,
    roundS: 5,
    rampMs: 3_000,
    unit: 'delta',
    aims: [
      { of: 'refused', most: 0 },
      { of: 'first_p99_ms', most: 60 },
    ],
  },
];

export function workloadNamed(name: string): Workload {
  const found = WORKLOADS.find((workload) => workload.name === name);
  if (found === undefined) throw new Error(`there is no workload ${name}`);
  return found;
}

export function charsPerStream(workload: Workload): number {
  return workload.tokens * TOKEN_CHARS;
}

/** What CPU time is divided by: upstream tokens (whether or not the server merged them) or turns, of whole streams. */
export function units(workload: Workload, round: { readonly ok: number }): number {
  return workload.unit === 'delta' ? round.ok * workload.tokens : round.ok;
}
