import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CATALOG } from '../../../protocol/catalog/catalog.ts';
import { sendJson, startBackend } from '../../support/backend.ts';
import { startService } from '../../support/service.ts';
import { FILE } from '../../support/whole-file.ts';
import { type ConsoleApp, consoleApp } from './console-app.ts';

interface Result {
  readonly external_key: string;
  readonly ok: boolean;
  readonly op?: string;
  readonly name: string | null;
  readonly needs_key: boolean;
  readonly error?: string;
}
interface Report {
  readonly failed: number;
  readonly needs_key: string[];
  readonly results: Result[];
}
interface Tried {
  readonly request: { readonly method: string; readonly url: string; readonly headers: Readonly<Record<string, string>> } | null;
  readonly status: number | null;
  readonly took_ms: number;
  readonly outcome: string;
  readonly result: string | null;
  readonly error: string | null;
}
type WireAction = Readonly<Record<string, unknown>>;

const READ = {
  external_key: 'orders.find',
  name: 'find_order',
  description: 'Finds an order by its number.',
  method: 'GET',
  url_template: 'https://api.shop.example/orders/{{param.number}}',
  params: [{ name: 'number', description: 'The order number.', required: true, type: 'string', example: 'A-1' }],
};
const KEYED = { ...READ, needs_key: { kind: 'bearer', note: 'Ask the shop team.' } };
const WRITE = {
  external_key: 'orders.cancel',
  name: 'cancel_order',
  description: 'Cancels an order.',
  method: 'POST',
  risk: 'write',
  confirm_template: 'Cancel order {number}?',
  url_template: 'https://api.shop.example/orders/{{param.number}}/cancel',
  params: [{ name: 'number', description: 'The order number.', required: true, type: 'string', example: 'A-1' }],
  auth: 'user',
};

/** A backend of the tests may be called, and everything is logged. */
const service = await startService(FILE, { env: { DEMO: 'off', ALLOW_PRIVATE_ADDRESSES: 'true', LOG_LEVEL: 'trace' } });

async function shop() {
  const started = await consoleApp(service);
  const post = async (...items: readonly unknown[]) => {
    const answer = await started.console('POST', '/actions', { items });
    return { status: answer.status, report: answer.json as Report, text: answer.text };
  };
  const list = async () => {
    const answer = await started.console('GET', '/actions');
    assert.equal(answer.status, 200, answer.text);
    return answer.json as { facts: unknown; actions: WireAction[]; next: string | null };
  };
  return { ...started, post, list };
}

function outcome({ results }: Report): unknown[] {
  return results.map(({ external_key, ok, op, name, needs_key }) => [external_key, ok, op, name, needs_key]);
}

test('MODEL-30: an action of the name of one of the service’s own tools is refused alone, and the clash is named', async () => {
  const { post, list } = await shop();
  const own = ['search_knowledge', 'open_screen', ...CATALOG.keys()];
  const named = (name: string) => ({ ...READ, external_key: name, name });
  const alone = await post(...own.map(named));
  assert.deepEqual([alone.status, alone.report.failed], [422, own.length], alone.text);
  for (const { error, name } of alone.report.results) assert.equal(error, `name must not be ${name}: the service has a tool of that name`);
  const beside = await post(named('search_knowledge'), READ, named('search_knowledge_base'));
  assert.deepEqual([beside.status, beside.report.results.map(({ ok }) => ok)], [200, [false, true, true]], beside.text);
  assert.deepEqual((await list()).actions.map(({ name }) => name).toSorted(), ['find_order', 'search_knowledge_base']);
});

async function enterKey({ console }: Pick<ConsoleApp, 'console'>, name: string, value: string) {
  return console('PUT', `/actions/${name}/key`, { value });
}

