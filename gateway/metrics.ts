/** What GET /metrics answers (Prometheus text): requests by route and status, open streams, turns, the write queue, the process. */
import { statSync } from 'node:fs';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import type { ActorStats } from '../actors/turns/host.ts';
import { ERROR_TABLE, type ErrorCode } from '../protocol/errors.ts';
import type { DataLayout } from '../storage/data-layout.ts';
import { CONDITIONS } from '../storage/health/conditions.ts';
import type { ReplicaStatus } from '../storage/replica/replica-status.ts';
import type { ReplicaWatch } from '../storage/replica/replica-watch.ts';
import type { LoadStats, LoadWatch } from '../watch/load-watch.ts';
import type { StallStats, StallWatch } from '../watch/stall-watch.ts';
import type { Starts } from '../watch/starts.ts';
import type { Services } from './services.ts';

export type GatewayMetrics = ReturnType<typeof createMetrics>;

/** With a registry of its own, so that several servers in one process count apart. What watches the process never ends: `passing` leaves it out. */
export function createMetrics(services: Services, passing = false) {
  const registry = new Registry();
  if (!passing) collectDefaultMetrics({ register: registry });
  // Prometheus' checker takes no gauge with a counter's name, and the same are there without it, by type.
  for (const what of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${what}_total`);
  const requests = new Map<string, RouteCounts>();
  const refusals = new Map(Object.keys(ERROR_TABLE).map((code) => [code, 0]));
  addRequestMetrics(registry, requests, refusals);
  addGauge(registry, 'gateway_open_streams', 'Event streams that are open now.', () => services.node.get().context.streams);
  addGauge(registry, 'assistant_processes', 'Processes that this answer counts.', () => 1);
  addConditionMetrics(registry, services);
  addActorMetrics(registry, services);
  addWriterMetrics(registry, services);
  addGauge(registry, 'assistant_backup_last_success_timestamp_seconds', 'When the last backup ended well; NaN: none has.', () =>
    backupAtS(services.storage.layout),
  );
  if (services.replica !== undefined) addReplicaMetrics(registry, services.replica);
  if (services.load !== undefined) addLoadMetrics(registry, services.load);
  if (services.starts !== undefined) addStartMetrics(registry, services.starts);
  if (services.stalls !== undefined) addLoopMetrics(registry, services.stalls);
  const { measures, gathered } = services;
  const own = async () => `${await registry.metrics()}${(await measures?.text()) ?? ''}`;
  if (!passing) gathered?.tells(async () => [...(await registry.getMetricsAsJSON()), ...((await measures?.values()) ?? [])]);
  return {
    /** Counts an answer. `route` is a method and a pattern, so that the number of series is bounded. */
    countRequest(route: string, status: number, ms: number): void {
      let counts = requests.get(route);
      if (counts === undefined) {
        counts = { statuses: new Map(), within: REQUEST_S.map(() => 0), sumS: 0 };
        requests.set(route, counts);
      }
      counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1);
      let at = 0;
      while (ms > (REQUEST_S[at] ?? Number.POSITIVE_INFINITY) * 1e3) at += 1;
      counts.within[at] = (counts.within[at] ?? 0) + 1;
      counts.sumS += ms / 1e3;
    },
    countRefusal(code: ErrorCode): void {
      refusals.set(code, (refusals.get(code) ?? 0) + 1);
    },
    render: rendering(gathered === undefined ? own : async () => sumOf(await gathered.all())),
    contentType: registry.contentType,
    close: () => registry.clear(),
  };
}

/** All that ask while a text is made, and within its tick, get that one: it costs a millisecond or more, and one connection may ask many times at once. */
function rendering(render: () => Promise<string>): () => Promise<string> {
  let made: Promise<string> | undefined;
  return () => {
    if (made !== undefined) return made;
    made = render().finally(() => {
      setImmediate(() => {
        made = undefined;
      });
    });
    return made;
  };
}

interface Told {
  readonly values: readonly { readonly value: number | null }[];
}

/** What all processes count, as one text: sums, but of what is no amount the worst. Between processes what is no number is null. */
function sumOf(told: readonly (readonly object[])[]): Promise<string> {
  const numbers = (metric: Told) => ({ ...metric, values: metric.values.map((each) => ({ ...each, value: each.value ?? Number.NaN })) });
  return AggregatorRegistry.aggregate(told.map((metrics) => metrics.map((metric) => numbers(metric as Told)))).metrics();
}

/** Ages, delays and states: two processes that are each a second late are not two seconds late. */
const WORST = /_seconds$|^assistant_(?:overloaded|conditions|replica_)/;

const aggregatorOf = (name: string) => (WORST.test(name) ? 'max' : 'sum');

function addGauge(registry: Registry, name: string, help: string, value: () => number): void {
  new Gauge({
    name,
    help,
    aggregator: aggregatorOf(name),
    registers: [registry],
    collect() {
      this.set(value());
    },
  });
}

function addCounter(registry: Registry, name: string, help: string, total: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(total());
    },
  });
}

/** Bounds of a request's time, to the opening of its stream. The last one holds what is longer. */
const REQUEST_S = [0.005, 0.025, 0.1, 0.25, 1, 5, 30, Number.POSITIVE_INFINITY];

interface RouteCounts {
  readonly statuses: Map<number, number>;
  /** How many took no longer than the bound at the same place of `REQUEST_S`, and longer than the one before. */
  readonly within: number[];
  sumS: number;
}

/** Counted in maps and copied when asked for: a labelled counter of prom-client costs more than a small answer. */
function addRequestMetrics(registry: Registry, requests: ReadonlyMap<string, RouteCounts>, refusals: ReadonlyMap<string, number>): void {
  new Counter({
    name: 'gateway_requests_total',
    help: 'Answers by route and status; 499 is a client that left before its answer.',
    labelNames: ['route', 'status'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [route, { statuses }] of requests) {
        for (const [status, count] of statuses) this.inc({ route, status }, count);
      }
    },
  });
  new Counter({
    name: 'gateway_refusals_total',
    help: 'Refusals by their code, before a stream and in its place.',
    labelNames: ['code'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [code, count] of refusals) this.inc({ code }, count);
    },
  });
  const name = 'gateway_request_seconds';
  const get = async () => ({
    ...{ name, type: 'histogram', aggregator: 'sum', help: 'Requests to their answer, or to the opening of their stream, by route.' },
    values: [...requests].flatMap(([route, { within, sumS }]) => {
      let count = 0;
      const buckets = REQUEST_S.map((bound, at) => {
        count += within[at] ?? 0;
        const le = bound === Number.POSITIVE_INFINITY ? '+Inf' : bound;
        return { metricName: `${name}_bucket`, labels: { le, route }, value: count };
      });
      const total = (suffix: string, value: number) => ({ metricName: `${name}${suffix}`, labels: { route }, value });
      return [...buckets, total('_sum', sumS), total('_count', count)];
    }),
  });
  // What a registry asks of a metric: its types know those of prom-client alone, which count on their own.
  registry.registerMetric({ name, get } as unknown as Metric);
}

/** Seconds since 1970; NaN where no backup has ended well, or nobody can tell. */
function backupAtS({ lastBackup }: DataLayout): number {
  try {
    return (statSync(lastBackup, { throwIfNoEntry: false })?.mtimeMs ?? Number.NaN) / 1e3;
  } catch {
    return Number.NaN;
  }
}

/** The conditions of `GET /readyz`, each by its name; 0 while it does not hold. */
function addConditionMetrics(registry: Registry, services: Services): void {
  new Gauge({
    name: 'assistant_conditions',
    aggregator: 'max',
    help: 'What is wrong with this node now, by condition: 1, or the number of organisations or cells that it is about.',
    labelNames: ['condition'],
    registers: [registry],
    collect() {
      const held = services.storage.conditions.list();
      for (const condition of CONDITIONS) this.set({ condition }, held.filter(({ name }) => name === condition).length);
    },
  });
}

function addActorMetrics(registry: Registry, services: Services): void {
  addGauge(
    registry,
    'assistant_conversations_active',
    'Conversations in which a turn runs or waits.',
    () => services.node.get().context.conversations,
  );
  const gauges: readonly (readonly [string, string, keyof ActorStats])[] = [
    ['assistant_turns_running', 'Turns that are being answered.', 'runningTurns'],
    ['assistant_turns_waiting', 'Turns that wait behind another one of their conversation.', 'waitingTurns'],
    ['assistant_turn_readers', 'Streams that follow a running turn.', 'readers'],
  ];
  for (const [name, help, stat] of gauges) addGauge(registry, name, help, () => services.actors.host.stats()[stat]);
}

function addWriterMetrics(registry: Registry, services: Services): void {
  addGauge(registry, 'storage_writes_outstanding', 'Writes that wait for their commit.', () => services.storage.stats().outstanding);
  new Counter({
    name: 'storage_writes_total',
    help: 'Writes by outcome; overloaded ones were refused untried.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      const { succeeded, failed, overloaded } = services.storage.stats();
      this.reset();
      this.inc({ outcome: 'succeeded' }, succeeded);
      this.inc({ outcome: 'failed' }, failed);
      this.inc({ outcome: 'overloaded' }, overloaded);
    },
  });
  addCounter(registry, 'storage_commits_total', 'Commits; several writes share one.', () => services.storage.stats().commits);
}

/** How far the replica is, as its keeper told. The worst files are named and no others, so that the number of series is bounded. */
function addReplicaMetrics(registry: Registry, replica: Pick<ReplicaWatch, 'status'>): void {
  const gauges: readonly (readonly [string, string, (status: ReplicaStatus) => number])[] = [
    ['assistant_replica_databases', 'Databases that are replicated.', ({ files }) => files],
    ['assistant_replica_lag_max_seconds', 'How far behind the database is that is furthest behind.', (s) => s.lag_max_s],
    ['assistant_replica_files_lag_seconds', 'How long files that are no databases have waited to be carried.', (s) => s.files_lag_s],
    ['assistant_replica_starts', 'Starts of Litestream by the process that keeps the replica.', ({ starts }) => starts],
  ];
  for (const [name, help, value] of gauges) {
    addGauge(registry, name, help, () => {
      const status = replica.status();
      return status === undefined ? Number.NaN : value(status);
    });
  }
  new Gauge({
    name: 'assistant_replica_lag_seconds',
    aggregator: 'max',
    help: 'How far behind the replica of a database is, for the 20 that are furthest behind.',
    labelNames: ['file'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { file, lag_s } of replica.status()?.worst ?? []) this.set({ file }, lag_s);
    },
  });
}

function addLoadMetrics(registry: Registry, load: LoadWatch): void {
  const gauges: readonly (readonly [string, string, (stats: LoadStats) => number])[] = [
    ['assistant_overloaded', '1 while new turns are refused, because too much waits to be done.', (s) => Number(s.overloaded)],
    [
      'assistant_loop_late_median_seconds',
      'How late the event loop is by its own work, at the median moment of the last seconds.',
      (s) => s.lateMs / 1e3,
    ],
    ['assistant_turns_opening', 'Turns that were let in within the last second and have not begun.', (s) => s.turnsOpening],
    ['storage_oldest_write_seconds', 'How long the oldest write waits for its commit.', (s) => s.writeAgeMs / 1e3],
  ];
  for (const [name, help, value] of gauges) addGauge(registry, name, help, () => value(load.stats()));
  addCounter(registry, 'assistant_overloads_total', 'Times that the process began to refuse new turns.', () => load.stats().overloads);
}

function addStartMetrics(registry: Registry, starts: Pick<Starts, 'stats'>): void {
  addGauge(registry, 'assistant_starts_waiting', 'New turns that wait in line for the event loop.', () => starts.stats().waiting);
  addCounter(
    registry,
    'assistant_starts_refused_total',
    'New turns that were refused because that line was full or slow.',
    () => starts.stats().refused,
  );
}

function addLoopMetrics(registry: Registry, watch: Pick<StallWatch, 'stats'>): void {
  const gauges: readonly (readonly [string, string, (stats: StallStats) => number])[] = [
    ['assistant_loop_late_p99_seconds', 'How late the event loop was: 99 of 100 looks of the last one to two minutes.', (s) => s.lateP99S],
    ['assistant_loop_late_max_seconds', 'How late the event loop was at worst in the last one to two minutes.', (s) => s.lateMaxS],
    ['assistant_loop_longest_cpu_seconds', 'Longest stretch of the loop in its own processor time, likewise.', (s) => s.longestCpuS],
  ];
  for (const [name, help, value] of gauges) addGauge(registry, name, help, () => value(watch.stats()));
  new Counter({
    name: 'assistant_loop_stalls_total',
    help: 'Stretches over the bound: by the clock (wall), and by processor time of the loop (cpu), which a busy machine does not add to.',
    labelNames: ['by'],
    registers: [registry],
    collect() {
      const { stalls } = watch.stats();
      this.reset();
      this.inc({ by: 'wall' }, stalls.wall);
      this.inc({ by: 'cpu' }, stalls.cpu);
    },
  });
  new Gauge({
    name: 'assistant_loop_last_stall_cpu_seconds',
    aggregator: 'max',
    help: 'The last stretch over the bound by processor time, and what of it took longest. No series before there was one.',
    labelNames: ['what'],
    registers: [registry],
    collect() {
      const { lastStall } = watch.stats();
      this.reset();
      if (lastStall !== null) this.set({ what: lastStall.what }, lastStall.cpuS);
    },
  });
}
