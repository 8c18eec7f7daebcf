import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { LLMock } from '@copilotkit/aimock';
import type { Model, ModelFailure } from '../../../../assistant/models/model.ts';
import { createOpenAiModel } from '../../../../assistant/models/openai/openai.ts';
import { round } from './recorded-sink.ts';

const KEY = 'sk-secret-1234567890';

describe('MODEL-13, MODEL-16: a model behind the chat-completions stream of an independent mock', () => {
  let mock: LLMock;
  let model: Model;

  before(async () => {
    mock = await LLMock.create({ port: 0 });
    model = createOpenAiModel({ apiKey: KEY, baseUrl: `${mock.url}/v1`, model: 'gpt-4o' });
  });
  after(async () => {
    await model.close();
    await mock.stop();
  });
  beforeEach(() => {
    mock.clearFixtures();
    mock.clearChaos();
  });

  test('text streams in order and ends with its usage', async () => {
    const text = 'Hello there, “friend” 🦜.\nA "second" line.';
    mock.onMessage('Hello', { content: text, usage: { prompt_tokens: 11, completion_tokens: 22 } }, { chunkSize: 3 });
    const { sink, end } = await round(model);
    assert.equal(sink.spoken, text);
    assert.deepEqual(end, { reason: 'stop', toolCalls: [], usage: { inputTokens: 11, outputTokens: 22 } });
    assert.equal(sink.lastWords, 1);
  });

  test('the request carries the model, the tools and the request id', async () => {
    mock.onMessage('Hello', { content: 'ok' });
    await round(model, {
      requestId: 'req-77',
      tools: [{ kind: 'action', name: 'go', description: 'Goes.', parameters: { type: 'object' } }],
    });
    const last = mock.getLastRequest();
    assert.equal(last?.body?.model, 'gpt-4o');
    assert.deepEqual(last?.body?.tools, [
      { type: 'function', function: { name: 'go', description: 'Goes.', parameters: { type: 'object' } } },
    ]);
    assert.equal(last?.headers['x-request-id'], 'req-77');
    assert.equal(last?.path, '/v1/chat/completions');
  });

  test('text and tool calls of one round come in order, each call started before the end', async () => {
    mock.onMessage(
      'Hello',
      {
        content: 'One moment.',
        toolCalls: [
          { id: 'call_1', name: 'find_orders', arguments: '{"status":"open","limit":3}' },
          { id: 'call_2', name: 'kpi_tiles', arguments: '{"tiles":[]}' },
        ],
      },
      { chunkSize: 4 },
    );
    const { sink, end } = await round(model);
    assert.equal(sink.spoken, 'One moment.');
    assert.deepEqual(
      sink.heard.filter((item) => 'started' in item),
      [
        { started: 'find_orders', id: 'call_1' },
        { started: 'kpi_tiles', id: 'call_2' },
      ],
    );
    assert.ok('reason' in end);
    assert.equal(end.reason, 'tool_calls');
    assert.deepEqual(end.toolCalls, [
      { id: 'call_1', name: 'find_orders', arguments: '{"status":"open","limit":3}' },
      { id: 'call_2', name: 'kpi_tiles', arguments: '{"tiles":[]}' },
    ]);
  });

  test('429, 503 and 529 before any output are busy', async () => {
    for (const status of [429, 503, 529]) {
      mock.nextRequestError(status, { message: 'Slow down.', type: 'overloaded', code: 'try_later' });
      const { sink, end } = await round(model);
      assert.ok('detail' in end);
      assert.deepEqual([end.kind, end.detail], ['busy', `status ${status} try_later overloaded: Slow down.`]);
      assert.equal(sink.heard.length, 1);
    }
  });

  test('other 5xx are broken; keys, names and addresses are misconfigured, other 4xx refused; the sentence is told without the key', async () => {
    mock.nextRequestError(500, { message: 'It broke.', type: 'server_error' });
    assert.deepEqual((await round(model)).end, {
      kind: 'broken',
      detail: 'status 500 server_error: It broke.',
      status: 500,
      code: 'server_error',
    });
    mock.nextRequestError(401, { message: `Incorrect API key provided: ${KEY}`, type: `type ${KEY}`, code: 'invalid_api_key' });
    const detail = 'status 401 invalid_api_key type [key]: Incorrect API key provided: [key]';
    assert.deepEqual((await round(model)).end, { kind: 'misconfigured', detail, status: 401, code: 'invalid_api_key' });
    for (const [status, kind] of [
      [400, 'refused'],
      [402, 'exhausted'],
      [403, 'misconfigured'],
      [404, 'misconfigured'],
      [408, 'broken'],
      [422, 'refused'],
    ] as const) {
      mock.nextRequestError(status, { message: 'No.' });
      assert.equal(((await round(model)).end as ModelFailure).kind, kind, String(status));
    }
    mock.nextRequestError(404, { message: 'x '.repeat(2_000), code: 'c '.repeat(2_000) });
    const { end } = await round(model);
    assert.ok('kind' in end);
    assert.equal(end.detail.length, 400);
  });

  test('a stream that is cut off is broken, and what came of it was heard', async () => {
    mock.onMessage('Hello', { content: 'abcdefghijklmnopqrstuvwxyz' }, { chunkSize: 2, truncateAfterChunks: 6, latency: 5 });
    const { sink, end } = await round(model);
    assert.ok('kind' in end);
    assert.equal(end.kind, 'broken');
    assert.ok(sink.spoken.length > 0 && 'abcdefghijklmnopqrstuvwxyz'.startsWith(sink.spoken));
    assert.equal(sink.lastWords, 1);
  });

  test('injected faults: a malformed answer, a closed connection and a rate limit', async () => {
    mock.onMessage('Hello', { content: 'never' });
    mock.setChaos({ malformedRate: 1 });
    const malformed = (await round(model)).end;
    mock.setChaos({ disconnectRate: 1 });
    const disconnected = (await round(model)).end;
    mock.setChaos({ rateLimitRate: 1 });
    const limited = (await round(model)).end;
    assert.deepEqual(
      [malformed, disconnected, limited].map((end) => ('kind' in end ? end.kind : end.reason)),
      ['misconfigured', 'broken', 'busy'],
    );
  });
});
