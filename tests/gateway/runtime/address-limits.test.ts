/** One address is held whatever devices it names, people who are signed in are counted as people, and others go on. */
import assert from 'node:assert/strict';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createClient, createOperator, createTestApp, HANDSHAKE, outline, type StreamAnswer, type TestApp } from '../../support/client.ts';
import { startService } from '../../support/service.ts';
import { FILE } from '../../support/whole-file.ts';
import { DONE } from './scripted-chat.ts';

// The tests are the proxy, so that they can come from wherever they like.
const service = await startService(FILE, { env: { DEMO: 'off', LOG_LEVEL: 'silent', TRUST_PROXY: '127.0.0.1' } });
const operator = createOperator(service.baseUrl, service.operatorToken);

/** The defaults of an app, as far as they are about addresses. */
const DEFAULTS = { messages_per_minute_per_address: 120, messages_per_day_per_address: null };
const makeApp = (settings: Record<string, unknown>): Promise<TestApp> =>
  createTestApp(service.baseUrl, service.operatorToken, { ...DEFAULTS, ...settings });

let minted = 0;
/** A device that nobody has seen before, at an address. */
function stranger({ liveKey }: TestApp, address: string, deviceId = (++minted).toString(16).padStart(32, '0')) {
  const client = createClient(service.baseUrl, liveKey, deviceId);
  const from = { 'X-Forwarded-For': address };
  return {
    say: (more: Record<string, unknown> = {}) => client.chat({ message: { text: 'Hello' }, ...more }, from),
    send: (method: string, path: string, body?: unknown) => client.send(method, path, body, from),
  };
}

const isAnswered = ({ events }: StreamAnswer) => events[0]?.type === 'turn.start';
const count = <T>(all: readonly T[], is: (one: T) => boolean) => all.filter(is).length;
/** A bucket leaks while requests come: two a second of 120 a minute. */
const assertAbout = (actual: number, allowed: number) => assert.ok(actual >= allowed && actual <= allowed + 20, `${actual} of ${allowed}`);
/** Some at a time: more than a busy machine can do at once is refused for another reason. */
const AT_ONCE = 8;
async function times<T>(n: number, make: (at: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  while (made.length < n) {
    const from = made.length;
    made.push(...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, n - from) }, (_, at) => make(from + at)))));
  }
  return made;
}

test('LIMIT-7: of 400 messages a day an address gets 100, whatever devices it names; the others of the app are answered', async () => {
  const app = await makeApp({ messages_per_day: 400, messages_per_minute_per_address: 0 });
  const answers = await times(130, () => stranger(app, '203.0.113.7').say({ client: { ...HANDSHAKE, capabilities: ['notices'] } }));
  assert.equal(count(answers, isAnswered), 100);
  const refused = answers.filter((answer) => !isAnswered(answer));
  for (const { status, events, text } of refused) {
    assert.equal(status, 200);
    assert.deepEqual([outline(events), events[0]?.reason], [['notice', 'turn.end'], 'user_limit'], text);
  }
  const plain = await stranger(app, '203.0.113.7').say();
  assert.deepEqual([outline(plain.events), plain.events[0]?.code], [['error', 'turn.end'], 'rate_limited']);
  assert.deepEqual(outline((await stranger(app, '203.0.113.8').say()).events), DONE);
});

test('LIMIT-6, LIMIT-7: an IPv6 address is its network of 64 bits; turn.end says what is left for the address', async () => {
  const app = await makeApp({ messages_per_day: 10_000, messages_per_day_per_address: 3 });
  const left = async (address: string) => (await stranger(app, address).say()).events.at(-1)?.usage;
  assert.deepEqual(await left('2001:db8:0:7::1'), { minute_left: 119, day_left: 2 });
  assert.deepEqual(await left('2001:db8:0:7:ffff::2'), { minute_left: 118, day_left: 1 });
  assert.deepEqual(await left('2001:db8:0:7::3'), { minute_left: 117, day_left: 0 });
  assert.equal(isAnswered(await stranger(app, '2001:db8:0:7::4').say()), false);
  assert.deepEqual(await left('2001:db8:0:8::1'), { minute_left: 119, day_left: 2 });
});

test('LIMIT-7: an app of few messages a day lets one address use ten of them, or all', async () => {
  const tiny = await makeApp({ messages_per_day: 3 });
  assert.equal(count(await times(5, () => stranger(tiny, '203.0.113.7').say()), isAnswered), 3);
  const small = await makeApp({ messages_per_day: 20 });
  assert.equal(count(await times(12, () => stranger(small, '203.0.113.7').say()), isAnswered), 10);
  assert.ok(isAnswered(await stranger(small, '203.0.113.8').say()));
});

