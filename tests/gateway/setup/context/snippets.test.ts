import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import { sdkSection } from '../../../../gateway/setup/context/snippets.ts';
import { chatRequest } from '../../../../protocol/runtime/chat.ts';
import { manifestRequest } from '../../../../protocol/runtime/manifest.ts';
import { temporaryDir } from '../../../support/temporary-dir.ts';

const TEST_KEY = 'rd_pk_test_abcdefghijklmnopqrstuvwx';
const HASH = 'a'.repeat(64);
const CONFIGURATION = { available: true, config: { copilot: { assistantName: 'Ada' } } };

type StreamEvent = Readonly<Record<string, unknown>>;

const START: StreamEvent = { type: 'turn.start', conversation_id: 'cnv_1' };
const COMPLETED: StreamEvent = { type: 'turn.end', status: 'completed' };
const READ = { invocation_id: 'inv_1', name: 'list_orders', params: { n: 1 }, risk: 'read' };
const WRITE = { invocation_id: 'inv_2', name: 'cancel_order', params: { order_id: 'A-1' }, risk: 'write', block_id: 'blk_2' };
const CARD = { title: 'Cancel order', summary: 'Cancel order A-1?', confirm_label: 'Confirm', decline_label: 'Cancel' };

const text = (md: string, index = 0): StreamEvent => ({ type: 'block.ready', index, block: { block_type: 'text', body: { md } } });
const delta = (text_delta: string): StreamEvent => ({ type: 'block.delta', index: 0, text_delta });
const waits = (status: string, ...pending: unknown[]): StreamEvent => ({ type: 'turn.end', status, pending });
const confirmCard: StreamEvent = { type: 'block.ready', index: 0, block: { id: 'blk_2', block_type: 'confirm_card', body: CARD } };
const refused = (code: string): StreamEvent[] => [
  { type: 'error', code, message: `It is ${code}.` },
  { type: 'turn.end', status: 'error' },
];

/** A body that arrives a few bytes at a time, so that frames and characters are cut in the middle. */
function dribble(events: readonly StreamEvent[]): ReadableStream<Uint8Array> {
  const frames = [': open', ...events.map((event, seq) => `id: ${seq}\nevent: ${String(event.type)}\ndata: ${JSON.stringify(event)}`)];
  const bytes = new TextEncoder().encode(frames.map((frame) => `${frame}\n\n`).join(''));
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) => bytes.slice(at * 7, at * 7 + 7));
  return new ReadableStream({
    pull(controller) {
      const piece = pieces.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
    },
  });
}

function define(t: TestContext, name: string, value: unknown): void {
  const before = Object.getOwnPropertyDescriptor(globalThis, name);
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  t.after(() => (before === undefined ? Reflect.deleteProperty(globalThis, name) : Object.defineProperty(globalThis, name, before)));
}

interface Page {
  readonly begin: () => void;
  readonly text: (index: number, markdown: string) => void;
  readonly screens: (index: number, items: unknown) => void;
  readonly error: (message: string) => void;
  readonly confirm: (card: unknown) => Promise<boolean>;
}

interface Person {
  readonly id: string;
  readonly hmac: string;
  readonly token?: string;
}

interface Usage {
  start(): Promise<unknown>;
  ask(text: string, page: Page, person?: Person): Promise<void>;
}

interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The snippets in a page of their own, before a service that answers turns with `streams`, one after the other. */
async function openPage(
  t: TestContext,
  streams: readonly (readonly StreamEvent[])[],
  confirm: (card: unknown) => boolean = () => true,
  recorded: (decision: string) => string = (decision) => (decision === 'confirm' ? 'confirmed' : 'declined'),
) {
  const { snippets } = sdkSection('https://assistant.invalid', TEST_KEY, 'https://assistant.invalid/docs/runtime.md');
  const dir = temporaryDir(t);
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
  for (const [name, code] of Object.entries(snippets)) writeFileSync(join(dir, name), code);
  const sent: Sent[] = [];
  const left = [...streams];
  const answers: Readonly<Record<string, () => Response>> = {
    '/v1/apps/config': () => Response.json(CONFIGURATION),
    '/v1/apps/manifest': () => Response.json({ manifest_hash: HASH }),
    '/v1/chat': () => new Response(dribble(left.shift() ?? [])),
  };
  define(t, 'localStorage', {});
  define(t, 'fetchOrders', async (params: unknown) => ({ params, orders: 2 }));
  define(t, 'cancelOrder', async ({ order_id }: { order_id: string }) => {
    if (order_id === 'gone') throw new Error('no such order');
    return 'cancelled';
  });
  define(
    t,
    'fetch',
    async (url: string, { method, headers, body }: { method?: string; headers: Record<string, string>; body?: string }) => {
      const path = url.slice('https://assistant.invalid'.length);
      assert.equal(method, body === undefined ? undefined : 'POST');
      sent.push({ path, headers, body: body === undefined ? null : JSON.parse(body) });
      const { decision } = (sent.at(-1)?.body ?? {}) as { decision?: string };
      if (/^\/v1\/invocations\/\w+\/confirm$/.test(path)) return Response.json({ status: recorded(decision ?? '') });
      return answers[path]?.() ?? Response.json({ error: { message: `No ${path}.` } }, { status: 404 });
    },
  );
  const drawn: unknown[] = [];
  const page: Page = {
    begin: () => drawn.push('begin'),
    text: (index, markdown) => drawn.push([index, markdown]),
    screens: (index, items) => drawn.push([index, items]),
    error: (message) => drawn.push(message),
    confirm: async (card) => {
      drawn.push(card);
      return confirm(card);
    },
  };
  const usage = (await import(pathToFileURL(join(dir, 'usage.js')).href)) as Usage;
  assert.deepEqual(await usage.start(), CONFIGURATION.config);
  return {
    sent,
    drawn,
    ask: (question: string, person?: Person) => usage.ask(question, page, person),
    paths: () => sent.map(({ path }) => path),
    turns: () => sent.filter(({ path }) => path === '/v1/chat').map(({ body }) => v.parse(chatRequest, body)),
  };
}

