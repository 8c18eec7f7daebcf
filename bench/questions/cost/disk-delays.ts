/** D1: how many turns the service holds, and how soon it speaks, on a disk that takes longer for each sync. The relay stores nothing. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { at, compileLoad } from '../../load/load.ts';
import { SlowDisk } from '../../meters/slow-disk.ts';
import { withModel } from '../../model/model.ts';
import type { Curve, Extent, Finding, Point, Question, QuestionScene } from '../../question.ts';
import { type Column, digits, median, range, spread, sum, tableOf, whole } from '../../report/table.ts';
import { type Candidate, EARLIER } from '../../servers/candidate.ts';
import { serviceWithAll } from '../../servers/service.ts';
import { brokenAmong, fallsShort } from '../../workloads/aims.ts';
import { expectedSeconds, type Outcome, play, type Round, type Stage } from '../../workloads/rounds.ts';
import { type Workload, workloadNamed } from '../../workloads/workloads.ts';

const DELAYS_US = [0, 1_000, 4_000] as const;
/** On a disk as slow as this the service is to hold so many turns a second. */
const AIM_DELAY_US = 1_000;
const AIM_PER_S = 5_000;
/** Fewer turns than the workloads have: every server is there several times, and a slow disk makes rounds long. */
const BUSY: Workload = { ...workloadNamed('W3'), requests: 6_000, warmUp: 8_000 };
const ALONE: Workload = { ...workloadNamed('W4'), requests: 200, warmUp: 4_000 };

/** One server on one disk; the relay has none. */
interface Entry {
  readonly server: string;
  readonly disk: SlowDisk | undefined;
  /** Unique in this question. */
  readonly candidate: Candidate;
}

/** The delays that a server meets; undefined: it has no disk. What a client can draw changes nothing here, and peers store nothing. */
function delaysOf({ role, name }: Candidate): readonly (number | undefined)[] {
  if (role === 'limit') return [undefined];
  return role === 'peer' || name === serviceWithAll.name ? [] : DELAYS_US;
}

function entryOf(candidate: Candidate, delayUs: number | undefined, outDir: string): Entry {
  const server = candidate.name;
  if (delayUs === undefined) return { server, disk: undefined, candidate };
  const name = `${server}-${delayUs}`;
  const disk = new SlowDisk(outDir, name, delayUs);
  // Several of one name run beside each other: each has its log to itself.
  const logs = join(outDir, name);
  mkdirSync(logs, { recursive: true });
  const start: Candidate['start'] = (scene) => candidate.start({ ...scene, outDir: logs, disk });
  return { server, disk, candidate: { ...candidate, name, start } };
}

function entriesOf({ candidates, outDir }: QuestionScene): Entry[] {
  return candidates.flatMap((candidate) => delaysOf(candidate).map((delayUs) => entryOf(candidate, delayUs, outDir)));
}

interface Found extends Entry {
  readonly busy: Outcome;
  readonly alone: Outcome;
}

async function playAll({ rounds, quick, outDir, onStep }: QuestionScene, entries: readonly Entry[]): Promise<Found[]> {
  const program = compileLoad(outDir);
  const candidates = entries.map(({ candidate }) => candidate);
  return withModel(outDir, async ({ origin }) => {
    const stage: Stage = { candidates, rounds, quick, program, upstream: origin, outDir, onStep: (step) => onStep(`D1, ${step}`) };
    const busy = await play(stage, BUSY);
    const alone = await play(stage, ALONE);
    // None of them is a peer, so none is left out.
    return entries.map((entry) => ({ ...entry, busy: outcomeOf(entry, busy.outcomes), alone: outcomeOf(entry, alone.outcomes) }));
  });
}

function outcomeOf({ candidate }: Entry, outcomes: readonly Outcome[]): Outcome {
  const found = outcomes.find((outcome) => outcome.candidate === candidate.name);
  if (found === undefined) throw new Error(`D1: ${candidate.name} was not measured`);
  return found;
}

const cpuUs = (round: Round): number => round.cpu_ns / 1e3 / round.ok;
const turnsPerS = (round: Round): number => round.ok / round.wall_s;
const firstMs = (round: Round): number => at(round.first_ms, 0.5);

function firsts({ rounds }: Outcome): string {
  const shares = [0.5, 0.99] as const;
  return shares.map((share) => median(rounds.map(({ first_ms }) => at(first_ms, share))).toFixed(2)).join(' / ');
}

