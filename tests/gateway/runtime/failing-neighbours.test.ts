/** What fails beside the service, as the operator is told it: the model's server, an app's own server, links, and why a turn failed. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Health } from '../../../protocol/console/glance-answers.ts';
import { sendJson, startBackend } from '../../support/backend.ts';
import { eventually } from '../../support/eventually.ts';
import { FILE } from '../../support/whole-file.ts';
import { type ScriptedChat, startScriptedChat, thread } from './scripted-chat.ts';

const backend = await startBackend(FILE);
const it = await startScriptedChat(FILE, { env: { ALLOW_PRIVATE_ADDRESSES: 'true', MODEL_CHECK: 'off' } });
const FAILURES = 5;

interface Held {
  readonly condition: string;
  readonly about: readonly { readonly id: string; readonly detail: string }[];
}

async function held(name: string, id: string, { service }: ScriptedChat = it) {
  const answer = await fetch(`${service.baseUrl}/readyz`, { headers: { Authorization: `Bearer ${service.operatorToken}` } });
  assert.equal(answer.status, 200);
  const { conditions = [] } = (await answer.json()) as { conditions?: readonly Held[] };
  return conditions.find(({ condition }) => condition === name)?.about.find((each) => each.id === id);
}

/** How often it was tried in the last week, and how often that failed (CONSOLE-34). */
async function triedOf({ operator, app }: ScriptedChat, kind: 'backend' | 'knowledge') {
  const { apps } = (await operator('GET', `/apps/${app.appId}/health`)).json as unknown as Health;
  const sum = (numbers: readonly number[] = []) => numbers.reduce((all, one) => all + one, 0);
  return [sum(apps[0]?.[kind].tried), sum(apps[0]?.[kind].failed)];
}

interface ShownFailure {
  readonly message: string;
  readonly cause?: { readonly kind: string; readonly status?: number; readonly code?: string; readonly detail?: string };
}

async function newestFailure({ operator, app }: ScriptedChat, conversation: string) {
  const list = (await operator('GET', `/apps/${app.appId}/conversations`)).json as {
    conversations: { turn_failure: ShownFailure | null }[];
  };
  const one = (await operator('GET', `/conversations/${conversation}?app=${app.appId}`)).json as {
    messages: { turn?: { failure: ShownFailure | null } }[];
  };
  return { listed: list.conversations[0]?.turn_failure, told: one.messages.at(-1)?.turn?.failure };
}

const overloaded = { status: 500, body: { error: { message: 'The engine "x" is down.', type: 'server_error' } } } as const;

test('RUN-35: five turns of an app in a row that the model’s server failed are a condition of the app and of the model; the next answer ends both', async () => {
  const chat = await it.withApp();
  chat.script(...Array.from({ length: FAILURES }, () => [overloaded]), [{ text: 'Well again.' }]);
  for (let failed = 1; failed < FAILURES; failed += 1) await chat.say('Hello');
  assert.equal(await held('model_failing', chat.app.appId), undefined, 'four are not five');
  await chat.say('Hello');
  const detail = `The last questions all failed (broken): status 500 server_error: The engine "x" is down. Check OPENAI_BASE_URL, and whether the server is up.`;
  assert.equal((await held('model_failing', chat.app.appId))?.detail, detail);
  assert.match(String((await held('model_failing', 'scripted'))?.detail), /status 500 server_error/);
  const stranger = await (await fetch(`${it.service.baseUrl}/readyz`)).text();
  assert.doesNotMatch(stranger, /model_failing|app_/);
  await chat.say('Hello');
  assert.deepEqual([await held('model_failing', chat.app.appId), await held('model_failing', 'scripted')], [undefined, undefined]);
});

test('RUN-35: what a server refuses of one message is not held against it', async () => {
  const chat = await it.withApp();
  chat.script(...Array.from({ length: FAILURES }, () => [{ status: 400, body: { error: { message: 'Too long.' } } } as const]));
  for (let n = 0; n < FAILURES; n += 1) await chat.say('Hello');
  assert.equal(await held('model_failing', chat.app.appId), undefined);
});

