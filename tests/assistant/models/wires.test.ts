/** The two wires beside chat completions: what a request says, and what becomes of answers that do not end well. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import { createAnthropicModel } from '../../../assistant/models/anthropic/anthropic.ts';
import { messagesBody } from '../../../assistant/models/anthropic/message-body.ts';
import type { Model, ModelRequest } from '../../../assistant/models/model.ts';
import { completionBody } from '../../../assistant/models/openai/chat-messages.ts';
import { createOpenAiModel, createResponsesModel } from '../../../assistant/models/openai/openai.ts';
import { responseBody } from '../../../assistant/models/openai/response-body.ts';
import { PassingBody } from '../../../assistant/models/stream/request-body.ts';
import type { UpstreamModelOptions } from '../../../assistant/models/stream/upstream-model.ts';
import { requestBody } from '../../support/completions.ts';
import { serveFake } from '../../support/fake-server.ts';
import { picture, RecordedSink, request, round } from './openai/recorded-sink.ts';

interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

type Create = (options: UpstreamModelOptions) => Model;

/** A model whose server answers as `answer` does, and what it was asked. */
async function serve(t: TestContext, create: Create, answer: (res: ServerResponse) => void, options: Partial<UpstreamModelOptions> = {}) {
  const asked: Asked[] = [];
  const { url, close } = await serveFake(async (req, res) => {
    asked.push({ path: req.url ?? '', headers: req.headers, body: await requestBody(req) });
    answer(res);
  });
  const model = create({ apiKey: 'key-1', baseUrl: url(), model: 'm', ...options });
  t.after(async () => {
    await model.close();
    await close();
  });
  return { model, asked };
}

function streaming(...events: readonly object[]) {
  return (res: ServerResponse) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  };
}

const responseText = { type: 'response.output_text.delta', output_index: 0, delta: 'Well. ' };
const messageText = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Well. ' } };
const ended = (reason: string) => ({ type: 'message_delta', delta: { stop_reason: reason }, usage: { input_tokens: 9, output_tokens: 2 } });
const usage = { input_tokens: 9, output_tokens: 2 };
const incomplete = (reason: string) => ({ type: 'response.incomplete', response: { incomplete_details: { reason }, usage } });

const TALK: Partial<ModelRequest> = {
  system: 'You help.',
  now: 'Now: noon.',
  messages: [
    { role: 'user', content: 'Where is it?' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'call.1', name: 'track', arguments: '{"id":1}' }] },
    { role: 'tool', toolCallId: 'call.1', name: 'track', content: 'On its way.' },
    { role: 'assistant', content: 'On its way.' },
    { role: 'user', content: 'The screen.' },
    { role: 'user', content: 'And this?', images: [picture('image/png', Buffer.from('a cat'))] },
  ],
  tools: [{ kind: 'action', name: 'track', description: 'Tracks.', parameters: { type: 'object' } }],
};

