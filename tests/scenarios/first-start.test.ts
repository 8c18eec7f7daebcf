/** What a person sees who starts the program, with nothing or with something wrong. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Client as Connection } from 'undici';
import { DEMO_MANIFEST } from '../../program/demo.ts';
import { createClient, createOperator, createTestApp, DEVICE, HANDSHAKE, outline, parseEvents, spoken } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { fetchUntil } from '../support/partial.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningService, startAndFail, startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { startUpstream, upstreamEnv } from '../support/upstream.ts';
import { FILE } from '../support/whole-file.ts';

/** Shorter ones may be anybody's. */
const SENTENCE_MIN_CHARS = 40;

/** The printed curl line as the request it makes. */
function curlRequest(stdout: string) {
  const lines = stdout.split('\n').filter((line) => line.startsWith('curl '));
  assert.equal(lines.length, 1, stdout);
  const parts = /^curl -N (\S+)((?: -H '[^']+')+) -d '([^']+)'$/.exec(lines[0] ?? '');
  assert.ok(parts, lines[0]);
  const headers = [...(parts[2] ?? '').matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = '', value = '']) => [name, value] as const);
  return { url: parts[1], headers: Object.fromEntries(headers), body: JSON.parse(parts[3] ?? '') as Record<string, unknown> };
}

function oneLine(markdown: string): string {
  return markdown.replace(/^\s*>\s?/gm, '').replace(/\s+/g, ' ');
}

/** What the shop says of itself, cut at the ends of sentences. */
function sentencesOfShop(): string[] {
  const folder = new URL('../../../web/demo/knowledge/', import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith('.md'));
  return names
    .flatMap((name) => oneLine(readFileSync(new URL(name, folder), 'utf8')).split(/(?<=[.;:|]) /))
    .filter((sentence) => sentence.length >= SENTENCE_MIN_CHARS);
}

/** As it comes, and without the demo. */
const demo = await startService(FILE);
const bare = await startService(FILE, { env: { DEMO: 'off' } });

test('RUN-1, DEMO-6: a first start without configuration prints where it is, its keys and one curl line that streams an answer from what the shop says of itself', async () => {
  const { stdout } = demo.output();
  assert.match(stdout, new RegExp(`up\\.\\n\\n +demo +${demo.baseUrl}/demo\\n`), 'the demo is named first');
  assert.match(stdout, new RegExp(`console +${demo.baseUrl}/console\\?once=\\S{20,}`));
  assert.match(stdout, new RegExp(`interface +${demo.baseUrl}/console/api`));
  assert.match(demo.liveKey, /^rd_pk_live_\w{20,}$/);
  assert.match(demo.testKey, /^rd_pk_test_\w{20,}$/);
  const { url, headers, body } = curlRequest(stdout);
  assert.equal(url, `${demo.baseUrl}/v1/chat`);
  assert.equal(headers['X-Service-Key'], demo.liveKey);
  const client = createClient(demo.baseUrl, demo.liveKey, headers['X-Service-Device']);
  const { status, events } = await client.chat(body);
  assert.equal(status, 200);
  assert.deepEqual(outline(events).slice(0, 4), ['turn.start', 'block.start', 'block.delta', 'block.ready']);
  assert.equal(events.at(-1)?.type, 'turn.end');
  assert.equal(events.at(-1)?.status, 'completed');
  assert.deepEqual(
    events.map((event) => event.seq),
    events.map((_, seq) => seq),
  );
  const said = oneLine(spoken(events));
  const quoted = sentencesOfShop().filter((sentence) => said.includes(sentence));
  assert.ok(quoted.length > 0, `quotes nothing: ${said}`);
  assert.equal((await createClient(demo.baseUrl, demo.testKey).say('Hello')).status, 200, 'the test key works too');
});

test('DEMO-5: the demo’s key answers pages of the service itself, and no others', async () => {
  const ask = (origin: string) => fetch(`${demo.baseUrl}/v1/apps/config`, { headers: { 'X-Service-Key': demo.liveKey, Origin: origin } });
  assert.equal((await ask(demo.baseUrl)).status, 200);
  for (const origin of ['https://evil.example', 'http://127.0.0.1:1', 'null']) assert.equal((await ask(origin)).status, 403, origin);
});

test('RUN-4: a restart keeps the keys and the conversation, and makes no second demo', async (t) => {
  const dataDir = temporaryDir(t);
  const first = await startService(t, { dataDir });
  const { events } = await createClient(first.baseUrl, first.liveKey).say('How do I descale a kettle?');
  const path = `/v1/conversations/${events[0]?.conversation_id}/messages`;
  const before = await createClient(first.baseUrl, first.liveKey).send('GET', path);
  assert.equal(await first.stop(), 0);
  const second = await startService(t, { dataDir });
  assert.doesNotMatch(second.output().stdout, /rd_op_/, 'the token is shown once');
  assert.deepEqual([second.liveKey, second.testKey, second.operatorToken], [first.liveKey, first.testKey, first.operatorToken]);
  const after = await createClient(second.baseUrl, second.liveKey).send('GET', path);
  assert.deepEqual(after.json, before.json);
  assert.equal((after.json as { messages: unknown[] }).messages.length, 2);
  const organisations = await createOperator(second.baseUrl, second.operatorToken)('GET', '/orgs');
  assert.equal(organisations.status, 200);
  assert.equal(organisations.text.match(/"Demo"/g)?.length, 1, organisations.text);
});

test('RUN-27: a command on the data directory needs no token, and none where it has another master key', async () => {
  const url = ['--url', bare.baseUrl];
  const { code, stdout, stderr } = await runCli(['nodes', ...url], bare.dataDir);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /serving/);
  const wrong = await runCli(['nodes', ...url], bare.dataDir, { MASTER_KEY: Buffer.alloc(32, 1).toString('base64') });
  assert.match(wrong.stderr, /does not take this operator token\. Set OPERATOR_TOKEN, or DATA_DIR and MASTER_KEY to those of the service/);
});

