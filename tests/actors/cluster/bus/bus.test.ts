/** What nodes say to each other over a real Redis, and what somebody who reaches it can do about it. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { NodeFailed, NodeUnreachable } from '../../../../actors/cluster/bus/bus.ts';
import { channelOf, EVERYONE } from '../../../../actors/cluster/bus/envelope.ts';
import type { Asks } from '../../../../actors/cluster/bus/messages.ts';
import { mintNodeId } from '../../../../actors/cluster/nodes/node-id.ts';
import { Refusal } from '../../../../protocol/errors.ts';
import { eventually } from '../../../support/process.ts';
import { redisMissing, startRedis } from '../../../support/redis.ts';
import { frame, openNode, took } from './desk.ts';

const skip = redisMissing();
const STOP: Asks['stopTurn']['ask'] = { organisationId: 'org_1', appId: 'app_1', channel: 'live', deviceId: 'd', turnId: 'turn_1' };

/** Somebody who reaches Redis and has no key. */
function openStranger(t: TestContext, url: string): Redis {
  const stranger = new Redis(url);
  t.after(() => stranger.disconnect());
  return stranger;
}

/** Envelopes that go by on the channel. */
async function tap(t: TestContext, url: string, channel: string): Promise<Buffer[]> {
  const stranger = openStranger(t, url);
  const wires: Buffer[] = [];
  await stranger.subscribe(channel);
  stranger.on('messageBuffer', (_channel: Buffer, wire: Buffer) => void wires.push(wire));
  return wires;
}