describe('MODEL-39: Responses', () => {
  test('the request stores nothing, and carries calls, results, pictures and tools', async (t) => {
    const { model, asked } = await serve(
      t,
      createResponsesModel,
      streaming(responseText, { type: 'response.completed', response: { usage } }),
    );
    const { sink, end } = await round(model, TALK);
    assert.equal(sink.spoken, 'Well. ');
    assert.deepEqual(end, { reason: 'stop', toolCalls: [], usage: { inputTokens: 9, outputTokens: 2 } });
    assert.deepEqual([asked[0]?.path, asked[0]?.headers.authorization], ['/responses', 'Bearer key-1']);
    assert.deepEqual(asked[0]?.body, {
      model: 'm',
      instructions: 'You help.',
      input: [
        { role: 'user', content: 'Where is it?' },
        { type: 'function_call', call_id: 'call.1', name: 'track', arguments: '{"id":1}' },
        { type: 'function_call_output', call_id: 'call.1', output: 'On its way.' },
        { role: 'assistant', content: 'On its way.' },
        { role: 'user', content: 'The screen.' },
        { role: 'user', content: 'Now: noon.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'And this?' },
            { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${Buffer.from('a cat').toString('base64')}` },
          ],
        },
      ],
      stream: true,
      store: false,
      tools: [{ type: 'function', name: 'track', description: 'Tracks.', parameters: { type: 'object' }, strict: false }],
      tool_choice: 'auto',
    });
  });

  test('an end for another reason, a refusal and an error are told apart', async (t) => {
    const answers = [
      [responseText, incomplete('max_output_tokens')],
      [responseText, incomplete('content_filter')],
      [
        { type: 'response.refusal.delta', delta: 'No.' },
        { type: 'response.completed', response: { usage } },
      ],
      [{ type: 'response.failed', response: { usage, error: { code: 'rate_limit_exceeded', message: 'Later.' } } }],
      [responseText, { type: 'error', code: 'server_error', message: 'It broke.' }],
      [responseText],
    ];
    const { model, asked } = await serve(t, createResponsesModel, (res) => streaming(...(answers[asked.length - 1] ?? []))(res));
    const ends: unknown[] = [];
    for (const _ of answers) {
      const { sink, end } = await round(model);
      ends.push([sink.spoken, 'kind' in end ? end.kind : end.reason]);
    }
    assert.deepEqual(ends, [
      ['Well. ', 'length'],
      ['Well. ', 'filtered'],
      ['No.', 'stop'],
      ['', 'busy'],
      ['Well. ', 'broken'],
      ['Well. ', 'broken'],
    ]);
  });

  test('a call that comes whole, without pieces, is a call', async (t) => {
    const item = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'track', arguments: '{"id":1}' };
    const added = { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } };
    const done = { type: 'response.output_item.done', output_index: 0, item };
    const { model } = await serve(t, createResponsesModel, streaming(added, done, { type: 'response.completed', response: { usage } }));
    const { end } = await round(model);
    assert.deepEqual('toolCalls' in end && end.toolCalls, [{ id: 'c1', name: 'track', arguments: '{"id":1}' }]);
  });
});

describe('MODEL-40: Anthropic Messages', () => {
  test('the request marks the end of what stays, and carries calls, results, pictures and tools', async (t) => {
    const cached = { type: 'message_start', message: { usage: { input_tokens: 4, cache_read_input_tokens: 5, output_tokens: 1 } } };
    const last = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } };
    const { model, asked } = await serve(t, createAnthropicModel, streaming(cached, messageText, last, { type: 'message_stop' }));
    const { sink, end } = await round(model, TALK);
    assert.equal(sink.spoken, 'Well. ');
    assert.deepEqual(end, { reason: 'stop', toolCalls: [], usage: { inputTokens: 9, outputTokens: 2, cachedTokens: 5 } });
    const { path, headers, body } = asked[0] ?? {};
    assert.deepEqual(
      [path, headers?.['x-api-key'], headers?.['anthropic-version'], headers?.authorization],
      [...['/v1/messages', 'key-1', '2023-06-01', undefined]],
    );
    const text = (words: string) => ({ type: 'text', text: words });
    const stays = { cache_control: { type: 'ephemeral' } };
    assert.deepEqual(body?.system, [{ ...text('You help.'), ...stays }]);
    assert.deepEqual(body?.tools, [{ name: 'track', description: 'Tracks.', input_schema: { type: 'object' } }]);
    assert.deepEqual(body?.messages, [
      { role: 'user', content: [text('Where is it?')] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'track', input: { id: 1 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'On its way.' }] },
      { role: 'assistant', content: [{ ...text('On its way.'), ...stays }] },
      {
        role: 'user',
        content: [
          ...[text('The screen.'), text('Now: noon.'), text('And this?')],
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: Buffer.from('a cat').toString('base64') } },
        ],
      },
    ]);
  });

  test('an end for another reason, a refusal and an error are told apart', async (t) => {
    const stop = { type: 'message_stop' };
    const error = (type: string) => ({ type: 'error', error: { type, message: 'It is so.' } });
    const answers = [
      [messageText, ended('max_tokens'), stop],
      [messageText, ended('refusal'), stop],
      [error('overloaded_error')],
      [messageText, error('overloaded_error')],
      [messageText],
      // All is there but the last line.
      [messageText, ended('end_turn')],
    ];
    const { model, asked } = await serve(t, createAnthropicModel, (res) => streaming(...(answers[asked.length - 1] ?? []))(res));
    const ends: unknown[] = [];
    for (const _ of answers) {
      const { sink, end } = await round(model);
      ends.push([sink.spoken, 'kind' in end ? end.kind : end.reason]);
    }
    assert.deepEqual(ends, [
      ['Well. ', 'length'],
      ['Well. ', 'filtered'],
      ['', 'busy'],
      ['Well. ', 'broken'],
      ['Well. ', 'broken'],
      ['Well. ', 'stop'],
    ]);
  });
});

for (const [name, create, text] of [
  ['Responses', createResponsesModel, responseText],
  ['Anthropic Messages', createAnthropicModel, messageText],
] as const) {
  test(`MODEL-16: ${name}: 529 is busy, with the seconds of its Retry-After`, async (t) => {
    const { model } = await serve(t, create, (res) => {
      res.writeHead(529, { 'content-type': 'application/json', 'retry-after': '7' });
      res.end('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}');
    });
    const { end } = await round(model);
    assert.ok('kind' in end);
    assert.deepEqual([end.kind, end.retryAfterS, end.detail], ['busy', 7, 'status 529 overloaded_error: Overloaded']);
  });

  test(`MODEL-18: ${name}: an ended round ends the server's answer`, async (t) => {
    const closed: Promise<unknown>[] = [];
    const { model } = await serve(t, create, (res) => {
      closed.push(once(res, 'close'));
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(`data: ${JSON.stringify(text)}\n\n`);
    });
    const sink = new RecordedSink();
    const heard = new Promise<void>((resolve) => {
      sink.onText = () => resolve();
    });
    const run = model.stream({ ...TALK, passages: [], requestId: 'r', sender: { app: 'a', device: 'd' } } as ModelRequest, sink);
    await heard;
    run.abort();
    await Promise.all(closed);
    assert.equal(sink.lastWords, 0);
  });
}

test('MODEL-14: the key goes into the header that was chosen, such as that of Azure', async (t) => {
  const { model, asked } = await serve(t, createOpenAiModel, streaming(), { keyHeader: 'api-key' });
  await round(model);
  assert.deepEqual([asked[0]?.headers['api-key'], asked[0]?.headers.authorization], ['key-1', undefined]);
});

describe('MODEL-44: how an app asks its model', () => {
  const choice = { use: 'm', fallbacks: [], temperature: 1.5, effort: 'minimal', max_output_tokens: 900 } as const;
  const written = (body: (model: string, asked: ModelRequest, host: string) => object, host: string, asked: Partial<ModelRequest>) => {
    const made = body('m', request(asked), host);
    assert.ok(made instanceof PassingBody);
    return Buffer.concat([...made]).toString();
  };

  for (const [wire, body, host, told] of [
    ['chat completions', completionBody, 'api.openai.com', { temperature: 1.5, reasoning_effort: 'minimal', max_completion_tokens: 900 }],
    ['chat completions of others', completionBody, '127.0.0.1', { temperature: 1.5, reasoning_effort: 'minimal', max_tokens: 900 }],
    ['Responses', responseBody, 'api.openai.com', { temperature: 1.5, reasoning: { effort: 'minimal' }, max_output_tokens: 900 }],
    ['Messages', messagesBody, 'api.anthropic.com', { temperature: 1, max_tokens: 900 }],
  ] as const) {
    test(`${wire}: what is set is sent in the words of the wire; what is not changes no byte`, () => {
      const plain = written(body, host, {});
      for (const nothing of [{}, { use: 'm', fallbacks: ['n'] }, { temperature: null, effort: null, max_output_tokens: null }])
        assert.equal(written(body, host, { choice: nothing }), plain);
      assert.deepEqual(JSON.parse(written(body, host, { choice })), { ...JSON.parse(plain), ...told });
    });
  }

  test('Messages is told an effort by its own words alone', () => {
    const said = (effort: 'none' | 'high') => JSON.parse(written(messagesBody, '', { choice: { effort } })).output_config;
    assert.deepEqual([said('high'), said('none')], [{ effort: 'high' }, undefined]);
  });
});
