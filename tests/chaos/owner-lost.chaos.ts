/** Owners that are killed and owners that sleep. THOROUGH=1 for the sizes that are promised. */
import { test } from 'node:test';
import { scaled } from '../support/scale.ts';
import { prepareGround } from './ground.ts';
import { ownerKilled, ownerPaused } from './owner-lost.ts';

const KILLED = scaled(30, 6);
const PAUSED = scaled(50, 5);

test(`CLUSTER-6: the owner killed in mid-stream, ${KILLED} times: the retry on another node begins within 1 s, under the same message id`, async (t) => {
  await ownerKilled(await prepareGround(t), KILLED);
});

test(`CLUSTER-4, CLUSTER-6: the owner stopped in mid-stream, ${PAUSED} times: taken over within 3.5 s, and nothing stale when it wakes`, async (t) => {
  await ownerPaused(await prepareGround(t), PAUSED);
});
