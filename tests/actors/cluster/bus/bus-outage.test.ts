/** Nodes that talk over a real Redis, which is killed, started, emptied, paused and cut off. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NodeUnreachable } from '../../../../actors/cluster/bus/bus.ts';
import { eventually } from '../../../support/process.ts';
import { redisMissing, startRedis } from '../../../support/redis.ts';
import { openNetwork } from '../cut-network.ts';
import { frame, openNode, type TalkingNode, took } from './desk.ts';

const skip = redisMissing();

// Each has a Redis of its own and mostly waits.
describe('CLUSTER-16: Redis may be away at any moment', { skip, concurrency: true }, () => {
  test('killed and started again: refused at once meanwhile, back within 5 s and told when messages arrive again; also for a node that started without it', async (t) => {
    const redis = await startRedis(t);
    const [one, other] = [await openNode(t, redis.url), await openNode(t, redis.url)];
    other.answer('drain', async () => ({ draining: true }));
    await redis.kill();
    await eventually(
      () => !one.connected && !other.connected,
      1_000,
      () => 'the connections ended',
    );
    let orphan: TalkingNode | undefined;
    const startMs = await took(async () => {
      orphan = await openNode(t, redis.url);
    });
    assert.ok(orphan !== undefined && startMs < 2_500, `${startMs} ms`);
    assert.equal(orphan.connected, false);
    const refusedMs = await took(() => assert.rejects(one.ask(other.self, 'drain', {}), NodeUnreachable));
    // Well below the time that an answer is waited for.
    assert.ok(refusedMs < 600, `${refusedMs} ms`);
    one.tell(other.self, 'frames', frame('lost'));
    const back: boolean[] = [];
    for (const node of [one, other, orphan]) {
      node.answer('actors', async () => ({ actors: [] }));
      // Its own channel is there again: what it sends itself arrives.
      node.onReconnected(
        () =>
          void node.ask(node.self, 'actors', {}).then(
            () => back.push(true),
            () => back.push(false),
          ),
      );
    }
    await redis.restart();
    const backMs = await took(() =>
      eventually(
        () => back.length >= 3,
        5_000,
        () => `${back.length} are back`,
      ),
    );
    t.diagnostic(`back after ${Math.round(backMs)} ms`);
    assert.deepEqual(new Set(back), new Set([true]));
    assert.deepEqual(await one.ask(other.self, 'drain', {}), { draining: true });
    assert.deepEqual(other.frames, []);
    assert.equal(one.counts().lost, 1);
    await redis.flush();
    assert.deepEqual(await one.ask(other.self, 'drain', {}), { draining: true }, 'emptied, it carries on');
  });

  test('paused: noticed, questions are refused within 1 s from the first on, and all is well when it goes on', async (t) => {
    const redis = await startRedis(t);
    const [one, other] = [await openNode(t, redis.url), await openNode(t, redis.url)];
    let runs = 0;
    other.answer('drain', async () => {
      runs += 1;
      return { draining: true };
    });
    redis.pause();
    const refusedMs = await took(() => assert.rejects(one.ask(other.self, 'drain', {}), NodeUnreachable));
    assert.ok(refusedMs < 1_000, `${refusedMs} ms`);
    await eventually(
      () => !one.connected && !other.connected,
      2_000,
      () => 'the silence is noticed',
    );
    redis.resume();
    await eventually(
      () => one.connected && other.connected,
      5_000,
      () => 'the connections are back',
    );
    assert.deepEqual(await one.ask(other.self, 'drain', {}), { draining: true });
    assert.equal(runs, 1, 'the question that was given up is not answered when Redis goes on');
  });

  test('cut off without a word: noticed, and the nodes that heard nothing of it are told that something was lost', async (t) => {
    const redis = await startRedis(t);
    const network = await openNetwork(t, redis.port);
    const [one, other] = [await openNode(t, network.url), await openNode(t, redis.url)];
    let gaps = 0;
    other.onReconnected(() => {
      gaps += 1;
    });
    one.tell(other.self, 'frames', frame('first'));
    await eventually(
      () => other.frames.length === 1,
      1_000,
      () => 'it goes through',
    );
    network.cut();
    await eventually(
      () => !one.connected,
      2_000,
      () => 'the cut is noticed',
    );
    one.tell(other.self, 'frames', frame('lost'));
    assert.equal(gaps, 0);
    network.mend();
    await eventually(
      () => one.connected,
      5_000,
      () => 'the connection is back',
    );
    await eventually(
      () => gaps === 1,
      1_000,
      () => 'the gap shows though nothing more was told',
    );
    assert.deepEqual(other.frames, ['first']);
    assert.equal(other.connected, true);
  });
});