test('RUN-4, DEMO-1, DEMO-6: DEMO=off makes no app, prints no key and no demo, and has no page of it', async () => {
  assert.doesNotMatch(bare.output().stdout, /key|curl|demo/);
  for (const path of ['/demo', '/demo/components']) assert.equal((await fetch(bare.baseUrl + path)).status, 404, path);
  const organisations = await createOperator(bare.baseUrl, bare.operatorToken)('GET', '/orgs');
  assert.equal(organisations.status, 200);
  assert.doesNotMatch(organisations.text, /Demo/);
});

test('RUN-4: where others reach the service the demo is off unless it is asked for, and then has a small budget a day', async (t) => {
  const HOST = '0.0.0.0';
  const here = await startService(t);
  const demoOf = async ({ baseUrl, operatorToken }: RunningService) => {
    const operator = createOperator(baseUrl, operatorToken);
    const { orgs } = (await operator('GET', '/orgs')).json as { orgs: { id: string }[] };
    const { apps } = (await operator('GET', `/orgs/${orgs[0]?.id}/apps`)).json as { apps: Record<string, unknown>[] };
    return [apps[0]?.messages_per_day, apps[0]?.daily_model_budget_usd];
  };
  assert.deepEqual(await demoOf(here), [10_000, null]);
  await here.stop();
  const unasked = await startService(t, { dataDir: here.dataDir, env: { HOST } });
  assert.doesNotMatch(unasked.output().stdout, /key|curl|demo/);
  assert.equal((await fetch(`${unasked.baseUrl}/demo/app.json`)).status, 404);
  assert.deepEqual(await demoOf(unasked), [200, 1], 'its keys still answer');
  await unasked.stop();
  const asked = await startService(t, { dataDir: here.dataDir, env: { HOST, DEMO: 'on' } });
  assert.match(asked.output().stdout, /warning +DEMO is on: .*200 turns and 1 USD a day/);
  assert.equal((await fetch(`${asked.baseUrl}/demo/app.json`)).status, 200);
  assert.equal(((await (await fetch(`${asked.baseUrl}/readyz`)).json()) as { demo?: boolean }).demo, true);
});

test('CLUSTER-1: a second process on the same data directory refuses to start, names the first and leaves it alone', async (t) => {
  const { code, stderr } = await startAndFail(t, { dataDir: bare.dataDir, env: { DEMO: 'off' } });
  assert.equal(code, 1);
  assert.equal(stderr.trim().split('\n').length, 1, stderr);
  assert.ok(stderr.includes(`process ${bare.pid}`) && stderr.includes(bare.dataDir), stderr);
  assert.equal((await createClient(bare.baseUrl, '').send('GET', '/healthz')).status, 200);
});

const SECRETS = new Set(['OPERATOR_TOKEN']);
/** Variable, what it must not hold, and what the message says it may: one of each kind, program/config.test.ts has every variable. */
const BAD_VALUES: readonly (readonly [string, string, RegExp])[] = [
  ['HOST', 'not a host', /host name or address/],
  ['OPERATOR_TOKEN', 'tooshort-7391', /at least 24 characters/],
  ['MODEL_PRICES', '{broken', /JSON/],
];

test('RUN-2: a bad value stops the start with one line that names the variable, what it holds unless it is a secret, and what it may hold', async (t) => {
  for (const [variable, held, allowed] of BAD_VALUES) {
    const { code, stderr } = await startAndFail(t, { env: { [variable]: held } });
    assert.equal(code, 1, variable);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
    assert.ok(stderr.startsWith(`${variable} is `), stderr);
    assert.match(stderr, allowed);
    assert.equal(stderr.includes(JSON.stringify(held)), !SECRETS.has(variable), stderr);
    if (SECRETS.has(variable)) assert.ok(!stderr.includes(held), stderr);
  }
});

