/** What scenarios have in common: the part of a run after its load, and the line of figures that it ends with. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { SILENCE_MS, watchEpochs } from '../support/chaos-load.ts';
import type { TestApp } from '../support/client.ts';
import type { Cluster } from '../support/cluster.ts';
import { checkObservations, completedEnd, History, type Violation } from '../support/history.ts';
import type { PacedModel } from '../support/paced-model.ts';
import type { TestRedis } from '../support/redis.ts';
import { createDice, type Dice } from '../support/seeded.ts';
import { checkHeld, type Held, readHeld } from '../support/stored-history.ts';
import { slowness } from './slowness.ts';

/** What every scenario is run on. */
export interface Ground {
  readonly t: TestContext;
  readonly cluster: Cluster;
  readonly model: PacedModel;
  /** Whether limits of time are held against it: not beside other tests, which take the machine for themselves now and then. */
  readonly timed: boolean;
}

export interface RedisGround extends Ground {
  readonly redis: TestRedis;
}

/** One scenario under way: an app of its own, and everything that its clients observe. */
export interface Run extends Ground {
  /** The larger of two measurements, before and after the load; see `slowness`. */
  readonly machine: { slowness: number };
  readonly app: TestApp;
  readonly history: History;
  readonly dice: Dice;
  readonly silenceMs: number;
}

/** How long a stream may say nothing on a machine that other tests share. */
const UNTIMED_SILENCE_MS = 60_000;
/** As many of a violation's kind as help; the rest is a number. */
const SHOWN_OF_A_RULE = 3;
/** Tells one refusal from another. */
const SHOWN_OF_A_MESSAGE_CHARS = 40;

/** The value below which the share `q` of all values lies; NaN without any. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

/** `p50 1.2 ms, p99 3.4 ms, most 5.6 ms` */
export function spread(values: readonly number[]): string {
  const shown = ([name, q]: readonly [string, number]) => `${name} ${quantile(values, q).toFixed(1)} ms`;
  return (
    [
      ['p50', 0.5],
      ['p95', 0.95],
      ['p99', 0.99],
      ['most', 1],
    ] as const
  )
    .map(shown)
    .join(', ');
}

function shown(violations: readonly Violation[]): string {
  const rules = new Map<string, Violation[]>();
  for (const violation of violations) rules.set(violation.rule, [...(rules.get(violation.rule) ?? []), violation]);
  return [...rules]
    .map(([rule, found]) => {
      const few = found.slice(0, SHOWN_OF_A_RULE).map(({ of, detail }) => `  ${of}: ${detail}`);
      return [`${rule} (${found.length})`, ...few].join('\n');
    })
    .join('\n');
}

/** Begins a scenario; its seed is printed. */
export async function begin(ground: Ground, settings: Readonly<Record<string, unknown>> = {}): Promise<Run & { stopWatching(): void }> {
  const dice = createDice();
  const silenceMs = ground.timed ? SILENCE_MS : UNTIMED_SILENCE_MS;
  const machine = { slowness: ground.timed ? await slowness() : 1 };
  const run = { ...ground, machine, app: await ground.cluster.app(settings), history: new History(), dice, silenceMs };
  return { ...run, stopWatching: watchEpochs(run) };
}

/** Holds everything that was observed against what is held now. Nothing may run any more. @throws AssertionError */
export async function assertClean(run: Run & { stopWatching(): void }, executions: readonly string[] = []): Promise<Held> {
  const { cluster, app, history, model, t } = run;
  run.stopWatching();
  if (run.timed) run.machine.slowness = Math.max(run.machine.slowness, await slowness());
  const held = await readHeld(cluster, app, history, { modelCalls: model.calls, executions });
  const violations = [...checkObservations(history), ...checkHeld(history, held)];
  assert.equal(violations.length, 0, `the history is not clean (SEED=${run.dice.seed}):\n${shown(violations)}`);
  assert.deepEqual(cluster.unexpectedExits, [], 'no process ended by itself');
  t.diagnostic(`clean: ${history.turns.size} turn ids, ${history.attempts.length} requests, ${history.epochs.length} epochs seen`);
  return held;
}

/** Tries of the copies that needed the most. */
export function mostTries({ attempts }: History): number {
  return attempts.reduce((most, { number }) => Math.max(most, number), 0);
}

/** Requests by what became of them, such as `200 answered: 12, 200 broken: 3, 503 ended: 1`. */
export function outcomes({ attempts }: History): string {
  const counts = new Map<string, number>();
  for (const attempt of attempts) {
    const last = completedEnd(attempt) === undefined ? attempt.closing : 'answered';
    const error = attempt.seen.find(({ event }) => event.type === 'error')?.event;
    const told = error === undefined ? undefined : `${error.code} (${String(error.message).slice(0, SHOWN_OF_A_MESSAGE_CHARS)}…)`;
    const key = [attempt.status ?? 'no answer', attempt.refusal ?? told, last]
      .filter((part) => part !== undefined && part !== null)
      .join(' ');
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => `${key}: ${count}`).join(', ');
}

/** The one line that a scenario ends with. */
export function figures({ t, dice, machine }: Pick<Run, 't' | 'dice' | 'machine'>, scenario: string, line: string): void {
  t.diagnostic(`chaos ${scenario}: ${line}; machine ${machine.slowness.toFixed(1)} times as slow as a quiet one; SEED=${dice.seed}`);
}

/**
 * Holds a time, or a count that grows when nodes are late, against the limit for a quiet machine, times the slowness of this one.
 * Checks nothing where the run is untimed.
 * @throws AssertionError
 */
export function assertWithin({ timed, machine }: Run, value: number, promised: number, what: string): void {
  if (timed) assert.ok(value <= promised * machine.slowness, `${what}: ${value}, over ${promised} × ${machine.slowness}`);
}