test('SERVERACTION-1: items are upserted by external_key; the same items again are unchanged', async () => {
  const { post, list } = await shop();
  const first = await post({ ...READ, reason: 'Seen in the router.' }, WRITE);
  assert.equal(first.status, 200, first.text);
  assert.deepEqual(first.report, {
    failed: 0,
    needs_key: [],
    results: [
      { external_key: 'orders.find', ok: true, op: 'created', name: 'find_order', needs_key: false },
      { external_key: 'orders.cancel', ok: true, op: 'created', name: 'cancel_order', needs_key: false },
    ],
  });
  const before = await list();
  assert.deepEqual(outcome((await post({ ...READ, reason: 'Said differently.' }, WRITE)).report), [
    ['orders.find', true, 'unchanged', 'find_order', false],
    ['orders.cancel', true, 'unchanged', 'cancel_order', false],
  ]);
  // But for the reason, which is kept.
  const after = before.actions.map((one) => (one.external_key === 'orders.find' ? { ...one, reason: 'Said differently.' } : one));
  assert.deepEqual(await list(), { ...before, actions: after });
  assert.deepEqual(outcome((await post({ ...READ, name: 'track_order' })).report), [
    ['orders.find', true, 'updated', 'track_order', false],
  ]);
  const { facts, actions, next } = await list();
  assert.deepEqual([facts, actions.length, next], [{ enabled: 2, needsKey: 0 }, 2, null]);
  const tracked = actions.find((action) => action.name === 'track_order');
  assert.deepEqual(
    [tracked?.external_key, tracked?.origin, tracked?.enabled, tracked?.needs_key, tracked?.archived_at, tracked?.url_template],
    ['orders.find', 'console', true, null, null, READ.url_template],
  );
});

test('SERVERACTION-8, SERVERACTION-9: what changes data needs auth user, and a key may not go where the token goes', async () => {
  const { post, list } = await shop();
  const bearer = { needs_key: { kind: 'bearer' } };
  const refused: readonly (readonly [Record<string, unknown>, RegExp])[] = [
    [{ ...WRITE, auth: 'none' }, /^auth must be user/],
    [{ ...WRITE, auth: 'none', ...bearer }, /^auth must be user/],
    [{ ...READ, method: 'DELETE' }, /^risk /],
    [{ ...WRITE, ...bearer }, /^auth_name .*header:<name>/],
    [{ ...WRITE, ...bearer, auth_name: 'header:authorization' }, /^auth_name /],
    [{ ...WRITE, needs_key: { kind: 'header', name: 'authorization' } }, /^needs_key\.name /],
    [{ ...WRITE, auth_name: 'header:X-User', needs_key: { kind: 'header', name: 'x-user' } }, /^needs_key\.name /],
  ];
  for (const [item, reason] of refused) {
    const { status, report, text } = await post(item);
    assert.equal(status, 422, text);
    assert.deepEqual(outcome(report), [[item.external_key, false, undefined, item.name, false]]);
    assert.match(report.results[0]?.error ?? '', reason);
  }
  assert.deepEqual((await list()).actions, []);
  const accepted = [
    { ...READ, ...bearer },
    { ...WRITE, ...bearer, auth_name: 'header:X-User' },
  ];
  const { status, report } = await post(...accepted);
  assert.deepEqual([status, report.failed, report.needs_key], [200, 0, ['find_order', 'cancel_order']]);
});

