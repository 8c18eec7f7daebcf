/**
 * Whatever is sent to the running program, it goes on, its loop never stands still, no request ends in a bug, and what is refused
 * is refused in the shape of errors. 200,000 requests with THOROUGH=1, and as many as fit into a minute without.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Agent, type Dispatcher } from 'undici';
import { ERROR_TABLE } from '../../protocol/errors.ts';
import { type Answer, createClient, createOperator, createTestApp, parseEvents } from '../support/client.ts';
import { type RunningService, startService } from '../support/service.ts';
import { AGENT, agentOf, openSession } from '../support/setup-agent.ts';
import { caseNumbers, diceOf, FuzzFailure, SEED } from './cases.ts';
import type { Schema } from './from-schema.ts';
import { type FuzzRequest, type Ground, rawBytes, requestFor, type Target } from './http-cases.ts';

const TARGETS = 4;
/** More would only wait for each other. */
const AT_ONCE = 12;
/** Far above what any request takes; whoever says nothing for so long hangs. */
const ANSWER_MAX_MS = 30_000;
/** Turns may wait for a client or a person: then the fuzzer leaves. */
const STREAM_MAX_MS = 1_500;
const RAW_MAX_MS = 300;
/** One request in so many is written to a socket as bytes. */
const RAW_ONE_IN = 12;
const LOOK_EVERY = 400;
const KNOWN_MAX = 200;
const BODY_MAX_CHARS = 4_000_000;
const BRIEF_MS = 45_000;

const KEPT_IDS = /"(conversation_id|block_id|invocation_id|upload_id|turn_id|form_id|message_id|manifest_hash)":"([^"\\]{1,80})"/g;

/** Ids from answers, for later requests. */
class Known {
  readonly ids = new Map<string, string[]>();

  learn(text: string): void {
    for (const [, name = '', id = ''] of text.slice(0, 50_000).matchAll(KEPT_IDS)) {
      const known = this.ids.get(name) ?? [];
      this.ids.set(name, known);
      if (known.length < KNOWN_MAX) known.push(id);
    }
  }
}

async function prepare(service: RunningService): Promise<Omit<Ground, 'known'>> {
  const { baseUrl, operatorToken } = service;
  const operator = createOperator(baseUrl, operatorToken);
  const targets: Target[] = [];
  let setup: Readonly<Record<string, Schema>> = {};
  for (let at = 0; at < TARGETS; at++) {
    const { appId, liveKey, testKey } = await createTestApp(baseUrl, operatorToken, { auto_go_live: false });
    const { code } = await openSession(operator, appId, 'sync');
    const agent = await agentOf(baseUrl, code);
    const started = await agent.send('POST', '/start', AGENT);
    assert.equal(started.status, 200, started.text);
    const context = await agent.send('GET', '/context');
    assert.equal(context.status, 200, context.text);
    setup = (context.json as { schemas: typeof setup }).schemas;
    targets.push({ appId, liveKey, testKey, setupToken: agent.token });
  }
  const schemas = await createClient(baseUrl, targets[0]?.liveKey ?? '').send('GET', '/v1/schemas');
  assert.equal(schemas.status, 200, schemas.text);
  return { targets, operatorToken, runtime: (schemas.json as { requests: Ground['runtime'] }).requests, setup };
}

/** The answer; of a stream that goes on, what came of it. */
async function send(origin: string, agent: Dispatcher, request: FuzzRequest, number: number): Promise<Answer> {
  const {
    statusCode: status,
    headers,
    body,
  } = await agent.request({
    origin,
    method: request.method as 'GET',
    path: request.path,
    headers: { ...request.headers, 'X-Request-Id': `fuzz-${number}` },
    body: request.body,
    signal: AbortSignal.timeout(ANSWER_MAX_MS),
  });
  const isStream = String(headers['content-type']).startsWith('text/event-stream');
  const timer = isStream ? setTimeout(() => body.destroy(new Error('left')), STREAM_MAX_MS) : undefined;
  let text = '';
  try {
    for await (const chunk of body) {
      text += String(chunk);
      assert.ok(text.length <= BODY_MAX_CHARS, 'answers are bounded');
    }
  } catch (error) {
    if (!isStream) throw error;
    text = text.slice(0, text.lastIndexOf('\n\n') + 2);
  } finally {
    clearTimeout(timer);
  }
  return { status, headers, text, json: isStream ? undefined : asJson(text) };
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface ErrorShape {
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly details?: unknown };
  readonly results?: unknown;
}

/** What is wrong with an answer; undefined: nothing. */
function fault({ status, headers, text, json }: Answer, { method, path }: FuzzRequest): string | undefined {
  if (String(headers['content-type']).startsWith('text/event-stream')) {
    const bug = parseEvents(text).find((event) => event.type === 'error' && event.code === 'internal');
    return bug === undefined ? undefined : `a stream told of a bug: ${JSON.stringify(bug)}`;
  }
  if (status === 500) return `${status} ${text.slice(0, 500)}`;
  if (status < 400 || method === 'HEAD') return undefined;
  // The console's page says it to a person.
  if (String(headers['content-type']).startsWith('text/html'))
    return path.startsWith('/console') ? undefined : `${status} a page: ${text.slice(0, 500)}`;
  const { error, results } = (json ?? {}) as ErrorShape;
  // Every item says for itself why it was not taken.
  if (status === 422 && Array.isArray(results)) return undefined;
  if (typeof error?.code !== 'string' || !Object.hasOwn(ERROR_TABLE, error.code))
    return `${status} without the shape of an error: ${text.slice(0, 500)}`;
  if (typeof error.message !== 'string' || error.message === '') return `${status} ${error.code} without a message`;
  const { details = [] } = error;
  const isTold =
    Array.isArray(details) && details.every((detail) => typeof detail?.path === 'string' && typeof detail.message === 'string');
  return isTold ? undefined : `${status} ${error.code} with details of another shape: ${text.slice(0, 500)}`;
}

