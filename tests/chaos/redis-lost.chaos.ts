/** Redis killed, Redis stopped, and a node that is cut off from it. THOROUGH=1 for the sizes that are promised. */
import { test } from 'node:test';
import { scaled } from '../support/scale.ts';
import { prepareGround } from './ground.ts';
import { cutFromRedis, namespacesMissing } from './partition.ts';
import { redisKilled, redisStopped } from './redis-lost.ts';

const STOPPED_MS = scaled(60_000, 8_000);
const CUTS = scaled(50, 6);

test('CLUSTER-16: Redis killed under load without persistence, and started again', async (t) => {
  await redisKilled(await prepareGround(t), { outageMs: scaled(20_000, 3_000), staying: 8, roaming: 8 });
});

test(`CLUSTER-16: Redis stopped for ${STOPPED_MS} ms under load`, async (t) => {
  await redisStopped(await prepareGround(t), { outageMs: STOPPED_MS, staying: 8, roaming: 8 });
});

test(`CLUSTER-16: a node's way to Redis cut and mended ${CUTS} times`, { skip: namespacesMissing() }, async (t) => {
  await cutFromRedis(await prepareGround(t, { nodes: 3 }), { cuts: CUTS, cutMs: [200, 5_000], mendedMs: [200, 3_000], devices: 8 });
});
