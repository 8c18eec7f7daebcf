/**
 * What every model keeps to (model.ts), whatever it is: the offline model, and the OpenAI stream over each fake upstream. A new model is one
 * more row of SUBJECTS.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LLMock } from '@copilotkit/aimock';
import { createAnthropicModel } from '../../../assistant/models/anthropic/anthropic.ts';
import type { Model, ModelRequest } from '../../../assistant/models/model.ts';
import { createOfflineModel } from '../../../assistant/models/offline/offline.ts';
import { createOpenAiModel, createResponsesModel } from '../../../assistant/models/openai/openai.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { ASKS_FOR_CARD, startPacedModel } from '../../support/paced-model.ts';
import { startUpstream } from '../../support/upstream.ts';
import { COMPONENTS, DELIVERY, RETURNS, request as shopRequest } from './offline/shop.ts';
import { RecordedSink, request } from './openai/recorded-sink.ts';

const BENCH_MODEL = fileURLToPath(new URL('../../../bench/model/upstream.js', import.meta.url));
const WORDS = Array.from({ length: 40 }, (_, n) => `word ${n}, `);
const CALL = { id: 'call_1', name: 'find_order', args: { id: '7' } };

interface Subject {
  readonly model: Model;
  /** Answered in words, of more than one delta. */
  readonly words: ModelRequest;
  /** Answered with at least one call; undefined: it makes none. */
  readonly calls?: ModelRequest;
}

async function overScripted(t: TestContext): Promise<Subject> {
  const upstream = await startUpstream(t, ({ messages }) => {
    if (messages.at(-1)?.content !== 'call') return WORDS.map((text) => ({ text }));
    return [{ text: 'Let me see. ' }, { call: CALL.name, args: CALL.args, id: CALL.id }];
  });
  const model = createOpenAiModel({ baseUrl: upstream.url, model: 'scripted' });
  return { model, words: request(), calls: request({ messages: [{ role: 'user', content: 'call' }] }) };
}

async function overMock(t: TestContext, create = createOpenAiModel, path = '/v1', mocked = 'gpt-4o'): Promise<Subject> {
  const mock = await LLMock.create({ port: 0 });
  t.after(() => mock.stop());
  mock.onMessage('Hello', { content: WORDS.join('') }, { chunkSize: 6 });
  mock.onMessage('call', { toolCalls: [{ id: CALL.id, name: CALL.name, arguments: JSON.stringify(CALL.args) }] });
  const model = create({ apiKey: 'sk-test', baseUrl: `${mock.url}${path}`, model: mocked });
  return { model, words: request(), calls: request({ messages: [{ role: 'user', content: 'call' }] }) };
}

/** The bench's own model, as the bench starts it. */
async function overBench(t: TestContext): Promise<Subject> {
  const port = await freePort();
  const child = spawn(process.execPath, [BENCH_MODEL, '--port', String(port)], { stdio: 'ignore' });
  t.after(() => child.kill('SIGKILL'));
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually(isUp, undefined, () => 'the model of the bench does not listen');
  const model = createOpenAiModel({ baseUrl: `http://127.0.0.1:${port}/v1`, model: 'fake-200-1' });
  return { model, words: request() };
}

/** The model of the scenarios with several nodes. It numbers its answers: see `said`. */
async function overPaced(t: TestContext): Promise<Subject> {
  const paced = await startPacedModel(t);
  paced.pace({ words: 200, delayMs: 1 });
  const model = createOpenAiModel({ baseUrl: paced.url(), model: 'paced' });
  const calls = request({ messages: [{ role: 'user', content: `ask contracts ${ASKS_FOR_CARD}` }] });
  return { model, words: request(), calls };
}

/** What a round said, without the number that the paced model gives each of its answers. */
const said = ({ spoken }: RecordedSink) => spoken.replace(/^Answer \d+ /, '');

