/** Cells that are killed at each step of a move. THOROUGH=1 for the sizes that are promised. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scaled } from '../support/scale.ts';
import { KILL_STEPS, moveAndKill, prepareMoves, proveNothingLost, type Victim } from './move-kills.ts';

const TIMES = scaled(20, 1);

test(`CELL-9: each cell killed at each step, ${TIMES} times: at most one copy takes writes, nothing acknowledged is lost`, async (t) => {
  const world = await prepareMoves(t);
  let [source, target] = [world.a, world.b];
  for (let time = 0; time < TIMES; time++) {
    for (const step of KILL_STEPS) {
      for (const victim of ['source', 'target'] satisfies Victim[]) {
        await moveAndKill(world, source, target, step, victim);
        [source, target] = [target, source];
      }
    }
    t.diagnostic(`${(time + 1) * KILL_STEPS.length * 2} moves, ${world.acknowledged.size} turns`);
  }
  await world.rest();
  assert.ok(world.acknowledged.size > 0);
  proveNothingLost(world, source);
});
