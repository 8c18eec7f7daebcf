/**
 * What every place where turns run keeps to, as a client meets it: a program alone, and a node that reaches the conversation at its owner.
 * Each request goes to the node `at`; with several nodes the owner is another one.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { request } from 'undici';
import { gate } from '../gateway/runtime/scripted-chat.ts';
import { type Client, createClient, HANDSHAKE, parseEvents, spoken } from '../support/client.ts';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { redisMissing, startRedis } from '../support/redis.ts';
import { startUpstream, upstreamEnv } from '../support/upstream.ts';
import { FILE } from '../support/whole-file.ts';

interface Ground {
  /** At the node that owns the conversation. */
  readonly owner: Client;
  /** At the node that the contract is proven of. */
  readonly at: Client;
  /** The model holds what it begins to say slowly from here on, until `open` is called. */
  hold(): ReturnType<typeof gate>;
  conversation(): Promise<string>;
}

async function openGround(nodes: number): Promise<Ground> {
  let held = gate();
  const upstream = await startUpstream(FILE, ({ messages }) =>
    String(messages.at(-1)?.content).includes('slowly')
      ? [{ text: 'One ' }, { wait: held.wait }, { text: 'two.' }]
      : [{ text: 'At once.' }],
  );
  const redis = nodes > 1 ? await startRedis(FILE) : undefined;
  const cluster: Cluster = await startCluster(FILE, {
    nodes,
    env: { ...upstreamEnv(upstream), DEMO: 'off' },
    ...(redis !== undefined && { redisUrl: redis.url }),
  });
  const { liveKey } = await cluster.app();
  const [first, last] = [cluster.nodes[0], cluster.nodes.at(-1)];
  assert.ok(first !== undefined && last !== undefined);
  const owner = createClient(first.baseUrl, liveKey);
  return {
    owner,
    at: createClient(last.baseUrl, liveKey),
    hold: () => {
      held = gate();
      return held;
    },
    async conversation() {
      const { events } = await owner.say('Hello');
      return String(events[0]?.conversation_id);
    },
  };
}

/** A turn that the owner runs and that waits for the model; `whole`: its stream at the owner. */
async function running({ owner, hold }: Ground, conversationId: string) {
  const { open: finish } = hold();
  const turnId = randomUUID();
  const body = { turn_id: turnId, client: HANDSHAKE, conversation_id: conversationId, message: { text: 'Say it slowly.' } };
  const headers = { ...owner.headers, 'Content-Type': 'application/json' };
  const answer = await request(`${owner.baseUrl}/v1/chat`, { method: 'POST', headers, body: JSON.stringify(body) });
  let text = '';
  const whole = (async () => {
    for await (const chunk of answer.body) text += String(chunk);
    return text;
  })();
  await eventually(() => text.includes('One '));
  return { turnId, body, whole, finish };
}

const skip = redisMissing();
// All of them before the first test: the file's resources end with the last test that is known.
const SUBJECTS = [
  ['a program alone', await openGround(1), false],
  ['a node that is not the owner', skip === false ? await openGround(2) : undefined, skip],
] as const;

for (const [name, opened, skipped] of SUBJECTS) {
  describe(`a place where turns run: ${name}`, { skip: skipped }, () => {
    test('CHAT-7, CHAT-9, CHAT-14: a copy of a running turn, a re-attach and a message that waits behind it are served', async () => {
      const ground = opened as Ground;
      const conversationId = await ground.conversation();
      const { turnId, body, whole, finish } = await running(ground, conversationId);
      const copy = ground.at.chat(body);
      const attached = ground.at.send('GET', `/v1/chat/${turnId}`, undefined, { 'Last-Event-ID': '0' });
      const next = ground.at.say('And then?', { conversation_id: conversationId });
      finish();
      const said = parseEvents(await whole).filter(({ type }) => type !== 'ping');
      assert.equal(said.at(-1)?.status, 'completed');
      assert.equal(spoken(said), 'One two.');
      const told = (await copy).events.filter(({ type }) => type !== 'ping');
      assert.deepEqual([told[0]?.message_id, spoken(told), told.at(-1)], [said[0]?.message_id, spoken(said), said.at(-1)]);
      const rest = parseEvents((await attached).text).filter(({ type }) => type !== 'ping');
      assert.deepEqual([rest[0]?.seq, rest.at(-1)], [1, said.at(-1)]);
      assert.equal(spoken((await next).events), 'At once.');
    });

    test('CHAT-18: a turn is stopped, and a stop of what has ended changes nothing', async () => {
      const ground = opened as Ground;
      const { turnId, whole } = await running(ground, await ground.conversation());
      const stopped = await ground.at.send('POST', `/v1/chat/${turnId}/stop`);
      assert.deepEqual([stopped.status, stopped.json], [200, { ok: true, stopped: true }], stopped.text);
      assert.equal(parseEvents(await whole).at(-1)?.stopped, true);
      const again = await ground.at.send('POST', `/v1/chat/${turnId}/stop`);
      assert.deepEqual([again.status, again.json], [200, { ok: true, stopped: false }]);
    });

    test('CHAT-14, CHAT-18: a turn that nobody knows is 404, to stop and to attach to, and so is one of another device', async () => {
      const ground = opened as Ground;
      const { events } = await ground.owner.chat({ turn_id: randomUUID(), message: { text: 'Hello' } });
      assert.equal(events.at(-1)?.status, 'completed');
      const { turnId, whole, finish } = await running(ground, await ground.conversation());
      const elsewhere = { 'X-Service-Device': 'e'.repeat(32) };
      for (const [id, headers] of [
        [randomUUID(), {}],
        [turnId, elsewhere],
      ] as const) {
        assert.equal((await ground.at.send('GET', `/v1/chat/${id}`, undefined, headers)).status, 404);
        assert.equal((await ground.at.send('POST', `/v1/chat/${id}/stop`, undefined, headers)).status, 404);
      }
      finish();
      await whole;
    });

    test('CLUSTER-5: a conversation that is idle goes on', async () => {
      const ground = opened as Ground;
      const conversationId = await ground.conversation();
      for (const client of [ground.at, ground.owner, ground.at]) {
        const { events } = await client.say('And now?', { conversation_id: conversationId });
        assert.deepEqual([events[0]?.conversation_id, spoken(events)], [conversationId, 'At once.']);
      }
    });
  });
}