const SUBJECTS: Readonly<Record<string, (t: TestContext) => Subject | Promise<Subject>>> = {
  'the offline model': () => ({
    model: createOfflineModel(),
    words: shopRequest('How long do refunds take?', { passages: [RETURNS, DELIVERY] }),
    calls: shopRequest('How long do refunds take?', { passages: [RETURNS, DELIVERY], tools: COMPONENTS }),
  }),
  'OpenAI over the scripted upstream': overScripted,
  'OpenAI over aimock': (t) => overMock(t),
  'Responses over aimock': (t) => overMock(t, createResponsesModel),
  'Anthropic over aimock': (t) => overMock(t, createAnthropicModel, '', 'claude-haiku-4-5'),
  'OpenAI over the upstream of the bench': overBench,
  'OpenAI over the paced model': overPaced,
};

async function open(t: TestContext, start: (t: TestContext) => Subject | Promise<Subject>): Promise<Subject> {
  const subject = await start(t);
  t.after(() => subject.model.close());
  return subject;
}

/** Says its tokens, and nothing else. */
const CALLS_NOTHING = 'OpenAI over the upstream of the bench';

for (const [name, start] of Object.entries(SUBJECTS)) {
  describe(`a model: ${name}`, () => {
    test('MODEL-10, MODEL-18: a round is told after it was begun, in deltas, with one last word and nothing after it', async (t) => {
      const { model, words } = await open(t, start);
      const sink = new RecordedSink();
      model.stream(words, sink);
      assert.deepEqual(sink.heard, [], 'nothing is called while the round is begun');
      const end = await sink.ended;
      assert.ok('reason' in end && end.reason === 'stop', JSON.stringify(end));
      assert.deepEqual(end.toolCalls, []);
      assert.ok(sink.heard.length > 2, 'more than one delta');
      await nextTick();
      assert.ok('finished' in (sink.heard.at(-1) ?? {}));
      assert.equal(sink.lastWords, 1);
    });

    if (name !== CALLS_NOTHING) {
      test('MODEL-11: a call is announced by its name before the round ends with it, as JSON', async (t) => {
        const { model, calls } = await open(t, start);
        assert.ok(calls !== undefined);
        const sink = new RecordedSink();
        model.stream(calls, sink);
        const end = await sink.ended;
        assert.ok('reason' in end && end.reason === 'tool_calls', JSON.stringify(end));
        const announced = sink.heard.flatMap((item) => ('started' in item ? [[item.id, item.started]] : []));
        assert.deepEqual(
          announced,
          end.toolCalls.map((call) => [call.id, call.name]),
        );
        for (const call of end.toolCalls) assert.equal(typeof JSON.parse(call.arguments), 'object');
      });
    }

    test('MODEL-18: a round that is paused and resumed several times says the same in the end', async (t) => {
      const { model, words } = await open(t, start);
      const whole = new RecordedSink();
      model.stream(words, whole);
      await whole.ended;
      const sink = new RecordedSink();
      let pauses = 0;
      const run = model.stream(words, sink);
      sink.onText = () => {
        if (pauses >= 5) return;
        pauses += 1;
        run.pause();
        // Twice is once.
        run.pause();
        void nextTick().then(() => run.resume());
      };
      const end = await sink.ended;
      assert.ok('reason' in end, JSON.stringify(end));
      assert.ok(pauses > 1);
      assert.equal(said(sink), said(whole));
    });

    test('MODEL-18: an ended round is heard of no more, however often it is ended', async (t) => {
      const { model, words } = await open(t, start);
      const sink = new RecordedSink();
      const heard = new Promise<void>((resolve) => {
        sink.onText = () => resolve();
      });
      const run = model.stream(words, sink);
      await heard;
      run.abort();
      run.abort();
      run.resume();
      const { length } = sink.heard;
      // Another round on the same model comes after whatever the first might have said.
      const second = new RecordedSink();
      model.stream(words, second);
      await second.ended;
      assert.equal(sink.heard.length, length);
      assert.equal(sink.lastWords, 0);
    });

    test('MODEL-22, MODEL-13: rounds at once keep apart', async (t) => {
      const { model, words } = await open(t, start);
      const sinks = Array.from({ length: 8 }, () => new RecordedSink());
      for (const sink of sinks) model.stream(words, sink);
      await Promise.all(sinks.map(({ ended }) => ended));
      assert.equal(new Set(sinks.map(said)).size, 1);
    });
  });
}