test('SETUP-42: the snippets read the configuration, register a manifest and answer read actions, with the app’s own test key', async (t) => {
  const { ask, sent, paths, turns, drawn } = await openPage(t, [
    [START, { type: 'action.execute', ...READ }, waits('awaiting_tool_results', READ)],
    [START, delta('Zwei '), delta('Päckchen'), text('Zwei Päckchen.'), COMPLETED],
  ]);
  await ask('Where are my orders?', { id: 'u1', hmac: 'f'.repeat(64), token: 'eyJ.person' });
  assert.deepEqual(paths(), ['/v1/apps/config', '/v1/apps/manifest', '/v1/chat', '/v1/chat']);
  for (const { headers } of sent) {
    assert.equal(headers['X-Service-Key'], TEST_KEY);
    assert.match(headers['X-Service-Device'] ?? '', /^[0-9a-f]{32}$/);
  }
  // On the message for what the service reads, on the results for what it writes.
  assert.deepEqual(
    sent.map(({ headers }) => headers['X-Service-User-Token']),
    [undefined, undefined, 'eyJ.person', 'eyJ.person'],
  );
  v.parse(manifestRequest, sent[1]?.body);
  const [first, second] = turns();
  assert.deepEqual(first?.message, { text: 'Where are my orders?' });
  assert.equal(first?.client.manifest_hash, HASH);
  assert.deepEqual(second?.user, { id: 'u1', hmac: 'f'.repeat(64) });
  assert.equal(second?.conversation_id, 'cnv_1');
  assert.deepEqual(second?.tool_results, [{ invocation_id: 'inv_1', status: 'ok', result: { params: { n: 1 }, orders: 2 } }]);
  assert.notEqual(first?.turn_id, second?.turn_id);
  assert.deepEqual(drawn, ['begin', 'begin', [0, 'Zwei '], [0, 'Zwei Päckchen'], [0, 'Zwei Päckchen.']]);
});

test('SETUP-42: a call that changes something is asked about, run after a yes and declined after a no; reads do not wait for it', async (t) => {
  const refuses = { ...WRITE, invocation_id: 'inv_3', block_id: 'blk_3' };
  const fails = { ...WRITE, invocation_id: 'inv_4', params: { order_id: 'gone' } };
  const second = { ...confirmCard, block: { id: 'blk_3', block_type: 'confirm_card', body: { ...CARD, title: 'Another' } } };
  const { ask, turns, drawn } = await openPage(
    t,
    [
      [START, confirmCard, second, waits('awaiting_confirmation', WRITE, READ, refuses, fails)],
      [START, waits('awaiting_confirmation', WRITE, refuses, fails)],
      [START, text('Done.'), COMPLETED],
    ],
    (card) => (card as typeof CARD).title === CARD.title,
  );
  await ask('Cancel order A-1');
  const results = turns().map((turn) => turn.tool_results);
  assert.deepEqual(results[1], [{ invocation_id: 'inv_1', status: 'ok', result: { params: { n: 1 }, orders: 2 } }]);
  assert.deepEqual(results[2], [
    { invocation_id: 'inv_2', status: 'ok', confirmed: true, result: 'cancelled' },
    { invocation_id: 'inv_3', status: 'declined' },
    { invocation_id: 'inv_4', status: 'error', error: 'Error: no such order', confirmed: true },
  ]);
  assert.deepEqual(drawn, ['begin', 'begin', CARD, { ...CARD, title: 'Another' }, CARD, 'begin', [0, 'Done.']]);
});

