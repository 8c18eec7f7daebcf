/** What nodes say to each other over a real Redis, and what somebody who reaches it can do about it. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { Redis } from 'ioredis';
import { channelOf } from '../../../../actors/cluster/bus/envelope.ts';
import { mintNodeId } from '../../../../actors/cluster/nodes/node-id.ts';
import { eventually } from '../../../support/eventually.ts';
import { redisMissing, startRedis } from '../../../support/redis.ts';
import { openNode } from './fixture.ts';

const skip = redisMissing();
/** Somebody who reaches Redis and has no key. */
function openStranger(t: TestContext, url: string): Redis {
  const stranger = new Redis(url);
  t.after(() => stranger.disconnect());
  return stranger;
}

/** Envelopes that go by in the cell. */
async function tap(t: TestContext, url: string): Promise<Buffer[]> {
  const stranger = openStranger(t, url);
  const wires: Buffer[] = [];
  await stranger.subscribe(channelOf(null));
  stranger.on('messageBuffer', (_channel: Buffer, wire: Buffer) => void wires.push(wire));
  return wires;
}

describe('CLUSTER-17: what nodes announce', { skip }, () => {
  test('what is announced within a tick is one envelope, in order; more than a megabyte are several', async (t) => {
    const redis = await startRedis(t);
    const [one, other] = [await openNode(t, redis.url), await openNode(t, redis.url)];
    const wires = await tap(t, redis.url);
    const ids = Array.from({ length: 100 }, (_, at) => `pairing ${at}`);
    for (const pairingId of ids) one.announce('pairingChanged', { pairingId });
    await eventually(
      () => other.heard.length === 100 && wires.length > 0,
      undefined,
      () => `${other.heard.length} heard`,
    );
    assert.deepEqual(other.heard, ids);
    assert.equal(wires.length, 1);
    const large = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(400_000));
    for (const pairingId of large) one.announce('pairingChanged', { pairingId });
    await eventually(
      () => other.heard.length === 105 && wires.length === 4,
      undefined,
      () => `${other.heard.length}, ${wires.length}`,
    );
    assert.deepEqual(other.heard.slice(100), large);
    one.announce('pairingChanged', { pairingId: 'x'.repeat(2 * 1024 * 1024) });
    one.announce('pairingChanged', { pairingId: 'the next' });
    await eventually(
      () => other.heard.length === 106,
      undefined,
      () => 'only what is too large is dropped',
    );
    assert.equal(other.heard[105], 'the next');
  });

  test('an announcement reaches every other node of the cell, and none of another cell', async (t) => {
    const redis = await startRedis(t);
    const [one, two, three] = [await openNode(t, redis.url), await openNode(t, redis.url), await openNode(t, redis.url)];
    const abroad = await openNode(t, redis.url, { cell: 'east' });
    const froms: string[] = [];
    two.listen('charged', (_charge, from) => void froms.push(from));
    one.announce('charged', { organisationId: 'org_1', channel: 'live', costMicroUsd: 1, atMs: 1, billed: true });
    one.announce('pairingChanged', { pairingId: 'p1' });
    await eventually(
      () => two.heard.length + three.heard.length >= 2,
      undefined,
      () => 'both heard of it',
    );
    assert.deepEqual([one.heard, two.heard, three.heard, abroad.heard, froms], [[], ['p1'], ['p1'], [], [one.self]]);
  });
});

describe('CLUSTER-17: whoever reaches Redis', { skip }, () => {
  test('reads nothing, and is not believed: envelopes that are repeated, changed, moved or made up count for nothing', async (t) => {
    const redis = await startRedis(t);
    const [one, other] = [await openNode(t, redis.url), await openNode(t, redis.url)];
    const stranger = openStranger(t, redis.url);
    const monitor = await stranger.monitor();
    t.after(() => monitor.disconnect());
    const seen: string[] = [];
    monitor.on('monitor', (_time: string, args: string[]) => void seen.push(args.join(' ')));
    const channel = channelOf(null);
    const wires = await tap(t, redis.url);
    one.announce('pairingChanged', { pairingId: 'my grandmother' });
    await eventually(
      () => other.heard.length === 1 && seen.some((line) => line.includes(channel)) && wires.length === 1,
      undefined,
      () => seen.join('\n'),
    );
    assert.doesNotMatch(seen.join('\n'), /grandmother|pairing/);
    const [wire = Buffer.alloc(0)] = wires;
    const changed = Buffer.from(wire);
    changed.writeUInt8(changed.readUInt8(changed.length - 20) ^ 1, changed.length - 20);
    const renamed = Buffer.from(wire.toString('latin1').replace(one.self, mintNodeId('test')), 'latin1');
    assert.notDeepEqual(renamed, wire);
    for (const forged of [wire, changed, renamed, Buffer.from('hello')]) await stranger.publish(channel, forged);
    await eventually(
      () => other.counts().unopened === 3,
      undefined,
      () => JSON.stringify(other.counts()),
    );
    assert.deepEqual({ ...other.counts() }, { unopened: 3, replayed: 1, stale: 0, gaps: 0, lost: 0 });
    assert.deepEqual(other.heard, ['my grandmother']);
  });
});
