/** What the rounds of W7, W8 or W9 say: the table, and what misses its aim. Pure. */

import type { Finding } from '../../question.ts';
import { type Column, digits, median, range, spread, sum, type Table, tableOf, whole } from '../../report/table.ts';
import { EARLIER } from '../../servers/candidate.ts';
import { type Verdict, verdictOf } from '../../workloads/comparison.ts';
import type { TurnKind } from './turn-kind.ts';

export interface Round {
  readonly turns: number;
  readonly broken: number;
  readonly reasons: readonly string[];
  readonly cpu_ns: number;
  readonly wall_s: number;
  readonly requests: number;
  readonly request_bytes: number;
  readonly first_ms: readonly [p50: number, p99: number];
  readonly whole_ms: readonly [p50: number, p99: number];
}

export interface Played {
  readonly candidate: string;
  readonly kind: TurnKind;
  readonly rounds: readonly Round[];
}

/** The CPU time, by round, for each request to the model that a whole turn has to make: making more of them does not make it cheaper. */
function cpuUsOf({ kind, rounds }: Played): number[] {
  return rounds.map(({ cpu_ns, turns }) => cpu_ns / 1e3 / (turns * kind.rounds));
}

/** The same as a multiple of another one's in the same round. */
function ratiosOf(played: Played, other: Played): number[] {
  const beside = cpuUsOf(other);
  return cpuUsOf(played).map((us, round) => us / (beside[round] ?? Number.NaN));
}

function plainOf({ candidate }: Played, all: readonly Played[]): Played | undefined {
  return all.find((other) => other.candidate === candidate && other.kind.target === undefined);
}

/** By round, beside the plain turn; none where it is that itself. */
function besidePlain(played: Played, all: readonly Played[]): number[] {
  const plain = plainOf(played, all);
  return plain === undefined || plain === played ? [] : ratiosOf(played, plain);
}

function columnsOf(all: readonly Played[]): readonly Column<Played>[] {
  const of = ({ rounds }: Played, value: (round: Round) => number): number => median(rounds.map(value));
  const pair = (name: 'first_ms' | 'whole_ms') => (played: Played) =>
    [0, 1].map((at) => of(played, (round) => round[name][at] ?? Number.NaN).toFixed(2)).join(' / ');
  const ratio = (shown: (ratios: readonly number[]) => string) => (played: Played) => {
    const ratios = besidePlain(played, all);
    return ratios.length === 0 ? '' : shown(ratios);
  };
  return [
    ['server', ({ candidate }) => candidate],
    ['turns', ({ kind }) => kind.name],
    ['CPU µs a turn', (played) => digits(of(played, ({ cpu_ns, turns }) => cpu_ns / 1e3 / turns))],
    ...spread('CPU µs a model round', cpuUsOf),
    ['÷ W3', ratio((ratios) => median(ratios).toFixed(2))],
    ['range', ratio(range)],
    ['first delta p50 / p99 ms', pair('first_ms')],
    ['whole turn p50 / p99 ms', pair('whole_ms')],
    ['turns per s', (played) => whole(of(played, ({ turns, wall_s }) => turns / wall_s))],
    ['KB to the model a round', (played) => digits(of(played, ({ request_bytes, requests }) => request_bytes / 1e3 / requests))],
    ['broken', ({ rounds }) => `${sum(rounds.map(({ broken }) => broken))}`],
    ['target', ({ kind }) => (kind.target === undefined ? '' : `≤ ${kind.target} ×`)],
  ];
}

function warningsOf(played: Played, all: readonly Played[]): string[] {
  const { candidate, kind, rounds } = played;
  const who = kind.target === undefined ? `${candidate}, ${kind.name}` : candidate;
  const plain = plainOf(played, all);
  const ratio = plain === undefined ? Number.NaN : median(ratiosOf(played, plain));
  const broken = sum(rounds.map((round) => round.broken));
  const perTurn = median(rounds.map(({ requests, turns }) => requests / turns));
  const warnings: string[] = [];
  if (kind.target !== undefined && ratio > kind.target)
    warnings.push(`${who}: a model round costs ${ratio.toFixed(2)} times that of W3, and should cost at most ${kind.target} times.`);
  if (broken > 0)
    warnings.push(`${who}: ${broken.toLocaleString('en-US')} turns were broken: ${rounds.flatMap(({ reasons }) => reasons)[0]}`);
  else if (perTurn !== kind.rounds) warnings.push(`${who}: the model was asked ${digits(perTurn)} times a turn, not ${kind.rounds} times.`);
  return warnings;
}

const EARLIER_COLUMNS = ['turns', 'CPU µs a turn: earlier', 'now', 'now ÷ earlier', 'by round', 'says'];
const SAYS: Readonly<Partial<Record<Verdict, string>>> = { less: 'cheaper', more: 'dearer' };

/** The service beside an earlier build of itself; none when no earlier one was measured. */
function besideEarlier(all: readonly Played[]): Table[] {
  const rows = all.flatMap((now) => {
    const earlier = all.find(({ candidate, kind }) => candidate === EARLIER && kind === now.kind);
    if (now.candidate !== 'service' || earlier === undefined) return [];
    const [before, after] = [cpuUsOf(earlier), cpuUsOf(now)];
    const ratios = ratiosOf(now, earlier);
    const verdict = verdictOf(ratios);
    const cost = [before, after].map((us) => digits(median(us) * now.kind.rounds));
    return [[now.kind.name, ...cost, median(ratios).toFixed(2), range(ratios), SAYS[verdict] ?? verdict]];
  });
  return rows.length === 0 ? [] : [{ title: 'Beside the earlier build', columns: EARLIER_COLUMNS, rows }];
}

/** The section of a kind, with W3's turns beside its own. */
export function findingOf(all: readonly Played[]): Finding {
  return {
    tables: [tableOf(columnsOf(all), all), ...besideEarlier(all)],
    warnings: all.flatMap((played) => warningsOf(played, all)),
    data: all.map(({ candidate, kind, rounds }) => ({ candidate, turns: kind.name, model_rounds: kind.rounds, rounds })),
  };
}
