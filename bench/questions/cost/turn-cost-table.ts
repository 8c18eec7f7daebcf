/** The table of T1: a row for each thing that a turn costs, a column for each server. Pure. */

import type { RequestTokens } from '../../meters/request-tokens.ts';
import type { StatementCounts } from '../../meters/statement-counts.ts';
import type { WrittenBy } from '../../meters/written.ts';
import { digits, median, range, sum } from '../../report/report.ts';
import type { Table } from '../../report/table.ts';
import { EARLIER } from '../../servers/candidate.ts';
import { brokenAmong, missedBy } from '../../workloads/aims.ts';

/** One measured round: sums over its turns. */
export interface Round {
  /** Whole ones: what everything is divided by. */
  readonly turns: number;
  readonly broken: number;
  readonly cpu_ns: number;
  /** What the load client got. */
  readonly sent_bytes: number;
  readonly written: WrittenBy;
  /** By how much the files grew; undefined where nothing is stored. */
  readonly stored_bytes: number | undefined;
}

export interface TurnCounts extends StatementCounts {
  readonly turns: number;
  readonly broken: number;
  readonly syncs: number;
}

export interface Found {
  readonly server: string;
  readonly rounds: readonly Round[];
  /** Absent for the relay, which stores nothing. */
  readonly counts?: { readonly busy: TurnCounts; readonly alone: TurnCounts };
  readonly tokens?: RequestTokens;
}

interface Row {
  readonly what: string;
  /** Empty where a server has no such thing. */
  cell(found: Found): string;
}

function whole(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : digits(value);
}

/** A figure of each round: its median by the turn. */
function byRound(what: string, of: (round: Round) => number | undefined): Row {
  return {
    what,
    cell({ rounds }) {
      const values = rounds.flatMap((round) => {
        const value = of(round);
        return value === undefined ? [] : [value / round.turns];
      });
      return values.length === 0 ? '' : whole(median(values));
    },
  };
}

/** A count, by the turn: 64 at a time, and with one client. */
function byCount(what: string, of: keyof TurnCounts): Row {
  return {
    what,
    cell({ counts }) {
      return counts === undefined ? '' : [counts.busy, counts.alone].map((each) => digits(each[of] / each.turns)).join(' / ');
    },
  };
}

function byTokens(what: string, of: keyof RequestTokens): Row {
  return { what, cell: ({ tokens }) => (tokens === undefined ? '' : tokens[of].toLocaleString('en-US')) };
}

function brokenOf({ rounds, counts }: Found): number {
  const counted = counts === undefined ? [] : [counts.busy, counts.alone];
  return sum([...rounds, ...counted].map(({ broken }) => broken));
}

const ROWS: readonly Row[] = [
  byRound('CPU µs', ({ cpu_ns }) => cpu_ns / 1e3),
  { what: 'range', cell: ({ rounds }) => range(rounds.map(({ cpu_ns, turns }) => cpu_ns / 1e3 / turns)) },
  byRound('bytes sent to the client', ({ sent_bytes }) => sent_bytes),
  byRound('bytes written by the event loop', ({ written }) => written.loop.bytes),
  byRound('write calls of the event loop', ({ written }) => written.loop.calls),
  byRound('bytes written by the other threads', ({ written }) => written.others.bytes),
  byRound('write calls of the other threads', ({ written }) => written.others.calls),
  byRound('bytes to the disk', ({ written }) => written.loop.disk_bytes + written.others.disk_bytes),
  byRound('bytes kept on disk', ({ stored_bytes }) => stored_bytes),
  byCount('syncs, 64 at a time / one client', 'syncs'),
  byCount('commits, 64 at a time / one client', 'commits'),
  byCount('statements, 64 at a time / one client', 'statements'),
  byCount('… of them on the event loop', 'onLoop'),
  byCount('… of them BEGIN, COMMIT, SAVEPOINT and their like', 'control'),
  byTokens('tokens of the messages, first turn', 'messages'),
  byTokens('tokens of the tool definitions, first turn', 'tools'),
  byTokens('tool definitions', 'tool_definitions'),
  byTokens('bytes of the request to the model, first turn', 'bytes'),
  {
    what: 'broken',
    cell: (found) => `${brokenOf(found)}`,
  },
];

/** What the service aims at: by the turn, 64 at a time, and for the tool definitions in a request to the model. */
const AIMS: readonly { readonly what: string; readonly most: number; readonly unit: string; of(found: Found): number }[] = [
  {
    what: 'writes',
    most: 30,
    unit: 'KB',
    of: ({ rounds }) => median(rounds.map(({ written, turns }) => written.others.bytes / 1e3 / turns)),
  },
  {
    what: 'makes',
    most: 16,
    unit: 'write calls',
    of: ({ rounds }) => median(rounds.map(({ written, turns }) => written.others.calls / turns)),
  },
  {
    what: 'keeps',
    most: 1.5,
    unit: 'KB',
    of: ({ rounds }) => median(rounds.map(({ stored_bytes = 0, turns }) => stored_bytes / 1e3 / turns)),
  },
  { what: 'asks the model', most: 3_600, unit: 'tokens of tool definitions', of: ({ tokens }) => tokens?.tools ?? 0 },
];

/** What turns of the service cost more than they should. The relay has no counts. */
export function turnCostWarnings(found: readonly Found[]): string[] {
  const ours = found.filter(({ counts, server }) => counts !== undefined && server !== EARLIER);
  return [
    ...ours.flatMap((each) =>
      AIMS.flatMap(({ what, most, unit, of }) => missedBy(`A turn of ${each.server} ${what}`, of(each), most, unit)),
    ),
    ...found.flatMap((each) => brokenAmong(each.server, brokenOf(each), 'turns')),
  ];
}

/** What a turn of each server costs. */
export function turnCostTable(found: readonly Found[]): Table {
  return {
    columns: ['a turn costs', ...found.map(({ server }) => server)],
    rows: ROWS.map(({ what, cell }) => [what, ...found.map(cell)]),
  };
}
