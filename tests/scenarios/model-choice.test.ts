/** Which of the operator's models answers an app: a draft for its test key, what was published for its live key. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { readConfig } from '../../program/config.ts';
import { createCheckedModel } from '../../program/model-check.ts';
import { Conditions } from '../../storage/health/conditions.ts';
import { picture, round } from '../assistant/models/openai/recorded-sink.ts';
import { createClient, createOperator, createTestApp, spoken, type TestApp } from '../support/client.ts';
import { type RunningService, startService } from '../support/service.ts';
import { AGENT, agentOf, openSession } from '../support/setup-agent.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { type Play, startUpstream, type Upstream } from '../support/upstream.ts';

const TOKEN = 'rd_op_of_the_test_of_choices_0123456789';
const SECRET = 'sk-spare-never-shown';

interface Models {
  readonly one: Upstream;
  readonly two: Upstream;
  readonly three: Upstream;
}

async function startModels(t: TestContext, plays: Partial<Record<keyof Models, () => readonly Play[]>> = {}): Promise<Models> {
  const start = (name: keyof Models) => startUpstream(t, plays[name] ?? (() => [{ text: `From ${name}.` }]));
  return { one: await start('one'), two: await start('two'), three: await start('three') };
}

function startWith(
  t: TestContext,
  dataDir: string,
  { one, ...others }: Models,
  names: readonly ('two' | 'three')[],
): Promise<RunningService> {
  const listed = names.map((name) => ({
    provider: 'openai',
    model: name,
    address: others[name].url,
    key: 'SPARE_KEY',
    images: name === 'two',
  }));
  const prices = '{"one":{"input":1000,"output":1000},"two":{"input":10,"output":0},"three":{"input":20,"output":0}}';
  const env = { OPENAI_BASE_URL: one.url, MODEL: 'one', MODEL_CHECK: 'off', MODELS: JSON.stringify(listed), SPARE_KEY: SECRET };
  return startService(t, { dataDir, env: { ...env, OPERATOR_TOKEN: TOKEN, MODEL_PRICES: prices, DEMO: 'off', LOG_LEVEL: 'fatal' } });
}

/** What the console of the app is sent, which has to be taken. */
function consoleOf({ baseUrl }: RunningService, { appId }: TestApp) {
  const operator = createOperator(baseUrl, TOKEN);
  return async <Body = unknown>(method: string, path: string, body?: unknown): Promise<Body> => {
    const answer = await operator(method as 'GET', `/apps/${appId}${path}`, body);
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${answer.text}`);
    return answer.json as Body;
  };
}

async function asked(service: RunningService, key: string) {
  const { events } = await createClient(service.baseUrl, key).say('Hello');
  return [events.find(({ type }) => type === 'turn.start')?.model, spoken(events), events.at(-1)?.status];
}

test('MODEL-43, MODEL-44: the draft counts for the test key, what was published for the live key, and each is asked as it was chosen', async (t) => {
  const models = await startModels(t);
  const service = await startWith(t, temporaryDir(t), models, ['two', 'three']);
  const app = await createTestApp(service.baseUrl, TOKEN);
  const console = consoleOf(service, app);
  const lastOf = ({ requests }: Upstream) => requests.at(-1) as unknown as Record<string, unknown>;
  assert.deepEqual(await asked(service, app.liveKey), ['one', 'From one.', 'completed']);
  const plain = Object.keys(lastOf(models.one)).sort();
  await console('PUT', '/experience', { model: { use: 'two', temperature: 0.5, effort: 'low', max_output_tokens: 700 } });
  assert.deepEqual(await asked(service, app.testKey), ['two', 'From two.', 'completed']);
  assert.deepEqual(await asked(service, app.liveKey), ['one', 'From one.', 'completed']);
  const { temperature, reasoning_effort: effort, max_tokens: most } = lastOf(models.two);
  assert.deepEqual([temperature, effort, most], [0.5, 'low', 700]);
  await console('POST', '/publish');
  assert.deepEqual(await asked(service, app.liveKey), ['two', 'From two.', 'completed']);
  await console('PUT', '/experience', { model: {} });
  assert.deepEqual(await asked(service, app.testKey), ['one', 'From one.', 'completed']);
  assert.deepEqual(Object.keys(lastOf(models.one)).sort(), plain);
  assert.equal(models.three.requests.length, 0);
});

test('MODEL-43: the app’s own models stand in, in its order and at their price, and no other is asked', async (t) => {
  const models = await startModels(t, { two: () => [{ status: 503 }] });
  const service = await startWith(t, temporaryDir(t), models, ['two', 'three']);
  const app = await createTestApp(service.baseUrl, TOKEN);
  const console = consoleOf(service, app);
  await console('PUT', '/experience', { model: { use: 'two', fallbacks: ['three'] } });
  await console('POST', '/publish');
  assert.deepEqual(await asked(service, app.liveKey), ['two', 'From three.', 'completed']);
  const { json } = await createOperator(service.baseUrl, TOKEN)('GET', `/orgs/${app.organisationId}/usage`);
  assert.equal((json as { spent_usd: number }).spent_usd, 0.002, '100 tokens at the price of the one that answered');
  await console('PUT', '/experience', { model: { use: 'two', fallbacks: [] } });
  assert.deepEqual((await asked(service, app.testKey)).at(-1), 'error');
  assert.deepEqual([models.one.requests.length, models.two.requests.length, models.three.requests.length], [0, 2, 1]);
});

test('MODEL-43: names are told with what each reads and nothing else, and one that is not listed is refused by its field', async (t) => {
  const models = await startModels(t);
  const service = await startWith(t, temporaryDir(t), models, ['two', 'three']);
  const app = await createTestApp(service.baseUrl, TOKEN);
  const operator = createOperator(service.baseUrl, TOKEN);
  const made = (await operator('POST', `/orgs/${app.organisationId}/apps`, { name: 'New' })).json as { app: { id: string } };
  const agent = await agentOf(service.baseUrl, (await openSession(operator, made.app.id)).code);
  await agent.get('POST', '/start', AGENT);
  const context = await agent.send('GET', '/context');
  const told = context.json as { models: unknown; schemas: { experience: { properties: Record<string, unknown> } } };
  assert.deepEqual(told.models, [
    { name: 'one', reads: ['text', 'documents', 'images'] },
    { name: 'two', reads: ['text', 'documents', 'images'] },
    { name: 'three', reads: ['text', 'documents'] },
  ]);
  assert.ok('model' in told.schemas.experience.properties);
  for (const hidden of [SECRET, models.one.url, models.two.url, 'SPARE_KEY']) assert.ok(!context.text.includes(hidden), hidden);
  const refusal = { path: 'model.use', message: 'must be one of one, two, three' };
  const wrong = { model: { use: 'four', fallbacks: ['two', 'five'] } };
  for (const send of [
    (body: object) => agent.send('PUT', '/experience', body),
    (body: object) => operator('PUT', `/apps/${app.appId}/experience`, body),
  ]) {
    const refused = await send(wrong);
    const { code, message, details } = (refused.json as { error: { code: string; message: string; details: unknown[] } }).error;
    assert.deepEqual([refused.status, code, message], [422, 'invalid_experience', 'model.use must be one of one, two, three']);
    assert.deepEqual(details, [refusal, { ...refusal, path: 'model.fallbacks[1]' }]);
    assert.equal((await send({ model: { temperature: 3 } })).status, 422);
    assert.equal((await send({ model: { api_key: 'sk' } })).status, 400);
  }
  const { draft } = await agent.get<{ draft: unknown }>('PUT', '/experience', { model: { use: 'three' } });
  assert.deepEqual(draft, { model: { use: 'three' } });
  await agent.get('PUT', '/experience', { suggestions: ['Where is my order?', 'What do you sell?', 'Who are you?'] });
  await agent.get('POST', '/smoke');
  assert.ok(models.three.requests.length > 0, 'the smoke test asks the model of the draft');
  assert.equal(models.one.requests.length, 0);
  // A live app's session proposes, by the same rules.
  const proposer = await agentOf(service.baseUrl, (await openSession(operator, app.appId, 'sync')).code);
  await proposer.get('POST', '/start', AGENT);
  assert.equal((await proposer.send('PUT', '/experience', wrong)).status, 422);
  const proposed = await proposer.send('PUT', '/experience', { model: { use: 'two' } });
  assert.deepEqual([proposed.status, (proposed.json as { summary: string }).summary], [202, 'model use none → “two”.']);
});

test('MODEL-45: where the operator took the model off the list, the installation’s order answers and the release says so', async (t) => {
  const dataDir = temporaryDir(t);
  const models = await startModels(t);
  const before = await startWith(t, dataDir, models, ['two', 'three']);
  const app = await createTestApp(before.baseUrl, TOKEN);
  const release = async (service: RunningService) => {
    const { obstacles } = (await consoleOf(service, app)<{ release: { obstacles: string[] } }>('GET', '/status')).release;
    return obstacles.filter((each) => each.includes('not a model of this installation'));
  };
  await consoleOf(before, app)('PUT', '/experience', { model: { use: 'two' } });
  await consoleOf(before, app)('POST', '/publish');
  assert.deepEqual([await asked(before, app.liveKey), await release(before)], [['two', 'From two.', 'completed'], []]);
  await before.stop();
  const after = await startWith(t, dataDir, models, ['three']);
  assert.deepEqual(await asked(after, app.liveKey), ['one', 'From one.', 'completed']);
  assert.deepEqual(await release(after), [
    'two: not a model of this installation any more, so the models of the installation answer, in its order. Choose again and publish.',
  ]);
  // What says nothing of the model is taken as before.
  await consoleOf(after, app)('PUT', '/experience', { tone: 'Brief.' });
});

test('MODEL-46: a model that reads no pictures is told the name of one, and that it cannot be shown', async (t) => {
  const { one } = await startModels(t);
  const log = pino({ level: 'silent' });
  const env = { OPENAI_BASE_URL: one.url, MODEL_CHECK: 'off' };
  for (const more of [{}, { MODEL_IMAGES: 'off' }]) {
    const { model } = createCheckedModel(readConfig({ ...env, ...more }).model, new Conditions(log, Date.now), log);
    await round(model, { messages: [{ role: 'user', content: 'A cat.png', images: [picture('image/png', Buffer.from('a cat'))] }] });
    await model.close();
  }
  const [shown, told] = one.requests.map(({ messages }) => JSON.stringify(messages.at(-1)?.content));
  assert.match(shown ?? '', /image_url/);
  assert.equal(told, JSON.stringify('A cat.png\n\n(The picture cannot be shown to you. Say so.)'));
});

test('MODEL-44: what a server refuses in its own words is left out, and the turn is answered', async (t) => {
  const refusals: Readonly<Record<string, string>> = {
    temperature: "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
    reasoning_effort: 'Unrecognized request argument supplied: reasoning_effort',
    max_tokens: 'max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for this model',
  };
  const one = await startUpstream(t, (request) => {
    const refused = Object.keys(refusals).find((name) => name in request);
    if (refused === undefined) return [{ text: 'All the same.' }];
    return [{ status: 400, body: { error: { message: refusals[refused], type: 'invalid_request_error', param: refused } } }];
  });
  const env = { OPENAI_BASE_URL: one.url, MODEL: 'one', MODEL_CHECK: 'off', DEMO: 'off', OPERATOR_TOKEN: TOKEN, LOG_LEVEL: 'warn' };
  const service = await startService(t, { env });
  const app = await createTestApp(service.baseUrl, TOKEN);
  // What the first turn of a build changes in its app is behind it.
  await asked(service, app.testKey);
  await consoleOf(service, app)('PUT', '/experience', { model: { temperature: 0.5, effort: 'low', max_output_tokens: 9_000 } });
  assert.deepEqual(await asked(service, app.testKey), ['one', 'All the same.', 'completed']);
  assert.deepEqual(await asked(service, app.testKey), ['one', 'All the same.', 'completed']);
  assert.equal(one.requests.length, 6, 'each is refused once');
  const lines = service.output().stderr.match(/"parameter":"\w+"/g);
  assert.deepEqual(lines, ['"parameter":"temperature"', '"parameter":"effort"', '"parameter":"max_output_tokens"']);
});
