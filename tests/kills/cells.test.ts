/** Two cells of real programs, one killed while an organisation moves. The long run is `npm run test:chaos`. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { KILL_STEPS, moveAndKill, prepareMoves, proveNothingLost } from '../chaos/move-kills.ts';
import { createClient } from '../support/client.ts';
import { redisMissing } from '../support/redis.ts';
import { createDice } from '../support/seeded.ts';

test('CELL-9: a cell killed on the way leaves at most one copy that takes writes, and loses nothing', {
  skip: redisMissing(),
}, async (t) => {
  const dice = createDice();
  const [step, victim] = [dice.pick(KILL_STEPS), dice.pick(['source', 'target'] as const)];
  t.diagnostic(`SEED=${dice.seed}: ${victim} killed at ${step}`);
  const world = await prepareMoves(t);
  const { a, b, app } = world;
  await moveAndKill(world, a, b, step, victim);
  // It starts with the sealed file of an organisation that left it.
  await a.kill();
  await a.start();
  const said = await createClient(a.baseUrl, app.liveKey).chat({ turn_id: randomUUID(), message: { text: 'hello' } });
  assert.equal(said.events.at(-1)?.status, 'completed', `the cell that was left passes the turn on: ${said.text}`);
  await world.rest();
  assert.ok(world.acknowledged.size > 0);
  proveNothingLost(world, b);
});
