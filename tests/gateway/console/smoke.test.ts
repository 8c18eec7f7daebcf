/** The smoke test and the status of an app, over HTTP against the running program. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataLayout } from '../../../storage/data-layout.ts';
import { openReader } from '../../../storage/sqlite/database.ts';
import { createClient, createOperator, HANDSHAKE, outline } from '../../support/client.ts';
import { startService } from '../../support/service.ts';
import { type Play, type Script, startUpstream, type UpstreamRequest, upstreamEnv } from '../../support/upstream.ts';
import { FILE } from '../../support/whole-file.ts';

interface Run {
  readonly id: string;
  readonly passed: boolean;
  readonly platformFailure: boolean;
  readonly createdAt: string;
  readonly results: readonly {
    readonly question: string;
    readonly from: string;
    readonly answer: string;
    readonly grounded: boolean;
    readonly actionBacked: boolean;
    readonly ok: boolean;
    readonly actions: readonly string[];
    readonly error: { readonly code: string } | null;
  }[];
}

const okOf = (run: Run) => run.results.filter(({ ok }) => ok).length;

interface Status {
  readonly app_ready: boolean;
  readonly knowledge_ready: boolean;
  readonly screens_missing: number;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly go_live: readonly { readonly key: string; readonly ok: boolean; readonly detail: string }[];
}

const MANIFEST = {
  version: '1',
  actions: [
    {
      name: 'find_order',
      description: 'Finds an order.',
      params: { order_id: { type: 'string', required: true, description: 'Number of the order, such as A-7' } },
    },
  ],
  routes: [{ name: 'cart', title: 'Cart' }],
};
const TITLES = ['Shipping', 'Returns', 'Sizes', 'Payment', 'Gifts'];

function article(title: string) {
  return { external_key: title, kind: 'text', title, content: `# ${title}\n\nOur rule about ${title.toLowerCase()} is the blue parcel.` };
}

const ENV = { DEMO: 'off', LOG_LEVEL: 'silent' };
/** What the model of `scripted` plays. */
let playing: Script = () => [];
const upstream = await startUpstream(FILE, (request, n) => playing(request, n));
const scripted = await startService(FILE, { env: { ...ENV, ...upstreamEnv(upstream) } });
const builtIn = await startService(FILE, { env: ENV });