/** By how many of the delays the first delta is later than on the disk as it is. */
function delaysWaited(found: Found, all: readonly Found[]): string {
  const asItIs = all.find(({ server, disk }) => server === found.server && disk?.delayUs === 0);
  if (asItIs === undefined || found.disk === undefined || found.disk.delayUs === 0) return '';
  const [later, sooner] = [found, asItIs].map(({ alone }) => median(alone.rounds.map(firstMs)));
  return (((later ?? Number.NaN) - (sooner ?? Number.NaN)) / (found.disk.delayUs / 1e3)).toFixed(1);
}

function brokenOf({ busy, alone }: Found): number {
  return sum([...busy.rounds, ...alone.rounds].map(({ broken }) => broken));
}

function nameOf({ server, disk }: Found): string {
  return disk === undefined ? server : `${server} with ${disk.delayUs / 1e3} ms added to each sync`;
}

/** `all`: what the entries are set beside. */
function columnsOf(all: readonly Found[]): readonly Column<Found>[] {
  const ofDisk = (of: (disk: SlowDisk) => string) => (found: Found) => (found.disk === undefined ? '' : of(found.disk));
  return [
    ['server', ({ server }) => server],
    ['added to a sync ms', ofDisk(({ delayUs }) => `${delayUs / 1e3}`)],
    ['a sync took ms', ofDisk((disk) => digits(disk.syncs().meanUs / 1e3))],
    ['64 at a time: turns per s', ({ busy }) => whole(median(busy.rounds.map(turnsPerS)))],
    ['range', ({ busy }) => range(busy.rounds.map(turnsPerS))],
    ...spread<Found>('CPU µs a turn', ({ busy }) => busy.rounds.map(cpuUs)),
    ['first delta p50 / p99 ms', ({ busy }) => firsts(busy)],
    ['one client: first delta p50 / p99 ms', ({ alone }) => firsts(alone)],
    ['added by the disk, in delays', (found) => delaysWaited(found, all)],
    ['broken', (found) => `${brokenOf(found)}`],
  ];
}

/** A line for each server; the relay's is one point. */
function curveOf(title: string, y: string, all: readonly Found[], valuesOf: (found: Found) => readonly number[]): Curve {
  const pointOf = (found: Found): Point => {
    const values = valuesOf(found);
    return { x: (found.disk?.delayUs ?? 0) / 1e3, y: median(values), low: Math.min(...values), high: Math.max(...values) };
  };
  const servers = [...new Set(all.map(({ server }) => server))];
  const lines = servers.map((name) => ({ name, points: all.filter(({ server }) => server === name).map(pointOf) }));
  return { title, x: 'added to each sync, ms', y, lines };
}

/** What the service falls short of on a disk of one millisecond: no more than the relay's rate is asked for. */
function warningsOf(all: readonly Found[]): string[] {
  const rateOf = ({ busy }: Found): number => median(busy.rounds.map(turnsPerS));
  const relay = all.find(({ disk }) => disk === undefined);
  const least = Math.min(AIM_PER_S, relay === undefined ? AIM_PER_S : rateOf(relay));
  const slow = all.filter(({ server, disk }) => disk?.delayUs === AIM_DELAY_US && server !== EARLIER);
  return [
    ...slow.flatMap((found) => fallsShort(nameOf(found), rateOf(found), least, 'turns a second')),
    ...all.flatMap((found) => brokenAmong(nameOf(found), brokenOf(found))),
  ];
}

async function measure(scene: QuestionScene): Promise<Finding> {
  const all = await playAll(scene, entriesOf(scene));
  for (const { disk } of all) disk?.check();
  return {
    tables: [tableOf(columnsOf(all), all)],
    warnings: warningsOf(all),
    curves: [
      curveOf('Turns on a slow disk, 64 at a time', 'turns per s', all, ({ busy }) => busy.rounds.map(turnsPerS)),
      curveOf('First delta on a slow disk, one client', 'first delta p50, ms', all, ({ alone }) => alone.rounds.map(firstMs)),
    ],
    data: all.map(({ server, disk, busy, alone }) => {
      return { server, delay_us: disk?.delayUs ?? null, syncs: disk?.syncs() ?? null, busy, alone };
    }),
  };
}

function expected({ candidates, rounds, quick }: Extent): number {
  const each = candidates.flatMap((candidate) => delaysOf(candidate).map(() => candidate));
  // Both workloads are done before a round's time is up.
  return [BUSY, ALONE].reduce((total, workload) => total + 0.6 * expectedSeconds(workload, { candidates: each, rounds, quick }), 0);
}

export const diskDelays: Question = { name: 'D1', what: 'a slow disk', expectedSeconds: expected, measure };