test('LIMIT-6: an address sends 120 messages a minute, then 429; the app can say how many, and 0 counts none', async () => {
  const app = await makeApp({ messages_per_day: 10_000 });
  const answers = await times(150, () => stranger(app, '203.0.113.9').say());
  assertAbout(count(answers, isAnswered), 120);
  const [refused] = answers.filter(({ status }) => status === 429);
  assert.match(String(refused?.text), /rate_limited.*this address/);
  assert.ok(Number(refused?.headers['retry-after']) >= 1);
  assert.equal((await stranger(app, '203.0.113.10').say()).status, 200);
  const few = await makeApp({ messages_per_minute_per_address: 2, messages_per_day_per_address: 1 });
  const outcomes: unknown[] = [];
  for (let n = 0; n < 3; n++) outcomes.push((await stranger(few, '203.0.113.9').say()).events[0]?.type);
  assert.deepEqual(outcomes, ['turn.start', 'error', undefined]);
  await operator('PATCH', `/apps/${few.appId}`, { messages_per_minute_per_address: 0, messages_per_day_per_address: 0 });
  assert.equal(count(await times(10, () => stranger(few, '203.0.113.9').say()), isAnswered), 10);
});

async function signer({ appId }: TestApp) {
  const made = await operator('POST', `/apps/${appId}/identity-secret/rotate`);
  const { identity_secret: secret } = made.json as { identity_secret: string };
  assert.ok(secret, made.text);
  return (id: string) => ({ id, hmac: createHmac('sha256', secret).update(id).digest('hex') });
}

test('LIMIT-8: people who are signed in are counted as people, on all their devices, and not by their address', async () => {
  const app = await makeApp({
    messages_per_minute: 6,
    messages_per_minute_per_address: 3,
    messages_per_day: 400,
    messages_per_day_per_address: 2,
  });
  const sign = await signer(app);
  const office = '198.51.100.1';
  const ada = await times(10, () => stranger(app, office).say({ user: sign('ada') }));
  assert.equal(count(ada, isAnswered), 6, 'as many as one device may, on ten devices');
  assert.match(ada.find(({ status }) => status === 429)?.text ?? '', /this person/);
  assert.equal(isAnswered(await stranger(app, office).say({ user: sign('ben') })), true);
  const nobody = await times(5, () => stranger(app, office).say());
  assert.equal(count(nobody, isAnswered), 2);
  const forged = await times(5, (at) =>
    stranger(app, '198.51.100.2').say({ user: { id: `made-up-${at}`, hmac: randomBytes(32).toString('hex') } }),
  );
  assert.equal(count(forged, isAnswered), 2, 'a signature that is none');
});

test('LIMIT-8: a device that is bound with a signature is its person, also where the request names none', async () => {
  const app = await makeApp({ messages_per_minute: 4, messages_per_minute_per_address: 2, messages_per_day_per_address: 1 });
  const { id: external_user_id, hmac: user_hmac } = (await signer(app))('ada');
  const office = '198.51.100.3';
  const devices = [1, 2].map(() => stranger(app, office));
  for (const device of devices) assert.equal((await device.send('POST', '/v1/identify', { external_user_id, user_hmac })).status, 200);
  const [one, other] = devices;
  const answers = [await one?.say(), await other?.say(), await one?.say(), await other?.say(), await one?.say()];
  assert.deepEqual(
    answers.map((answer) => answer?.status),
    [200, 200, 200, 200, 429],
  );
  const stops = await times(6, (at) => (devices[at % 2] as NonNullable<typeof one>).send('POST', `/v1/chat/${randomUUID()}/stop`));
  assert.equal(
    count(stops, ({ status }) => status === 429),
    2,
    'by person, 4 a minute',
  );
});

const UUID = '00000000-0000-4000-8000-000000000000';

/** What a stranger can write; chat, manifests and events apart. */
const WRITES: readonly { path: string; body?: unknown; method?: 'GET'; allowed: number }[] = [
  { path: '/v1/identify', body: { external_user_id: 'x' }, allowed: 5 },
  { path: '/v1/feedback', body: {}, allowed: 5 },
  { path: '/v1/ratings', body: {}, allowed: 5 },
  { path: '/v1/invocations/inv_1/confirm', body: {}, allowed: 5 },
  { path: '/v1/invocations/inv_1/edit', body: {}, allowed: 5 },
  { path: `/v1/chat/${UUID}/stop`, allowed: 5 },
  { path: `/v1/chat/${UUID}`, method: 'GET', allowed: 5 },
  { path: '/v1/uploads', allowed: 60 },
];

