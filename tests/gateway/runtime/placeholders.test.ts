/** Personal data is stored and told to the model as placeholders, and given back to the device that it came from. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { defuseMarkdown } from '../../../protocol/catalog/markdown.ts';
import { sendJson, startBackend } from '../../support/backend.ts';
import { HANDSHAKE, spoken } from '../../support/client.ts';
import { markdownAddresses } from '../../support/markdown-addresses.ts';
import type { Play } from '../../support/upstream.ts';
import { FILE } from '../../support/whole-file.ts';
import { pendingOf, readies, startScriptedChat, thread } from './scripted-chat.ts';
import { upload } from './uploading.ts';

const EMAIL = 'ada.lovelace@example.org';
const OTHER = 'grace@example.net';
const IBAN = 'DE89370400440532013000';
const CARD = '4111 1111 1111 1111';
const PHONE = '+44 20 7946 0958';

const backend = await startBackend(FILE);
const it = await startScriptedChat(FILE, { env: { ALLOW_PRIVATE_ADDRESSES: 'true', LOG_LEVEL: 'debug' } });
const { operator } = it;
const action = {
  external_key: 'lookup',
  name: 'look_up',
  description: 'Looks somebody up.',
  method: 'POST',
  url_template: `${backend.url}/people`,
  body_template: '{"email": "{{param.email}}"}',
  params: [{ name: 'email', required: true }],
};
const saved = await operator('POST', `/apps/${it.app.appId}/actions`, { items: [action] });
assert.equal(saved.status, 200, saved.text);

/** Files under `dir` that hold the value. */
function holding(dir: string, value: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(value));
}

const seen = () => JSON.stringify(it.asked().map(({ messages }) => messages));

test('PRIVACY-1, PRIVACY-7: e-mail, phone, card and IBAN reach the model as numbered placeholders, the same value with the same number', async () => {
  it.script([{ text: 'Noted.' }], [{ text: 'Again.' }]);
  const first = await it.say(`I am ${EMAIL} (${PHONE}), card ${CARD}, account ${IBAN}, also ${OTHER}. Again: ${EMAIL}`);
  assert.match(seen(), /I am ⟦email_1⟧ \(⟦phone_1⟧\), card ⟦card_1⟧, account ⟦iban_1⟧, also ⟦email_2⟧\. Again: ⟦email_1⟧/);
  await it.say(`And ${OTHER}?`, { conversation_id: thread(first) });
  assert.match(seen(), /And ⟦email_2⟧\?/);
  for (const value of [EMAIL, OTHER, IBAN, CARD, PHONE]) assert.ok(!seen().includes(value), value);
});

test('PRIVACY-9: a placeholder that the model says in pieces is put back for its device, in the stream and in history', async () => {
  const pieces: Play[] = ['We wrote to ', '⟦', 'ema', 'il_', '1', '⟧', '. Not ⟦email_9⟧ and not ⟦', 'odd', ' text⟧.'].map((text) => ({
    text,
  }));
  it.script(pieces);
  const answer = await it.say(`Write to ${EMAIL}`);
  const words = `We wrote to ${EMAIL}. Not ⟦email_9⟧ and not ⟦odd text⟧.`;
  assert.equal(spoken(answer.events), words);
  assert.equal(readies(answer.events)[0]?.body.md, words);
  for (const event of answer.events) if (event.type === 'block.delta') assert.doesNotMatch(String(event.text_delta), /⟦email_1|ail_1⟧/);
  const [mine, told] = await it.stored(thread(answer));
  assert.equal(mine?.blocks[0]?.body.md, `Write to ${EMAIL}`);
  assert.equal(told?.blocks[0]?.body.md, words);
});

test('PRIVACY-11: a value is not put into a web address that the model writes, however it is split: a picture would send it away', async () => {
  const pieces = ['![a](https://else', 'where.example/?q=', '⟦ema', 'il_1⟧) but (⟦email_1⟧) and mailto:⟦email_1⟧'].map((text) => ({
    text,
  }));
  const card = { title: 'Hi', image: { url: 'https://elsewhere.example/⟦email_1⟧.png', alt: 'For ⟦email_1⟧' }, md: 'x', tone: 'info' };
  it.script([...pieces, { call: 'info_card', args: card }]);
  const client = { ...HANDSHAKE, components: ['text', 'info_card'] };
  const answer = await it.say(`I am ${EMAIL}`, { client });
  const words = `![a](https://elsewhere.example/?q=⟦email⟧) but (${EMAIL}) and mailto:⟦email⟧`;
  assert.equal(spoken(answer.events), words);
  const [text, shown] = readies(answer.events);
  assert.equal(text?.body.md, words.slice('!'.length));
  assert.deepEqual([shown?.block_type, shown?.body.image], ['info_card', undefined], answer.text);
});