/** What the service answers to the bytes, within a moment. */
async function sendRaw(port: number, bytes: Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    if (text.length < BODY_MAX_CHARS) text += chunk.toString('latin1');
    // Whatever it was, it was answered.
    if (text.includes('\r\n\r\n')) socket.end();
  });
  socket.on('error', () => socket.destroy());
  socket.setTimeout(RAW_MAX_MS, () => socket.destroy());
  const timer = setTimeout(() => socket.destroy(), RAW_MAX_MS * 2);
  socket.write(bytes);
  await once(socket, 'close');
  clearTimeout(timer);
  return text;
}

/** Bugs and stalls that the program itself wrote down, with the request that they are of. */
function confessions({ output }: RunningService): readonly string[] {
  const lines = output().stderr.split('\n').concat(output().stdout.split('\n'));
  return lines.filter(
    (line) => /"level":"(?:error|fatal)"/.test(line) || line.includes('"msg":"the event loop was blocked by its own work"'),
  );
}

/** What the program wrote down of a request that failed. */
function confessedOf(service: RunningService, number: number): string {
  const lines = confessions(service).filter((line) => line.includes(`"fuzz-${number}"`));
  return lines.join('\n').slice(0, 3_000);
}

/** Tries all cases, several at once, and stops at the first that fails. */
async function fuzz(service: RunningService, ground: Ground, known: Known): Promise<Map<string, number>> {
  const tally = new Map<string, number>();
  const agent = new Agent({ connections: AT_ONCE * 2, headersTimeout: ANSWER_MAX_MS, bodyTimeout: ANSWER_MAX_MS });
  const numbers = caseNumbers({ full: 200_000, briefMs: BRIEF_MS });
  const sent = new Map<number, FuzzRequest>();
  const count = (what: string) => tally.set(what, (tally.get(what) ?? 0) + 1);
  const port = Number(new URL(service.baseUrl).port);

  const tryOne = async (number: number) => {
    const dice = diceOf(number);
    const request = requestFor(dice, ground);
    sent.set(number, request);
    // The last some hundred of those before may still show in the log.
    sent.delete(number - LOOK_EVERY * 2);
    try {
      if (dice.below(RAW_ONE_IN) === 0) {
        const bytes = rawBytes(dice, request);
        const text = await sendRaw(port, bytes);
        if (/^HTTP\/1\.1 500/.test(text)) throw new FuzzFailure(number, text.slice(0, 800), bytes);
        count(`raw ${text.slice(9, 12)}`);
        return;
      }
      const answer = await send(service.baseUrl, agent, request, number);
      const wrong = fault(answer, request);
      if (wrong !== undefined) throw new FuzzFailure(number, `${wrong}\n${confessedOf(service, number)}`, told(request));
      known.learn(answer.text);
      count(answer.status < 400 ? String(answer.status) : `${answer.status} ${(answer.json as ErrorShape)?.error?.code ?? ''}`);
    } catch (cause) {
      if (cause instanceof FuzzFailure) throw cause;
      throw new FuzzFailure(number, `no answer: ${String(cause)}`, told(request), { cause });
    }
  };

  const look = () => {
    const [line] = confessions(service);
    if (line === undefined) return;
    const number = Number(/fuzz-(\d+)/.exec(line)?.[1] ?? Number.NaN);
    const request = sent.get(number);
    throw new FuzzFailure(number, line.slice(0, 3_000), request === undefined ? 'see the log line' : told(request));
  };

  const runner = async () => {
    for (const number of numbers) {
      await tryOne(number);
      if (number % LOOK_EVERY === 0) look();
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, runner));
    look();
  } finally {
    await agent.destroy();
  }
  return tally;
}

/** A body that is text shows as text. */
function told({ body, ...request }: FuzzRequest): object {
  const text = body?.toString('utf8') ?? null;
  const isText = text !== null && body !== null && Buffer.from(text).equals(body);
  return { ...request, body: isText || body === null ? text : `base64 ${body.toString('base64')}` };
}

test('SAFE-2: 200,000 requests of any shape end in answers, and the program is as before', async (t: TestContext) => {
  const service = await startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'warn' } });
  const known = new Known();
  const ground: Ground = { ...(await prepare(service)), known: known.ids };
  const begunMs = performance.now();
  const tally = await fuzz(service, ground, known);
  const cases = [...tally.values()].reduce((sum, count) => sum + count, 0);
  t.diagnostic(
    `seed ${SEED}: ${cases} requests in ${Math.round((performance.now() - begunMs) / 1_000)} s: ${JSON.stringify(Object.fromEntries(tally))}`,
  );
  const health = await createClient(service.baseUrl, '').send('GET', '/healthz');
  assert.deepEqual([health.status, cases > 0], [200, true]);
});
