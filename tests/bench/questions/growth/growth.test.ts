/** What grows is what the service would have stored, and a cost that grows is named. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StreamClient } from '../../../../bench/load/turn-client.ts';
import { mintDevice } from '../../../../bench/loadtest/service-api.ts';
import {
  type Answers,
  type Growth,
  growthWarnings,
  pointOf,
  startAt,
  takeTurn,
  withPlace,
} from '../../../../bench/questions/growth/growth.ts';
import { type CopiedConversation, copyConversation, fitting } from '../../../../bench/questions/turns/copied-conversations.ts';
import { createLiveApp, type Server } from '../../../../bench/servers/service.ts';
import { dataLayout } from '../../../../storage/data-layout.ts';
import { temporaryDir } from '../../../support/temporary-dir.ts';

const ANSWERS = { tokens: 2 };

/** Has the service itself make a conversation of so many turns; returns its id. */
async function converse({ port }: Server, liveKey: string, turns: number, answers: Answers): Promise<string> {
  const client = new StreamClient(port);
  const device = mintDevice();
  try {
    let { conversationId: id } = await takeTurn(client, liveKey, { device }, answers);
    for (let turn = 1; turn < turns; turn++) id = (await takeTurn(client, liveKey, { device, id }, answers)).conversationId;
    return id;
  } finally {
    client.close();
  }
}

/** The messages of what was written, as the running service reads them. @throws Error when it does not. */
async function readBack(server: Server, liveKey: string, { id, device }: CopiedConversation): Promise<readonly unknown[]> {
  const headers = { 'X-Service-Key': liveKey, 'X-Service-Device': device };
  const response = await fetch(`${server.origin}/v1/conversations/${id}/messages`, { headers });
  const body = await response.text();
  const { messages = [] } = response.ok ? (JSON.parse(body) as { messages?: readonly unknown[] }) : {};
  if (messages.length === 0)
    throw new Error(`the service does not read ${id}, which was written: ${response.status} ${body.slice(0, 300)}`);
  return messages;
}

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