test('SETUP-42: what the service runs itself the snippet records and leaves to it, with the token; what was not confirmed it declines', async (t) => {
  const served = { ...WRITE, executor: 'server' };
  const streams = [
    [START, confirmCard, waits('awaiting_confirmation', served)],
    [START, text('Cancelled.'), COMPLETED],
    [START, confirmCard, waits('awaiting_confirmation', { ...served, invocation_id: 'inv_9' })],
    [START, text('Kept.'), COMPLETED],
  ];
  let verdict = 'confirmed';
  const { ask, sent, turns } = await openPage(t, streams, undefined, () => verdict);
  await ask('Cancel order A-1', { id: 'u1', hmac: 'f'.repeat(64), token: 'eyJ.person' });
  assert.deepEqual(turns()[1]?.tool_results, [{ invocation_id: 'inv_2', status: 'ok', confirmed: true }]);
  assert.deepEqual(sent.find(({ path }) => path === '/v1/invocations/inv_2/confirm')?.body, { decision: 'confirm' });
  assert.equal(sent.at(-1)?.headers['X-Service-User-Token'], 'eyJ.person');
  verdict = 'expired';
  await ask('Cancel order A-1');
  assert.deepEqual(turns()[3]?.tool_results, [{ invocation_id: 'inv_9', status: 'declined' }]);
  assert.ok(!('X-Service-User-Token' in (sent.at(-1)?.headers ?? {})));
});

test('SETUP-43: screens are drawn, and of a block that the snippet does not draw its fallback_text', async (t) => {
  const items = [{ route: 'orders', title: 'Your orders' }];
  const screens: StreamEvent = { type: 'block.ready', index: 0, block: { block_type: 'screens', body: { items } } };
  const unknown: StreamEvent = { type: 'block.ready', index: 1, block: { block_type: 'map', body: {}, fallback_text: 'A map of shops.' } };
  const { ask, turns, drawn } = await openPage(t, [[START, screens, unknown, { type: 'later.event' }, COMPLETED]]);
  await ask('Where?');
  assert.deepEqual(drawn, ['begin', [0, items], [1, 'A map of shops.']]);
  assert.deepEqual(turns()[0]?.client.components, ['text', 'screens', 'confirm_card']);
});

test('SETUP-43: manifest_unknown registers again and sends the same turn once more, a second one is shown', async (t) => {
  const { ask, paths, turns, drawn } = await openPage(t, [
    refused('manifest_unknown'),
    [START, text('Here.'), COMPLETED],
    refused('manifest_unknown'),
    refused('manifest_unknown'),
    refused('model_busy'),
  ]);
  await ask('Hello?');
  assert.deepEqual(paths().slice(2), ['/v1/chat', '/v1/apps/manifest', '/v1/chat']);
  assert.deepEqual(turns()[0], turns()[1]);
  assert.deepEqual(drawn, ['begin', [0, 'Here.']]);
  await ask('Hello again?');
  await ask('And again?');
  assert.deepEqual(drawn.slice(2), ['It is manifest_unknown.', 'It is model_busy.']);
  assert.equal(turns().length, 5);
});

test('SETUP-43, WIDGET-1: it names the widget with its hash; without a key it says so, and an address cannot end its script', () => {
  const { note, web, mobile, docs, snippets } = sdkSection('https://a.invalid/</script>', null, 'https://a.invalid/docs/runtime.md');
  assert.equal(web.url, `https://a.invalid/</script>/sdk/web/${web.version}/assistant.js`);
  assert.match(web.integrity ?? '', /^sha384-[A-Za-z0-9+/]{64}$/);
  const page = 'https://a.invalid/</script>/sdk/mobile';
  assert.deepEqual(mobile, { git: null, ref: null, version: web.version, page, docs: 'https://a.invalid/docs/mobile.md' });
  assert.match(
    snippets['embed.html'],
    /\/sdk\/web\/latest\/assistant\.js" crossorigin="anonymous" defer>/,
    'it stays there with the next release',
  );
  assert.equal(snippets['embed.html'].match(/<\/script>/g)?.length, 2);
  assert.match(snippets['embed.html'], /init\(\{ key: "rd_pk_test_…" \}\)/);
  assert.equal(docs, 'https://a.invalid/docs/runtime.md');
  assert.match(note, /^Web pages embed the widget as embed\.html does.* These two leave out Retry /);
  assert.match(snippets['assistant.js'], /const KEY = "rd_pk_test_…"/);
  assert.doesNotMatch(snippets['assistant.js'], /<\/script/);
});
