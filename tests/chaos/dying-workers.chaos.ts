/** Workers that die often, for as long as the report of it lasted: 70 seconds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisMissing } from '../support/redis.ts';
import { scaled } from '../support/scale.ts';
import { killWorkers } from './dying-workers.ts';

/** Of three workers that take a second to start, one serves; a machine that is busy starts them more slowly. */
const REFUSED_SHARE_MAX = 0.05;

test('RUN-25: one of three workers is killed every two seconds, and connections are answered', {
  skip: redisMissing(),
}, async (t) => {
  const { connections, refused } = await killWorkers(t, scaled(70_000, 20_000));
  assert.ok(refused <= REFUSED_SHARE_MAX * connections, `${refused} of ${connections} connections were refused`);
});
