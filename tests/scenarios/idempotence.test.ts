/** One turn per (app, turn_id), however often and however it is sent. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { gate } from '../gateway/runtime/scripted-chat.ts';
import { createClient, createOperator, createTestApp, outline, parseEvents, spoken } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { fetchUntil } from '../support/partial.ts';
import { startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { type Play, startUpstream, upstreamEnv } from '../support/upstream.ts';
import { FILE } from '../support/whole-file.ts';

interface Messages {
  readonly messages: readonly { id: string; role: string; blocks: { body: { md?: string } }[] }[];
}

let plays: readonly (readonly Play[])[] = [];
const upstream = await startUpstream(FILE, (_, n) => plays[n] ?? [{ text: 'asked too often' }]);
const service = await startService(FILE, { env: { ...upstreamEnv(upstream), DEMO: 'off' } });

/** A new app, whose model plays these rounds from here on; `asked` counts them. */
async function setUp(...rounds: (readonly Play[])[]) {
  const from = upstream.requests.length;
  plays = [...Array.from({ length: from }, () => []), ...rounds];
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  return { app, client: createClient(service.baseUrl, app.liveKey), asked: () => upstream.requests.length - from };
}

const conversationOf = (events: readonly { [field: string]: unknown }[]) => String(events[0]?.conversation_id);

test('CHAT-9: the same turn_id sent 5 times at once is one message, one model call, one charge; all see the same events', async () => {
  const { wait, open } = gate();
  const { app, client, asked } = await setUp([{ text: 'One ' }, { wait }, { text: 'two.' }]);
  const turnId = randomUUID();
  const copies = Array.from({ length: 5 }, () => client.say('Hello', { turn_id: turnId }));
  // The answer goes on only once the streams of all five are open.
  const opened = async () => /^gateway_open_streams (\d+)$/m.exec(await (await fetch(`${service.baseUrl}/metrics`)).text())?.[1];
  await eventually(async () => asked() !== 0 && (await opened()) === '5');
  open();
  const streams = await Promise.all(copies);
  const late = await client.say('Hello', { turn_id: turnId });
  for (const stream of [...streams, late]) {
    assert.equal(stream.status, 200);
    assert.deepEqual(stream.events, streams[0]?.events);
  }
  assert.deepEqual(outline(late.events), ['turn.start', 'block.start', 'block.delta', 'block.ready', 'turn.end']);
  assert.deepEqual(
    late.events.map((event) => event.seq),
    late.events.map((_, seq) => seq),
  );
  assert.equal(spoken(late.events), 'One two.');
  assert.equal(asked(), 1);
  const { messages } = (await client.send('GET', `/v1/conversations/${conversationOf(late.events)}/messages`)).json as Messages;
  assert.deepEqual(
    messages.map((message) => message.role),
    ['user', 'assistant'],
  );
  assert.equal(messages[1]?.id, late.events[0]?.message_id);
  const usage = await createOperator(service.baseUrl, service.operatorToken)('GET', `/orgs/${app.organisationId}/usage`);
  // 100 input tokens at 1 USD and 2 output tokens at 2 USD a million, once.
  assert.match(usage.text, /0\.000104/);
});

test('CHAT-13: after kill -9 in mid-stream the same turn_id is answered again under the same message_id, without a second copy', async (t) => {
  const own: Play[][] = [[{ text: 'Half an ans' }, { wait: new Promise(() => {}) }], [{ text: 'The whole answer.' }]];
  const model = await startUpstream(t, (_, n) => own[n] ?? [{ text: 'too often' }]);
  const dataDir = temporaryDir(t);
  const first = await startService(t, { dataDir, env: { ...upstreamEnv(model), DEMO: 'off' } });
  const app = await createTestApp(first.baseUrl, first.operatorToken);
  const turnId = randomUUID();
  const broken = createClient(first.baseUrl, app.liveKey).say('Hello', { turn_id: turnId });
  broken.catch(() => {});
  const partial = await fetchUntil(first.baseUrl, app.liveKey, turnId, 'Half an ans');
  await first.stop('SIGKILL');
  await assert.rejects(broken);
  const second = await startService(t, { dataDir, env: { ...upstreamEnv(model), DEMO: 'off' } });
  const client = createClient(second.baseUrl, app.liveKey);
  const retried = await client.say('Hello', { turn_id: turnId });
  assert.deepEqual(outline(retried.events), ['turn.start', 'block.start', 'block.delta', 'block.ready', 'turn.end']);
  assert.equal(retried.events[0]?.message_id, partial[0]?.message_id);
  assert.equal(retried.events[0]?.conversation_id, partial[0]?.conversation_id);
  assert.ok((retried.events[0]?.seq ?? 0) > Math.max(...partial.map((event) => event.seq)), 'seq goes on beyond all that was seen');
  assert.equal(spoken(retried.events), 'The whole answer.');
  const again = await client.say('Hello', { turn_id: turnId });
  assert.deepEqual(again.events, retried.events);
  assert.equal(model.requests.length, 2);
  const { messages } = (await client.send('GET', `/v1/conversations/${conversationOf(retried.events)}/messages`)).json as Messages;
  assert.deepEqual(
    messages.map((message) => [message.role, message.blocks.map((block) => block.body.md)]),
    [
      ['user', ['Hello']],
      ['assistant', ['The whole answer.']],
    ],
  );
});

test('CHAT-10: a turn_id with another body, device or person is refused, never attached', async () => {
  const { app, client: owner } = await setUp([{ text: 'For you only.' }]);
  const stranger = createClient(service.baseUrl, app.liveKey, 'e'.repeat(32));
  const turnId = randomUUID();
  await owner.say('Hello', { turn_id: turnId });
  const refused = [
    await owner.say('Something else', { turn_id: turnId }),
    await stranger.say('Hello', { turn_id: turnId }),
    await owner.say('Hello', { turn_id: turnId, user: { id: 'somebody' } }),
  ];
  // The same body, from a device that is bound to a person since.
  assert.equal((await owner.send('POST', '/v1/identify', { external_user_id: 'somebody' })).status, 200);
  refused.push(await owner.say('Hello', { turn_id: turnId }));
  for (const { events, text } of refused) {
    assert.deepEqual(outline(events), ['error', 'turn.end']);
    assert.equal(events[0]?.code, 'invalid_request');
    assert.match(String(events[0]?.message), /turn_id/);
    assert.doesNotMatch(text, /For you only/);
  }
  const attach = await stranger.send('GET', `/v1/chat/${turnId}`);
  const missing = await stranger.send('GET', `/v1/chat/${randomUUID()}`);
  assert.equal(attach.status, 404);
  assert.equal(attach.text, missing.text);
});

test('CHAT-14: GET /v1/chat/:turn_id skips what Last-Event-ID has seen, running or ended', async () => {
  const { client } = await setUp([{ text: 'One. ' }, { text: 'Two.' }]);
  const turnId = randomUUID();
  const { events } = await client.say('Hello', { turn_id: turnId });
  for (const seen of [0, 1, events.length - 2]) {
    const { text } = await client.send('GET', `/v1/chat/${turnId}`, undefined, { 'Last-Event-ID': String(seen) });
    assert.deepEqual(parseEvents(text), events.slice(seen + 1));
  }
});
