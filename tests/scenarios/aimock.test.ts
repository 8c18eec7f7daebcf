/** Any server that speaks the chat-completions stream will do, also one that is not ours. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { LLMock } from '@copilotkit/aimock';
import { createClient, createTestApp, HANDSHAKE, outline, spoken } from '../support/client.ts';
import { startService } from '../support/service.ts';

const MANIFEST = {
  version: '1',
  actions: [{ name: 'get_weather', description: 'Weather of a city.', risk: 'read', params: { city: { type: 'string', required: true } } }],
};

test('MODEL-13: an independent compatible server is streamed, asks for actions, reads their results and may fail', async (t) => {
  const mock = await LLMock.create({ port: 0 });
  t.after(() => mock.stop());
  const service = await startService(t, {
    env: { OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: 'sk-test', MODEL: 'gpt-4o', DEMO: 'off', LOG_LEVEL: 'fatal' },
  });
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  const client = createClient(service.baseUrl, app.liveKey);

  await t.test('STREAM-14: text comes in pieces, in order, and the block holds all of it', async () => {
    const text = 'Hello there, “friend” 🦜.\nA "second" line that goes on for a while.';
    mock.onMessage('Greet me', { content: text }, { chunkSize: 5, latency: 5 });
    const { events } = await client.say('Greet me');
    assert.deepEqual(outline(events), ['turn.start', 'block.start', 'block.delta', 'block.ready', 'turn.end']);
    assert.equal(events[0]?.model, 'gpt-4o');
    assert.ok(events.filter((event) => event.type === 'block.delta').length > 3, 'more than one piece');
    assert.equal(spoken(events), text);
    const ready = events.find((event) => event.type === 'block.ready')?.block as { body: { md: string } };
    assert.equal(ready.body.md, text);
    assert.deepEqual(
      events.map((event) => event.seq),
      events.map((_, seq) => seq),
    );
    assert.equal(events.at(-1)?.status, 'completed');
  });

  await t.test('ACTION-1: a call of a read action is executed by the client, and its result reaches the model', async () => {
    const handshake = { ...HANDSHAKE, manifest_hash: await client.register(MANIFEST) };
    mock.onToolResult('call_weather', { content: 'It is sunny in Lisbon.' });
    mock.onMessage('Weather in Lisbon?', { toolCalls: [{ id: 'call_weather', name: 'get_weather', arguments: '{"city":"Lisbon"}' }] });
    const asked = await client.say('Weather in Lisbon?', { client: handshake });
    assert.deepEqual(outline(asked.events), ['turn.start', 'action.execute', 'turn.end'], asked.text);
    const [, execute, end] = asked.events;
    assert.deepEqual([execute?.name, execute?.params, end?.status], ['get_weather', { city: 'Lisbon' }, 'awaiting_tool_results']);
    const answered = await client.chat({
      client: handshake,
      conversation_id: asked.events[0]?.conversation_id,
      tool_results: [{ invocation_id: execute?.invocation_id, status: 'ok', result: { sky: 'clear' } }],
    });
    assert.equal(spoken(answered.events), 'It is sunny in Lisbon.', answered.text);
    assert.equal(answered.events.at(-1)?.status, 'completed');
    assert.match(JSON.stringify(mock.getLastRequest()?.body), /clear/);
  });

  await t.test('MODEL-16: a busy server is told as retryable, and the same turn_id then gets its answer', async () => {
    mock.onMessage('Busy?', { content: 'Not any more.' });
    mock.nextRequestError(503, { message: 'overloaded', type: 'overloaded', code: 'try_later' });
    const turnId = randomUUID();
    const busy = await client.say('Busy?', { turn_id: turnId });
    assert.deepEqual(outline(busy.events), ['turn.start', 'error', 'turn.end']);
    assert.deepEqual([busy.events[1]?.code, busy.events[1]?.retryable, busy.events[2]?.status], ['model_busy', true, 'error']);
    const again = await client.say('Busy?', { turn_id: turnId });
    assert.equal(spoken(again.events), 'Not any more.');
    assert.equal(again.events[0]?.message_id, busy.events[0]?.message_id);
  });

  await t.test(
    'CHAT-21: a stream that breaks off ends the turn with a retryable internal error, what was said before it stays',
    async () => {
      mock.onMessage('Break off', { content: 'abcdefghijklmnopqrstuvwxyz' }, { chunkSize: 2, truncateAfterChunks: 6, latency: 5 });
      const { events } = await client.say('Break off');
      const error = events.find((event) => event.type === 'error');
      assert.deepEqual([error?.code, error?.retryable, events.at(-1)?.status], ['internal', true, 'error']);
      assert.match(spoken(events), /^ab/);
      assert.ok('abcdefghijklmnopqrstuvwxyz'.startsWith(spoken(events)));
    },
  );
});
