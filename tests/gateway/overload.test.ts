/** What an overloaded server refuses, what it goes on taking, and how it says so. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import * as v from 'valibot';
import { refuseNewWork } from '../../gateway/overload.ts';
import { type AdmittedCaller, defineRoute, json, runtimeRoute } from '../../gateway/route.ts';
import { chatRoutes } from '../../gateway/runtime/chat.ts';
import { uploadsRoute } from '../../gateway/runtime/uploads.ts';
import type { LoadWatch } from '../../watch/load-watch.ts';
import { converse, serveAnsweredApp } from './answered-app.ts';
import { serveApp } from './runtime/runtime-app.ts';

const LARGE = 100 * 1024;

const [chatRoute] = chatRoutes;
const begins = chatRoute?.newWork;

const chat = runtimeRoute('POST', '/v1/chat', {
  limits: [],
  body: v.looseObject({}),
  newWork: typeof begins === 'function' ? begins : true,
  handle: () => json({ taken: true }),
});

const other = defineRoute({
  method: 'POST',
  path: '/v1/chat/stop',
  caller: 'anyone',
  body: v.looseObject({}),
  handle: () => json({}),
});
const consoleCall = defineRoute({
  method: 'GET',
  path: '/console/api/x',
  caller: 'anyone',
  handle: () => json({}),
});

async function overloaded(t: TestContext) {
  const state = { overloaded: true };
  const stats = () => ({ overloaded: state.overloaded, lateMs: 60, writeAgeMs: 0, turnsOpening: 3, overloads: 2 });
  const load: LoadWatch = {
    get overloaded() {
      return state.overloaded;
    },
    stats,
    opening: () => () => {},
    looked() {},
  };
  const server = await serveApp(t, [chat, other, consoleCall], undefined, () => ({ load }));
  const post = async (path: string, body: unknown) => {
    const answer = await fetch(server.base + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-key': server.test },
      body: JSON.stringify(body),
    });
    return {
      status: answer.status,
      retryAfter: Number(answer.headers.get('retry-after')),
      error: ((await answer.json()) as { error?: { code: string } }).error?.code,
    };
  };
  return { ...server, state, post };
}

test('RUN-16: an overloaded server refuses a new turn with 503 and Retry-After, and takes it again when it is over', async (t) => {
  const { post, state } = await overloaded(t);
  for (const body of [{ message: { text: 'Hello' } }, { form_submission: {} }, { tool_results: [] }, {}]) {
    const { status, retryAfter, error } = await post('/v1/chat', body);
    assert.deepEqual([status, error], [503, 'internal']);
    assert.ok(retryAfter >= 1 && retryAfter <= 4, String(retryAfter));
  }
  state.overloaded = false;
  assert.equal((await post('/v1/chat', { message: { text: 'Hello' } })).status, 200);
});

test('RUN-16: a body that comes in chunks, so that nobody knows how long it gets, is not read while the server is overloaded', async (t) => {
  const { base } = await overloaded(t);
  const body = JSON.stringify({ tool_results: [{ invocation_id: 'i', status: 'ok' }] });
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sent = request(`${base}/v1/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    });
    sent.on('response', (answer) => resolve(answer.resume().statusCode)).on('error', reject);
    sent.end(body);
  });
  assert.equal(status, 503);
});

test('RUN-16: what was begun goes on while the server is overloaded: continuations, stops, the console', async (t) => {
  const { post, base } = await overloaded(t);
  assert.equal((await post('/v1/chat', { tool_results: [{ invocation_id: 'i', status: 'ok' }] })).status, 200);
  assert.equal((await post('/v1/chat/stop', {})).status, 200);
  assert.equal((await fetch(`${base}/console/api/x`)).status, 200);
});

test('RUN-16: a retry of a turn that is there is taken while the server is overloaded, and no other is', async (t) => {
  const app = await serveAnsweredApp(t);
  const { turnId } = converse(app);
  const load = { overloaded: true } as LoadWatch;
  const caller = { organisationId: app.organisationId, app: { id: app.appId }, giveBack() {} } as unknown as AdmittedCaller;
  const send = (body: unknown) => refuseNewWork({ newWork: begins ?? true }, body, caller, { load, storage: app.storage });
  const message = { text: 'How long?' };
  send({ message, turn_id: turnId.toUpperCase() });
  for (const other of [undefined, 7, 'x', turnId.replace(/^0/, '1')]) assert.throws(() => send({ message, turn_id: other }), /more to do/);
  app.rows((db) => db.statement(`UPDATE turns SET state = 'failed' WHERE turn_id = :turnId`).run({ turnId }));
  assert.throws(() => send({ message, turn_id: turnId }), /more to do/, 'it would be tried again');
});

test('LIMIT-12: a turn that an overloaded server refused uses up nothing of its device’s minute, here or at other nodes', async (t) => {
  const state = { overloaded: true } as LoadWatch & { overloaded: boolean };
  const route = runtimeRoute('POST', '/v1/chat', {
    limits: chatRoute?.limits ?? [],
    body: v.looseObject({}),
    newWork: begins ?? true,
    handle: ({ caller }) => json({ left: caller.minuteLeft() }),
  });
  const told = new Map<string, number>();
  const counts = {
    count: (bucket: string, by = 1) => void told.set(bucket, (told.get(bucket) ?? 0) + by),
    tell() {},
    listen() {},
  };
  const { base, test: key, patch } = await serveApp(t, [route], undefined, () => ({ load: state, counts }));
  await patch({ messages_per_minute: 3 });
  const send = async () => {
    const headers = { 'X-Service-Key': key, 'X-Service-Device': 'd'.repeat(32), 'Content-Type': 'application/json' };
    const answer = await fetch(`${base}/v1/chat`, { method: 'POST', headers, body: '{"message":{"text":"Hello"}}' });
    return { status: answer.status, left: ((await answer.json()) as { left?: number }).left };
  };
  for (let n = 0; n < 10; n++) assert.equal((await send()).status, 503);
  assert.deepEqual([...told.values()], [0], 'what is told to the other nodes adds up to nothing');
  state.overloaded = false;
  assert.deepEqual(
    [await send(), await send()],
    [
      { status: 200, left: 2 },
      { status: 200, left: 1 },
    ],
  );
});

test('RUN-16: a large body is refused before it is sent', async (t) => {
  const { port } = await overloaded(t);
  const headers = { 'content-type': 'application/json', 'content-length': String(LARGE) };
  const status = await new Promise((resolve, reject) => {
    const sending = request({ port, host: '127.0.0.1', path: '/v1/chat', method: 'POST', headers }, (answer) => resolve(answer.statusCode));
    sending.on('error', reject);
    // No byte of it.
    sending.flushHeaders();
  });
  assert.equal(status, 503);
  assert.equal(uploadsRoute.newWork, true, 'a file is refused unread');
});

test('RUN-16: /readyz and /metrics say that the server is overloaded', async (t) => {
  const { base, state } = await overloaded(t);
  const ready = await fetch(`${base}/readyz`);
  assert.deepEqual([ready.status, ((await ready.json()) as { overloaded: boolean }).overloaded], [200, true]);
  const metrics = await (await fetch(`${base}/metrics`)).text();
  for (const line of [
    'assistant_overloaded 1',
    'assistant_loop_late_median_seconds 0.06',
    'assistant_turns_opening 3',
    'assistant_overloads_total 2',
  ]) {
    assert.ok(metrics.includes(`\n${line}\n`), line);
  }
  state.overloaded = false;
  assert.equal(((await (await fetch(`${base}/readyz`)).json()) as { overloaded?: boolean }).overloaded, undefined);
});
