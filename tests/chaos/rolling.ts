/** All nodes are stopped and started again, one after the other, while many turns are being answered. */
import assert from 'node:assert/strict';
import { talk } from '../support/chaos-load.ts';
import { eventually } from '../support/eventually.ts';
import { assertClean, assertWithin, begin, figures, type Ground, mostTries, outcomes } from './figures.ts';

export interface RollingSize {
  /** That are open at the same time. */
  readonly streams: number;
  readonly pace: { readonly words: number; readonly delayMs: number };
  /** Nodes that are stopped and started again; all of them by default. */
  readonly restarts?: number;
}

/** A turn ends, or succeeds on one retry. */
const TRIES_MAX = 2;

/** SIGTERM lets open turns end and hands over the rest. */
export async function rollingRestart(ground: Ground, { streams, pace, restarts }: RollingSize): Promise<void> {
  const run = await begin(ground);
  run.model.pace(pace);
  let goesOn = true;
  const talks = Array.from({ length: streams }, () => talk(run, { turnsPerConversation: 4, more: () => goesOn }));
  const answering = () => run.history.attempts.filter(({ closing, seen }) => closing === 'open' && seen.length > 0).length;
  await eventually(() => answering() >= streams / 2);
  const drainsMs: number[] = [];
  for (const node of run.cluster.nodes.filter(({ state }) => state === 'up').slice(0, restarts)) {
    const fromMs = performance.now();
    assert.equal(await node.kill('SIGTERM'), 0, `${node.name} ends well: ${node.stderr}`);
    drainsMs.push(performance.now() - fromMs);
    await node.start();
  }
  goesOn = false;
  await Promise.all(talks);
  await assertClean(run);
  const most = mostTries(run.history);
  const drains = drainsMs.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(', ');
  figures(
    run,
    'g',
    `${streams} streams, ${run.history.turns.size} turn ids, at most ${most} tries, drains of ${drains}; ${outcomes(run.history)}`,
  );
  assertWithin(run, most, TRIES_MAX, 'tries until a turn ends or succeeds');
}