describe('CLUSTER-18: what nodes say to each other', { skip }, () => {
  test('a question gets its answer, a refusal travels as it was, and a failure stays on its node', async (t) => {
    const redis = await startRedis(t);
    const logged: string[] = [];
    const [asker, asked] = [
      await openNode(t, redis.url),
      await openNode(t, redis.url, { log: pino({}, { write: (line: string) => void logged.push(line) }) }),
    ];
    const refusal = new Refusal('rate_limited', 'Wait a little.', {
      status: 429,
      retryAfterS: 7,
      details: [{ path: 'message', message: 'is too much' }],
    });
    asked.answer('stopTurn', async ({ turnId }, from) => {
      assert.equal(from, asker.self);
      if (turnId === 'refused') throw refusal;
      if (turnId === 'broken') throw new Error('the disk is full');
      return { stopped: turnId === 'turn_1' };
    });
    const ask = (turnId: string) => asker.ask(asked.self, 'stopTurn', { ...STOP, turnId });
    assert.deepEqual(await Promise.all([ask('turn_1'), ask('another')]), [{ stopped: true }, { stopped: false }]);
    await assert.rejects(ask('refused'), (error) => {
      assert.ok(error instanceof Refusal);
      assert.deepEqual({ ...error, message: error.message }, { ...refusal, message: refusal.message });
      return true;
    });
    await assert.rejects(ask('broken'), (error) => error instanceof NodeFailed && error.node === asked.self && !/disk/.test(error.message));
    await assert.rejects(asker.ask(asked.self, 'drain', {}), NodeFailed);
    assert.equal(logged.length, 1);
    assert.match(logged[0] ?? '', /the disk is full/);
    assert.doesNotMatch(logged[0] ?? '', /org_1/);
  });

  test('a node that is not there is unreachable at once, one that does not answer after the time for it, and one that answers too late is not heard', async (t) => {
    const redis = await startRedis(t);
    const asker = await openNode(t, redis.url, { askTimeoutMs: 400 });
    const late = await openNode(t, redis.url, { nowMs: () => Date.now() + 5_000 });
    const stuck = await openNode(t, redis.url);
    let release = () => {};
    stuck.answer('drain', async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return { draining: true };
    });
    late.answer('drain', () => assert.fail('nobody waits for the answer'));
    const goneMs = await took(() => assert.rejects(asker.ask('test~aaaaaaaa', 'drain', {}), NodeUnreachable));
    assert.ok(goneMs < 350, `${goneMs} ms`);
    for (const node of [stuck, late]) {
      const waitedMs = await took(() => assert.rejects(asker.ask(node.self, 'drain', {}), NodeUnreachable));
      assert.ok(waitedMs >= 395 && waitedMs < 1_000, `${waitedMs} ms`);
    }
    assert.equal(late.counts().expired, 1);
    release();
    stuck.tell(asker.self, 'frames', frame('after the answer'));
    await eventually(
      () => asker.frames.length === 1,
      1_000,
      () => 'what follows the answer',
    );
  });

  test('what is told to a node within a tick is one envelope, in order; more than a megabyte are several', async (t) => {
    const redis = await startRedis(t);
    const [one, other] = [await openNode(t, redis.url), await openNode(t, redis.url)];
    const wires = await tap(t, redis.url, channelOf(null, other.self));
    const texts = Array.from({ length: 100 }, (_, at) => `text ${at}`);
    for (const text of texts) one.tell(other.self, 'frames', frame(text));
    await eventually(
      () => other.frames.length === 100 && wires.length > 0,
      1_000,
      () => `${other.frames.length} frames`,
    );
    assert.deepEqual(other.frames, texts);
    assert.equal(wires.length, 1);
    const large = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(400_000));
    for (const text of large) one.tell(other.self, 'frames', frame(text));
    await eventually(
      () => other.frames.length === 105 && wires.length === 4,
      1_000,
      () => `${other.frames.length}, ${wires.length}`,
    );
    assert.deepEqual(other.frames.slice(100), large);
    one.tell(other.self, 'frames', frame('x'.repeat(9 * 1024 * 1024)));
    one.tell(other.self, 'frames', frame('the next'));
    await eventually(
      () => other.frames.length === 106,
      1_000,
      () => 'only what is too large is dropped',
    );
    assert.equal(other.frames[105], 'the next');
  });

  test('an announcement reaches every other node of the cell, and none of another cell', async (t) => {
    const redis = await startRedis(t);
    const [one, two, three] = [await openNode(t, redis.url), await openNode(t, redis.url), await openNode(t, redis.url)];
    const abroad = await openNode(t, redis.url, { cell: 'east' });
    const heard: string[] = [];
    const nodes = { one, two, three, abroad };
    for (const [name, node] of Object.entries(nodes)) {
      node.listen('pairingChanged', ({ pairingId }, from) => void heard.push(`${name} ${pairingId} ${from === one.self}`));
    }
    one.announce('pairingChanged', { pairingId: 'p1' });
    await eventually(
      () => heard.length >= 2,
      1_000,
      () => heard.join(),
    );
    await assert.rejects(one.ask(abroad.self, 'drain', {}), NodeUnreachable);
    assert.deepEqual(heard.sort(), ['three p1 true', 'two p1 true']);
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
    const own = channelOf(null, other.self);
    const wires = await tap(t, redis.url, own);
    other.answer('stopTurn', async () => ({ stopped: true }));
    one.tell(other.self, 'frames', frame('my grandmother'));
    await eventually(
      () => other.frames.length === 1,
      1_000,
      () => 'the frame is there',
    );
    await one.ask(other.self, 'stopTurn', STOP);
    await eventually(
      () => seen.some((line) => line.includes(own)) && wires.length === 2,
      1_000,
      () => seen.join('\n'),
    );
    assert.doesNotMatch(seen.join('\n'), /grandmother|frames|stopTurn|org_1|stopped/);
    const [wire = Buffer.alloc(0)] = wires;
    const changed = Buffer.from(wire);
    changed.writeUInt8(changed.readUInt8(changed.length - 20) ^ 1, changed.length - 20);
    const renamed = Buffer.from(wire.toString('latin1').replace(one.self, mintNodeId('test')), 'latin1');
    assert.notDeepEqual(renamed, wire);
    for (const forged of [wire, changed, renamed, Buffer.from('hello')]) await stranger.publish(own, forged);
    await stranger.publish(channelOf(null, EVERYONE), wire);
    await eventually(
      () => other.counts().unopened === 4,
      1_000,
      () => JSON.stringify(other.counts()),
    );
    assert.deepEqual({ ...other.counts() }, { unopened: 4, replayed: 1, stale: 0, gaps: 0, lost: 0, expired: 0 });
    assert.deepEqual(other.frames, ['my grandmother']);
  });
});
