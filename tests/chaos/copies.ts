/** Copies of each turn sent to random nodes at once, with and without processes that are killed meanwhile. */
import assert from 'node:assert/strict';
import { talk } from '../support/chaos-load.ts';
import { completedEnd } from '../support/history.ts';
import { assertClean, assertWithin, begin, figures, type Ground, mostTries, outcomes, type Run } from './figures.ts';
import { type Kills, killNodes } from './kills.ts';

export interface CopiesSize {
  readonly turns: number;
  /** Copies of each turn. */
  readonly copies: number;
  /** Devices that talk at the same time. */
  readonly devices: number;
}

export interface KillsSize extends CopiesSize, Kills {}

const TURNS_PER_CONVERSATION = 8;

/** Talks until so many turns were begun and `more` says no. */
async function loaded(run: Run, { turns, copies, devices }: CopiesSize, more: () => boolean = () => false): Promise<number> {
  let begun = 0;
  const startMs = performance.now();
  const next = () => {
    begun += 1;
    return begun <= turns || more();
  };
  const talking = { copies, turnsPerConversation: TURNS_PER_CONVERSATION, more: next };
  await Promise.all(Array.from({ length: devices }, () => talk(run, talking)));
  return performance.now() - startMs;
}

/** Each turn_id is one message, one model call and one charge, whichever nodes its copies reach. */
export async function everyCopyTheSame(ground: Ground, size: CopiesSize): Promise<void> {
  const run = await begin(ground);
  run.model.pace({ words: 4, delayMs: 0 });
  const tookMs = await loaded(run, size);
  const held = await assertClean(run);
  const answered = run.history.attempts.filter((attempt) => completedEnd(attempt) !== undefined);
  assert.equal(held.turns.length, size.turns);
  assert.equal(answered.length, size.turns * size.copies);
  const charges = held.turns.reduce((sum, turn) => sum + turn.charges, 0);
  const questions = held.messages.filter(({ role }) => role === 'user').length;
  assert.deepEqual([charges, questions], [size.turns, size.turns]);
  const calls = [...run.history.turns.values()].reduce((sum, { name }) => sum + (run.model.calls.get(name) ?? 0), 0);
  const perSecond = ((size.turns * size.copies * 1000) / tookMs).toFixed(0);
  const shared = new Set(run.history.epochs.map(({ owner }) => owner)).size;
  figures(
    run,
    'a',
    `${size.turns} turn ids, ${answered.length} copies, ${questions} messages, ${charges} charges, ${shared} owners, ${calls} model calls, at most ${mostTries(run.history)} tries, ${perSecond} copies/s; ${outcomes(run.history)}`,
  );
  // A node that does not come to its work for seconds is taken for dead, and one that is late with an answer for unreachable.
  assert.ok(calls >= size.turns, `the model was asked ${calls} times`);
  assertWithin(run, calls, size.turns, 'without a failure the model is asked once for each turn');
  assertWithin(run, mostTries(run.history), 1, 'without a failure nobody has to try again');
}

/** A node that dies takes nothing with it that was acknowledged, and nothing happens twice. */
export async function nothingTwiceUnderKills(ground: Ground, size: KillsSize): Promise<void> {
  const run = await begin(ground);
  // Long enough for a kill to hit turns in the middle.
  run.model.pace({ words: 8, delayMs: 25 });
  let killing = true;
  const killed = killNodes(run, size).finally(() => {
    killing = false;
  });
  await loaded(run, size, () => killing);
  const { killed: kills, up } = await killed;
  await up;
  await assertClean(run);
  const { turns, attempts } = run.history;
  const broken = attempts.filter(({ closing, seen }) => closing === 'broken' && seen.length > 0).length;
  assert.ok(broken > 0, `the kills hit streams: ${outcomes(run.history)}`);
  const numbers = `${turns.size} turn ids, ${attempts.length} requests, ${broken} cut in mid-stream, at most ${mostTries(run.history)} tries`;
  figures(run, 'b', `${kills} kills, ${numbers}; ${outcomes(run.history)}`);
}
