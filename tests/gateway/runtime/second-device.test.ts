/**
 * Besides the conversation's owner, the device that sent a turn may act on what it showed, and so may a signed
 * person on any device. Who else may not is in who-sees-what.test.ts.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { type Client, HANDSHAKE } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { FILE } from '../../support/whole-file.ts';
import { MANIFEST, MOVE } from './asked-write.ts';
import { gate, pendingOf, readies, startScriptedChat, thread } from './scripted-chat.ts';
import { conversationOf, type SignedApp, signedApp } from './signed-app.ts';

const RATING = { call: 'rating', args: { prompt: 'How was it?', scale: 5, style: 'stars' }, id: 'call_rating' };

const shared = await startScriptedChat(FILE);

/** Ann holds a conversation on her first device, and her second one sends a turn in it that shows a card and a rating. */
async function twoDevices(settings: Record<string, unknown> = {}) {
  const chat = await shared.withApp(settings);
  const it = await signedApp(chat.service, chat.app);
  const [first, second] = [it.newDevice(), it.newDevice()];
  const client = { ...HANDSHAKE, components: ['text', 'confirm_card', 'rating'], manifest_hash: await first.register(MANIFEST) };
  const user = { id: 'ann', hmac: it.sign('ann') };
  chat.script([{ text: 'Hello.' }]);
  const conversationId = conversationOf(await first.say('Hi', { client, user }));
  const ask = async (device: Client) => {
    chat.script([RATING, MOVE]);
    const turnId = randomUUID();
    const turn = await device.say('Move it', { client, user, conversation_id: conversationId, turn_id: turnId });
    assert.equal(thread(turn), conversationId, turn.text);
    const rating = readies(turn.events).find(({ block_type }) => block_type === 'rating');
    assert.ok(rating !== undefined, turn.text);
    const messageId = String(turn.events[0]?.message_id);
    return { turnId, messageId, ratingId: rating.id, invocationId: String(pendingOf(turn)[0]?.invocation_id) };
  };
  return { chat, it, first, second, user, client, conversationId, ask };
}

type Asked = Awaited<ReturnType<Awaited<ReturnType<typeof twoDevices>>['ask']>>;

const header = (it: SignedApp, id: string, signed = id) => ({ 'X-Service-User': `${encodeURIComponent(id)}:${it.sign(signed)}` });

/** Every way to act on what a turn showed, the card last: what each is answered with. */
async function actAll(device: Client, { turnId, messageId, ratingId, invocationId }: Asked, headers: Record<string, string> = {}) {
  const send = async (method: string, path: string, body?: unknown) => (await device.send(method, path, body, headers)).status;
  return {
    attach: await send('GET', `/v1/chat/${turnId}`),
    stop: await send('POST', `/v1/chat/${turnId}/stop`),
    feedback: await send('POST', '/v1/feedback', { message_id: messageId, rating: 1 }),
    rating: await send('POST', '/v1/ratings', { message_id: messageId, block_id: ratingId, value: 4 }),
    edit: await send('POST', `/v1/invocations/${invocationId}/edit`, { revision: 1, params: { day: 'tuesday' } }),
    confirm: await send('POST', `/v1/invocations/${invocationId}/confirm`, { decision: 'confirm' }),
  };
}

const everything = (status: number) => ({ attach: status, stop: status, feedback: status, rating: status, edit: status, confirm: status });

test('PERSON-13: the device that sent a turn acts on what it showed, whoever the conversation’s first device is', async () => {
  const { chat, second, ask, user, client, conversationId } = await twoDevices({ record_confirmations: true });
  const asked = await ask(second);
  assert.deepEqual(await actAll(second, asked), everything(200));
  // The write is possible from there, also where only the service's own record counts.
  chat.script([{ text: 'Moved.' }]);
  const results = [{ invocation_id: asked.invocationId, status: 'ok', confirmed: true }];
  const turn = await second.chat({ tool_results: results, client, user, conversation_id: conversationId });
  assert.equal(turn.events.at(-1)?.status, 'completed', turn.text);
  assert.doesNotMatch(chat.toldOf('call_move'), /declined/);
});

