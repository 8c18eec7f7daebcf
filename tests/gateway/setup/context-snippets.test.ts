import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import { sdkSection } from '../../../src/gateway/setup/context-snippets.ts';
import { chatRequest } from '../../../src/protocol/runtime/chat.ts';
import { manifestRequest } from '../../../src/protocol/runtime/manifest.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const TEST_KEY = 'rd_pk_test_abcdefghijklmnopqrstuvwx';

interface Sent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const STREAMS = [
  [
    ': open',
    'id: 0\nevent: turn.start\ndata: {"type":"turn.start","conversation_id":"cnv_1"}',
    'id: 1\nevent: action.execute\ndata: {"type":"action.execute","invocation_id":"inv_1","name":"list_orders","params":{"n":1}}',
    'id: 2\nevent: turn.end\ndata: {"type":"turn.end","status":"awaiting_tool_results"}',
  ],
  [
    'id: 0\nevent: block.delta\ndata: {"type":"block.delta","index":0,"text_delta":"Zwei Päckchen"}',
    'event: turn.end\ndata: {"type":"turn.end"}',
  ],
];

/** A body that arrives a few bytes at a time, so that frames and characters are cut in the middle. */
function dribble(frames: readonly string[]): ReadableStream<Uint8Array> {
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

test('GET /context sdk: the snippets register a manifest, read a stream and answer its read actions with the app’s own test key', async (t) => {
  const { snippets } = sdkSection('https://assistant.invalid', TEST_KEY, 'https://assistant.invalid/console/docs');
  const dir = temporaryDir(t);
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
  for (const [name, code] of Object.entries(snippets)) writeFileSync(join(dir, name), code);
  const sent: Sent[] = [];
  const streams = [...STREAMS];
  const answer = (url: string) =>
    url.endsWith('/manifest') ? Response.json({ manifest_hash: 'a'.repeat(64) }) : new Response(dribble(streams.shift() ?? []));
  const page = {
    localStorage: {},
    fetchOrders: async (params: unknown) => ({ params, orders: 2 }),
    fetch: async (url: string, { headers, body }: { headers: Record<string, string>; body: string }) => {
      sent.push({ url, headers, body: JSON.parse(body) });
      return answer(url);
    },
  };
  for (const [name, value] of Object.entries(page)) {
    const before = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    t.after(() => (before === undefined ? Reflect.deleteProperty(globalThis, name) : Object.defineProperty(globalThis, name, before)));
  }
  const drawn: { type: string; text_delta?: string }[] = [];
  const usage = (await import(pathToFileURL(join(dir, 'usage.js')).href)) as {
    ask(text: string, draw: (event: { type: string }) => void): Promise<void>;
  };
  await usage.ask('Where are my orders?', (event) => drawn.push(event));
  assert.deepEqual(
    sent.map(({ url }) => url),
    ['https://assistant.invalid/v1/apps/manifest', 'https://assistant.invalid/v1/chat', 'https://assistant.invalid/v1/chat'],
  );
  for (const { headers } of sent) {
    assert.equal(headers['X-Service-Key'], TEST_KEY);
    assert.match(headers['X-Service-Device'] ?? '', /^[0-9a-f]{32}$/);
  }
  v.parse(manifestRequest, sent[0]?.body);
  const turns = sent.slice(1).map(({ body }) => v.parse(chatRequest, body));
  assert.deepEqual(turns[0]?.message, { text: 'Where are my orders?' });
  assert.equal(turns[0]?.client.manifest_hash, 'a'.repeat(64));
  assert.equal(turns[1]?.conversation_id, 'cnv_1');
  assert.deepEqual(turns[1]?.tool_results, [{ invocation_id: 'inv_1', status: 'ok', result: { params: { n: 1 }, orders: 2 } }]);
  assert.notEqual(turns[0]?.turn_id, turns[1]?.turn_id);
  assert.deepEqual(
    drawn.map(({ type }) => type),
    ['turn.start', 'action.execute', 'turn.end', 'block.delta', 'turn.end'],
  );
  assert.equal(drawn[3]?.text_delta, 'Zwei Päckchen');
});

test('GET /context sdk: without packages and without a key it says so, and an address cannot end its script', () => {
  const { web, mobile, docs, snippets } = sdkSection('https://a.invalid/</script>', null, 'https://a.invalid/console/docs');
  assert.deepEqual({ web, mobile }, { web: { version: null, url: null }, mobile: { git: null, ref: null } });
  assert.equal(docs, 'https://a.invalid/console/docs');
  assert.match(snippets['assistant.js'], /const KEY = "rd_pk_test_…"/);
  assert.doesNotMatch(snippets['assistant.js'], /<\/script/);
});
