/** A confirmed write reaches the app's server at most once, however often the service dies. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { startBackend } from '../support/backend.ts';
import { type Client, createClient, createOperator, createTestApp, HANDSHAKE, type StreamAnswer, type TestApp } from '../support/client.ts';
import { Mortal } from '../support/mortal.ts';
import { scaled } from '../support/scale.ts';
import { startUpstream, upstreamEnv } from '../support/upstream.ts';

const INVOCATIONS = scaled(1_000, 200);
const CLIENTS = 8;
/** The service dies about every two seconds. */
const LIFE_MS = [1_500, 2_500] as const;
/** A tenth of the people say no. */
const DECLINES_EVERY = 10;

interface Ran {
  readonly invocationId: string;
  readonly declined: boolean;
  /** What the continuation's turn was told of the call in the end. */
  readonly told: string;
}

/** The same request again until its stream came to an end that is no failure of the service. */
async function through(mortal: Mortal, app: TestApp, call: (client: Client) => Promise<StreamAnswer>): Promise<StreamAnswer> {
  for (;;) {
    const answer = await mortal.through((service) => call(createClient(service.baseUrl, app.liveKey)));
    const end = answer.events.at(-1);
    if (end?.type === 'turn.end' && end.status !== 'error') return answer;
    const refusal = answer.events.find((event) => event.type === 'error');
    // A stream that breaks off, or an interrupted turn: both are tried again unchanged.
    assert.ok(refusal === undefined || refusal.retryable === true, answer.text);
  }
}

async function invoke(mortal: Mortal, app: TestApp, declined: boolean): Promise<Ran> {
  const ask = { turn_id: randomUUID(), message: { text: 'Please do it.' }, client: HANDSHAKE };
  const asked = await through(mortal, app, (client) => client.chat(ask));
  const [pending] = (asked.events.at(-1)?.pending ?? []) as { invocation_id: string }[];
  const invocationId = String(pending?.invocation_id);
  const confirmed = await mortal.through((service) =>
    createClient(service.baseUrl, app.liveKey).send('POST', `/v1/invocations/${invocationId}/confirm`, {
      decision: declined ? 'decline' : 'confirm',
    }),
  );
  assert.equal((confirmed.json as { status: string }).status, declined ? 'declined' : 'confirmed', confirmed.text);
  const result = declined ? { status: 'declined' } : { status: 'ok', confirmed: true };
  const body = {
    turn_id: randomUUID(),
    conversation_id: asked.events.find((event) => event.type === 'turn.start')?.conversation_id,
    tool_results: [{ invocation_id: invocationId, ...result }],
    client: HANDSHAKE,
  };
  const { text } = await through(mortal, app, (client) => client.chat(body, { 'X-Service-User-Token': 'person-1' }));
  return { invocationId, declined, told: text };
}

async function prepare(t: TestContext) {
  const backend = await startBackend(t);
  // Calls the write, and then repeats what it was told of it.
  const upstream = await startUpstream(t, ({ messages }) => {
    const last = messages.at(-1);
    return last?.role === 'tool' ? [{ text: last.content }] : [{ call: 'do_it', args: {}, id: `call_${randomUUID().slice(0, 8)}` }];
  });
  const env = { ...upstreamEnv(upstream), ALLOW_PRIVATE_ADDRESSES: 'true', LOG_LEVEL: 'silent' };
  const mortal = new Mortal(t, { kills: Number.POSITIVE_INFINITY, lifeMs: LIFE_MS, env });
  const app = await mortal.through(async (service) => {
    const made = await createTestApp(service.baseUrl, service.operatorToken, { record_confirmations: true });
    const action = {
      external_key: 'do',
      name: 'do_it',
      description: 'Does it.',
      method: 'POST',
      risk: 'write',
      confirm_template: 'Do it?',
      url_template: `${backend.url}/do`,
      auth: 'user',
    };
    const operator = createOperator(service.baseUrl, service.operatorToken);
    assert.equal((await operator('POST', `/apps/${made.appId}/actions`, { items: [action] })).status, 200);
    return made;
  });
  return { backend, mortal, app };
}

test(`ACTION-12, CONFIRM-9: ${INVOCATIONS} writes under kill -9 every 2 s: no call twice for one invocation, none without a recorded confirmation`, async (t) => {
  const { backend, mortal, app } = await prepare(t);
  const ran: Ran[] = [];
  let next = 0;
  const work = async () => {
    while (next < INVOCATIONS || mortal.kills === 0) {
      next += 1;
      ran.push(await invoke(mortal, app, next % DECLINES_EVERY === 0));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, work));
  mortal.rest();
  const calls = new Map<string, number>();
  for (const { headers } of backend.requests) {
    const id = String(headers['idempotency-key']);
    calls.set(id, (calls.get(id) ?? 0) + 1);
    assert.ok(headers['x-service-confirmation'] !== undefined, 'every call carries its receipt');
  }
  const twice = [...calls].filter(([, count]) => count > 1);
  assert.deepEqual(twice, [], 'no invocation reached the server twice');
  const confirmed = ran.filter(({ declined }) => !declined);
  const known = new Set(confirmed.map(({ invocationId }) => invocationId));
  assert.deepEqual(
    [...calls.keys()].filter((id) => !known.has(id)),
    [],
    'nothing was called that nobody confirmed',
  );
  const unknown = confirmed.filter(({ told }) => /not known whether do_it was done/.test(told));
  const done = confirmed.filter(({ told }) => /result of do_it/.test(told));
  assert.equal(done.length + unknown.length, confirmed.length, 'everybody was told what became of it');
  assert.ok(done.length > 0, 'some are done');
  assert.deepEqual(
    done.filter(({ invocationId }) => !calls.has(invocationId)),
    [],
    'what is said to be done was done',
  );
  for (const { told } of unknown) assert.match(told, /could not be found out whether “do it” was done/);
  t.diagnostic(`${confirmed.length} confirmed, ${calls.size} calls, ${unknown.length} unknown, ${mortal.kills} kills`);
});
