/**
 * What every place where turns run keeps to, as a client meets it: a program alone, and a node that reaches the conversation at its owner.
 * Each request goes to the node `at`; with several nodes the owner is another one.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { request } from 'undici';
import { type Client, createClient, HANDSHAKE, parseEvents, spoken } from '../support/client.ts';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { redisMissing, startRedis } from '../support/redis.ts';
import { startUpstream, upstreamEnv } from '../support/upstream.ts';

interface Ground {
  /** At the node that owns the conversation. */
  readonly owner: Client;
  /** At the node that the contract is proven of. */
  readonly at: Client;
  /** Lets the model finish what it began to say. */
  finish(): void;
  conversation(): Promise<string>;
}

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

const SUBJECTS: Readonly<Record<string, { readonly nodes: number }>> = {
  'a program alone': { nodes: 1 },
  'a node that is not the owner': { nodes: 2 },
};

async function open(t: TestContext, nodes: number): Promise<Ground> {
  const hold = gate();
  const upstream = await startUpstream(t, ({ messages }) =>
    String(messages.at(-1)?.content).includes('slowly')
      ? [{ text: 'One ' }, { wait: hold.opened }, { text: 'two.' }]
      : [{ text: 'At once.' }],
  );
  // A held model would keep the end of the test waiting.
  t.after(hold.open);
  const redis = nodes > 1 ? await startRedis(t) : undefined;
  const cluster: Cluster = await startCluster(t, {
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
    finish: hold.open,
    async conversation() {
      const { events } = await owner.say('Hello');
      return String(events[0]?.conversation_id);
    },
  };
}

/** A turn that the owner runs and that waits for the model; `whole`: its stream at the owner. */
async function running({ owner }: Ground, conversationId: string) {
  const turnId = randomUUID();
  const body = { turn_id: turnId, client: HANDSHAKE, conversation_id: conversationId, message: { text: 'Say it slowly.' } };
  const headers = { ...owner.headers, 'Content-Type': 'application/json' };
  const answer = await request(`${owner.baseUrl}/v1/chat`, { method: 'POST', headers, body: JSON.stringify(body) });
  let text = '';
  const whole = (async () => {
    for await (const chunk of answer.body) text += String(chunk);
    return text;
  })();
  await eventually(
    () => text.includes('One '),
    10_000,
    () => `the turn did not begin: ${text}`,
  );
  return { turnId, body, whole };
}

for (const [name, { nodes }] of Object.entries(SUBJECTS)) {
  const skip = nodes > 1 && redisMissing();
  describe(`a place where turns run: ${name}`, { skip }, () => {
    test('CHAT-7, CHAT-9, CHAT-14: a copy of a running turn, a re-attach and a message that waits behind it are served', async (t) => {
      const ground = await open(t, nodes);
      const conversationId = await ground.conversation();
      const { turnId, body, whole } = await running(ground, conversationId);
      const copy = ground.at.chat(body);
      const attached = ground.at.send('GET', `/v1/chat/${turnId}`, undefined, { 'Last-Event-ID': '0' });
      const next = ground.at.say('And then?', { conversation_id: conversationId });
      ground.finish();
      const said = parseEvents(await whole).filter(({ type }) => type !== 'ping');
      assert.equal(said.at(-1)?.status, 'completed');
      assert.equal(spoken(said), 'One two.');
      const told = (await copy).events.filter(({ type }) => type !== 'ping');
      assert.deepEqual([told[0]?.message_id, spoken(told), told.at(-1)], [said[0]?.message_id, spoken(said), said.at(-1)]);
      const rest = parseEvents((await attached).text).filter(({ type }) => type !== 'ping');
      assert.deepEqual([rest[0]?.seq, rest.at(-1)], [1, said.at(-1)]);
      assert.equal(spoken((await next).events), 'At once.');
    });

    test('CHAT-18: a turn is stopped, and a stop of what has ended changes nothing', async (t) => {
      const ground = await open(t, nodes);
      const { turnId, whole } = await running(ground, await ground.conversation());
      const stopped = await ground.at.send('POST', `/v1/chat/${turnId}/stop`);
      assert.deepEqual([stopped.status, stopped.json], [200, { ok: true, stopped: true }], stopped.text);
      assert.equal(parseEvents(await whole).at(-1)?.stopped, true);
      const again = await ground.at.send('POST', `/v1/chat/${turnId}/stop`);
      assert.deepEqual([again.status, again.json], [200, { ok: true, stopped: false }]);
    });

    test('CHAT-14, CHAT-18: a turn that nobody knows is 404, to stop and to attach to, and so is one of another device', async (t) => {
      const ground = await open(t, nodes);
      const { events } = await ground.owner.chat({ turn_id: randomUUID(), message: { text: 'Hello' } });
      assert.equal(events.at(-1)?.status, 'completed');
      const { turnId, whole } = await running(ground, await ground.conversation());
      const elsewhere = { 'X-Service-Device': 'e'.repeat(32) };
      for (const [id, headers] of [
        [randomUUID(), {}],
        [turnId, elsewhere],
      ] as const) {
        assert.equal((await ground.at.send('GET', `/v1/chat/${id}`, undefined, headers)).status, 404);
        assert.equal((await ground.at.send('POST', `/v1/chat/${id}/stop`, undefined, headers)).status, 404);
      }
      ground.finish();
      await whole;
    });

    test('CLUSTER-5: a conversation that is idle goes on', async (t) => {
      const ground = await open(t, nodes);
      const conversationId = await ground.conversation();
      for (const client of [ground.at, ground.owner, ground.at]) {
        const { events } = await client.say('And now?', { conversation_id: conversationId });
        assert.deepEqual([events[0]?.conversation_id, spoken(events)], [conversationId, 'At once.']);
      }
    });
  });
}
