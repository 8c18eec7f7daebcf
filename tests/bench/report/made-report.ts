/** A made-up run of ten servers, always the same: what the tests of the report show. None of its figures was measured. */
import { SHARES } from '../../../bench/load/load.ts';
import { FORMAT, type Measured, type Server } from '../../../bench/report/report-data.ts';
import type { Outcome, Round } from '../../../bench/workloads/rounds.ts';
import { WORKLOADS, type Workload } from '../../../bench/workloads/workloads.ts';

/** µs a delta and a turn, added milliseconds, megabytes. */
const SERVERS: readonly (Server & { readonly made: readonly [number, number, number, number] })[] = [
  { name: 'relay', what: "the model's bytes passed on untouched", role: 'limit', made: [3.1, 42, 0, 92] },
  { name: 'service', what: 'this service, a client that draws text alone', role: 'service', made: [4.9, 182, 0.52, 171] },
  { name: 'service-all', what: 'this service, a client that draws all components', role: 'service', made: [5.2, 260, 0.71, 178] },
  { name: 'earlier', what: 'another build of this service', role: 'earlier', made: [5.4, 240, 0.66, 176] },
  { name: 'ai-sdk', what: 'Vercel AI SDK, streamText on node:http', role: 'peer', made: [38, 1_450, 2.1, 210] },
  { name: 'copilotkit', what: 'CopilotKit runtime', role: 'peer', made: [140, 4_800, 6.5, 320] },
  { name: 'fastify', what: 'Fastify and the openai client', role: 'peer', made: [14, 310, 0.9, 140] },
  { name: 'hono', what: 'Hono and the openai client', role: 'peer', made: [12, 290, 0.8, 133] },
  { name: 'langgraph', what: 'LangGraph JS API server', role: 'peer', made: [610, 21_000, 260, 540] },
  { name: 'mastra', what: 'Mastra server with an agent', role: 'peer', made: [88, 5_900, 5.2, 390] },
  { name: 'portkey', what: 'Portkey gateway', role: 'peer', made: [9, 150, 1.2, 120] },
];

/** A few per cent up and down, the same at every call. */
function wobble(seed: number): number {
  return 1 + 0.06 * Math.sin(seed * 12.9898);
}

function roundOf(workload: Workload, made: (typeof SERVERS)[number]['made'], seed: number): Round {
  const [delta, turn, addedMs, megabytes] = made;
  const ok = workload.streams === 1 ? 500 : workload.requests;
  const paced = workload.model.endsWith('-20');
  const busyMs = paced ? 0 : (workload.streams * (turn + delta * workload.tokens)) / 1e3;
  const cpuUs = workload.unit === 'delta' ? delta * (paced ? 2.2 : 1) * workload.tokens : turn * (workload.streams === 1 ? 2.5 : 1);
  const tail = (share: number): number => wobble(seed + share) * (0.6 + share ** 3 + (share > 0.98 ? 1.8 * share : 0));
  const first = SHARES.map((share) => (paced ? 20 : 0) + (0.4 + addedMs + busyMs * 0.6) * tail(share));
  const whole = SHARES.map((share) => (paced ? 20 * workload.tokens : 0) + (0.6 + addedMs + busyMs) * tail(share));
  return {
    streams: ok,
    ok,
    broken: 0,
    refused: 0,
    stalled: false,
    deltas: ok * workload.tokens,
    chars: ok * workload.tokens * 4,
    bytes: ok * workload.tokens * 60,
    first_ms: first,
    whole_ms: whole,
    wall_s: 4,
    reasons: [],
    cpu_ns: cpuUs * ok * 1e3 * wobble(seed),
    peak_rss_bytes: megabytes * 1e6 * (1 + workload.streams / 3_000) * wobble(seed * 3),
  };
}

function outcomesOf(rounds: number): Outcome[] {
  return WORKLOADS.flatMap((workload, w) =>
    SERVERS.map(({ name, made }, s) => {
      const measured = Array.from({ length: rounds }, (_, round) => roundOf(workload, made, w * 97 + s * 13 + round * 7));
      const peak = Math.max(...measured.map((round) => round.peak_rss_bytes));
      return { workload, candidate: name, rounds: measured, idle_rss_bytes: (made[3] ?? 0) * 8e5, peak_rss_bytes: peak };
    }),
  );
}

/** A run with all workloads, all servers, an earlier build, and a question with curves and a warning. */
export function madeReport(rounds = 5): Measured {
  const sizes = [100, 1_000, 10_000, 100_000];
  return {
    format: FORMAT,
    began: '2026-01-02T03:04:05.678Z',
    commit: 'abc1234',
    machine: { cores: 2, processor: 'A Processor', memory_bytes: 8e9, linux: '6.1.0', node: '20.19.0', pinned: true },
    rounds,
    quick: false,
    sync_delay_us: 0,
    candidates: SERVERS.map(({ made: _, ...server }) =>
      server.role === 'peer' ? { ...server, versions: { [server.name]: '1.2.3' } } : server,
    ),
    outcomes: outcomesOf(rounds),
    findings: [
      {
        name: 'K1',
        what: 'search in knowledge as it grows',
        tables: [
          {
            columns: ['chunks', 'p50 ms', 'p99 ms', 'target p99 ms'],
            rows: sizes.map((chunks) => [chunks.toLocaleString('en-US'), `${chunks / 8_000}`, `${chunks / 2_000}`, '≤ 60']),
          },
        ],
        curves: [
          {
            title: 'A question',
            x: 'chunks of the app',
            y: 'ms',
            logX: true,
            lines: [
              { name: 'p50', points: sizes.map((x) => ({ x, y: 0.1 + x / 8_000, low: 0.08 + x / 8_500, high: 0.12 + x / 7_000 })) },
              { name: 'p99', points: sizes.map((x) => ({ x, y: 0.3 + x / 2_000, low: 0.25 + x / 2_100, high: 0.4 + x / 1_500 })) },
            ],
          },
        ],
        warnings: ['p99 grows with the chunks, 10 × for 10 ×, and it should grow slower.'],
        data: {},
      },
    ],
    left_out: [{ candidate: 'mastra', workload: 'W6', why: 'no stream of a round was whole: <script>alert(1)</script> & "more"' }],
  };
}