test('SERVERACTION-1: an archived one is out of service, listed as such, and comes back when it is sent again', async () => {
  const { post, list } = await shop();
  await post(READ);
  const archive = { op: 'archive', external_key: READ.external_key, reason: 'The endpoint is gone.' };
  for (const answer of [await post(archive), await post(archive)]) {
    assert.equal(answer.status, 200);
    assert.deepEqual(outcome(answer.report), [['orders.find', true, 'archived', 'find_order', false]]);
  }
  const { facts, actions } = await list();
  assert.deepEqual(facts, { enabled: 0, needsKey: 0 });
  assert.deepEqual([actions[0]?.enabled, actions[0]?.reason], [false, 'The endpoint is gone.']);
  assert.match(String(actions[0]?.archived_at), /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
  assert.deepEqual(outcome((await post(READ)).report), [['orders.find', true, 'updated', 'find_order', false]]);
  assert.deepEqual((await list()).facts, { enabled: 1, needsKey: 0 });
});

test('SERVERACTION-10, SERVERACTION-11: an action waits for its key; one that was entered is kept when the action is sent again', async () => {
  const fixture = await shop();
  const { post, list, console } = fixture;
  const state = async () => (await list()).actions.map(({ name, enabled, has_key }) => [name, enabled, has_key]);
  assert.deepEqual((await post(KEYED, WRITE)).report.needs_key, ['find_order']);
  assert.deepEqual((await post(KEYED)).report, {
    failed: 0,
    needs_key: ['find_order'],
    results: [{ external_key: 'orders.find', ok: true, op: 'unchanged', name: 'find_order', needs_key: true }],
  });
  assert.deepEqual((await list()).facts, { enabled: 1, needsKey: 1 });
  assert.deepEqual((await list()).actions.find(({ name }) => name === 'find_order')?.needs_key, KEYED.needs_key);
  const entered = await enterKey(fixture, 'find_order', 'sk-first');
  assert.deepEqual([entered.status, entered.json], [200, { saved: true, host: 'api.shop.example', actions: ['find_order'] }]);
  assert.deepEqual((await list()).facts, { enabled: 2, needsKey: 0 });
  for (const again of [KEYED, { ...KEYED, url_template: 'https://api.shop.example/v2/orders/{{param.number}}' }]) {
    assert.deepEqual((await post(again)).report.needs_key, []);
  }
  const elsewhere = { ...KEYED, url_template: 'https://thief.example/{{param.number}}' };
  assert.deepEqual((await post(elsewhere)).report.needs_key, ['find_order'], 'a key stays with its host');
  assert.deepEqual((await post(KEYED)).report.needs_key, []);
  const removed = await console('DELETE', '/actions/find_order/key');
  assert.deepEqual([removed.status, removed.json], [200, { removed: true, hosts: ['api.shop.example'], actions: ['find_order'] }]);
  assert.equal((await console('DELETE', '/actions/find_order/key')).status, 404);
  assert.deepEqual((await state()).sort(), [
    ['cancel_order', true, false],
    ['find_order', false, false],
  ]);
});

test('SERVERACTION-12: a key is entered only for an action in service that asks for one, with a value and nothing else', async () => {
  const fixture = await shop();
  assert.equal((await enterKey(fixture, 'find_order', 'sk-1')).status, 404);
  await fixture.post(READ);
  const unasked = await enterKey(fixture, 'find_order', 'sk-1');
  assert.deepEqual([unasked.status, (unasked.json as { error: { code: string } }).error.code], [409, 'conflict']);
  await fixture.post(KEYED);
  for (const body of [{}, { value: '' }, { value: 7 }, { value: 'sk-1', name: 'x' }]) {
    const answer = await fixture.console('PUT', '/actions/find_order/key', body);
    assert.equal(answer.status, 400, JSON.stringify(body));
  }
  assert.equal((await fixture.console('PUT', '/actions/__proto__/key', { value: 'sk-1' })).status, 404);
  assert.deepEqual((await fixture.list()).facts, { enabled: 0, needsKey: 1 });
});

test('SERVERACTION-17: a read is tried: sent as a turn sends it, shown with credentials hidden, and answered as the model is told', async (t) => {
  const backend = await startBackend(t);
  const { post, console } = await shop();
  const url_template = `${backend.url}/orders/{{param.number}}`;
  const find = {
    ...READ,
    url_template,
    auth: 'user',
    needs_key: { kind: 'header', name: 'X-Shop-Key' },
    result_path: 'data',
    result_limit: 1,
  };
  const saved = await post(find, { ...WRITE, url_template });
  assert.equal(saved.report.failed, 0, saved.text);
  const trial = (name: string, body: unknown) => console('POST', `/actions/${name}/call`, body);
  const asked = { params: { number: 'A 1/2' }, user_token: 'token-of-ada' };

  const off = await trial('find_order', asked);
  assert.deepEqual([off.status, backend.requests.length], [409, 0], off.text);
  await enterKey({ console }, 'find_order', 'sesame-9');
  backend.answer(({ headers }, response) => {
    sendJson(response, { data: [{ heard: headers['x-shop-key'], token: headers.authorization }, { second: true }] });
  });
  const tried = await trial('find_order', asked);
  assert.equal(tried.status, 200, tried.text);
  const { request, result, error, ...rest } = tried.json as Tried;
  assert.deepEqual([rest.status, rest.outcome, error], [200, 'succeeded', null]);
  assert.ok(Number.isInteger(rest.took_ms) && rest.took_ms >= 0);
  const [arrived] = backend.requests;
  assert.equal(arrived?.headers['x-shop-key'], 'sesame-9');
  assert.equal(arrived?.headers.authorization, 'Bearer token-of-ada');
  assert.deepEqual([request?.method, request?.url], ['GET', `${backend.url}${arrived?.url}`]);
  assert.deepEqual([request?.headers['x-shop-key'], request?.headers.authorization], ['***', 'Bearer ***']);
  assert.equal(request?.headers['idempotency-key'], arrived?.headers['idempotency-key']);
  assert.doesNotMatch(String(result), /second/, 'the answer is cut as a turn cuts it');
  assert.doesNotMatch(tried.text, /sesame-9|token-of-ada/, 'also where the endpoint says it');

  backend.answer((_, response) => sendJson(response, { why: 'no such order' }, 404));
  const missing = (await trial('find_order', asked)).json as Tried;
  assert.deepEqual([missing.status, missing.outcome, missing.result], [404, 'failed', null]);
  assert.match(missing.error ?? '', /status 404[\s\S]*no such order/);
  const anonymous = (await trial('find_order', { params: asked.params })).json as Tried;
  assert.deepEqual([anonymous.request, anonymous.status, backend.requests.length], [null, null, 2]);
  assert.match(anonymous.error ?? '', /signed in/);

  const wrong = await trial('find_order', { params: { number: 7, colour: 'red' } });
  assert.equal(wrong.status, 400);
  const { details } = (wrong.json as { error: { details: { path: string }[] } }).error;
  assert.deepEqual(details.map(({ path }) => path).sort(), ['params.colour', 'params.number']);
  const statuses = [await trial('cancel_order', asked), await trial('nothing', {}), await trial('find_order', { paramz: {} })];
  assert.deepEqual(
    statuses.map(({ status }) => status),
    [409, 404, 400],
  );
  assert.equal(backend.requests.length, 2, 'what is refused is not sent');
});

test('SERVERACTION-13: a key that a person entered is in no answer, no log line and no file of the data directory', async () => {
  const fixture = await shop();
  const { console, post } = fixture;
  const secrets = ['sk-entered-first-0123456789', 'sk-entered-second-9876543210'];
  await post(KEYED);
  const texts: string[] = [];
  for (const value of secrets) texts.push((await enterKey(fixture, 'find_order', value)).text);
  texts.push((await post(KEYED)).text, (await console('GET', '/actions')).text, (await console('GET', '')).text);
  // A body that is refused must not be quoted either.
  texts.push((await console('PUT', '/actions/find_order/key', { value: secrets[0], more: secrets[1] })).text);
  assert.deepEqual((await fixture.list()).facts, { enabled: 1, needsKey: 0 });
  const files = () =>
    readdirSync(service.dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  const spellings = secrets.flatMap((value) => [value, Buffer.from(value).toString('hex'), Buffer.from(value).toString('base64')]);
  const search = () => {
    for (const file of files()) {
      const bytes = readFileSync(file);
      assert.deepEqual(
        spellings.filter((spelling) => bytes.includes(spelling)),
        [],
        file,
      );
    }
  };
  assert.ok(files().some((file) => file.endsWith('.sqlite-wal') && readFileSync(file).includes(KEYED.url_template)));
  search();
  assert.equal((await console('DELETE', '/actions/find_order/key')).status, 200);
  // Which is why this test is the last one.
  await service.stop();
  search();
  const { stdout, stderr } = service.output();
  for (const text of [...texts, stdout, stderr]) {
    for (const spelling of spellings) assert.equal(text.includes(spelling), false, text);
  }
});
