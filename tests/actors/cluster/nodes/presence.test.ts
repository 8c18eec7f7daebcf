/** Who is there according to Redis, and plain commands to it. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Redis } from 'ioredis';
import { openRedis, type RedisConnection } from '../../../../actors/cluster/bus/redis-connection.ts';
import { mintNodeId } from '../../../../actors/cluster/nodes/members.ts';
import { eventually } from '../../../support/eventually.ts';
import { servingNode } from '../../../support/node.ts';
import { redisMissing, startRedis } from '../../../support/redis.ts';
import { silent, vault } from '../bus/fixture.ts';
import { ids, openCell, record } from './member-fixture.ts';

async function entriesOf(redis: RedisConnection): Promise<ReadonlyMap<string, string>> {
  const entries = new Map<string, string>();
  for await (const [field, value] of redis.hashEntries('map')) entries.set(field, value);
  return entries;
}

describe('CLUSTER-8, CLUSTER-16, CLUSTER-17: presence in Redis', { skip: redisMissing(), concurrency: true }, () => {
  test('nodes of all cells are seen, those that somebody made up are not, and without Redis the host is enough', async (t) => {
    const server = await startRedis(t);
    const redis = openRedis({ redisUrl: server.url, log: silent });
    t.after(() => redis.close());
    await eventually(
      () => redis.up,
      undefined,
      () => 'Redis is there',
    );
    const presence = { redis, vault };
    const cell = openCell(t);
    const one = await cell.open({ presence });
    const other = await cell.open({ presence });
    const abroad = { ...record(mintNodeId('far')), cell: 'east', url: 'http://10.0.0.1:1' };
    const far = await openCell(t).open({ presence, node: servingNode(abroad, abroad.url) });
    const everywhere = async () => (await one.everywhere()).map(({ id }) => id);
    const all = [far.self, one.self, other.self].sort();
    await eventually(
      async () => (await everywhere()).length === 3,
      undefined,
      () => 'all are there',
    );
    const stranger = new Redis(server.url);
    t.after(() => stranger.disconnect());
    const [key = ''] = (await stranger.keys('*')).filter((name) => name.includes(abroad.id));
    const left = await stranger.pttl(key);
    assert.ok(left > 0 && left <= 3_000, `${left} ms`);
    const value = (await stranger.get(key)) ?? '';
    await stranger.set(key.replace(abroad.id, 'evil~aaaaaaaa'), value);
    await stranger.set(key.replace(abroad.id, 'evil~bbbbbbbb'), value.slice(0, 65) + JSON.stringify({ ...abroad, url: 'http://evil' }));
    await stranger.set(key.replace(abroad.id, 'evil~cccccccc'), 'hello');
    assert.deepEqual(await everywhere(), all);
    assert.deepEqual(
      (await one.everywhere()).find(({ id }) => id === abroad.id),
      abroad,
    );
    await far.close();
    assert.deepEqual(await everywhere(), [one.self, other.self].sort());
    await server.kill();
    await eventually(
      () => !redis.up,
      undefined,
      () => 'Redis is away',
    );
    await assert.rejects(one.everywhere());
    assert.deepEqual(new Set(ids(one)), new Set([one.self, other.self]));
    await server.restart();
    await eventually(
      () => redis.up,
      undefined,
      () => 'Redis is back',
    );
    await eventually(
      async () => (await everywhere()).length === 2,
      undefined,
      () => 'and told again who is there',
    );
  });

  test('plain commands answer as Redis does, and reject while it is away', async (t) => {
    const server = await startRedis(t);
    const redis = openRedis({ redisUrl: server.url, log: silent });
    t.after(() => redis.close());
    let ups = 0;
    redis.onUp(() => {
      ups += 1;
    });
    await eventually(
      () => redis.up,
      undefined,
      () => 'Redis is there',
    );
    await redis.hashSet('map', { org_1: 'east', org_2: 'west' });
    await redis.hashSet('map', { org_2: 'north' });
    assert.deepEqual(await entriesOf(redis), new Map(Object.entries({ org_1: 'east', org_2: 'north' })));
    // Whoever writes to Redis fills no process with it: what is longer than anything of ours is not there.
    const looker = new Redis(server.url);
    await looker.hset('map', { huge: 'x'.repeat(20_000), ['n'.repeat(300)]: 'x' });
    await looker.set('a*:huge', 'x'.repeat(20_000));
    assert.deepEqual([...(await entriesOf(redis)).keys()].sort(), ['org_1', 'org_2']);
    assert.deepEqual([await redis.hashGet('map', 'huge'), await redis.get('a*:huge')], [undefined, undefined]);
    assert.deepEqual([await redis.hashSetNew('map', 'huge', 'mine'), await redis.hashSetNew('map', 'huge', 'yours')], [true, false]);
    assert.equal(await redis.hashGet('map', 'huge'), 'mine');
    looker.disconnect();
    await redis.set('a*:1', 'one');
    await redis.set('a*:2', 'two', 60_000);
    await redis.set('ab:1', 'three');
    assert.deepEqual(await redis.withPrefix('a*:'), new Map(Object.entries({ 'a*:1': 'one', 'a*:2': 'two' })));
    await redis.delete('a*:1');
    assert.deepEqual(await redis.withPrefix('a*:'), new Map([['a*:2', 'two']]));
    server.pause();
    await assert.rejects(entriesOf(redis), 'it is given up, though nothing says that Redis is away');
    await eventually(
      () => !redis.up,
      undefined,
      () => 'the silence is noticed',
    );
    await assert.rejects(entriesOf(redis));
    server.resume();
    await eventually(
      () => ups === 2,
      undefined,
      () => 'Redis is back',
    );
    assert.deepEqual(await redis.withPrefix('a*:2'), new Map([['a*:2', 'two']]));
  });
});
