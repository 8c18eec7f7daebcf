/** What the long scenarios run on: four programs, a Redis and a model of their own. */
import type { TestContext } from 'node:test';
import { startCluster } from '../support/cluster.ts';
import { startPacedModel } from '../support/paced-model.ts';
import { startRedis } from '../support/redis.ts';
import { seedOfRun } from '../support/seeded.ts';
import type { RedisGround } from './figures.ts';

/** The app's own server of a scenario is on this machine. */
const ENV = { ALLOW_PRIVATE_ADDRESSES: 'true' };

/** Starts everything; it ends with the test. Redis and the model listen on all addresses, so that namespaces reach them. */
export async function prepareGround(t: TestContext, { nodes = 4, timed = true } = {}): Promise<RedisGround> {
  t.diagnostic(`SEED=${seedOfRun()}`);
  const redis = await startRedis(t, { host: '0.0.0.0' });
  const model = await startPacedModel(t, '0.0.0.0');
  const cluster = await startCluster(t, { nodes, redisUrl: `redis://127.0.0.1:${redis.port}`, env: { ...model.env(), ...ENV } });
  return { t, cluster, model, redis, timed };
}