test('PRIVACY-11: however Markdown spells an address, no reader of the turn gets a value in one: stream, replay and history', async () => {
  const spellings = [
    '![](//elsewhere.example/?X) X',
    '![](https:/elsewhere.example/?X) X',
    '![](https&#58;//elsewhere.example/?X) X',
    '![](<//elsewhere.example/? X>) X',
    '![](https://elsewhere.example/?[(X)]) X',
    '![e](//elsewhere.example/ "X") X',
    '![e]\n\n[e]: //elsewhere.example/?X\n\nX',
    '> ![](\n> //elsewhere.example/?X) X',
    '<img alt=">" src="//elsewhere.example/?X">\n\nX',
    '<div style="background:url(//elsewhere.example/?X)">\n\nX',
    'https://elsewhere.example/?(X) X',
    'www.elsewhere.example/?X X',
  ];
  for (const spelling of spellings) {
    const whole = spelling.replaceAll('X', '⟦email_1⟧');
    const turn = { turn_id: randomUUID() };
    it.script(Array.from(whole, (text) => ({ text })));
    const answer = await it.say(`I am ${EMAIL}`, turn);
    const replay = await it.client.send('GET', `/v1/chat/${turn.turn_id}`);
    const [, told] = await it.stored(thread(answer));
    const md = String(readies(answer.events)[0]?.body.md);
    const streamed = spoken(answer.events);
    assert.equal(defuseMarkdown(streamed), md);
    assert.equal(told?.blocks[0]?.body.md, md);
    assert.ok(replay.text.includes(JSON.stringify(md)));
    for (const shown of [streamed, md]) {
      const found = markdownAddresses(shown).filter(({ text, isBareMail }) => text.includes('ada') && !isBareMail);
      assert.deepEqual(found, [], shown);
    }
    assert.ok(md.endsWith(EMAIL), `${md}: in the words it is told`);
  }
});

test('PRIVACY-11: a form cannot make an address of what is filled in beside its names', async () => {
  const fields = [
    { name: 'a\n\n<link rel=stylesheet href="//elsewhere.example/?', label: 'A', type: 'text' },
    { name: 'mail', label: 'B', type: 'email' },
  ];
  it.script([{ call: 'form', args: { title: 'Contact', fields, submit_label: 'Send' } }], [{ text: 'Thanks.' }]);
  const first = await it.say('Hello');
  const [form] = readies(first.events);
  const values = { [fields[0]?.name ?? '']: 'x', mail: EMAIL };
  const sent = await it.chat({ conversation_id: thread(first), form_submission: { form_id: form?.id, values } });
  assert.equal(spoken(sent.events), 'Thanks.', sent.text);
  const said = (await it.stored(thread(first))).filter(({ role }) => role === 'user').at(-1)?.blocks[0]?.body.md;
  assert.match(String(said), /mail: ⟦email⟧/);
});

test('PRIVACY-9: a turn that is told again, live or from its rows, is told with the same words', async () => {
  it.script([{ text: 'To ⟦email_1⟧.' }]);
  const turn = { turn_id: randomUUID() };
  const first = await it.say(`I am ${EMAIL}`, turn);
  assert.deepEqual((await it.say(`I am ${EMAIL}`, turn)).events, first.events);
  const again = await it.client.send('GET', `/v1/chat/${turn.turn_id}`);
  assert.ok(again.text.includes(`To ${EMAIL}.`));
});

test('PRIVACY-10: text of the person that looks like a placeholder stays what it is', async () => {
  it.script([{ text: 'You said ⟦text_1⟧, and your address is ⟦email_1⟧.' }]);
  const said = `My address is ${EMAIL}; what does ⟦email_1⟧ mean? And ⟦card_7⟧?`;
  const answer = await it.say(said);
  assert.match(seen(), /My address is ⟦email_1⟧; what does ⟦text_1⟧ mean\? And ⟦text_2⟧\?/);
  assert.equal(spoken(answer.events), `You said ⟦email_1⟧, and your address is ${EMAIL}.`);
  assert.equal((await it.stored(thread(answer)))[0]?.blocks[0]?.body.md, said);
});