/** An app that is not live yet, whose model plays `script` (else the built-in one). */
async function startShop(script?: Script, settings: Readonly<Record<string, unknown>> = {}) {
  const service = script === undefined ? builtIn : scripted;
  if (script !== undefined) playing = script;
  const askedBefore = upstream.requests.length;
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const done = async (method: string, path: string, body?: unknown) => {
    const answer = await operator(method, path, body);
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${answer.text}`);
    return answer.json as Record<string, unknown>;
  };
  const { org } = (await done('POST', '/orgs', { name: 'Test', plan: 'scale' })) as { org: { id: string } };
  const made = await done('POST', `/orgs/${org.id}/apps`, { name: 'Shop', ...settings });
  const { app, keys } = made as unknown as { app: { id: string }; keys: { test: string } };
  const client = createClient(service.baseUrl, keys.test);
  const path = `/apps/${app.id}`;
  return {
    requests: () => upstream.requests.slice(askedBefore),
    client,
    operator: (method: string, below: string) => operator(method, path + below),
    smoke: async () => (await done('POST', `${path}/smoke`)) as unknown as Run,
    status: async () => (await done('GET', `${path}/status`)) as unknown as Status,
    usage: () => done('GET', `/orgs/${org.id}/usage`),
    know: (titles: readonly string[]) => done('POST', `${path}/knowledge`, { items: titles.map(article) }),
    suggest: (suggestions: readonly string[]) => done('PUT', `${path}/experience`, { suggestions }),
    callIn: () => client.register(MANIFEST),
    isLive: async () => ((await done('GET', path)).app as { live: boolean }).live,
    /** Rows of a table of the organisation's file. */
    rows(table: string): number {
      const db = openReader(dataLayout(service.dataDir).organisation(org.id));
      try {
        return db.statement(`SELECT count(*) AS n FROM ${table}`).get()?.n as number;
      } finally {
        db.close();
      }
    },
  };
}

const asked = ({ messages }: UpstreamRequest): string => messages.findLast(({ role }) => role === 'user')?.content ?? '';
const KNOWS: readonly Play[] = [{ text: 'It is the blue parcel.' }];
const KNOWS_NOT: readonly Play[] = [{ text: 'I do not know that.' }];
/** Knows what is asked about, but for these titles. */
const knowsAllBut =
  (titles: readonly string[]): Script =>
  (request) =>
    titles.some((title) => asked(request).includes(title)) ? KNOWS_NOT : KNOWS;

test('SMOKE-7: with the built-in model a configured app passes, from its suggestions, its knowledge and a read action', async () => {
  const shop = await startShop(undefined, { auto_go_live: false });
  await shop.know(['Shipping', 'Returns']);
  await shop.suggest(['What is the rule about returns?']);
  await shop.callIn();
  const run = await shop.smoke();
  assert.deepEqual([run.passed, run.platformFailure, run.results.length], [true, false, 4], JSON.stringify(run.results));
  assert.deepEqual(
    run.results.map(({ from, grounded, actionBacked, actions }) => ({ from, grounded, actionBacked, actions })),
    [
      { from: 'suggestion', grounded: true, actionBacked: false, actions: [] },
      { from: 'knowledge', grounded: true, actionBacked: false, actions: [] },
      { from: 'knowledge', grounded: true, actionBacked: false, actions: [] },
      { from: 'action', grounded: false, actionBacked: true, actions: ['find_order'] },
    ],
  );
  assert.match(run.results[0]?.answer ?? '', /blue parcel/);
});

test('SMOKE-18: the console reads the latest run and runs nothing', async () => {
  const shop = await startShop(undefined, { auto_go_live: false });
  const latest = async () => (await shop.operator('GET', '/smoke')).json;
  assert.deepEqual(await latest(), { run: null });
  await shop.smoke();
  const run = await shop.smoke();
  assert.deepEqual(await latest(), { run });
});

test('SMOKE-7: with the built-in model an app without configuration fails, asked three general questions', async () => {
  const shop = await startShop();
  const run = await shop.smoke();
  assert.deepEqual([run.passed, run.platformFailure, okOf(run), run.results.length], [false, false, 0, 3]);
  assert.ok(run.results.every(({ from, error }) => from === 'general' && error === null));
});

test('SMOKE-5, SMOKE-15: four of five answers pass, three of five do not; the latest run is what the check reads', async () => {
  let unknown = ['Gifts'];
  const shop = await startShop((request, n) => knowsAllBut(unknown)(request, n));
  await shop.know(TITLES);
  const passing = await shop.smoke();
  assert.deepEqual([passing.passed, okOf(passing), passing.results.length], [true, 4, 5]);
  assert.deepEqual(
    passing.results.filter(({ ok }) => !ok).map(({ question }) => question),
    ['What should I know about Gifts?'],
  );
  assert.deepEqual((await shop.status()).facts.smoke, { passed: true, ok: 4, total: 5 });
  unknown = ['Gifts', 'Sizes'];
  const failing = await shop.smoke();
  assert.deepEqual([failing.passed, okOf(failing), failing.platformFailure], [false, 3, false]);
  const { facts, go_live } = await shop.status();
  assert.deepEqual([facts.smoke, go_live.find(({ key }) => key === 'smoke')?.ok], [{ passed: false, ok: 3, total: 5 }, false]);
});

test('SMOKE-9, SMOKE-11: an answer that search_knowledge led to is grounded; the model is offered the read action of the latest manifest', async () => {
  const shop = await startShop((request) => {
    if (request.messages.at(-1)?.role === 'tool') return KNOWS;
    if (asked(request).includes('find order')) return [{ call: 'find_order', args: { order_id: 'A-7' } }];
    return [{ call: 'search_knowledge', args: { query: 'shipping' } }];
  });
  await shop.know(['Shipping']);
  await shop.suggest(['Qwerty?']);
  await shop.callIn();
  const run = await shop.smoke();
  assert.deepEqual(
    run.results.map(({ from, grounded, actionBacked }) => [from, grounded, actionBacked]),
    [
      ['suggestion', true, false],
      ['knowledge', true, false],
      ['action', false, true],
    ],
    JSON.stringify(run.results),
  );
  assert.ok(shop.requests().every(({ tools = [] }) => tools.some((tool) => tool.function.name === 'find_order')));
});

test('SMOKE-16: platformFailure when every answer was an error on the service’s side, not when one was answered', async () => {
  let answered = 'none';
  const shop = await startShop((request) => (asked(request).includes(answered) ? KNOWS_NOT : [{ status: 503 }]));
  await shop.know(TITLES);
  const down = await shop.smoke();
  assert.deepEqual(
    [down.passed, down.platformFailure, down.results.map(({ error }) => error?.code)],
    [false, true, Array(5).fill('model_busy')],
  );
  const check = (await shop.status()).go_live.find(({ key }) => key === 'smoke');
  assert.match(check?.detail ?? '', /Change nothing/);
  answered = 'Gifts';
  assert.equal((await shop.smoke()).platformFailure, false);
});

test('SMOKE-3: one run at a time per app: a second call gets the running one’s result', async () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let reached = () => {};
  const underWay = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const shop = await startShop(() => {
    reached();
    return [{ wait: opened }, ...KNOWS];
  });
  await shop.know(TITLES);
  const first = shop.smoke();
  await underWay;
  const second = shop.smoke();
  // Answered by the same process, after the call above reached it.
  await shop.status();
  open();
  assert.deepEqual(await second, await first);
  assert.equal(shop.requests().length, 5);
  assert.equal(shop.rows('smoke_runs'), 1);
});

test('SMOKE-2: a run is not billed, not counted in the daily cap or as sandbox conversations, and in no transcript', async () => {
  const shop = await startShop(() => KNOWS, { messages_per_day: 1, daily_model_budget_usd: 1 });
  await shop.know(TITLES);
  const before = await shop.usage();
  assert.equal((await shop.smoke()).passed, true);
  assert.deepEqual(await shop.usage(), before);
  const counts = ['conversations', 'messages', 'turns', 'charges', 'usage_days'].map((table) => shop.rows(table));
  assert.deepEqual(counts, [0, 0, 0, 0, 0]);
  assert.equal(outline((await shop.client.say('Hello')).events).at(0), 'turn.start', 'the day’s one message is still there');
  assert.equal((await shop.client.say('Again')).events[0]?.code, 'rate_limited');
  assert.equal((await shop.smoke()).passed, true, 'a cap that is reached does not keep a smoke test from running');
  assert.deepEqual([shop.rows('conversations'), shop.rows('charges')], [1, 1], 'what the person said stays');
});

test('SMOKE-6: a suspended app fails with the reason in its answers', async () => {
  const shop = await startShop(undefined, { suspended: true });
  const run = await shop.smoke();
  assert.deepEqual([run.passed, run.platformFailure, run.results[0]?.error?.code], [false, false, 'quota_exceeded']);
});

test('LIVE-4: the facts rise, and the app goes live with the smoke run that makes the last check pass', async () => {
  const shop = await startShop();
  const blank = await shop.status();
  assert.deepEqual([blank.app_ready, blank.knowledge_ready, blank.screens_missing], [false, true, 0]);
  assert.deepEqual(
    blank.go_live.map(({ key, ok }) => [key, ok]),
    [
      ['app', false],
      ['knowledge', true],
      ['screens', true],
      ['smoke', false],
    ],
  );
  await shop.know(TITLES);
  assert.equal((await shop.smoke()).passed, true);
  assert.equal(await shop.isLive(), false, 'the app has not called in');
  await shop.callIn();
  const ready = await shop.status();
  const { handshakeAt, manifest, knowledge, smoke } = ready.facts;
  assert.match(String(handshakeAt), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.deepEqual(manifest, { sdkVersion: 'web/0.50.0', actionCount: 1, routeCount: 1, actions: ['find_order'], routes: ['cart'] });
  assert.deepEqual(knowledge, { sources: 5, indexed: 5, pending: 0, indexing: 0, failed: 0, chunks: 5 });
  assert.equal((smoke as { passed: boolean }).passed, true);
  assert.equal((await shop.smoke()).passed, true);
  assert.equal(await shop.isLive(), true);
  assert.ok((await shop.status()).facts.liveAt !== null);
  const live = await shop.client.chat({ message: { text: 'What is the rule about gifts?' }, client: HANDSHAKE });
  assert.match(live.text, /blue parcel/);
});

test('SMOKE-6: an app that is not there is 404', async () => {
  const shop = await startShop();
  for (const [method, path] of [
    ['POST', '/../app_none/smoke'],
    ['GET', '/../app_none/status'],
  ] as const) {
    assert.equal((await shop.operator(method, path)).status, 404);
  }
});
