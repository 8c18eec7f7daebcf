/** A rolling restart, answers to cards on all nodes, and what other nodes cost. THOROUGH=1 for the sizes that are promised. */
import { test } from 'node:test';
import { scaled } from '../support/scale.ts';
import { answerAtExpiry } from './cards.ts';
import { prepareGround } from './ground.ts';
import { forwardedDeltas, handOver } from './latency.ts';
import { rollingRestart } from './rolling.ts';

const STREAMS = scaled(200, 60);
const CALLERS = 64;

test(`CLUSTER-7: a rolling restart of four nodes under ${STREAMS} streams loses no turn`, async (t) => {
  await rollingRestart(await prepareGround(t), { streams: STREAMS, pace: { words: 20, delayMs: 200 } });
});

test(`CONFIRM-5: ${CALLERS} confirms and declines over four nodes when the time is up: one terminal answer`, async (t) => {
  await answerAtExpiry(await prepareGround(t), { cards: scaled(50, 10), callers: CALLERS });
});

test('CLUSTER-5: what a hand-over and a forwarded delta cost', async (t) => {
  const ground = await prepareGround(t, { nodes: 2 });
  await handOver(ground, scaled(500, 50));
  await forwardedDeltas(ground, scaled(30, 3), 400);
});