test('PRIVACY-12: params are restored before an action runs, on the client and on the server, and results are redacted', async () => {
  const manifest = {
    version: '1',
    actions: [
      { name: 'open_profile', description: 'Opens it.', params: { email: { type: 'string', required: true } } },
      {
        name: 'invite',
        description: 'Invites.',
        risk: 'write',
        confirm_template: 'Invite {email}?',
        params: { email: { type: 'string', required: true } },
      },
    ],
  };
  const client = { ...HANDSHAKE, manifest_hash: await it.client.register(manifest) };
  backend.answer((_, response) => sendJson(response, { found: OTHER, manager: EMAIL }));
  const args = { email: '⟦email_1⟧' };
  it.script(
    [{ call: 'look_up', args, id: 'call_look' }],
    [
      { call: 'open_profile', args, id: 'call_open' },
      { call: 'invite', args, id: 'call_invite' },
    ],
  );
  const first = await it.say(`Look up ${EMAIL}`, { client });
  assert.deepEqual(JSON.parse(backend.requests.at(-1)?.body ?? ''), { email: EMAIL });
  assert.match(it.toldOf('call_look'), /"found":"⟦email_2⟧","manager":"⟦email_1⟧"/);
  const execute = first.events.find((event) => event.type === 'action.execute');
  assert.deepEqual(execute?.params, { email: EMAIL });
  assert.deepEqual(
    (pendingOf(first) as readonly { params?: unknown }[]).map(({ params }) => params),
    [{ email: EMAIL }, { email: EMAIL }],
  );
  const card = readies(first.events).find(({ block_type }) => block_type === 'confirm_card');
  assert.equal(card?.body.summary, `Invite ${EMAIL}?`);
  it.script([{ text: 'Done.' }]);
  const [read, write] = pendingOf(first);
  await it.chat({
    client,
    conversation_id: thread(first),
    tool_results: [
      { invocation_id: read?.invocation_id, status: 'ok', result: { owner: 'new.person@example.com' } },
      { invocation_id: write?.invocation_id, status: 'declined' },
    ],
  });
  assert.match(it.toldOf('call_open'), /"owner":"⟦email_3⟧"/);
});

test('PRIVACY-4: context, forms and selections are redacted, too', async () => {
  const fields = [{ name: 'mail', label: 'E-mail', type: 'email', required: true }];
  it.script([{ call: 'form', args: { title: 'Contact', fields, submit_label: 'Send' } }], [{ text: 'Thanks, ⟦email_1⟧.' }]);
  const first = await it.say('I want to leave my address', { context: { app_state: { account: OTHER } } });
  assert.ok(!seen().includes(OTHER));
  const [form] = readies(first.events);
  const body = { conversation_id: thread(first), form_submission: { form_id: form?.id, values: { mail: EMAIL } } };
  const second = await it.chat(body);
  assert.match(spoken(second.events), /Thanks, (ada|grace)/);
  assert.ok(!seen().includes(EMAIL));
});

test('PRIVACY-4: names of fields and whole numbers are redacted in data, whoever sends it', async () => {
  const key = 'key.of.a.map@example.com';
  const card = 5_555_555_555_554_444;
  backend.answer((_, response) => sendJson(response, { [key]: { card, total: 1_042 } }));
  it.script([{ call: 'look_up', args: { email: 'nobody' }, id: 'call_look' }], [{ text: 'For ⟦email_1⟧.' }]);
  const answer = await it.say('Who?', { context: { app_state: { carts: { [key]: card } } } });
  assert.match(it.toldOf('call_look'), /\{"⟦email_1⟧":\{"card":"⟦card_1⟧","total":1042\}\}/);
  assert.ok(!seen().includes(key) && !seen().includes(String(card)));
  assert.equal(spoken(answer.events), `For ${key}.`);
  assert.deepEqual(holding(it.service.dataDir, key).concat(holding(it.service.dataDir, String(card))), [], 'files hold neither');
});

