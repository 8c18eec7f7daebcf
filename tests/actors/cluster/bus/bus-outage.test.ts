/** Nodes that talk over a real Redis, which is killed, started, emptied, paused and cut off. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../../../support/eventually.ts';
import { redisMissing, startRedis } from '../../../support/redis.ts';
import { openNetwork } from '../cut-network.ts';
import { openNode, took } from './fixture.ts';

const skip = redisMissing();

// Each has a Redis of its own and mostly waits.
describe('CLUSTER-16: Redis may be away at any moment', { skip, concurrency: true }, () => {
  test('killed and started again: back, and told when announcements arrive again; also for a node that started without it', async (t) => {
    const redis = await startRedis(t);
    const [one, other] = [await openNode(t, redis.url), await openNode(t, redis.url)];
    await redis.kill();
    await eventually(
      () => !one.connected && !other.connected,
      undefined,
      () => 'the connections ended',
    );
    const orphan = await openNode(t, redis.url);
    assert.equal(orphan.connected, false);
    one.announce('pairingChanged', { pairingId: 'lost' });
    const back = new Set<string>();
    for (const node of [one, other, orphan]) node.onReconnected(() => void back.add(node.self));
    await redis.restart();
    const backMs = await took(() =>
      eventually(
        () => back.size === 3 && one.connected,
        undefined,
        () => `${back.size} are back`,
      ),
    );
    t.diagnostic(`back after ${Math.round(backMs)} ms`);
    assert.deepEqual([other.heard, one.counts().lost], [[], 1]);
    await redis.flush();
    one.announce('pairingChanged', { pairingId: 'after it was emptied' });
    await eventually(
      () => other.heard.length > 0 && orphan.heard.length === other.heard.length,
      undefined,
      () => 'it carries on',
    );
    assert.deepEqual(other.heard, ['after it was emptied']);
  });

  test('paused: noticed, and all is well when it goes on', async (t) => {
    const redis = await startRedis(t);
    const [one, other] = [await openNode(t, redis.url), await openNode(t, redis.url)];
    redis.pause();
    await eventually(
      () => !one.connected && !other.connected,
      undefined,
      () => 'the silence is noticed',
    );
    redis.resume();
    await eventually(
      () => one.connected && other.connected,
      undefined,
      () => 'the connections are back',
    );
    one.announce('pairingChanged', { pairingId: 'goes on' });
    await eventually(
      () => other.heard.includes('goes on'),
      undefined,
      () => 'it is heard',
    );
  });

  test('cut off without a word: noticed, and the nodes that heard nothing of it are told that something was lost', async (t) => {
    const redis = await startRedis(t);
    const network = await openNetwork(t, redis.port);
    const [one, other] = [await openNode(t, network.url), await openNode(t, redis.url)];
    let gaps = 0;
    other.onReconnected(() => {
      gaps += 1;
    });
    one.announce('pairingChanged', { pairingId: 'first' });
    await eventually(
      () => other.heard.length === 1,
      undefined,
      () => 'it goes through',
    );
    network.cut();
    await eventually(
      () => !one.connected,
      undefined,
      () => 'the cut is noticed',
    );
    one.announce('pairingChanged', { pairingId: 'lost' });
    assert.equal(gaps, 0);
    network.mend();
    await eventually(
      () => one.connected,
      undefined,
      () => 'the connection is back',
    );
    await eventually(
      () => gaps === 1,
      undefined,
      () => 'the gap shows though nothing more was told',
    );
    assert.deepEqual(other.heard, ['first']);
    assert.equal(other.connected, true);
  });
});
