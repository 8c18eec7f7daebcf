/** What the model writes of its own is kept in placeholder form too, and the owner sees values; numbers come back as numbers where an action takes one. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { HANDSHAKE, spoken } from '../../support/client.ts';
import { FILE } from '../../support/whole-file.ts';
import { confirm, edit } from './asked-write.ts';
import { pendingOf, readies, startScriptedChat, thread } from './scripted-chat.ts';

const it = await startScriptedChat(FILE);

const PHONE = '+49 30 90182044';
const MAIL = 'invented.person@example.org';
const WORDS = `Call ${PHONE} or write to ${MAIL}, within 30 days.`;
const KEPT = 'Call ⟦phone_1⟧ or write to ⟦email_1⟧, within 30 days.';

async function transcript(conversationId: string): Promise<string> {
  const { text } = await it.operator('GET', `/conversations/${conversationId}?app=${it.app.appId}`);
  return text;
}

test('PRIVACY-5: words and components are kept in placeholder form; the owner sees values in stream, replay and history', async () => {
  const turn = { turn_id: randomUUID() };
  it.script([
    { text: 'Call +49 30 9' },
    { text: `0182044 or write to ${MAIL}, within 30 days.` },
    { call: 'key_points', args: { points: [{ text: WORDS }] } },
  ]);
  const answer = await it.say('How do I reach you?', turn);
  assert.equal(spoken(answer.events), WORDS);
  const [text, points] = readies(answer.events);
  assert.equal(text?.body.md, WORDS);
  assert.deepEqual(points?.body.points, [{ text: WORDS }]);
  assert.ok(points?.fallback_text?.includes(PHONE));
  const [, stored] = await it.stored(thread(answer));
  assert.deepEqual(stored?.blocks, [text, points]);
  const replay = await it.client.send('GET', `/v1/chat/${turn.turn_id}`);
  const deltas = Array.from(
    replay.text.matchAll(/^data: (\{"type":"block\.delta".*)$/gm),
    ([, data = '']) => (JSON.parse(data) as { text_delta: string }).text_delta,
  );
  assert.equal(deltas.join(''), WORDS);
  assert.ok(replay.text.includes(JSON.stringify(WORDS)));
  it.script([{ text: 'Yes.' }]);
  await it.say('Thanks.', { conversation_id: thread(answer) });
  assert.ok(it.lastRequest().messages.some(({ role, content }) => role === 'assistant' && content.startsWith(KEPT)));
});

test('PRIVACY-5, PRIVACY-20: between letters without blanks as well, in what the person and in what the model writes', async () => {
  const asked = 'カード番号は4111 1111 1111 1111です、我的手机号是13800138000。';
  const said = '090ー1234ー5678までお電話、またはanna＠example．comへ。';
  it.script([{ text: said.slice(0, 9) }, { text: said.slice(9) }, { call: 'key_points', args: { points: [{ text: said }] } }]);
  const answer = await it.say(asked);
  assert.ok(it.lastRequest().messages.some(({ content }) => content.includes('カード番号は⟦card_1⟧です、我的手机号是⟦phone_1⟧。')));
  assert.equal(spoken(answer.events), said);
  assert.deepEqual(readies(answer.events)[1]?.body.points, [{ text: said }]);
  const kept = await transcript(thread(answer));
  assert.ok(kept.includes('⟦phone_2⟧までお電話、または⟦email_1⟧へ。'));
  assert.doesNotMatch(kept, /4111|13800138000|5678|example．com/);
});

test('PRIVACY-5: a link that the model wrote with a number in it is the owner’s as it was', async () => {
  const md = 'See [the page](https://shop.example/?tel=+493090182044) now.';
  it.script([{ text: md }]);
  const answer = await it.say('Where?');
  assert.equal(readies(answer.events)[0]?.body.md, md);
  const [, stored] = await it.stored(thread(answer));
  assert.equal(stored?.blocks[0]?.body.md, md);
});

test('PRIVACY-5, PRIVACY-12: parameters that the model filled in are kept in placeholder form, and run with values', async () => {
  const params = {
    phone: { type: 'string', required: true },
    branch: { type: 'string', enum: ['+49 30 1112223', 'none'] },
    note: { type: 'string' },
  };
  const manifest = {
    version: '1',
    actions: [
      { name: 'find_person', description: 'Finds a person.', params },
      { name: 'call_back', description: 'Calls back.', risk: 'write', confirm_template: 'Call {phone}?', params },
    ],
  };
  const client = { ...HANDSHAKE, manifest_hash: await it.client.register(manifest) };
  const args = { phone: '0171 2345678', branch: '+49 30 1112223', note: MAIL };
  it.script([{ call: 'find_person', args }]);
  const read = await it.say('Find them.', { client });
  assert.deepEqual(pendingOf(read)[0] && (pendingOf(read)[0] as unknown as { params: object }).params, args);
  assert.deepEqual(read.events.find(({ type }) => type === 'action.execute')?.params, args);
  it.script([{ call: 'call_back', args }]);
  const write = await it.say('Call them.', { client });
  const [card] = readies(write.events);
  assert.equal(card?.body.summary, 'Call 0171 2345678?');
  for (const answer of [read, write]) assert.ok((await transcript(thread(answer))).includes('⟦phone_1⟧'), 'kept as a placeholder');
});

const CARD = 4_111_111_111_111_111;
const params = {
  phone: { type: 'number', required: true },
  note: { type: 'string', editable: true },
  all: { type: 'array', items: 'number' },
};
/** Actions that take numbers. */
const NUMBERS = {
  version: '1',
  actions: [
    { name: 'find_person', description: 'Finds a person.', params },
    { name: 'call_back', description: 'Calls back.', risk: 'write', confirm_template: 'Call {phone}?', params },
  ],
};

test('PRIVACY-4, PRIVACY-12: a number in app_state reaches the model as a placeholder, and an action as the number', async () => {
  const client = { ...HANDSHAKE, manifest_hash: await it.client.register(NUMBERS) };
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

test('PRIVACY-12: a placeholder that stands for no number is refused where a number is needed', async () => {
  const client = { ...HANDSHAKE, manifest_hash: await it.client.register(NUMBERS) };
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

test('PRIVACY-10: who writes the form in which calls keep numbers writes words, the person and the model', async () => {
  it.script([{ text: '⟦#card_1⟧' }, { call: 'key_value', args: { rows: [{ label: 'Card', value: '⟦#card_1⟧' }] } }]);
  const answer = await it.say(`⟦#card_1⟧`, { context: { app_state: { card: CARD } } });
  const [text, rows] = readies(answer.events);
  assert.deepEqual([text?.body.md, rows?.body.rows], [String(CARD), [{ label: 'Card', value: String(CARD) }]]);
  assert.doesNotMatch(JSON.stringify(it.lastRequest()), /⟦#/);
  const [said] = await it.stored(thread(answer));
  assert.equal(typeof said?.blocks[0]?.body.md, 'string');
});

test('PRIVACY-8: none of it is in the files', async () => {
  const folder = it.service.dataDir;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && /\.sqlite(?:-wal)?$/.test(entry.name),
  );
  const bytes = Buffer.concat(files.map((entry) => readFileSync(join(entry.parentPath, entry.name))));
  for (const value of [PHONE, MAIL, '0171 2345678']) assert.equal(bytes.includes(value), false, value);
});
