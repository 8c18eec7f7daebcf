/** What a turn costs the service while something it stores grows: CPU time and first delta, as a table and as growth. */

import { at, type LoadClient, load } from '../../load/load.ts';
import { spending } from '../../meters/spending.ts';
import type { Finding } from '../../question.ts';
import { digits, median, range, sum } from '../../report/table.ts';
import type { Running } from '../../servers/processes.ts';
import { type Server, targetOf } from '../../servers/service.ts';
import { workloadNamed } from '../../workloads/workloads.ts';
import { type Growth, growthWarnings, pointOf } from './growth.ts';

/** New conversations of one turn with one token, 64 at a time. */
const NEW_CONVERSATIONS = workloadNamed('W3');
/** Far more than the turns of one load take: a server that hangs must not hold the run up. */
const LOAD_MAX_S = 60;

/** What a load of turns saw. */
export interface Turns {
  readonly ok: number;
  readonly broken: number;
  readonly firstP50Ms: number;
  /** Why the first of them broke. */
  readonly reasons: readonly string[];
}

/** One round. */
export interface TurnCost {
  readonly cpu_us: number;
  readonly first_p50_ms: number;
  readonly ok: number;
  readonly broken: number;
}

/** The rounds at one size. */
export interface SizeCost {
  readonly size: number;
  readonly rounds: readonly TurnCost[];
}

/** Has `take` send turns, and says what each cost the server. @throws Error when none was answered whole. */
export async function costOfTurns(server: Running, take: () => Promise<Turns>): Promise<TurnCost> {
  const {
    result: { ok, broken, firstP50Ms, reasons },
    ns: [cpu = 0],
  } = await spending([server], take);
  if (ok === 0) throw new Error(`no turn was whole: ${reasons[0] ?? 'nothing came'}`);
  return { cpu_us: cpu / 1e3 / ok, first_p50_ms: firstP50Ms, ok, broken };
}

/** Sends so many turns to an app, each in a new conversation. */
export async function newConversations(client: LoadClient, server: Server, liveKey: string, turns: number): Promise<Turns> {
  const target = targetOf(server, liveKey, 'growing');
  const extent = { requests: turns, seconds: LOAD_MAX_S };
  const { ok, broken, first_ms, reasons } = await load(client.program, client.outDir, NEW_CONVERSATIONS, target, extent);
  return { ok, broken, firstP50Ms: at(first_ms, 0.5), reasons };
}

export const COST_COLUMNS = ['CPU µs a turn', 'range', 'first delta p50 ms', 'range', 'broken'] as const;

/** The cells of `COST_COLUMNS`. */
export function costCells(rounds: readonly TurnCost[]): string[] {
  const [cpu, first] = [rounds.map(({ cpu_us }) => cpu_us), rounds.map(({ first_p50_ms }) => first_p50_ms)];
  return [digits(median(cpu)), range(cpu), digits(median(first)), range(first), String(sum(rounds.map(({ broken }) => broken)))];
}

/** CPU time and first delta by the size of what grows. */
export function growthsOf(of: string, sizes: readonly SizeCost[]): Growth[] {
  const pointsOf = (value: (cost: TurnCost) => number) => sizes.map(({ size, rounds }) => pointOf(size, rounds.map(value)));
  return [
    { cost: 'CPU time of a turn', unit: 'µs', of, points: pointsOf(({ cpu_us }) => cpu_us) },
    { cost: 'First delta p50', unit: 'ms', of, points: pointsOf(({ first_p50_ms }) => first_p50_ms) },
  ];
}

/** What grows too much, and at which sizes turns broke. */
export function warningsOf(growths: readonly Growth[], of: string, sizes: readonly SizeCost[]): NonNullable<Finding['warnings']> {
  const broken = sizes.flatMap(({ size, rounds }) => {
    const count = sum(rounds.map((round) => round.broken));
    return count === 0 ? [] : [`With ${size.toLocaleString('en-US')} ${of}, ${count} turns were not whole.`];
  });
  return [...growths.flatMap(growthWarnings), ...broken];
}