test('PERSON-16: the name of a person alone answers no card of another device, and the sender’s own still', async () => {
  const { chat, it, client } = await twoDevices();
  const [own, stranger] = [it.newDevice(), it.newDevice()];
  chat.script([MOVE], [MOVE]);
  const turn = await own.say('Move it', { client, user: { id: '42' } });
  const confirm = async (device: Client, shown: typeof turn) => {
    const path = `/v1/invocations/${pendingOf(shown)[0]?.invocation_id}/confirm`;
    return (await device.send('POST', path, { decision: 'decline' })).status;
  };
  const going = await stranger.say('And this', { client, user: { id: '42' }, conversation_id: conversationOf(turn) });
  for (const device of [own, stranger]) await device.send('POST', '/v1/identify', { external_user_id: '42' });
  assert.deepEqual([await confirm(stranger, turn), await confirm(stranger, going)], [404, 200]);
  assert.equal(await confirm(own, turn), 200);
});

test('PERSON-13: a device that is identified as one person acts on turns that it sends for another', async () => {
  const { it, second, ask } = await twoDevices();
  const identified = await second.send('POST', '/v1/identify', { external_user_id: 'ben', user_hmac: it.sign('ben') });
  assert.equal(identified.status, 200);
  const asked = await ask(second);
  // The app starts again and says once more who is signed in.
  await second.send('POST', '/v1/identify', { external_user_id: 'ben', user_hmac: it.sign('ben') });
  assert.deepEqual(await actAll(second, asked), everything(200));
});

test('PERSON-16: whoever is identified on the device later answers nothing in the name of the one before', async () => {
  const { it, second, ask } = await twoDevices();
  const asked = await ask(second);
  await second.send('POST', '/v1/identify', { external_user_id: 'ben', user_hmac: it.sign('ben') });
  const { attach, stop, ...answers } = await actAll(second, asked);
  assert.deepEqual([attach, stop], [200, 200], 'a turn stays its device’s, as it was');
  assert.deepEqual(answers, { feedback: 404, rating: 404, edit: 404, confirm: 404 });
});

test('PERSON-14: a signed person acts on their own turns from any device, with X-Service-User or user in the body', async () => {
  const { it, second, ask, conversationId, user } = await twoDevices();
  const third = it.newDevice();
  const shown = async (headers: Record<string, string>) => {
    const { json } = await third.send('GET', `/v1/conversations/${conversationId}/messages`, undefined, headers);
    return (json as { messages: unknown[] }).messages.length;
  };
  const asked = await ask(second);
  assert.deepEqual(await actAll(third, asked), everything(404));
  assert.deepEqual(await actAll(third, asked, header(it, 'ben')), everything(404));
  assert.deepEqual(await actAll(third, asked, header(it, 'ann', 'ben')), everything(404));
  assert.deepEqual([await shown({}), await shown(header(it, 'ben')), await shown(header(it, 'ann'))], [0, 0, 4]);
  assert.deepEqual(await actAll(third, asked, header(it, 'ann')), everything(200));
  const other = await ask(second);
  const confirm = (body: object) => third.send('POST', `/v1/invocations/${other.invocationId}/confirm`, { decision: 'confirm', ...body });
  const statuses = [
    (await confirm({ user: { id: 'ann' } })).status,
    (await confirm({ user: null })).status,
    (await confirm({ user })).status,
  ];
  assert.deepEqual(statuses, [404, 404, 200]);
});

test('PERSON-15: the conversation’s owner stops and follows a turn that runs on another device', async (t) => {
  const { chat, it, first, second, conversationId, user, client } = await twoDevices();
  await first.send('POST', '/v1/identify', { external_user_id: 'ann', user_hmac: it.sign('ann') });
  const { wait, open } = gate();
  t.after(open);
  chat.script([{ text: 'Let me see. ' }, { wait }]);
  const turnId = randomUUID();
  const running = second.say('And then?', { client, user, conversation_id: conversationId, turn_id: turnId });
  const openTurn = async () => {
    const { json } = await first.send('GET', `/v1/conversations/${conversationId}/messages`);
    return (json as { open: { turn?: { turn_id: string } } }).open.turn?.turn_id;
  };
  // Not once the model is asked, which may be before the turn is stored (CHAT-22).
  await eventually(async () => (await openTurn()) === turnId);
  const stopped = await first.send('POST', `/v1/chat/${turnId}/stop`);
  assert.deepEqual([stopped.status, stopped.json], [200, { ok: true, stopped: true }]);
  assert.equal((await running).events.at(-1)?.stopped, true);
  assert.equal((await first.send('GET', `/v1/chat/${turnId}`)).status, 200);
});

