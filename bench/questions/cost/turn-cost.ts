/**
 * T1: what a turn costs besides time, in one table with its CPU time: what is written, kept and synced, and the tokens that the model is
 * asked with. A row for each thing, a column for each server.
 */
import { compileLoad } from '../../load/load.ts';
import { firstTurnTokens, type RequestTokens } from '../../meters/request-tokens.ts';
import { SlowDisk, syncDelayUs } from '../../meters/slow-disk.ts';
import { writing } from '../../meters/written.ts';
import { withModel } from '../../model/model.ts';
import type { Finding, Question, QuestionScene } from '../../question.ts';
import { digits, median, range, sum, type Table, whole } from '../../report/table.ts';
import { type Candidate, EARLIER } from '../../servers/candidate.ts';
import { brokenAmong, missedBy } from '../../workloads/aims.ts';
import { expectedSeconds, play, type Round } from '../../workloads/rounds.ts';
import { type Workload, workloadNamed } from '../../workloads/workloads.ts';

/** Enough to fill the log of a database many times over. */
const BUSY: Workload = { ...workloadNamed('W3'), requests: 10_000 };
/** Counts do not vary as times do. */
const ALONE: Workload = { ...workloadNamed('W4'), requests: 200 };

export interface Found {
  readonly server: string;
  /** 64 at a time, and with one client. */
  readonly busy: readonly Round[];
  readonly alone: readonly Round[];
  /** Absent for the relay, which asks the same of the model whatever it is asked. */
  readonly tokens?: RequestTokens;
}

interface Row {
  readonly what: string;
  /** Empty where a server has no such thing. */
  cell(found: Found): string;
}

function byTurn(rounds: readonly Round[], of: (round: Round) => number | undefined): number[] {
  return rounds.flatMap((round) => {
    const value = of(round);
    return value === undefined ? [] : [value / round.ok];
  });
}

function byRound(what: string, of: (round: Round) => number | undefined): Row {
  return {
    what,
    cell({ busy }) {
      const values = byTurn(busy, of);
      const value = median(values);
      return values.length === 0 ? '' : value >= 100 ? whole(value) : digits(value);
    },
  };
}

function byTokens(what: string, of: keyof RequestTokens): Row {
  return { what, cell: ({ tokens }) => (tokens === undefined ? '' : whole(tokens[of])) };
}

const syncs = ({ wrote }: Round): number | undefined => wrote?.syncs;

function brokenOf({ busy, alone }: Found): number {
  return sum([...busy, ...alone].map(({ broken }) => broken));
}

const ROWS: readonly Row[] = [
  byRound('CPU µs', ({ cpu_ns }) => cpu_ns / 1e3),
  { what: 'range', cell: ({ busy }) => range(byTurn(busy, ({ cpu_ns }) => cpu_ns / 1e3)) },
  byRound('bytes sent to the client', ({ bytes }) => bytes),
  byRound('bytes written by the event loop', ({ wrote }) => wrote?.loop.bytes),
  byRound('write calls of the event loop', ({ wrote }) => wrote?.loop.calls),
  byRound('bytes written by the other threads', ({ wrote }) => wrote?.others.bytes),
  byRound('write calls of the other threads', ({ wrote }) => wrote?.others.calls),
  byRound('bytes to the disk', ({ wrote }) => wrote && wrote.loop.disk_bytes + wrote.others.disk_bytes),
  byRound('bytes kept on disk', ({ wrote }) => wrote?.stored_bytes),
  {
    what: 'syncs, 64 at a time / one client',
    cell({ busy, alone }) {
      const both = [busy, alone].map((rounds) => byTurn(rounds, syncs));
      return both.some((values) => values.length === 0) ? '' : both.map((values) => digits(median(values))).join(' / ');
    },
  },
  byTokens('tokens of the messages, first turn', 'messages'),
  byTokens('tokens of the tool definitions, first turn', 'tools'),
  byTokens('tool definitions', 'tool_definitions'),
  byTokens('bytes of the request to the model, first turn', 'bytes'),
  { what: 'broken', cell: (found) => `${brokenOf(found)}` },
];

/** What the service aims at: by the turn, 64 at a time, and for the tool definitions in a request to the model. */
const AIMS: readonly { readonly what: string; readonly most: number; readonly unit: string; of(found: Found): number }[] = [
  { what: 'writes', most: 30, unit: 'KB', of: ({ busy }) => median(byTurn(busy, ({ wrote }) => (wrote?.others.bytes ?? 0) / 1e3)) },
  { what: 'makes', most: 16, unit: 'write calls', of: ({ busy }) => median(byTurn(busy, ({ wrote }) => wrote?.others.calls)) },
  { what: 'keeps', most: 1.5, unit: 'KB', of: ({ busy }) => median(byTurn(busy, ({ wrote }) => (wrote?.stored_bytes ?? 0) / 1e3)) },
  { what: 'asks the model', most: 3_600, unit: 'tokens of tool definitions', of: ({ tokens }) => tokens?.tools ?? 0 },
];

function warningsOf(found: readonly Found[]): string[] {
  const ours = found.filter(({ tokens, server }) => tokens !== undefined && server !== EARLIER);
  return [
    ...ours.flatMap((each) =>
      AIMS.flatMap(({ what, most, unit, of }) => missedBy(`A turn of ${each.server} ${what}`, of(each), most, unit)),
    ),
    ...found.flatMap((each) => brokenAmong(each.server, brokenOf(each), 'turns')),
  ];
}

export function turnCostTable(found: readonly Found[]): Table {
  return {
    columns: ['a turn costs', ...found.map(({ server }) => server)],
    rows: ROWS.map(({ what, cell }) => [what, ...found.map(cell)]),
  };
}

/** The relay and ours, whose syncs are counted: what peers keep and ask is another matter. */
function lookedAt(candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates
    .filter(({ role }) => role !== 'peer')
    .map((candidate) => {
      const counted: Candidate['start'] = (scene) => {
        return candidate.start({ ...scene, disk: new SlowDisk(scene.outDir, candidate.name, syncDelayUs(process.env)) });
      };
      return candidate.role === 'limit' ? candidate : { ...candidate, start: counted };
    });
}

async function measure({ outDir, quick, rounds, onStep, candidates: all }: QuestionScene): Promise<Finding> {
  const candidates = lookedAt(all);
  const found: Found[] = [];
  await withModel(outDir, async ({ origin: upstream }) => {
    const step = (what: string): void => onStep(`T1, ${what}`);
    const stage = { candidates, rounds, quick, program: compileLoad(outDir), upstream, outDir, onStep: step, meter: writing };
    const { outcomes: busy } = await play(stage, BUSY);
    const { outcomes: alone } = await play(stage, ALONE);
    for (const [at, candidate] of candidates.entries()) {
      const measured = { server: candidate.name, busy: busy[at]?.rounds ?? [], alone: alone[at]?.rounds ?? [] };
      if (candidate.role === 'limit') found.push(measured);
      else found.push({ ...measured, tokens: await firstTurnTokens(candidate, { streams: BUSY.streams, outDir }) });
    }
  });
  return { tables: [turnCostTable(found)], warnings: warningsOf(found), data: found };
}

export const turnCost: Question = {
  name: 'T1',
  what: 'what a turn costs besides time',
  expectedSeconds({ candidates, rounds, quick }) {
    const extent = { candidates: lookedAt(candidates), rounds, quick };
    return expectedSeconds(BUSY, extent) + expectedSeconds(ALONE, extent);
  },
  measure,
};
