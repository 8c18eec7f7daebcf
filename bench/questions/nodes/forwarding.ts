/**
 * The second half of H1: what it takes to read a turn on another node than the one where it runs. Turns run at node `a`; in every other
 * round each is read at `b` as well, at the same time. What those rounds cost more is what forwarding costs.
 */
import { randomUUID } from 'node:crypto';
import { attachRequest, StreamClient, type StreamEvent, turnRequest } from '../../load/turn-client.ts';
import { mintDevice } from '../../loadtest/service-api.ts';
import { spending } from '../../meters/cpu.ts';
import type { Finding, QuestionScene } from '../../question.ts';
import { type Column, digits, median, percentile, spread, sum, tableOf, whole } from '../../report/table.ts';
import { type Cell, withTwoNodes } from '../../servers/cell.ts';
import { pause } from '../../servers/processes.ts';
import { brokenAmong, missedBy } from '../../workloads/aims.ts';
import { TOKEN_CHARS } from '../../workloads/workloads.ts';

const TOKENS = 100;
const MODEL = `fake-${TOKENS}-20`;
const LOADS = [50, 500] as const;
/** Turns of a stream, one after the other: those of a round take some ten seconds. */
const TURNS = 4;
/** The first turns of the streams are spread over this long, as in W2. */
const RAMP_MS = 2_000;
/** After the reader's first event it catches up; what came meanwhile says nothing of live deltas. */
const CAUGHT_UP_MS = 40;
/** A frame costs an event of some 110 bytes; a turn has ten more than deltas. */
const SEQ_MAX = TOKENS + 50;
const SHOWN_MAX = 3;

type Stream = ReturnType<typeof openStreams>[number];

interface Tally {
  /** Milliseconds by which a delta came later at the other node than at its own. */
  readonly addedMs: number[];
  /** Delta events that came at the node where they run. */
  events: number;
  turns: number;
  broken: number;
}

class Side {
  readonly atMs = new Float64Array(SEQ_MAX);
  #lastSeq = -1;
  #chars = 0;
  #isWhole = false;
  #hasGap = false;
  deltas = 0;
  firstAtMs = 0;

  take({ seq, type, data, atMs }: StreamEvent): void {
    this.firstAtMs ||= atMs;
    // A ping has a seq too, and rows have none of it.
    this.#hasGap ||= seq <= this.#lastSeq;
    this.#lastSeq = seq;
    if (type === 'block.delta') {
      this.deltas++;
      this.atMs[seq] = atMs;
      const from = data.indexOf('"text_delta":"') + 14;
      this.#chars += data.indexOf('"', from) - from;
    } else if (type === 'turn.end') this.#isWhole = data.includes('"completed"');
  }

  get isWhole(): boolean {
    return this.#isWhole && !this.#hasGap && this.#chars === TOKENS * TOKEN_CHARS;
  }
}

function openStreams(cell: Cell, count: number) {
  const [a, b] = cell.nodes.map(({ port }) => port) as [number, number];
  return Array.from({ length: count }, () => ({ device: mintDevice(), owner: new StreamClient(a), reader: new StreamClient(b) }));
}

function compare(own: Side, other: Side, tally: Tally): void {
  const fromMs = other.firstAtMs + CAUGHT_UP_MS;
  for (const [seq, atMs] of own.atMs.entries()) {
    const otherMs = other.atMs[seq] ?? 0;
    if (atMs > fromMs && otherMs > 0) tally.addedMs.push(otherMs - atMs);
  }
}

async function runTurn({ device, owner, reader }: Stream, liveKey: string, isForwarded: boolean, tally: Tally): Promise<void> {
  const asker = { liveKey, device };
  const turnId = randomUUID();
  const own = new Side();
  const other = new Side();
  let attached: Promise<unknown> | undefined;
  await owner.read(turnRequest(asker, turnId), (event) => {
    own.take(event);
    if (isForwarded) attached ??= reader.read(attachRequest(asker, turnId), (told) => other.take(told)).catch((error: unknown) => error);
  });
  const failure = await attached;
  if (failure !== undefined) throw failure;
  tally.turns++;
  tally.events += own.deltas;
  if (!own.isWhole || (isForwarded && (!other.isWhole || other.deltas !== own.deltas))) tally.broken++;
  if (isForwarded) compare(own, other, tally);
}

async function runTurns(streams: readonly Stream[], liveKey: string, isForwarded: boolean, turns: number): Promise<Tally> {
  const tally: Tally = { addedMs: [], events: 0, turns: 0, broken: 0 };
  await Promise.all(
    streams.map(async (stream, at) => {
      await pause((RAMP_MS * at) / streams.length);
      for (let turn = 0; turn < turns; turn++) {
        try {
          await runTurn(stream, liveKey, isForwarded, tally);
        } catch (error) {
          if (tally.broken++ < SHOWN_MAX) process.stderr.write(`H1: ${error instanceof Error ? error.message : String(error)}\n`);
        }
      }
    }),
  );
  return tally;
}

