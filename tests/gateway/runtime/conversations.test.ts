/** GET /v1/conversations: the caller's own ones, newest first, paged, with title and time; callers without a device read back no values. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../../support/client.ts';
import { FILE } from '../../support/whole-file.ts';
import { startScriptedChat } from './scripted-chat.ts';
import { conversationOf, say, signedApp } from './signed-app.ts';

const chat = await startScriptedChat(FILE);
const it = await signedApp(chat.service, chat.app);

interface Page {
  readonly conversations: readonly { conversation_id: string; title: string; created_at: string; updated_at: string }[];
  readonly has_more: boolean;
}

async function list(client: Client, query = '', headers: Record<string, string> = {}): Promise<Page> {
  const { status, json, text } = await client.send('GET', `/v1/conversations${query}`, undefined, headers);
  assert.equal(status, 200, text);
  return json as Page;
}
const ids = ({ conversations }: Page) => conversations.map(({ conversation_id }) => conversation_id);
const signed = (name: string) => ({ 'X-Service-User': `${name}:${it.sign(name)}` });

test('HISTORY-7: a device’s own, those that something was said in last first, with the words of the person as title', async () => {
  const [device, other] = [it.newDevice(), it.newDevice()];
  const first = await say(chat, device, '  Where is my order?\nIt should be here. ');
  const second = await say(chat, device, `Write to ada@example.org ${'x'.repeat(90)}`);
  await say(chat, other, 'Not yours');
  assert.deepEqual(ids(await list(device)), [second, first]);
  await say(chat, device, 'And now?', { conversation_id: first });
  const { conversations, has_more } = await list(device);
  assert.deepEqual([conversations.map(({ conversation_id }) => conversation_id), has_more], [[first, second], false]);
  assert.equal(conversations[0]?.title, 'Where is my order?');
  assert.match(conversations[1]?.title ?? '', /^Write to ada@example\.org x+…$/);
  const [newest, oldest] = conversations;
  assert.ok((newest?.created_at ?? '') < (oldest?.created_at ?? '') && (newest?.updated_at ?? '') > (oldest?.updated_at ?? ''));
});

test('HISTORY-7: paged by limit and before, each once; has_more says whether there are more', async () => {
  const device = it.newDevice();
  const made: string[] = [];
  for (let n = 0; n < 5; n++) made.unshift(await say(chat, device, `Question ${n}`));
  const first = await list(device, '?limit=2');
  const second = await list(device, `?limit=2&before=${ids(first)[1]}`);
  const third = await list(device, `?limit=2&before=${ids(second)[1]}`);
  assert.deepEqual([...ids(first), ...ids(second), ...ids(third)], made);
  assert.deepEqual([first.has_more, second.has_more, third.has_more], [true, true, false]);
  assert.deepEqual(await list(device, `?before=${made[4]}`), { conversations: [], has_more: false });
  const strange = await list(it.newDevice(), `?before=${made[0]}`);
  assert.deepEqual(strange, { conversations: [], has_more: false });
  assert.equal((await device.send('GET', '/v1/conversations?limit=0')).status, 400);
});

test('HISTORY-8: a person’s are listed where they are identified, and on any device that their signature comes from', async () => {
  const [device, third] = [it.newDevice(), it.newDevice()];
  const anonymous = await say(chat, device, 'Hello');
  const ofAnn = await say(chat, device, 'Hello', { user: { id: 'ann', hmac: it.sign('ann') } });
  assert.deepEqual(ids(await list(device)), [ofAnn, anonymous], 'the device stands for nobody yet');
  assert.deepEqual(ids(await list(third)), []);
  assert.deepEqual(ids(await list(third, '', signed('ann'))), [ofAnn]);
  assert.deepEqual(ids(await list(third, '', signed('ben'))), []);
  await device.send('POST', '/v1/identify', { external_user_id: 'ben', user_hmac: it.sign('ben') });
  assert.deepEqual(ids(await list(device)), [anonymous], 'it is Ben’s now, and Ann’s are not shown to him');
  assert.deepEqual(ids(await list(third, '', signed('ben'))), [anonymous]);
  const testKey = it.device(device.headers['X-Service-Device'] ?? '', chat.app.testKey);
  assert.deepEqual(ids(await list(testKey)), []);
});

test('HISTORY-10, HISTORY-3: a caller erases a conversation of theirs for good, and nobody else’s', async () => {
  const [own, other] = [it.newDevice(), it.newDevice()];
  const [kept, gone] = [await say(chat, own, 'Keep this'), await say(chat, own, 'Forget this')];
  const erase = (device: typeof own, id: string, headers = {}) => device.send('DELETE', `/v1/conversations/${id}`, undefined, headers);
  assert.equal((await erase(other, gone)).status, 204, 'told as one that is not there');
  assert.deepEqual(ids(await list(own)), [gone, kept]);
  assert.equal((await erase(own, gone)).status, 204);
  assert.equal((await erase(own, gone)).status, 204);
  assert.deepEqual(ids(await list(own)), [kept]);
  const { text } = await own.send('GET', `/v1/conversations/${gone}/messages`);
  assert.ok(!text.includes('Forget this'));
  const ofAnn = await say(chat, own, 'Of Ann', { user: { id: 'ann', hmac: it.sign('ann') } });
  await erase(other, ofAnn, signed('ann'));
  assert.deepEqual(ids(await list(other, '', signed('ann'))).includes(ofAnn), false, 'who signs erases from any device');
  assert.equal((await it.device('').send('DELETE', `/v1/conversations/${kept}`)).status, 400);
});

test('HISTORY-8: a device that only names a person lists what was held on it, and nothing from other devices', async () => {
  const [own, other] = [it.newDevice(), it.newDevice()];
  const anonymous = await say(chat, own, 'Before');
  const named = await say(chat, own, 'Mail bob@example.org', { user: { id: 'bob' } });
  const others = await say(chat, own, 'Mine', { user: { id: 'eve' } });
  await other.send('POST', '/v1/identify', { external_user_id: 'bob' });
  assert.deepEqual(ids(await list(other)), []);
  const here = await say(chat, other, 'Here');
  assert.deepEqual(ids(await list(other)), [here]);
  await own.send('POST', '/v1/identify', { external_user_id: 'bob' });
  assert.deepEqual(ids(await list(own)), [named, anonymous], 'what was held on the device');
  assert.deepEqual(ids(await list(own)).includes(others), false);
  await other.send('POST', '/v1/identify', { external_user_id: 'bob', user_hmac: it.sign('bob') });
  assert.deepEqual(ids(await list(other)), [here, named, anonymous], 'a signature lists them all');
});

test('KEY-9: a caller without a device lists nothing and reads back no values, neither in the stream nor in the history', async () => {
  const nobody = it.device('');
  assert.equal((await nobody.send('GET', '/v1/conversations')).status, 400);
  chat.script([{ text: 'You are ⟦email_1⟧.' }], [{ text: 'You are ⟦email_1⟧.' }]);
  const answer = await nobody.say('I am ada@example.org. Who am I?');
  assert.match(answer.text, /You are ⟦email_1⟧\./);
  const path = `/v1/conversations/${conversationOf(answer)}/messages`;
  const { text } = await nobody.send('GET', path);
  assert.match(text, /I am ⟦email_1⟧\. Who am I\?/);
  const mine = { user: { id: 'cem', hmac: it.sign('cem') } };
  const known = await nobody.say('I am cem@example.org. Who am I?', mine);
  assert.match(known.text, /You are cem@example\.org\./, 'whoever signs is known without a device');
  const history = await nobody.send('GET', `/v1/conversations/${conversationOf(known)}/messages`, undefined, signed('cem'));
  assert.match(history.text, /I am cem@example\.org\./);
  const signing = (await nobody.send('GET', path, undefined, signed('cem'))).text;
  assert.match(signing, /I am ⟦email_1⟧\. Who am I\?/, 'a signature restores what its person said, and nobody else’s words');
});
