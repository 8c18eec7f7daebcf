/** GET /v1/schemas: what is published of requests, events and answers is what the running service takes and sends. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { CATALOG_VERSION } from '../../../protocol/limits.ts';
import { RUNTIME_BODIES, type RuntimeBody } from '../../../protocol/runtime/schemas.ts';
import type { JsonSchema } from '../../../protocol/schema/json-schema.ts';
import { TYPES_FILE } from '../../../tools/runtime-types.ts';
import { fullExample, MODEL_EXAMPLES } from '../../protocol/catalog/examples.ts';
import { VALID_BODIES } from '../../protocol/runtime/instances.ts';
import { ajv } from '../../protocol/schema-agreement.ts';
import { mutated } from '../../protocol/setup/mutations.ts';
import { type Answer, createClient, HANDSHAKE, type StreamAnswer } from '../../support/client.ts';
import type { Play } from '../../support/upstream.ts';
import { FILE } from '../../support/whole-file.ts';
import { gate, pendingOf, readies, startScriptedChat, thread } from './scripted-chat.ts';

const compiled = new Map<JsonSchema, ValidateFunction>();

function validate(schema: JsonSchema | undefined, value: unknown): string | undefined {
  assert.ok(schema !== undefined, `nothing is published for ${JSON.stringify(value)}`);
  let check = compiled.get(schema);
  if (check === undefined) {
    check = ajv.compile(schema);
    compiled.set(schema, check);
  }
  return check(value) ? undefined : ajv.errorsText(check.errors);
}

/** Every event of the stream, and that its types are these, fits what is published of it. */
function assertPublished({ events, text }: StreamAnswer, ...types: string[]): void {
  for (const event of events) assert.equal(validate(published.events[event.type], event), undefined, JSON.stringify(event));
  for (const type of types)
    assert.ok(
      events.some((event) => event.type === type),
      `${type} is not in ${text}`,
    );
}

function assertReply(name: string, answer: Answer, status = 200): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(validate(published.replies[name], answer.json), undefined, answer.text);
}

const it = await startScriptedChat(FILE);
const published = (await createClient(it.service.baseUrl, '', '').send('GET', '/v1/schemas')).json as Readonly<
  Record<'requests' | 'events' | 'replies', Readonly<Record<string, JsonSchema>>>
>;

test('VERSION-5: needs no key, says which protocol and catalog it is of, and is read by any page', async () => {
  const anyone = createClient(it.service.baseUrl, '', '');
  const answer = await anyone.send('GET', '/v1/schemas', undefined, { Origin: 'https://docs.example' });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(Object.keys(answer.json as object), ['catalog_version', 'protocol', 'requests', 'events', 'replies']);
  const { catalog_version, protocol } = answer.json as Record<string, unknown>;
  assert.deepEqual([catalog_version, protocol], [CATALOG_VERSION, 1]);
  assert.equal(answer.headers['access-control-allow-origin'], 'https://docs.example');
  assert.match(String(answer.headers['content-type']), /^application\/json/);
});

test('VERSION-5: the ETag answers 304 without a body', async () => {
  const anyone = createClient(it.service.baseUrl, '', '');
  const etag = String((await anyone.send('GET', '/v1/schemas')).headers.etag);
  assert.match(etag, /^"[\w-]+"$/);
  const again = await anyone.send('GET', '/v1/schemas', undefined, { 'If-None-Match': etag });
  assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', etag]);
});

