/** Redis as companies have it: behind sentinels, with users of its own. Over TLS: scenarios/redis-tls. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { Redis } from 'ioredis';
import { openRedis, type RedisConnection } from '../../../../actors/cluster/bus/redis-connection.ts';
import { eventually } from '../../../support/eventually.ts';
import { redisMissing, startRedis } from '../../../support/redis.ts';
import { temporaryDir } from '../../../support/temporary-dir.ts';
import { openNode, silent } from './fixture.ts';

const skip = redisMissing();

async function open(t: TestContext, redisUrl: string): Promise<RedisConnection> {
  const redis = openRedis({ redisUrl, log: silent });
  t.after(() => redis.close());
  await eventually(
    () => redis.up,
    undefined,
    () => 'it is not up',
  );
  return redis;
}

/** What the map of cells, the names and the presence of nodes need. */
async function works(redis: RedisConnection): Promise<void> {
  await Promise.all(Array.from({ length: 40 }, (_, at) => redis.set(`assistant:at:${at}`, String(at), 60_000)));
  const found = await redis.withPrefix('assistant:at:');
  assert.deepEqual(
    [...found.values()].map(Number).sort((a, b) => a - b),
    Array.from({ length: 40 }, (_, at) => at),
  );
  await redis.delete('assistant:fields');
  assert.equal(await redis.hashSetNew('assistant:fields', 'a', '1'), true);
  assert.equal(await redis.hashSetNew('assistant:fields', 'a', '2'), false);
  assert.equal(await redis.hashSwap('assistant:fields', 'a', '1', '3'), true);
  assert.equal(await redis.hashGet('assistant:fields', 'a'), '3');
  for await (const entry of redis.hashEntries('assistant:fields')) assert.deepEqual(entry, ['a', '3']);
}

async function heard(t: TestContext, url: string): Promise<void> {
  const [one, other] = [await openNode(t, url), await openNode(t, url)];
  await eventually(
    () => one.connected && other.connected,
    undefined,
    () => 'the nodes are not connected',
  );
  one.announce('pairingChanged', { pairingId: 'p' });
  await eventually(
    () => other.heard.length === 1,
    undefined,
    () => 'nothing was heard',
  );
}

/** A primary, its replica, and a sentinel that may choose alone. */
async function startGuarded(t: TestContext, ...settings: string[]) {
  const primary = await startRedis(t, { settings });
  const replica = await startRedis(t, {
    settings: [...settings, '--replicaof', '127.0.0.1', String(primary.port), '--repl-diskless-sync-delay', '0'],
  });
  const file = join(temporaryDir(t), 'sentinel.conf');
  const lines = [`monitor main 127.0.0.1 ${primary.port} 1`, 'down-after-milliseconds main 500', 'failover-timeout main 2000'];
  if (settings.includes('--requirepass')) lines.push(`auth-pass main ${settings[settings.indexOf('--requirepass') + 1]}`);
  writeFileSync(file, lines.map((line) => `sentinel ${line}\n`).join(''));
  const sentinel = await startRedis(t, { file, settings: ['--sentinel', '--protected-mode', 'no'] });
  return { primary, replica, sentinel };
}

describe('CLUSTER-25: REDIS_URL may name sentinels and a user', { skip }, () => {
  test('when the primary dies, the one that the sentinels choose is used', async (t) => {
    const { primary, replica, sentinel } = await startGuarded(t);
    const url = `redis+sentinel://127.0.0.1:1,127.0.0.1:${sentinel.port}/main`;
    const redis = await open(t, url);
    await works(redis);
    const chief = new Redis(sentinel.port);
    t.after(() => chief.disconnect());
    await eventually(
      async () => String(await chief.call('SENTINEL', 'REPLICAS', 'main')).includes(String(replica.port)),
      undefined,
      () => 'the sentinel knows of no replica',
    );
    await primary.kill();
    await eventually(
      () => !redis.up,
      undefined,
      () => 'the loss was not seen',
    );
    await eventually(
      () => redis.up,
      30_000,
      () => 'nothing took over',
    );
    await works(redis);
    await heard(t, url);
  });

  test('a user may be let near names that begin with assistant: alone, and its words are percent-encoded', async (t) => {
    const server = await startRedis(t);
    const admin = new Redis(server.port);
    t.after(() => admin.disconnect());
    const rights = '+@read +@write +@pubsub +@scripting +@connection -@dangerous +info +time'.split(' ');
    await admin.call('ACL', 'SETUSER', 'service', 'on', '>p@ss:word', '~assistant:*', '&assistant:*', ...rights);
    const url = `redis://service:p%40ss%3Aword@127.0.0.1:${server.port}`;
    await works(await open(t, url));
    await heard(t, url);
  });
});
