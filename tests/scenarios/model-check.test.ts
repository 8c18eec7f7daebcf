/** A wrong key, model or address is said at the start, in one line, to whoever runs the service and to nobody else. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { readConfig } from '../../program/config.ts';
import { createCheckedModel } from '../../program/model-check.ts';
import { Conditions } from '../../storage/health/conditions.ts';
import { createClient, createTestApp, outline } from '../support/client.ts';
import { serveFake } from '../support/fake-server.ts';
import { readMetrics } from '../support/process.ts';
import { type RunningService, startService } from '../support/service.ts';

const KEY = 'sk-proj-0123456789abcdefghijklmnop';

interface Server {
  readonly url: string;
  answer: (res: ServerResponse) => void;
  asked: number;
}

async function modelServer(t: TestContext, answer: Server['answer']): Promise<Server> {
  const { url, close } = await serveFake((req, res) => {
    it.asked += 1;
    req.resume().on('end', () => it.answer(res));
  });
  t.after(close);
  const it: Server = { url: `${url()}/v1`, answer, asked: 0 };
  return it;
}

const refuse = (status: number, error: unknown) => (res: ServerResponse) =>
  void res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error }));

function say(res: ServerResponse): void {
  const chunk = { choices: [{ index: 0, delta: { content: 'Hello.' }, finish_reason: 'stop' }] };
  res.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
}

const envFor = ({ url }: Pick<Server, 'url'>, more: Record<string, string> = {}) => ({
  OPENAI_BASE_URL: url,
  OPENAI_API_KEY: KEY,
  MODEL: 'gpt-none',
  DEMO: 'off',
  ...more,
});

async function ready(service: RunningService, token?: string): Promise<unknown> {
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const answer = await fetch(`${service.baseUrl}/readyz`, { headers });
  assert.equal(answer.status, 200);
  const { version: _, ...told } = (await answer.json()) as Record<string, unknown>;
  return told;
}

const warningOf = (service: RunningService) => /warning +(.*)/.exec(service.output().stdout)?.[1];

test('MODEL-20: a wrong key: banner, log and the operator’s /readyz say it in one line without the key, strangers see ready; a good answer ends it', async (t) => {
  const message = `Incorrect API key provided: ${KEY.slice(0, 8)}*******${KEY.slice(-4)}. You can find your API key at https://keys.example.`;
  const server = await modelServer(t, refuse(401, { message, type: 'invalid_request_error', code: 'invalid_api_key' }));
  const service = await startService(t, { env: envFor(server) });
  const detail =
    'The model "gpt-none" does not answer: status 401 invalid_api_key invalid_request_error: Incorrect API key provided: [key]. You can find your API key at https://keys.example. Check OPENAI_API_KEY.';
  assert.equal(warningOf(service), detail);
  assert.equal(server.asked, 1);
  const { stdout, stderr } = service.output();
  assert.doesNotMatch(stdout + stderr, /sk-proj|mnop/);
  const lines = stderr.split('\n').filter((line) => line.includes('model_unusable'));
  assert.deepEqual(
    lines.map((line) => [JSON.parse(line).level, JSON.parse(line).msg]),
    [['error', detail]],
  );
  assert.deepEqual(await ready(service), { status: 'ready' });
  const known = (await ready(service, service.operatorToken)) as { status: string; conditions: { condition: string; detail: string }[] };
  assert.deepEqual([known.status, known.conditions[0]?.condition, known.conditions[0]?.detail], ['degraded', 'model_unusable', detail]);
  assert.equal((await readMetrics(service.baseUrl)).get('assistant_conditions{condition="model_unusable"}'), 1);

  const app = await createTestApp(service.baseUrl, service.operatorToken);
  const client = createClient(service.baseUrl, app.liveKey);
  const failed = await client.say('Hello');
  assert.deepEqual([failed.events[1]?.code, failed.events[1]?.retryable], ['internal', false]);
  assert.doesNotMatch(failed.text, /Incorrect|gpt-none does|key/);
  server.answer = say;
  assert.deepEqual(outline((await client.say('Hello')).events).at(-1), 'turn.end');
  assert.deepEqual(await ready(service, service.operatorToken), { status: 'ready' });
});

test('MODEL-20: a wrong name is said with the upstream’s own sentence, and so is a server that is not there', async (t) => {
  const long = 'what a person wrote '.repeat(10);
  const server = await modelServer(
    t,
    refuse(404, { message: `The model \`gpt-none\` does not exist. You sent "${long}".`, code: 'model_not_found' }),
  );
  const [misnamed, alone] = await Promise.all([
    startService(t, { env: envFor(server) }),
    startService(t, { env: envFor({ url: 'http://127.0.0.1:9/v1' }) }),
  ]);
  assert.match(
    String(warningOf(misnamed)),
    /status 404 model_not_found: The model `gpt-none` does not exist\. You sent \[\.\.\.\]\. Check MODEL/,
  );
  assert.match(String(warningOf(alone)), /the connection failed: ECONNREFUSED\. Check OPENAI_BASE_URL/);
});

test('MODEL-20: a slow model holds up neither readiness nor, for long, the banner; the silence that was set ends the question', async (t) => {
  const slow = await modelServer(t, () => {});
  // Half an hour: the banner came before that.
  const waiting = await startService(t, { env: envFor(slow, { MODEL_SILENCE_S: '1800' }) });
  assert.deepEqual([warningOf(waiting), slow.asked], [undefined, 1]);
  assert.deepEqual(await ready(waiting, waiting.operatorToken), { status: 'ready' });
  const log = pino({ level: 'silent' });
  const config = readConfig(envFor(slow)).model;
  assert.ok(config.provider === 'openai');
  const { model, complaint } = createCheckedModel({ ...config, silenceMs: 100 }, new Conditions(log, Date.now), log);
  assert.match(String(await complaint()), /nothing came for 100 ms\. Raise MODEL_SILENCE_S/);
  await model.close();
});

test('MODEL-20: a good model is asked once and nothing is held against it; with MODEL_CHECK=off, and offline, nothing is asked', async (t) => {
  const server = await modelServer(t, say);
  const log = pino({ level: 'silent' });
  const conditions = new Conditions(log, Date.now);
  const complaints: (string | undefined)[] = [];
  for (const more of [{}, { MODEL_CHECK: 'off' }, { MODEL_PROVIDER: 'offline' }]) {
    const { model, complaint } = createCheckedModel(readConfig(envFor(server, more)).model, conditions, log);
    complaints.push(await complaint());
    await model.close();
  }
  assert.deepEqual([complaints, server.asked, conditions.list()], [[undefined, undefined, undefined], 1, []]);
});

test('MODEL-20: a refusal of one message is not held against the model; three in a row are, and an answer ends the row', async (t) => {
  const refused = refuse(403, { message: 'This message was flagged.' });
  const server = await modelServer(t, say);
  const log = pino({ level: 'silent' });
  const conditions = new Conditions(log, Date.now);
  const { model, complaint } = createCheckedModel(readConfig(envFor(server)).model, conditions, log);
  t.after(() => model.close());
  assert.equal(await complaint(), undefined);
  const ask = async (answer: Server['answer']) => {
    server.answer = answer;
    await new Promise<void>((resolve) => {
      const question = {
        system: '',
        messages: [{ role: 'user', content: 'Hi' }],
        now: '',
        passages: [],
        tools: [],
        requestId: 'r',
        sender: { app: '', device: '' },
      };
      model.stream(question as Parameters<typeof model.stream>[0], {
        text() {},
        toolCallStarted() {},
        finished: () => resolve(),
        failed: () => resolve(),
      });
    });
    return conditions.list().length;
  };
  assert.deepEqual([await ask(refused), await ask(refused), await ask(say)], [0, 0, 0]);
  assert.deepEqual([await ask(refused), await ask(refused), await ask(refused), await ask(say)], [0, 0, 1, 0]);
});