test('VERSION-8: the types that are shipped, without a key', async () => {
  const answer = await createClient(it.service.baseUrl, '', '').send('GET', '/v1/schemas.d.ts', undefined, {
    Origin: 'https://docs.example',
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.text, readFileSync(TYPES_FILE, 'utf8'));
  assert.equal(answer.headers['access-control-allow-origin'], 'https://docs.example');
});

const MANIFEST = {
  version: '1',
  actions: [
    { name: 'find_order', description: 'Finds an order.', params: { id: { type: 'string', required: true } } },
    {
      name: 'cancel_order',
      description: 'Cancels an order.',
      risk: 'write',
      confirm_template: 'Cancel order {id}?',
      params: { id: { type: 'string', required: true, editable: true } },
    },
  ],
  routes: [{ name: 'orders', title: 'Orders', params: { page: { type: 'number' }, open: { type: 'boolean' }, sort: { type: 'string' } } }],
};

/** A build that draws the whole catalog and has actions. */
async function build(): Promise<Record<string, unknown>> {
  const answer = await it.client.send('POST', '/v1/apps/manifest', { manifest: MANIFEST, sdk: 'web/0.50.0' });
  assertReply('manifest', answer);
  const components = ['text', 'confirm_card', ...Object.keys(MODEL_EXAMPLES)];
  return { client: { ...HANDSHAKE, components, manifest_hash: (answer.json as { manifest_hash: string }).manifest_hash } };
}

test('VERSION-7: words, and a block of every component, as the service streams and stores them', async () => {
  const more = await build();
  const names = Object.keys(MODEL_EXAMPLES).filter((name) => name !== 'text' && name !== 'confirm_card');
  const calls = names.map((name): Play => ({ call: name, args: MODEL_EXAMPLES[name]?.[0] }));
  for (let from = 0; from < calls.length; from += 8) {
    it.script([{ text: 'Look.' }, ...calls.slice(from, from + 8)]);
    const answer = await it.say('Show me', more);
    assertPublished(answer, 'turn.start', 'block.start', 'block.delta', 'block.ready', 'turn.end');
    const types = answer.events.flatMap(({ block }) => (block === undefined ? [] : [(block as { block_type: string }).block_type]));
    assert.deepEqual(types.sort(), ['text', ...names.slice(from, from + 8)].sort(), 'each example became its block');
    assertReply('messages', await it.client.send('GET', `/v1/conversations/${thread(answer)}/messages`));
  }
});

test('VERSION-7: a read action and its continuation', async () => {
  const more = await build();
  it.script([{ call: 'find_order', args: { id: '7' } }], [{ text: 'Shipped.' }]);
  const first = await it.say('Where is it?', more);
  assertPublished(first, 'action.execute', 'turn.end');
  assertReply('messages', await it.client.send('GET', `/v1/conversations/${thread(first)}/messages`));
  const results = [{ invocation_id: pendingOf(first)[0]?.invocation_id, status: 'ok', result: {} }];
  assertPublished(await it.chat({ ...more, conversation_id: thread(first), tool_results: results }), 'turn.end');
});

test('VERSION-7: a write action with its card, the edit, the confirmation', async () => {
  const more = await build();
  it.script([{ call: 'cancel_order', args: { id: '7' } }], [{ text: 'Done.' }]);
  const first = await it.say('Cancel it', more);
  assertPublished(first, 'block.ready', 'turn.end');
  const [pending] = pendingOf(first);
  const path = `/v1/invocations/${pending?.invocation_id}`;
  assertReply('edit', await it.client.send('POST', `${path}/edit`, { revision: 1, params: { id: '8' } }));
  assertReply('error', await it.client.send('POST', `${path}/edit`, { revision: 1, params: { id: 8 } }), 400);
  assertReply('confirm', await it.client.send('POST', `${path}/confirm`, { decision: 'confirm' }));
  assertReply('confirm', await it.client.send('POST', `${path}/confirm`, { decision: 'decline' }));
  assertReply('messages', await it.client.send('GET', `/v1/conversations/${thread(first)}/messages`));
});

test('VERSION-7: errors before and within a turn', async () => {
  assertPublished(await it.client.say('Hi', { client: { ...HANDSHAKE, manifest_hash: 'a'.repeat(64) } }), 'error', 'turn.end');
  it.script([{ call: 'form', args: fullFormArgs() }]);
  const asked = await it.say('A form', await build());
  const formId = readies(asked.events)[0]?.id;
  const body = { conversation_id: thread(asked), form_submission: { form_id: formId, values: { nowhere: 1 } } };
  const refused = await it.client.chat(body);
  assertPublished(refused, 'error', 'turn.end');
  assert.ok(Array.isArray(refused.events[0]?.details), refused.text);
  it.script([{ status: 503 }]);
  assertPublished(await it.chat({ message: { text: 'Busy?' } }), 'turn.start', 'error', 'turn.end');
  assertReply('error', await it.client.send('POST', '/v1/chat', { message: 7 }), 400);
  assertReply('error', await createClient(it.service.baseUrl, 'rd_pk_live_none').send('GET', '/v1/apps/config'), 401);
});

function fullFormArgs(): unknown {
  const { form_id: _id, status: _status, ...args } = fullExample('form');
  return args;
}

test('VERSION-7: a turn that is stopped, and the answer to the stop', async () => {
  const held = gate();
  it.script([{ text: 'I will go on' }, { wait: held.wait }]);
  const turnId = randomUUID();
  const running = it.say('Talk', { turn_id: turnId });
  const ask = () => it.client.send('POST', `/v1/chat/${turnId}/stop`);
  let stop = await ask();
  // Until the turn runs there is nothing to stop.
  for (let n = 0; n < 1_000 && (stop.json as { stopped?: boolean }).stopped !== true; n++) stop = await ask();
  assertReply('stop', stop);
  const stopped = await running;
  held.open();
  assertPublished(stopped, 'turn.end');
  assert.equal(stopped.events.at(-1)?.stopped, true);
});

test('VERSION-7: config, identify, feedback, an upload', async () => {
  assertReply('config', await it.client.send('GET', '/v1/apps/config'));
  assertReply('identify', await it.client.send('POST', '/v1/identify', { external_user_id: 'ada', traits: { plan: 'pro' } }));
  it.script([{ text: 'Hello.' }]);
  const said = await it.say('Hello');
  const message_id = String(said.events[0]?.message_id);
  assertReply('feedback', await it.client.send('POST', '/v1/feedback', { message_id, rating: 1 }));
  const file = new FormData();
  file.set('file', new Blob(['Plain words.'], { type: 'text/plain' }), 'note.txt');
  const answer = await fetch(`${it.service.baseUrl}/v1/uploads`, { method: 'POST', headers: it.client.headers, body: file });
  const text = await answer.text();
  assertReply('upload', { status: answer.status, headers: {}, text, json: JSON.parse(text) });
});

/** Names that a map cannot have: such bodies are refused before any schema is asked. */
const HOSTILE = /"(?:__proto__|constructor|prototype)"/;
/** What JSON Schema has no words for. */
const UNSAYABLE = /must serialize to at most|must mark with \{name\}|must be unique: /;

/** Where a body goes that names nothing there is, so that a good one is refused with anything but 400. */
const pathOf = (name: RuntimeBody) => (RUNTIME_BODIES[name].endpoint.split(' ')[1] ?? '').replace(':id', 'inv_0');

/** Claims of a code are counted so strictly that they are left to tests/protocol. */
const SPOKEN = (Object.keys(RUNTIME_BODIES) as RuntimeBody[]).filter((name) => name !== 'pairing_claim');

for (const name of SPOKEN) {
  test(`VERSION-6: ${name}: over HTTP good bodies are not 400, damaged ones are 400 exactly where the schema refuses them`, async () => {
    it.script(...Array.from({ length: 1_000 }, () => [{ text: 'Fine.' }]));
    const good = fc.sample(VALID_BODIES[name], 60);
    const damaged = fc.sample(mutated(VALID_BODIES[name]), 140).filter((body) => !HOSTILE.test(JSON.stringify(body)));
    let refused = 0;
    let n = 0;
    for (const body of [...good, ...damaged]) {
      // Some buckets count by device; these are about bodies. A body may be too long before it is wrong.
      const client = createClient(it.service.baseUrl, it.app.liveKey, (n++).toString(16).padStart(32, '0'));
      const { status, text } = await client.send('POST', pathOf(name), JSON.stringify(body));
      assert.ok(status !== 429 && status < 500, text);
      const complaint = validate(published.requests[name], body);
      const isGood = n <= good.length;
      if (isGood || complaint === undefined)
        assert.ok(status !== 400 || (!isGood && UNSAYABLE.test(text)), `${JSON.stringify(body)}: ${text}`);
      else assert.ok(status === 400 || status === 413, `${status} though ${complaint}`);
      if (status === 400) refused++;
    }
    assert.ok(refused >= damaged.length / 4, String(refused));
  });
}
