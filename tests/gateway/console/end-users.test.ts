/** The people of an app in the console: found, exported, erased. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../../support/client.ts';
import { FILE } from '../../support/whole-file.ts';
import { gate, startScriptedChat } from '../runtime/scripted-chat.ts';
import { say, shown, signedApp } from '../runtime/signed-app.ts';

const chat = await startScriptedChat(FILE);
const it = await signedApp(chat.service, chat.app);

async function identified(name: string, client: Client, traits?: Record<string, unknown>): Promise<string> {
  const answer = await client.send('POST', '/v1/identify', { external_user_id: name, user_hmac: it.sign(name), traits });
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { end_user_id: string }).end_user_id;
}

interface Listing {
  readonly end_users: readonly {
    readonly id: string;
    readonly external_user_id: string;
    readonly channel: string;
    readonly verified: boolean;
  }[];
  readonly next: string | null;
}

test('CONSOLE-14: pages of people, oldest first, found by external_user_id in both kinds of key', async () => {
  const live = await identified('list-1', it.newDevice());
  const other = await identified('list-2', it.newDevice());
  const sandbox = await it.device('e'.repeat(32), it.app.testKey).send('POST', '/v1/identify', { external_user_id: 'list-1' });
  const list = async (query: string) => (await it.operator('GET', `/end-users${query}`)).json as Listing;
  const first = await list('?limit=2');
  assert.deepEqual([first.end_users.map(({ id }) => id), first.next], [[live, other], other]);
  assert.deepEqual((await list(`?limit=2&after=${first.next}`)).end_users.length, 1);
  const found = (await list('?external_user_id=list-1')).end_users;
  assert.deepEqual(
    found.map(({ id, external_user_id, channel, verified }) => [id, external_user_id, channel, verified]),
    [
      [live, 'list-1', 'live', true],
      [(sandbox.json as { end_user_id: string }).end_user_id, 'list-1', 'test', false],
    ],
  );
  for (const query of ['?limit=0', '?external_user_id=', `?external_user_id=${'x'.repeat(129)}`]) {
    assert.equal((await it.operator('GET', `/end-users${query}`)).status, 400, query);
  }
});

test('CONSOLE-15: an export holds record, traits, devices and every conversation with its messages', async () => {
  const [phone, tablet] = [it.newDevice(), it.newDevice()];
  const id = await identified('export', phone, { plan: 'pro' });
  await identified('export', tablet);
  const first = await say(chat, phone, 'One');
  const second = await say(chat, tablet, 'Two');
  await say(chat, tablet, 'Three', { conversation_id: second });
  await say(chat, it.newDevice(), 'Somebody else’s');
  const person = await it.exported(id);
  const { end_user: record, traits, truncated } = person;
  assert.deepEqual([record.id, record.external_user_id, record.channel, record.verified], [id, 'export', 'live', true]);
  assert.deepEqual([traits, truncated], [{ plan: 'pro' }, false]);
  assert.deepEqual(
    person.devices.map(({ device_id }) => device_id),
    [phone, tablet].map((client) => client.headers['X-Service-Device']),
  );
  const words = person.conversations.map(({ conversation_id, messages }) => [
    conversation_id,
    ...messages.map(({ role, blocks }) => `${role}: ${blocks.map(({ body }) => body.md)}`),
  ]);
  const yes = 'assistant: Yes.';
  assert.deepEqual(words, [
    [first, 'user: One', yes],
    [second, 'user: Two', yes, 'user: Three', yes],
  ]);
});

test('CONSOLE-15: an export says why a turn failed, without keys and without what people wrote', async () => {
  const client = it.newDevice();
  const id = await identified('failed', client);
  const detail = `The engine is down for sk-proj-0123456789abcdefghijkl. You sent "${'my secret '.repeat(20)}".`;
  chat.script([{ status: 500, body: { error: { message: detail, type: 'server_error' } } }]);
  await client.say('Hello');
  const [conversation] = (await it.exported(id)).conversations;
  const [said] = conversation?.messages ?? [];
  const failure = said?.failure;
  assert.deepEqual(
    [said?.role, failure?.cause?.kind, failure?.cause?.status, failure?.cause?.code],
    ['user', 'broken', 500, 'server_error'],
  );
  assert.match(String(failure?.message), /^The answer could not be finished/);
  assert.match(String(failure?.cause?.detail), /The engine is down/);
  assert.doesNotMatch(JSON.stringify(failure), /sk-proj|secret/);
  assert.equal('snapshot' in (failure ?? {}), false);
});

test('CONSOLE-16: a person who is erased is gone from the console, from every device and from the next turn', async () => {
  const [client, tablet] = [it.newDevice(), it.newDevice()];
  const id = await identified('erase', client, { plan: 'platinum' });
  await identified('erase', tablet);
  const conversation = await say(chat, client, 'Forget me');
  const told = () => JSON.stringify(chat.lastRequest().messages);
  assert.match(told(), /platinum/);
  assert.equal((await shown(tablet, conversation)).length, 2);
  const answer = await it.operator('DELETE', `/end-users/${id}`);
  assert.deepEqual([answer.status, answer.json], [200, { erased: true, id, conversations: 1 }]);
  for (const device of [client, tablet]) assert.deepEqual(await shown(device, conversation), []);
  assert.equal((await it.operator('GET', `/end-users/${id}/export`)).status, 404);
  assert.equal((await it.operator('DELETE', `/end-users/${id}`)).status, 404);
  assert.notEqual(await say(chat, client, 'Who am I?', { conversation_id: conversation }), conversation);
  assert.doesNotMatch(told(), /platinum|Forget me/);
  assert.notEqual(await identified('erase', client), id, 'whoever comes back is somebody new');
});

test('CONSOLE-16: a turn that runs while its person is erased ends, and nothing of it is kept', async () => {
  const client = it.newDevice();
  const id = await identified('running', client);
  const paused = gate();
  const started = gate();
  const pause = {
    get wait() {
      started.open();
      return paused.wait;
    },
  };
  chat.script([{ text: 'Half ' }, pause, { text: 'and half.' }]);
  const turn = client.say('Slowly');
  await started.wait;
  assert.equal((await it.operator('DELETE', `/end-users/${id}`)).status, 200);
  paused.open();
  const { events } = await turn;
  assert.equal(events[0]?.type, 'turn.start');
  assert.notEqual(events.at(-1)?.status, 'completed');
  const again = await identified('running', client);
  assert.deepEqual((await it.exported(again)).conversations, []);
});

test('CONSOLE-14: a person of another app, and one that never was, are 404 not_found', async () => {
  const id = await identified('elsewhere', it.newDevice());
  const other = (await it.operator('GET', `/end-users/${id}x/export`)).json as { error: { code: string } };
  assert.equal(other.error.code, 'not_found');
  for (const [method, path] of [
    ['GET', '/export'],
    ['DELETE', ''],
  ] as const) {
    assert.equal((await it.operator(method, `/end-users/usr_${'0'.repeat(24)}${path}`)).status, 404);
  }
});