for (const { path, body, method = 'POST', allowed } of WRITES) {
  test(`LIMIT-9: ${method} ${path} has a bucket of each address, ${allowed} a minute whatever devices it names`, async () => {
    const app = await makeApp({ messages_per_minute_per_address: 5 });
    const ask = async (address: string) => (await stranger(app, address).send(method, path, body)).status;
    const statuses = await times(allowed + 40, () => ask('192.0.2.1'));
    assertAbout(
      count(statuses, (status) => status !== 429),
      allowed,
    );
    assert.notEqual(await ask('192.0.2.2'), 429);
    await operator('PATCH', `/apps/${app.appId}`, { messages_per_minute_per_address: 0 });
    assert.notEqual(await ask('192.0.2.1'), 429);
  });
}

for (const path of ['/v1/apps/config', '/v1/apps/logo']) {
  test(`LIMIT-9: GET ${path} of other addresses is answered, however many devices one address invents`, async () => {
    const app = await makeApp({});
    const ask = async (address: string) => (await stranger(app, address).send('GET', path)).status;
    const loud = await times(800, () => ask('192.0.2.1'));
    assert.ok(count(loud, (status) => status === 429) > 50, 'the address that invents them is held');
    const others = await times(40, (at) => ask(`198.51.100.${at}`));
    assert.equal(
      count(others, (status) => status === 429),
      0,
    );
  });
}

for (const path of ['/v1/conversations', '/v1/conversations/cnv_1/messages']) {
  test(`LIMIT-9: GET ${path} has a bucket of each address, 1,200 a minute whatever devices it names`, async () => {
    const app = await makeApp({});
    const ask = async (address: string) => (await stranger(app, address).send('GET', path)).status;
    const statuses = await times(1_400, () => ask('192.0.2.1'));
    assert.ok(count(statuses, (status) => status === 429) > 50);
    assert.ok(count(statuses, (status) => status === 200) >= 1_200);
    assert.equal(await ask('192.0.2.2'), 200);
  });
}

test('LIMIT-6: a device in a loop over its own bound uses up nothing of its address', async () => {
  const app = await makeApp({ messages_per_minute: 2, messages_per_minute_per_address: 5 });
  const loud = stranger(app, '192.0.2.1');
  for (const [path, allowed] of [
    ['/v1/feedback', 2],
    ['/v1/uploads', 20],
  ] as const) {
    const statuses = await times(70, async () => (await loud.send('POST', path, {})).status);
    assert.ok(count(statuses, (status) => status === 429) >= 70 - allowed - 10);
    assert.notEqual((await stranger(app, '192.0.2.1').send('POST', path, {})).status, 429, path);
  }
});

test('LIMIT-7: turns of a test key are counted for no address: developers and CI have all messages of the day', async () => {
  const app = await makeApp({ messages_per_day: 30 });
  const answers = await times(32, () => stranger({ ...app, liveKey: app.testKey }, '203.0.113.70').say());
  assert.equal(count(answers, isAnswered), 30);
});

test('SAFE-11: large bodies that are refused for what they hold are counted by address before more are read, valid ones of others are served', async () => {
  const app = await makeApp({});
  const broken = { message: { text: 7 }, context: { app_state: { text: 'x'.repeat(100_000) } } };
  const from = (address: string, body: object) => stranger(app, address).send('POST', '/v1/chat', body);
  const answers = await times(100, () => from('203.0.113.30', broken));
  assertAbout(
    count(answers, ({ status }) => status === 400),
    60,
  );
  assert.equal(
    count(answers, ({ status }) => status === 400 || status === 429),
    100,
  );
  assert.ok(answers.every(({ status, headers }) => status === 400 || Number(headers['retry-after']) > 0));
  assert.equal((await from('203.0.113.30', { message: { text: 7 } })).status, 400, 'a small one is read');
  assert.ok(isAnswered(await stranger(app, '203.0.113.30').say()), 'and so is a good one');
  assert.equal((await from('203.0.113.31', broken)).status, 400, 'another address');
  assert.ok(isAnswered(await stranger(app, '203.0.113.31').say({ padding: 'x'.repeat(100_000) })), 'and its valid large one is served');
});
