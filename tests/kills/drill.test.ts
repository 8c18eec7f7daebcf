import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playRound } from '../../bench/drill/round.ts';
import { redisMissing } from '../support/redis.ts';
import { createDice } from '../support/seeded.ts';

test('REPLICA-11, CELL-16, REPLICA-9: a host is lost under load, and nothing is broken but what is said to be lost', {
  skip: redisMissing(),
}, async () => {
  const round = await playRound({ organisations: 3, s3: false, dice: createDice() });
  assert.deepEqual(round.violations, []);
  assert.ok(round.acknowledgedBefore > 0, 'the people were served before');
  assert.ok(round.firstTurnMs !== undefined && round.firstTurnViaOtherMs !== undefined, 'and afterwards, on both ways');
});
