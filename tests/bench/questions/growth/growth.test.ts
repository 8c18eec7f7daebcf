/** What grows is what the service would have stored, and a cost that grows is named. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StreamClient } from '../../../../bench/load/turn-client.ts';
import { fitting, readBack } from '../../../../bench/questions/growth/growing-conversations.ts';
import {
  converse,
  type Growth,
  growthWarnings,
  pointOf,
  startAt,
  takeTurn,
  usesOf,
  withPlace,
} from '../../../../bench/questions/growth/growth.ts';
import { type CopiedConversation, copyConversation } from '../../../../bench/questions/turns/copied-conversations.ts';
import { createLiveApp } from '../../../../bench/servers/service.ts';
import { dataLayout } from '../../../../storage/data-layout.ts';
import { temporaryDir } from '../../../support/temporary-dir.ts';

const ANSWERS = { tokens: 2 };

function growth(...rounds: readonly (readonly number[])[]): Growth {
  return { cost: 'CPU time of a turn', unit: 'µs', of: 'messages', points: rounds.map((each, at) => pointOf(10 ** at, each)) };
}

describe('BENCH-9: growth', () => {
  test('a cost that grows beyond the spread is named in a sentence, others are not', () => {
    assert.deepEqual(growthWarnings(growth([100, 110, 90], [120], [140, 150, 135])), [
      'CPU time of a turn grows with the messages: 140 µs at 100 is 1.4 times the 100 µs at 1.',
    ]);
    // Within the spread, not by enough, less, and only one size.
    for (const each of [growth([100, 145], [140, 200]), growth([100], [130]), growth([100], [50]), growth([100])])
      assert.deepEqual(growthWarnings(each), []);
  });

  test('a thing is measured as often as leaves it at its size, and at least once', () => {
    assert.deepEqual([usesOf(2, 2), usesOf(1_000, 2), usesOf(1_000_000, 500)], [1, 25, 100]);
  });

  test('sizes that the disk has no room for are left out, the largest first, each with a line', () => {
    const bytesOf = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);
    assert.deepEqual(fitting([1, 10, 100], bytesOf, 222), { sizes: [1, 10, 100], leftOut: [] });
    const { sizes, leftOut } = fitting([1, 10, 100], bytesOf, 21);
    assert.deepEqual(sizes, [1]);
    assert.deepEqual(
      leftOut.map((line) => line.split(' ')[0]),
      ['100', '10'],
    );
  });
});

test('BENCH-9: the service reads conversations that were written, and continues them', async (t) => {
  await withPlace(temporaryDir(t), async (place) => {
    const first = await startAt(place, ANSWERS);
    const { organisationId, liveKey } = await createLiveApp(first.operator);
    const original = await converse(first, liveKey, 3, ANSWERS);
    await first.stop();
    const copies: CopiedConversation[] = [];
    copyConversation(dataLayout(place.dataDir).organisation(organisationId), original, 5, (copy) => copies.push(copy));
    assert.equal(new Set(copies.map(({ id }) => id)).size, 5);
    const server = await startAt(place, ANSWERS);
    const client = new StreamClient(server.port);
    try {
      for (const copy of copies) {
        assert.equal((await readBack(server, liveKey, copy)).length, 6);
        assert.equal((await takeTurn(client, liveKey, copy, ANSWERS)).conversationId, copy.id);
        assert.equal((await readBack(server, liveKey, copy)).length, 8);
      }
      await assert.rejects(readBack(server, liveKey, { id: original, device: copies[0]?.device ?? '' }), /does not read/);
    } finally {
      client.close();
      await server.stop();
    }
  });
});
