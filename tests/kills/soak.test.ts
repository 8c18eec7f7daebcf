import assert from 'node:assert/strict';
import { test } from 'node:test';
import { soakHtml } from '../../bench/soak/page.ts';
import { soak } from '../../bench/soak/soak.ts';
import { redisMissing } from '../support/redis.ts';
import { createDice } from '../support/seeded.ts';

/** All that is done to the service comes once; memory is judged by the long form alone. */
const MINUTES = 1.25;

test('LOAD-10: under mixed load, kills, restarts, moves and jumps of the clock nothing grows that can be counted', {
  skip: redisMissing(),
}, async () => {
  const never = new AbortController().signal;
  const stopping = { gently: never, atOnce: never, by: () => undefined };
  const soaked = await soak({ minutes: MINUTES, dice: createDice(), stopping, say: () => {} });
  assert.deepEqual(soaked.violations, []);
  const judged = soaked.series.flatMap(({ id, isFlat }) => (isFlat === undefined ? [] : [id]));
  assert.ok(judged.includes('nodeFds') && judged.includes('timers') && judged.includes('series'), judged.join());
  assert.ok(soaked.marks.length >= 3, 'it was disturbed');
  assert.match(soakHtml(soaked), /stayed flat/);
});