interface Spent {
  readonly owner: number;
  readonly reader: number;
  readonly redis: number;
}

interface Round extends Tally {
  readonly spent: Spent;
  readonly seconds: number;
}

async function measureRound(cell: Cell, streams: readonly Stream[], liveKey: string, isForwarded: boolean, turns: number): Promise<Round> {
  const processes = [...cell.nodes, cell.redis].map(({ process }) => process);
  const { result, ns } = await spending(processes, async () => {
    const startedMs = performance.now();
    const tally = await runTurns(streams, liveKey, isForwarded, turns);
    return { ...tally, seconds: (performance.now() - startedMs) / 1e3 };
  });
  const [owner, reader, redis] = ns as [number, number, number];
  return { ...result, spent: { owner, reader, redis } };
}

type Found = Awaited<ReturnType<typeof measureLoad>>;

async function measureLoad(cell: Cell, liveKey: string, count: number, { quick, rounds, onStep }: QuestionScene) {
  const streams = openStreams(cell, count);
  const turns = quick ? 1 : TURNS;
  const alone: Round[] = [];
  const both: Round[] = [];
  try {
    await runTurns(streams, liveKey, true, 1);
    for (let round = 0; round < rounds; round++) {
      onStep(`H1: forwarding, ${count} streams, round ${round + 1} of ${rounds}`);
      // Every other round the other way round: whoever follows finds the same machine.
      for (const isForwarded of round % 2 === 0 ? [false, true] : [true, false]) {
        (isForwarded ? both : alone).push(await measureRound(cell, streams, liveKey, isForwarded, turns));
      }
    }
  } finally {
    for (const { owner, reader } of streams) for (const client of [owner, reader]) client.close();
  }
  return { count, alone, both };
}

function perDelta(rounds: readonly Round[], who: keyof Spent): number[] {
  return rounds.map(({ spent, turns }) => spent[who] / 1e3 / (turns * TOKENS));
}

function brokenOf({ alone, both }: Found): number {
  return sum([...alone, ...both].map(({ broken }) => broken));
}

const addedMs = ({ both }: Found, share: number): number[] => both.map((round) => percentile(round.addedMs, share));

function more({ alone, both }: Found, who: keyof Spent): string {
  return digits(median(perDelta(both, who)) - median(perDelta(alone, who)));
}

const COLUMNS: readonly Column<Found>[] = [
  ['streams', ({ count }) => `${count}`],
  ['deltas per s', ({ both }) => whole(median(both.map(({ turns, seconds }) => (turns * TOKENS) / seconds)))],
  ...spread<Found>('added p50 ms', (found) => addedMs(found, 0.5)),
  ...spread<Found>('p99 ms', (found) => addedMs(found, 0.99), 'range of p99'),
  ['owner µs', ({ alone }) => digits(median(perDelta(alone, 'owner')))],
  ['owner + µs', (found) => more(found, 'owner')],
  ['reader + µs', (found) => more(found, 'reader')],
  ['Redis + µs', (found) => more(found, 'redis')],
  ['tokens an event', ({ both }) => median(both.map(({ turns, events }) => (turns * TOKENS) / events)).toFixed(1)],
  ['broken', (found) => `${brokenOf(found)}`],
];

/** A delta is to come no more than this later on the other node, at p50. */
const AIM_MS = 1;

function warningsOf(found: Found): string[] {
  return [
    ...missedBy(`Forwarding ${found.count} streams adds at p50`, median(addedMs(found, 0.5)), AIM_MS, 'ms'),
    ...brokenAmong(`Forwarding ${found.count} streams`, brokenOf(found)),
  ];
}

export function measureForwarding(scene: QuestionScene): Promise<Finding> {
  return withTwoNodes(scene.outDir, 'forwarding', MODEL, async (cell, { liveKey }) => {
    const found: Found[] = [];
    for (const count of LOADS) found.push(await measureLoad(cell, liveKey, count, scene));
    for (const { process } of cell.nodes) process.check();
    const kept = ({ addedMs: added, ...round }: Round) => ({ ...round, added_ms: [0.5, 0.99, 1].map((share) => percentile(added, share)) });
    return {
      tables: [tableOf(COLUMNS, found, 'Forwarding')],
      warnings: found.flatMap(warningsOf),
      data: found.map(({ count, alone, both }) => ({ streams: count, alone: alone.map(kept), both: both.map(kept) })),
    };
  });
}