test('PRIVACY-4: the name of a file that is attached is redacted like its text, and told to its device', async () => {
  const name = `cv ${OTHER} +44 20 7946 0958.txt`;
  const { id } = await upload({ baseUrl: it.service.baseUrl, key: it.app.liveKey }, 'Hello', name);
  it.script([{ text: 'Read.' }], [{ text: 'Again.' }]);
  const first = await it.say('Read this', { attachments: [{ upload_id: id }] });
  await it.say('And?', { conversation_id: thread(first) });
  assert.ok(!/7946 0958|grace/.test(seen()), seen());
  const messages = (await it.stored(thread(first))) as readonly { attachments?: readonly { name: string }[] }[];
  assert.equal(messages[0]?.attachments?.[0]?.name, name);
});

test('PRIVACY-13: a retry shows the model an attachment with the placeholders it had, not as somebody’s own words', async () => {
  const { id } = await upload({ baseUrl: it.service.baseUrl, key: it.app.liveKey }, `Write to ${EMAIL}`, 'letter.txt');
  const turn = { turn_id: randomUUID(), attachments: [{ upload_id: id }] };
  it.script([{ status: 500 }], [{ text: 'To ⟦email_1⟧.' }]);
  assert.equal((await it.client.say('Read this', turn)).events.at(-1)?.status, 'error');
  const again = await it.client.say('Read this', turn);
  assert.match(JSON.stringify(it.lastRequest().messages), /Write to ⟦email_1⟧/);
  assert.equal(spoken(again.events), `To ${EMAIL}.`);
});

test('PRIVACY-13: a form is checked by what the person sent, and stored without it, numbers too', async () => {
  const fields = [
    { name: 'card', label: 'Card', type: 'number', required: true },
    { name: 'nick', label: 'Nickname', type: 'text', max: 12 },
  ];
  it.script([{ call: 'form', args: { title: 'Pay', fields, submit_label: 'Send' } }], [{ text: 'Thanks for ⟦card_1⟧.' }]);
  const first = await it.say('I want to pay');
  const submit = (values: object) =>
    it.client.chat({ conversation_id: thread(first), form_submission: { form_id: readies(first.events)[0]?.id, values } });
  const long = await submit({ card: 4111111111111111, nick: EMAIL });
  assert.match(long.text, /nick must be at most 12 characters/, 'its placeholder is shorter');
  const sent = await submit({ card: 4111111111111111, nick: 'Ada' });
  assert.equal(spoken(sent.events), 'Thanks for 4111111111111111.', sent.text);
  assert.match(JSON.stringify(it.lastRequest().messages.at(-1)), /card: ⟦card_1⟧/);
});

test('PRIVACY-13: an option is chosen by the id that was shown, also when the id looks like personal data', async () => {
  // The model's own: it is stored as it wrote it.
  const fixture = '+44 20 7946 0123';
  const options = [
    { id: fixture, label: 'By phone' },
    { id: '⟦email_1⟧', label: 'By mail' },
  ];
  for (const id of [fixture, EMAIL]) {
    it.script([{ call: 'choice', args: { prompt: 'How?', mode: 'single', options } }], [{ text: 'Fine.' }]);
    const first = await it.say(`I am ${EMAIL}`);
    const [block] = readies(first.events);
    const answer = await it.say('This one', { conversation_id: thread(first), selection: { block_id: block?.id, ids: [id] } });
    assert.equal(spoken(answer.events), 'Fine.');
    const shown = (await it.stored(thread(first))).flatMap(({ blocks }) => blocks).find((each) => each.id === block?.id);
    assert.deepEqual(shown?.body.selected_ids, [id]);
  }
});

test('PRIVACY-8, PRIVACY-9: operators see placeholders, and neither files nor logs hold the values', async () => {
  it.script([{ text: 'Hello ⟦email_1⟧.' }]);
  const answer = await it.say(`I am ${EMAIL}`);
  const shown = await operator('GET', `/conversations/${thread(answer)}?app=${it.app.appId}`);
  assert.equal(shown.status, 200, shown.text);
  assert.match(shown.text, /Hello ⟦email_1⟧/);
  assert.ok(!shown.text.includes(EMAIL));
  const values = [EMAIL, OTHER, IBAN, CARD, CARD.replaceAll(' ', ''), PHONE];
  for (const value of values) assert.deepEqual(holding(it.service.dataDir, value), [], value);
  const { stdout, stderr } = it.service.output();
  for (const value of [...values, '⟦']) assert.ok(!(stdout + stderr).includes(value), value);
});