test('CONSOLE-29: a failed turn keeps why: kind, status, code and sentence of the model’s server, beside the words that the person saw', async () => {
  const chat = await it.withApp();
  const key = 'sk-proj-0123456789abcdefghijkl';
  const message = `Your key ${key} is over its quota. You sent "${'what a person wrote '.repeat(8)}".`;
  chat.script([{ status: 429, body: { error: { message, type: 'insufficient_quota', code: 'insufficient_quota' } } }]);
  const turn = { turn_id: randomUUID() };
  const answer = await chat.say('Hello', turn);
  const [, said, end] = answer.events;
  assert.deepEqual([said?.code, said?.retryable, said?.retry_after_s, end?.status], ['internal', false, undefined, 'error']);
  assert.match(String(said?.message), /^The assistant is out of service at the moment\./);
  assert.doesNotMatch(answer.text, /quota/);
  const cause = {
    kind: 'exhausted',
    status: 429,
    code: 'insufficient_quota',
    detail: 'status 429 insufficient_quota: Your key [key] is over its quota. You sent [...].',
  };
  const failure = { code: 'internal', message: said?.message, retryable: false, cause };
  assert.deepEqual(await newestFailure(chat, thread(answer)), { listed: failure, told: failure });
  const trace = await chat.operator('GET', `/apps/${chat.app.appId}/traces?turn_id=${turn.turn_id}`);
  assert.match(trace.text, /"kind":"exhausted","status":429,"code":"insufficient_quota"/);
  assert.equal((await chat.say('Hello', turn)).events.at(-1)?.status, 'error', 'and it is not asked again');
  assert.equal(chat.asked().length, 1);
});

test('CONSOLE-29: a turn that ended well has no failure, and an empty answer has one of its own', async () => {
  const chat = await it.withApp();
  chat.script([{ text: 'Hello.' }], [{ finish: 'length' }]);
  const well = await chat.say('Hello');
  assert.deepEqual(await newestFailure(chat, thread(well)), { listed: null, told: null });
  const empty = await chat.say('Hello');
  assert.deepEqual((await newestFailure(chat, thread(empty))).told?.cause, { kind: 'empty', code: 'length' });
});

test('RUN-35, CONSOLE-34: an app’s own server that answers five calls in a row with its own failure is a condition of the app; what it says of a request is none', async () => {
  const chat = await it.withApp();
  const find = {
    external_key: 'find',
    name: 'find_order',
    description: 'Finds an order.',
    method: 'GET',
    url_template: `${backend.url}/orders`,
  };
  const saved = await chat.operator('POST', `/apps/${chat.app.appId}/actions`, { items: [find] });
  assert.equal(saved.status, 200, saved.text);
  const asked = async (status: number, times: number) => {
    backend.answer((_, response) => sendJson(response, { error: 'no' }, status));
    chat.script(...Array.from({ length: times }, () => [[{ call: 'find_order', args: {}, id: 'c' }], [{ text: 'Done.' }]] as const).flat());
    for (let n = 0; n < times; n += 1) await chat.say('Where is it?');
  };
  await asked(404, FAILURES);
  assert.equal(await held('backend_failing', chat.app.appId), undefined);
  await asked(503, FAILURES);
  const detail = 'The last calls all failed, find_order the latest: The endpoint answered with status 503.';
  assert.equal((await held('backend_failing', chat.app.appId))?.detail, detail);
  await asked(200, 1);
  assert.equal(await held('backend_failing', chat.app.appId), undefined);
  assert.deepEqual(await triedOf(chat, 'backend'), [2 * FAILURES + 1, FAILURES]);
});

test('RUN-35, CONSOLE-34: five sources of an app in a row that cannot be read are a condition of the app', async () => {
  const chat = await it.withApp();
  const add = (name: string) =>
    chat.operator('POST', `/apps/${chat.app.appId}/knowledge`, {
      items: [{ external_key: name, kind: 'url', title: name, uri: `${backend.url}/${name}` }],
    });
  backend.answer((_, response) => sendJson(response, {}, 500));
  for (let n = 0; n < FAILURES; n += 1) assert.equal((await add(`away-${n}`)).status, 200);
  await eventually(async () => (await held('knowledge_failing', chat.app.appId)) !== undefined);
  backend.answer((_, response) => void response.writeHead(200, { 'Content-Type': 'text/plain' }).end('Two days.'));
  await add('there');
  await eventually(async () => (await held('knowledge_failing', chat.app.appId)) === undefined);
  assert.deepEqual(await triedOf(chat, 'knowledge'), [FAILURES + 1, FAILURES]);
});

test('RUN-35: an organisation whose credit of the month is used to 80 % is a condition, until there is more', async (t) => {
  // A turn of 100 tokens costs 4.10 USD.
  const chat = await startScriptedChat(t, { env: { MODEL_PRICES: '{"scripted":{"input":41000,"output":0}}' } });
  const { organisationId } = chat.app;
  chat.script([{ text: 'Dear.' }], [{ text: 'Dearer.' }]);
  const onPlan = async (plan: string) => {
    const changed = await chat.operator('PATCH', `/orgs/${organisationId}`, { plan });
    assert.equal(changed.status, 200, changed.text);
  };
  await onPlan('free');
  await chat.say('Hello');
  await eventually(async () => /is used to 80 % or more/.test(String((await held('credit_ends', organisationId, chat))?.detail)));
  await onPlan('growth');
  await chat.say('Hello');
  await eventually(async () => (await held('credit_ends', organisationId, chat)) === undefined);
});
