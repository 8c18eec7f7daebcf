/** Numbers that were redacted come back as numbers, where an action takes a number. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HANDSHAKE } from '../../support/client.ts';
import { confirm, edit } from './asked-write.ts';
import { pendingOf, readies, startScriptedChat, thread } from './scripted-chat.ts';

const CARD = 4_111_111_111_111_111;
const params = {
  phone: { type: 'number', required: true },
  note: { type: 'string', editable: true },
  all: { type: 'array', items: 'number' },
};
const MANIFEST = {
  version: '1',
  actions: [
    { name: 'find_person', description: 'Finds a person.', params },
    { name: 'call_back', description: 'Calls back.', risk: 'write', confirm_template: 'Call {phone}?', params },
  ],
};

test('PRIVACY-4, PRIVACY-12: a number in app_state reaches the model as a placeholder, and an action as the number', async (t) => {
  const it = await startScriptedChat(t);
  const { json } = await it.client.send('POST', '/v1/apps/manifest', { manifest: MANIFEST, sdk: 'web/0.50.0' });
  const client = { ...HANDSHAKE, manifest_hash: (json as { manifest_hash: string }).manifest_hash };
  const context = { app_state: { card: CARD } };
  const args = { phone: '⟦card_1⟧', all: [7, '⟦card_1⟧'] };
  it.script([{ call: 'find_person', args, id: 'call_find' }], [{ call: 'call_back', args, id: 'call_back_1' }], [{ text: 'Calling.' }]);
  const read = await it.say('Who is that?', { client, context });
  assert.doesNotMatch(JSON.stringify(it.lastRequest()), /4111111111111111/);
  const execute = read.events.find(({ type }) => type === 'action.execute');
  assert.deepEqual(execute?.params, { phone: CARD, all: [7, CARD] }, read.text);
  const conversation_id = thread(read);
  const results = [{ invocation_id: pendingOf(read)[0]?.invocation_id, status: 'ok', result: {} }];
  const write = await it.chat({ client, conversation_id, tool_results: results });
  assert.match(JSON.stringify(it.lastRequest().messages), /⟦card_1⟧/);
  assert.doesNotMatch(JSON.stringify(it.lastRequest().messages), /⟦#|4111111111111111/, 'the model sees what it wrote');
  const [card] = readies(write.events);
  const [pending] = pendingOf(write) as unknown as { invocation_id: string; params: unknown }[];
  const fields = card?.body.fields as { value?: unknown; display: string }[];
  assert.deepEqual([pending?.params, fields[0]?.value, fields[0]?.display], [{ phone: CARD, all: [7, CARD] }, CARD, String(CARD)]);
  assert.equal(card?.body.summary, `Call ${CARD}?`);
  const id = String(pending?.invocation_id);
  const edited = await edit(it.client, id, 1, { note: 'today' });
  assert.equal(edited.status, 200, 'what stands passes the rules again');
  assert.ok(edited.text.includes(`"value":${CARD}`), edited.text);
  assert.equal((await confirm(it.client, id)).status, 200);
  const stored = await it.client.send('GET', `/v1/conversations/${conversation_id}/messages`);
  assert.ok(stored.text.includes(`"phone":${CARD}`), 'open.pending has it, too');
});

test('PRIVACY-12: a placeholder that stands for no number is refused where a number is needed', async (t) => {
  const it = await startScriptedChat(t);
  const { json } = await it.client.send('POST', '/v1/apps/manifest', { manifest: MANIFEST, sdk: 'web/0.50.0' });
  const client = { ...HANDSHAKE, manifest_hash: (json as { manifest_hash: string }).manifest_hash };
  const calls = ['⟦email_1⟧', '⟦phone_9⟧', '⟦#email_1⟧', '⟦#phone_9⟧'];
  it.script(
    calls.map((phone, n) => ({ call: 'find_person', args: { phone }, id: `call_${n}` })),
    [{ text: 'Sorry.' }],
  );
  const answer = await it.say('I am ada@example.org', { client });
  assert.match(answer.text, /Sorry/);
  calls.forEach((_, n) => {
    assert.match(it.toldOf(`call_${n}`), /must be a number/);
  });
});

test('PRIVACY-10: who writes the form in which calls keep numbers writes words, the person and the model', async (t) => {
  const it = await startScriptedChat(t);
  it.script([{ text: '⟦#card_1⟧' }, { call: 'key_value', args: { rows: [{ label: 'Card', value: '⟦#card_1⟧' }] } }]);
  const answer = await it.say(`⟦#card_1⟧`, { context: { app_state: { card: CARD } } });
  const [text, rows] = readies(answer.events);
  assert.deepEqual([text?.body.md, rows?.body.rows], [String(CARD), [{ label: 'Card', value: String(CARD) }]]);
  assert.doesNotMatch(JSON.stringify(it.lastRequest()), /⟦#/);
  const [said] = await it.stored(thread(answer));
  assert.equal(typeof said?.blocks[0]?.body.md, 'string');
});
