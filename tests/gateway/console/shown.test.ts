/** What the model was shown in a turn, as the console makes it again from rows. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { definitionParts, messageParts, type Part, systemOf } from '../../../assistant/models/openai/request-parts.ts';
import { CATALOG } from '../../../protocol/catalog/catalog.ts';
import { createClient, createOperator, HANDSHAKE } from '../../support/client.ts';
import { startUpstream, upstreamEnv } from '../../support/upstream.ts';
import { FILE } from '../../support/whole-file.ts';
import { startConsoleApp } from './console-app.ts';

interface Sized extends Part {
  readonly tokens: number;
}

interface Shown {
  readonly system: Sized;
  readonly definitions: readonly Sized[];
  readonly messages: readonly Sized[];
}

const CANARY = 'ann.canary@example.com';
const BANNER = { call: 'info_card', args: { title: 'Noted', md: 'It is noted.', tone: 'success' } } as const;

const upstream = await startUpstream(FILE, (_, n) => (n === 1 ? [{ text: 'Noted.' }, BANNER] : [{ text: 'Well.' }]));
const it = await startConsoleApp(FILE, upstreamEnv(upstream));
const client = createClient(it.service.baseUrl, it.app.testKey);
const manifest = { version: '1', actions: [{ name: 'get_order', description: 'Looks up one order.', params: { id: { type: 'string' } } }] };
const handshake = { ...HANDSHAKE, components: [...CATALOG.keys()], manifest_hash: await client.register(manifest) };

const read = (turnId: string) => it.console('GET', `/turns/${turnId}/shown`);
const bare = (parts: readonly Part[]) => parts.map(({ title, text }) => ({ title, text: text.replace(/^Now: .*$/m, 'Now') }));

async function ask(text: string, conversation: object = {}) {
  const turnId = randomUUID();
  const answer = await client.chat({ ...conversation, turn_id: turnId, client: handshake, message: { text } });
  assert.equal(answer.status, 200, answer.text);
  return { turnId, request: upstream.requests.at(-1), conversation: { conversation_id: answer.events[0]?.conversation_id } };
}

test('CONSOLE-36: what the model was shown in a turn is what it was sent, part by part with sizes, and stays so when the conversation goes on', async () => {
  const known = await it.console('POST', '/knowledge', {
    items: [{ external_key: 'returns', kind: 'text', title: 'Returns', content: '# Returns\n\nTea can be sent back within 60 days.' }],
  });
  assert.equal(known.status, 200, known.text);
  const first = await ask(`I am ${CANARY}. How long can I send tea back?`);
  const second = await ask('And what then?', first.conversation);
  await ask('Good.', second.conversation);
  for (const { turnId, request } of [first, second]) {
    assert.ok(request);
    const { status, json, text } = await read(turnId);
    assert.equal(status, 200, text);
    const { shown } = json as { shown: Shown };
    assert.equal(shown.system.text, systemOf(request));
    assert.deepEqual(bare(shown.definitions), bare(definitionParts(request)));
    assert.deepEqual(bare(shown.messages), bare(messageParts(request)));
    for (const { text: part, tokens } of [shown.system, ...shown.definitions, ...shown.messages])
      assert.equal(tokens, Math.ceil(part.length / 4));
    assert.match(text, /⟦email_1⟧/);
    assert.ok(!text.includes(CANARY));
  }
});

test('CONSOLE-36: it is for operators, of a turn of this app, tells no part beyond 20,000 characters, and is gone with the person', async () => {
  const person = createClient(it.service.baseUrl, it.app.testKey, 'b'.repeat(32));
  const identified = await person.send('POST', '/v1/identify', { external_user_id: 'ann-to-erase' });
  const form = new FormData();
  form.append('file', new Blob(['tea '.repeat(5_000)], { type: 'text/plain' }), 'tea.txt');
  const uploaded = await fetch(`${it.service.baseUrl}/v1/uploads`, { method: 'POST', headers: person.headers, body: form });
  const { upload_id } = (await uploaded.json()) as { upload_id: string };
  const turnId = randomUUID();
  const answer = await person.say('What is it?', { turn_id: turnId, client: handshake, attachments: [{ upload_id }] });
  assert.equal(answer.status, 200, answer.text);
  const stranger = createOperator(it.service.baseUrl, 'no-such-token');
  assert.equal((await stranger('GET', `/apps/${it.app.appId}/turns/${turnId}/shown`)).status, 401);
  assert.equal((await read(randomUUID())).status, 404);
  const { shown } = (await read(turnId)).json as { shown: Shown };
  const [attached] = shown.messages;
  assert.deepEqual([attached?.text.length, (attached?.tokens ?? 0) > 5_000], [20_002, true]);
  const { end_user_id: id } = identified.json as { end_user_id: string };
  assert.equal((await it.console('DELETE', `/end-users/${id}`)).status, 200);
  assert.equal((await read(turnId)).status, 404);
});