test('PERSON-18: what was erased is gone for the device that sent it and for the person', async () => {
  const { it, second, ask } = await twoDevices();
  const asked = await ask(second);
  const { json } = await it.operator('GET', '/end-users?external_user_id=ann');
  const [person] = (json as { end_users: { id: string }[] }).end_users;
  assert.equal((await it.operator('DELETE', `/end-users/${person?.id}`)).status < 300, true);
  assert.deepEqual(await actAll(second, asked), everything(404));
  assert.deepEqual(await actAll(second, asked, header(it, 'ann')), everything(404));
});

test('PERSON-14: X-Service-User is the percent-encoded id, a colon and the hmac; anything else is 400 naming the header', async () => {
  const { chat, it, second, client } = await twoDevices();
  const id = 'Zoë: 100 %/ünïcode 😀';
  chat.script([MOVE]);
  const turn = await second.say('Move it', { client, user: { id, hmac: it.sign(id) } });
  const path = `/v1/invocations/${pendingOf(turn)[0]?.invocation_id}/confirm`;
  const third = it.newDevice();
  const confirm = (value: string) => third.send('POST', path, { decision: 'decline' }, { 'X-Service-User': value });
  for (const value of [
    'ann',
    'ann:',
    `ann:${'A'.repeat(64)}`,
    `:${it.sign(id)}`,
    `%:${it.sign(id)}`,
    `${'x'.repeat(129)}:${it.sign(id)}`,
  ]) {
    const { status, text } = await confirm(value);
    assert.deepEqual([status, /"path":"X-Service-User"/.test(text)], [400, true], value);
  }
  assert.equal((await confirm(`${encodeURIComponent(id)}:${it.sign(id)}`)).status, 200);
});

test('CHAT-8: a turn that waits is stopped by whoever sent it or owns its conversation, and nothing of it is stored', async (t) => {
  const { chat, it, first, second, conversationId, user, client } = await twoDevices();
  const { wait, open } = gate();
  t.after(open);
  chat.script([{ text: 'One moment. ' }, { wait }, { text: 'Done.' }], [{ text: 'Third.' }]);
  const say = (device: Client, text: string, turnId: string) =>
    device.say(text, { client, user, conversation_id: conversationId, turn_id: turnId });
  const [runs, waits, alsoWaits, stays] = Array.from({ length: 4 }, () => randomUUID()) as [string, string, string, string];
  const running = say(first, 'Runs', runs);
  await eventually(() => chat.asked().length !== 0);
  const stopped = say(second, 'Waits', waits);
  const alsoStopped = say(second, 'Also waits', alsoWaits);
  const goesOn = say(second, 'Goes on', stays);
  const stop = (device: Client, turnId: string, headers = {}) => device.send('POST', `/v1/chat/${turnId}/stop`, undefined, headers);
  // Its request may not have come yet.
  let answer = await stop(second, waits);
  while (answer.status === 404) answer = await stop(second, waits);
  assert.deepEqual(answer.json, { ok: true, stopped: true });
  const { events } = await stopped;
  assert.deepEqual(
    events.filter(({ type }) => type !== 'ping').map(({ type, status, stopped, billable }) => [type, status, stopped, billable]),
    [['turn.end', 'completed', true, false]],
  );
  assert.equal((await stop(second, waits)).status, 404, 'there is no such turn any more');
  const third = it.newDevice();
  assert.equal((await stop(third, alsoWaits)).status, 404, 'a stranger stops nothing');
  assert.equal((await stop(third, alsoWaits, header(it, 'ben'))).status, 404);
  let signed = await stop(third, alsoWaits, header(it, 'ann'));
  while (signed.status === 404) signed = await stop(third, alsoWaits, header(it, 'ann'));
  assert.equal((await alsoStopped).events.at(-1)?.stopped, true);
  open();
  assert.match((await running).text, /Done\./);
  assert.match((await goesOn).text, /Third\./, 'who waits behind it has its place');
  const { text } = await first.send('GET', `/v1/conversations/${conversationId}/messages`);
  assert.doesNotMatch(text, /"Waits"|"Also waits"/);
});
