/** Whom a device is bound to, what is recorded of them, and which history becomes theirs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Client, createTestApp } from '../../support/client.ts';
import { FILE } from '../../support/whole-file.ts';
import { gate, startScriptedChat } from './scripted-chat.ts';
import { conversationOf, say, shown, signedApp } from './signed-app.ts';

const chat = await startScriptedChat(FILE);
const it = await signedApp(chat.service, chat.app);

async function identify(client: Client, body: Record<string, unknown>): Promise<{ end_user_id: string; verified: boolean }> {
  const answer = await client.send('POST', '/v1/identify', body);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as { end_user_id: string; verified: boolean };
}

const signed = (id: string) => ({ external_user_id: id, user_hmac: it.sign(id) });

test('PERSON-7: answers { end_user_id, verified }, one record per person whatever the device, one per kind of key', async () => {
  const first = await identify(it.newDevice(), { external_user_id: 'one-record' });
  assert.match(first.end_user_id, /^usr_[0-9a-hjkmnp-tv-z]{24}$/);
  assert.deepEqual(first, { end_user_id: first.end_user_id, verified: false });
  assert.deepEqual(await identify(it.newDevice(), { external_user_id: 'one-record', traits: null, user_hmac: null }), first);
  assert.deepEqual(await identify(it.newDevice(), signed('one-record')), { ...first, verified: true });
  const sandbox = await identify(it.device('f'.repeat(32), it.app.testKey), { external_user_id: 'one-record' });
  assert.notEqual(sandbox.end_user_id, first.end_user_id);
});

test('PERSON-8, PERSON-11: a malformed body is 400 naming the field', async () => {
  const wrong: readonly (readonly [Record<string, unknown>, string])[] = [
    [{}, 'external_user_id'],
    [{ external_user_id: '' }, 'external_user_id'],
    [{ external_user_id: 'x'.repeat(129) }, 'external_user_id'],
    [{ external_user_id: 7 }, 'external_user_id'],
    [{ external_user_id: 'a', traits: ['vip'] }, 'traits'],
    [{ external_user_id: 'a', traits: 'vip' }, 'traits'],
    [{ external_user_id: 'a', traits: { note: 'x'.repeat(8 * 1024) } }, 'traits'],
    [{ external_user_id: 'a', user_hmac: 7 }, 'user_hmac'],
  ];
  for (const [body, path] of wrong) {
    const answer = await it.newDevice().send('POST', '/v1/identify', body);
    const { error } = answer.json as { error: { code: string; details: { path: string }[] } };
    assert.deepEqual([answer.status, error.code, error.details[0]?.path], [400, 'invalid_request', path], answer.text);
  }
  await identify(it.newDevice(), { external_user_id: '🙂'.repeat(128), traits: { note: 'x'.repeat(8_000) } });
});

test('PERSON-8: a wrong signature, or none where the app requires one, is 403 and changes nothing', async () => {
  const { end_user_id: id } = await identify(it.newDevice(), { external_user_id: 'careful', traits: { tier: 'gold' } });
  const refused = async (client: Client, body: Record<string, unknown>) => {
    const answer = await client.send('POST', '/v1/identify', { external_user_id: 'careful', traits: { tier: 'none' }, ...body });
    const { error } = answer.json as { error: { code: string; message: string } };
    assert.deepEqual([answer.status, error.code], [403, 'invalid_request'], answer.text);
    assert.match(error.message, /lowercase hex HMAC-SHA256/);
  };
  await refused(it.newDevice(), { user_hmac: it.sign('somebody else') });
  await refused(it.newDevice(), { user_hmac: it.sign('careful').toUpperCase() });
  await refused(it.newDevice(), { user_hmac: '' });
  assert.deepEqual((await it.exported(id)).traits, { tier: 'gold' });
  const strict = await signedApp(
    chat.service,
    await createTestApp(chat.service.baseUrl, chat.service.operatorToken, { require_identity: true }),
  );
  const client = strict.device('1'.repeat(32));
  await refused(client, {});
  await refused(client, { user_hmac: it.sign('careful') });
  const body = { external_user_id: 'careful', user_hmac: strict.sign('careful') };
  assert.equal((await identify(client, body)).verified, true);
});

test('PERSON-9: the device’s anonymous history moves onto the user, who then has it on every bound device', async () => {
  const [phone, tablet, stranger] = [it.newDevice(), it.newDevice(), it.newDevice()];
  const anonymous = await say(chat, phone, 'Before I signed in');
  const elsewhere = await say(chat, stranger, 'Somebody else');
  await identify(tablet, signed('mover'));
  assert.deepEqual(await shown(tablet, anonymous), []);
  await identify(phone, signed('mover'));
  assert.equal((await shown(tablet, anonymous)).length, 2);
  assert.equal((await shown(phone, anonymous)).length, 2);
  assert.deepEqual(await shown(stranger, anonymous), []);
  assert.deepEqual(await shown(tablet, elsewhere), []);
  assert.equal(await say(chat, tablet, 'Going on', { conversation_id: anonymous }), anonymous, 'user omitted: as the device is bound');
  assert.notEqual(await say(chat, phone, 'Signed out', { conversation_id: anonymous, user: null }), anonymous);
});

test('PERSON-9: binding a device to another person leaves the first one’s conversations theirs', async () => {
  const [shared, own] = [it.newDevice(), it.newDevice()];
  await identify(own, signed('first'));
  await identify(shared, signed('first'));
  const firsts = await say(chat, shared, 'Mine');
  const nobodys = await say(chat, shared, 'Nobody’s', { user: null });
  const { end_user_id: second } = await identify(shared, signed('second'));
  assert.deepEqual(await shown(shared, firsts), []);
  assert.notEqual(await say(chat, shared, 'Whose is it?', { conversation_id: firsts }), firsts);
  assert.equal((await shown(own, firsts)).length, 2);
  assert.deepEqual(await shown(own, nobodys), []);
  const { conversations, devices: bound } = await it.exported(second);
  assert.equal(conversations[0]?.conversation_id, nobodys, 'what was anonymous is the second one’s now');
  assert.deepEqual(
    bound.map(({ device_id, proven }) => [device_id, proven]),
    [[shared.headers['X-Service-Device'], true]],
  );
});

test('PERSON-10: a record that was signed for is not touched without a signature, and its old device stands for nobody else', async () => {
  const [proven, intruder] = [it.newDevice(), it.newDevice()];
  const { end_user_id: id } = await identify(proven, { ...signed('guarded'), traits: { tier: 'gold' } });
  const guarded = await say(chat, proven, 'Secret');
  await identify(intruder, { external_user_id: 'intruder' });
  const intruders = await say(chat, intruder, 'As the intruder');
  const anonymous = await say(chat, intruder, 'As nobody', { user: null });
  const claim = { external_user_id: 'guarded', traits: { tier: 'none' } };
  assert.deepEqual(await identify(intruder, claim), { end_user_id: id, verified: false });
  const { traits, devices: bound, conversations } = await it.exported(id);
  assert.deepEqual(traits, { tier: 'gold' });
  assert.deepEqual(
    bound.map(({ device_id }) => device_id),
    [proven.headers['X-Service-Device']],
  );
  assert.deepEqual(
    conversations.map(({ conversation_id }) => conversation_id),
    [guarded],
  );
  assert.deepEqual(await shown(intruder, guarded), []);
  assert.notEqual(
    await say(chat, intruder, 'Who am I?', { conversation_id: intruders }),
    intruders,
    'whoever claims to be another is not the one before',
  );
  assert.equal(await say(chat, intruder, 'Nobody', { conversation_id: anonymous }), anonymous);
  // The device that proved it may repeat itself without a signature: it stays bound.
  assert.deepEqual(await identify(proven, { external_user_id: 'guarded' }), { end_user_id: id, verified: false });
  assert.equal(await say(chat, proven, 'Still me', { conversation_id: guarded }), guarded);
});

test('PERSON-11: traits are replaced when sent, kept when not, cleared by {}, and lie sealed on the disk', async () => {
  const client = it.newDevice();
  const { end_user_id: id } = await identify(client, { external_user_id: 'trait', traits: { city: 'Zwolle-Zuid', age: 7, tags: ['a'] } });
  const traits = async () => (await it.exported(id)).traits;
  assert.deepEqual(await traits(), { city: 'Zwolle-Zuid', age: 7, tags: ['a'] });
  const file = join(chat.service.dataDir, 'organisations', `${it.app.organisationId}.sqlite`);
  for (const path of [file, `${file}-wal`]) assert.equal(readFileSync(path).includes('Zwolle-Zuid'), false, path);
  await identify(client, { external_user_id: 'trait', traits: { age: 8 } });
  assert.deepEqual(await traits(), { age: 8 });
  await identify(client, { ...signed('trait') });
  assert.deepEqual(await traits(), { age: 8 });
  await identify(client, { ...signed('trait'), traits: {} });
  assert.deepEqual(await traits(), {});
});

test('PERSON-12: traits that nobody signed for reach the model in turns of the device that sent them, and in no other', async () => {
  const [own, stranger, silent] = [it.newDevice(), it.newDevice(), it.newDevice()];
  const hears = async (client: Client, more: Record<string, unknown> = {}) => {
    await say(chat, client, 'Hi', { user: { id: 'unsigned-traits', ...more } });
    return JSON.stringify(chat.lastRequest().messages).match(/TOLD-BY-[A-Z]+/g);
  };
  const { end_user_id: id } = await identify(own, { external_user_id: 'unsigned-traits', traits: { note: 'TOLD-BY-OWN' } });
  await identify(stranger, { external_user_id: 'unsigned-traits', traits: { note: 'TOLD-BY-STRANGER' } });
  assert.deepEqual(await hears(own), ['TOLD-BY-OWN'], 'a stranger’s call does not replace what the own device sent');
  assert.deepEqual(await hears(stranger), ['TOLD-BY-STRANGER']);
  assert.equal(await hears(silent), null);
  const kept = await it.exported(id);
  assert.deepEqual(kept.traits, { note: 'TOLD-BY-STRANGER' }, 'the newest');
  assert.deepEqual(
    kept.device_traits.map(({ device_id, traits }) => [device_id, traits.note]),
    [
      [own.headers['X-Service-Device'], 'TOLD-BY-OWN'],
      [stranger.headers['X-Service-Device'], 'TOLD-BY-STRANGER'],
    ],
  );
  await identify(stranger, { external_user_id: 'unsigned-traits', traits: {} });
  assert.deepEqual([await hears(own), await hears(stranger)], [['TOLD-BY-OWN'], null], '{} clears what this device sent');
  await identify(silent, { ...signed('unsigned-traits'), traits: { note: 'TOLD-BY-APP' } });
  const hmac = it.sign('unsigned-traits');
  for (const client of [own, stranger, silent])
    assert.deepEqual(await hears(client, { hmac }), ['TOLD-BY-APP'], 'a signature holds everywhere');
  assert.deepEqual((await it.exported(id)).device_traits, []);
});

test('PERSON-9: the conversation moves while its turn runs, and the turn ends as if nothing had happened', async () => {
  const [client, other] = [it.newDevice(), it.newDevice()];
  const { wait, open } = gate();
  const started = gate();
  const pause = {
    get wait() {
      started.open();
      return wait;
    },
  };
  chat.script([{ text: 'Half ' }, pause, { text: 'and half.' }], [{ text: 'Next.' }]);
  const turn = client.say('Slowly');
  await started.wait;
  await identify(client, signed('running'));
  open();
  const { events } = await turn;
  assert.deepEqual([events.at(-1)?.type, events.at(-1)?.status], ['turn.end', 'completed']);
  const conversationId = String(events[0]?.conversation_id);
  await identify(other, signed('running'));
  assert.equal((await shown(other, conversationId)).length, 2);
  assert.equal(conversationOf(await client.say('Again', { conversation_id: conversationId })), conversationId);
});

test('PERSON-7: many first calls at once make one record, whose traits can be read', async () => {
  const calls = Array.from({ length: 24 }, (_, n) => identify(it.newDevice(), { ...signed('at-once'), traits: { n } }));
  const ids = new Set((await Promise.all(calls)).map(({ end_user_id }) => end_user_id));
  assert.equal(ids.size, 1);
  const { traits, devices: bound } = await it.exported([...ids][0] ?? '');
  assert.deepEqual([typeof traits.n, bound.length], ['number', 24]);
});