test('RUN-7: SIGTERM lets an open turn end, refuses what is new, says 503 to /readyz, and exits with 0', async (t) => {
  let release = () => {};
  const wait = new Promise<void>((resolve) => {
    release = resolve;
  });
  const upstream = await startUpstream(t, () => [{ text: 'First half, ' }, { wait }, { text: 'second half.' }]);
  const service = await startService(t, { env: { ...upstreamEnv(upstream), DEMO: 'off' } });
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  // A load balancer's connection that is there already: the listening socket closes at once.
  const balancer = new Connection(service.baseUrl, { keepAliveTimeout: 30_000 });
  const sdk = new Connection(service.baseUrl, { keepAliveTimeout: 30_000 });
  t.after(() => Promise.all([balancer.destroy(), sdk.destroy()]));
  const readiness = async (connection = balancer) => {
    const answer = await connection.request({ method: 'GET', path: '/readyz' });
    await answer.body.dump();
    return answer.statusCode;
  };
  assert.deepEqual([await readiness(), await readiness(sdk)], [200, 200]);
  const turnId = randomUUID();
  const open = createClient(service.baseUrl, app.liveKey).say('Hello', { turn_id: turnId });
  await fetchUntil(service.baseUrl, app.liveKey, turnId, 'First half');
  const stopped = service.stop('SIGTERM');
  await eventually(
    async () => {
      const late = new Connection(service.baseUrl, { connectTimeout: 1_000 });
      try {
        await late.request({ method: 'GET', path: '/healthz' }).then((answer) => answer.body.dump());
        return false;
      } catch (error) {
        return (error as { code?: unknown }).code === 'ECONNREFUSED';
      } finally {
        await late.destroy();
      }
    },
    undefined,
    () => 'new connections are refused',
  );
  assert.equal(await readiness(), 503);
  const refused = await sdk.request({
    method: 'POST',
    path: '/v1/chat',
    headers: { 'content-type': 'application/json', 'x-service-key': app.liveKey, 'x-service-device': DEVICE },
    body: JSON.stringify({ message: { text: 'One more' }, client: HANDSHAKE }),
  });
  const [error, end] = parseEvents(await refused.body.text());
  assert.deepEqual([error?.code, error?.retryable, end?.status], ['internal', true, 'error']);
  release();
  const { events } = await open;
  assert.equal(spoken(events), 'First half, second half.');
  assert.equal(events.at(-1)?.status, 'completed');
  assert.equal(await stopped, 0);
});

test('RUN-4, ACTION-1: the offline demo asks its client for an order and answers with what the client found', async () => {
  const client = createClient(demo.baseUrl, demo.liveKey);
  const handshake = { ...HANDSHAKE, manifest_hash: await client.register(DEMO_MANIFEST) };
  const asked = await client.say('Where is order A-1042?', { client: handshake });
  const execute = asked.events.find((event) => event.type === 'action.execute');
  assert.equal(execute?.name, 'get_order_status', asked.text);
  assert.deepEqual(execute?.params, { order_id: 'A-1042' });
  assert.equal(asked.events.at(-1)?.status, 'awaiting_tool_results');
  const answered = await client.chat({
    client: handshake,
    conversation_id: asked.events[0]?.conversation_id,
    tool_results: [
      { invocation_id: execute?.invocation_id, status: 'ok', result: { status: 'shipped', carrier: 'Blue Heron', arrives: '2031-05-17' } },
    ],
  });
  assert.equal(answered.events.at(-1)?.status, 'completed', answered.text);
  assert.match(answered.text, /Blue Heron/);
});

test('RUN-4: the demo says what it can do, has its two actions without a manifest of the client’s, and reads no titles of tests', async () => {
  const client = createClient(demo.baseUrl, demo.liveKey);
  const help = spoken((await client.say('What can you do?')).events);
  assert.match(help, /documents/);
  assert.match(help, /get order status and cancel order/);
  const { events } = await client.say('Where is my order A-1042?');
  const call = events.find(({ type }) => type === 'action.execute');
  assert.deepEqual(
    [call?.name, call?.params, events.at(-1)?.status],
    ['get_order_status', { order_id: 'A-1042' }, 'awaiting_tool_results'],
  );
  const cancelled = await client.say('Cancel order A-1042');
  assert.equal(cancelled.events.at(-1)?.status, 'awaiting_confirmation');
  for (const question of ['Which rules are proven?', 'How do I make a backup?', 'What does a stranger attack?']) {
    assert.doesNotMatch((await client.say(question)).text, /\.test\.ts/, question);
  }
  const other = await createTestApp(demo.baseUrl, demo.operatorToken);
  const theirs = await createClient(demo.baseUrl, other.liveKey).say('Where is my order A-1042?');
  assert.equal(theirs.events.at(-1)?.status, 'completed', 'another app has what its clients register');
});
