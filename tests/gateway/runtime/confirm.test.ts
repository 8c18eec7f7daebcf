/** What a person answers to a card. */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import { type Client, createClient, createTestApp, HANDSHAKE } from '../../support/client.ts';
import { said } from '../../support/upstream.ts';
import { FILE } from '../../support/whole-file.ts';
import { askWrite, confirm, edit, errorOf, handshake, MANIFEST, MOVE, storedCard } from './asked-write.ts';
import { pendingOf, readies, startScriptedChat } from './scripted-chat.ts';

const it = await startScriptedChat(FILE);

const CLOSE = { call: 'close_account', args: {}, id: 'call_close' };
const MISSING = 'inv_000000000000000000000000';

async function setApp(settings: Record<string, unknown>): Promise<void> {
  const { status, text } = await it.operator('PATCH', `/apps/${it.app.appId}`, settings);
  assert.equal(status, 200, text);
}

interface Recorded {
  readonly status: string;
  readonly already_answered?: boolean;
  readonly yours?: boolean;
  readonly receipt?: string;
}

async function recorded(id: string, decision: 'confirm' | 'decline'): Promise<Recorded> {
  const { status, json, text } = await confirm(it.client, id, { decision });
  assert.equal(status, 200, text);
  return json as Recorded;
}

test('CONFIRM-5: a confirmation is recorded once, and a later decline does not overwrite it', async () => {
  const write = await askWrite(it);
  const first = await recorded(write.id, 'confirm');
  assert.deepEqual([first.status, first.already_answered], ['confirmed', undefined]);
  assert.ok(typeof first.receipt === 'string' && first.receipt.length > 64, 'a confirmed call comes with its receipt');
  for (const decision of ['confirm', 'decline'] as const) {
    assert.deepEqual(await recorded(write.id, decision), { ...first, already_answered: true });
  }
  const card = await storedCard(it, write);
  assert.deepEqual([card.body.status, card.body.edit_state], ['confirmed', 'idle']);
  assert.match(card.fallback_text ?? '', /^Confirmed\./);
});

test('CONFIRM-5: a decline is recorded once, and a later confirmation does not overwrite it', async () => {
  const write = await askWrite(it);
  assert.deepEqual(await recorded(write.id, 'decline'), { status: 'declined' });
  for (const decision of ['confirm', 'decline'] as const) {
    assert.deepEqual(await recorded(write.id, decision), { status: 'declined', already_answered: true });
  }
  const card = await storedCard(it, write);
  assert.equal(card.body.status, 'declined');
  assert.match(card.fallback_text ?? '', /^Declined; nothing was done\./);
});

test('CONFIRM-24: a typed "yes" makes no second card: an equal call is answered with the card that waits, and the model told that words do not confirm', async () => {
  const write = await askWrite(it);
  const more = { ...write.more, conversation_id: write.conversationId };
  it.script([{ ...MOVE, args: { day: 'monday', id: '7' }, id: 'call_again' }], [{ text: 'Please press the button on the card.' }]);
  const turn = await it.say('Yes, do it', more);
  assert.match(
    it.asked()[0]?.messages.find(({ role }) => role === 'tool')?.content ?? '',
    /A card for move_delivery .* waits for its button/,
  );
  assert.match(it.toldOf('call_again'), /A card for move_delivery .* waits for its button.*words do not confirm it\. Do not call it again/);
  assert.deepEqual([turn.events.at(-1)?.status, readies(turn.events).map(({ block_type }) => block_type)], ['completed', ['text']]);

  // In one round, too; other values are another card.
  it.script([
    MOVE,
    { ...MOVE, id: 'call_tuesday', args: { id: '7', day: 'tuesday' } },
    { ...MOVE, id: 'call_twice', args: { id: '7', day: 'tuesday' } },
  ]);
  const other = await it.say('On Tuesday, too', more);
  assert.deepEqual(
    pendingOf(other).map(({ name }) => name),
    ['move_delivery'],
  );

  // What was declined may be asked again.
  await recorded(write.id, 'decline');
  it.script([MOVE]);
  assert.equal(pendingOf(await it.say('On second thoughts: do', more)).length, 1);
});

test('MODEL-42: a card that is confirmed after a later question is told behind what was answered since, once', async () => {
  const write = await askWrite(it);
  const more = { ...write.more, conversation_id: write.conversationId };
  it.script([{ text: 'Two days.' }]);
  await it.say('How long does it take?', more);
  it.script([{ text: 'It is moved.' }]);
  const tool_results = [{ invocation_id: write.id, status: 'ok', confirmed: true, result: { moved: true } }];
  const turn = await it.chat({ ...more, tool_results });
  assert.equal(turn.events.at(-1)?.status, 'completed', turn.text);
  const messages = said(it.lastRequest());
  const words = messages.map(({ role, content, tool_calls: calls }) => `${role}: ${content}${calls === undefined ? '' : ' +'}`);
  assert.deepEqual(words.slice(0, -1), ['user: Please do it', 'user: How long does it take?', 'assistant: Two days. +']);
  const last = messages.at(-1);
  assert.deepEqual([last?.role, last?.tool_call_id], ['tool', MOVE.id]);
  assert.match(String(last?.content), /"moved":true/);
});

test('CONFIRM-24: a card whose values the person changed answers the call that made it, and one with its new values', async () => {
  const write = await askWrite(it);
  const more = { ...write.more, conversation_id: write.conversationId };
  assert.equal((await edit(it.client, write.id, 1, { day: 'tuesday' })).status, 200);
  for (const day of ['monday', 'tuesday']) {
    it.script([{ ...MOVE, args: { id: '7', day } }], [{ text: 'It waits for you.' }]);
    assert.equal((await it.say('Yes', more)).events.at(-1)?.status, 'completed', day);
  }
});

test('CONFIRM-24: a call of an action that is declared otherwise by now is another one, with a card of its own', async () => {
  const write = await askWrite(it);
  const actions = MANIFEST.actions.map((each) => (each.name === MOVE.call ? { ...each, confirm_template: 'Really deliver {id}?' } : each));
  const manifest_hash = await it.client.register({ version: '2', actions });
  it.script([MOVE]);
  const turn = await it.say('Yes', { client: { ...HANDSHAKE, manifest_hash }, conversation_id: write.conversationId });
  assert.equal(pendingOf(turn).length, 1, turn.text);
});

test('CONFIRM-8: a result "ok" without confirmed: true after a recorded yes is not told as if the person had declined', async () => {
  const write = await askWrite(it);
  await recorded(write.id, 'confirm');
  it.script([{ text: 'I do not know whether it was done.' }]);
  await it.chat({ ...write.more, conversation_id: write.conversationId, tool_results: [{ invocation_id: write.id, status: 'ok' }] });
  const told = it.toldOf('call_move');
  assert.match(told, /The person agreed to move_delivery.*It is not known whether it was done/);
  assert.doesNotMatch(told, /declined/);
});

test('CONFIRM-23: a later answer that names its decision is told whether that is the recorded one', async () => {
  const write = await askWrite(it);
  const answer = async (decision: string, decision_id?: string) =>
    (await confirm(it.client, write.id, { decision, decision_id })).json as Recorded;
  const first = await answer('confirm', 'decision-1');
  assert.equal(first.yours, undefined);
  for (const [decision, id, yours] of [
    ['confirm', 'decision-1', true],
    ['decline', 'decision-1', true],
    ['confirm', 'decision-2', false],
    ['confirm', undefined, undefined],
  ] as const) {
    assert.deepEqual(await answer(decision, id), { ...first, already_answered: true, ...(yours === undefined ? {} : { yours }) });
  }
  const other = await askWrite(it);
  await recorded(other.id, 'decline');
  const late = await confirm(it.client, other.id, { decision: 'decline', decision_id: 'decision-1' });
  assert.deepEqual(late.json, { status: 'declined', already_answered: true, yours: false }, 'an answer that named none is nobody’s');
  for (const decision_id of ['', 'a b', 'ä', 7, 'x'.repeat(65)]) {
    const refused = await confirm(it.client, write.id, { decision: 'confirm', decision_id });
    assert.deepEqual([refused.status, errorOf(refused).details?.[0]?.path], [400, 'decision_id'], String(decision_id));
  }
});

test('CONFIRM-12: confirm with a malformed decision, or of a read, is 400', async () => {
  const write = await askWrite(it);
  for (const body of [{}, { decision: 'yes' }, { decision: null }, { decision: 'confirm', typed: 7 }, [], '"confirm"', '{']) {
    const answer = await confirm(it.client, write.id, body);
    assert.deepEqual([answer.status, errorOf(answer).code], [400, 'invalid_request'], JSON.stringify(body));
  }
  it.script([{ call: 'find_order', args: { id: '7' } }]);
  const [read] = pendingOf(await it.say('Where is it?', await handshake(it.client)));
  const answer = await confirm(it.client, String(read?.invocation_id));
  assert.deepEqual([answer.status, errorOf(answer).code], [400, 'invalid_request']);
  assert.match(errorOf(answer).message, /read action/);
  assert.equal((await storedCard(it, write)).body.status, 'pending', 'none of it answered the card');
});

test('CONFIRM-12, KEY-7: a missing call and one of another device, app or kind of key are the same 404, byte for byte', async () => {
  const write = await askWrite(it);
  const other = await createTestApp(it.service.baseUrl, it.service.operatorToken);
  const foreign = (key: string, device?: string) => createClient(it.service.baseUrl, key, device);
  const callers: [string, Client, string][] = [
    ['missing', it.client, MISSING],
    ['no id', it.client, 'x'],
    ['other device', foreign(it.app.liveKey, 'b'.repeat(32)), write.id],
    ['other key', foreign(it.app.testKey), write.id],
    ['other app', foreign(other.liveKey), write.id],
  ];
  const texts = new Set<string>();
  for (const [what, client, id] of callers) {
    for (const path of ['confirm', 'edit']) {
      const body = path === 'confirm' ? { decision: 'confirm' } : { revision: 1, params: {} };
      const answer = await client.send('POST', `/v1/invocations/${id}/${path}`, body);
      assert.deepEqual([answer.status, errorOf(answer).code], [404, 'invalid_request'], what);
      texts.add(answer.text);
    }
  }
  assert.equal(texts.size, 1);
  assert.equal((await storedCard(it, write)).body.status, 'pending');
});

test('CONFIRM-10: type_to_confirm must be typed; a mismatch is 400 and leaves the card pending', async () => {
  const write = await askWrite(it, CLOSE);
  assert.equal(write.card.body.type_to_confirm, 'Café zu');
  for (const typed of [undefined, '', 'café zu', 'Café', 'Café  zu']) {
    const answer = await confirm(it.client, write.id, { decision: 'confirm', ...(typed === undefined ? {} : { typed }) });
    assert.deepEqual([answer.status, errorOf(answer).details?.[0]?.path], [400, 'typed'], String(typed));
  }
  assert.equal((await storedCard(it, write)).body.status, 'pending');
  const answer = await confirm(it.client, write.id, { decision: 'confirm', typed: ' Cafe\u0301 zu\n' });
  assert.deepEqual([answer.status, (answer.json as Recorded).status], [200, 'confirmed'], 'white space and composition do not matter');
});

test('CONFIRM-10: a decline needs nothing typed', async () => {
  const write = await askWrite(it, CLOSE);
  assert.deepEqual(await recorded(write.id, 'decline'), { status: 'declined' });
});

test('CONFIRM-4: the card speaks the language of the handshake, its labels too', async () => {
  for (const [locale, summary, yes, no] of [
    ['de-AT', '7 am monday liefern?', 'Verschieben', 'Lassen'],
    ['fr', 'Deliver 7 on monday?', 'Move it', 'Leave it'],
    [undefined, 'Deliver 7 on monday?', 'Move it', 'Leave it'],
  ] as const) {
    const { card } = await askWrite(it, undefined, locale);
    assert.deepEqual([card.body.summary, card.body.confirm_label, card.body.decline_label], [summary, yes, no], String(locale));
  }
});

/** What counts: the record, or where none is required the client's word (CONFIRM-9). */
const MATRIX = [false, true].flatMap((recordRequired) =>
  [null, 'confirm', 'decline'].flatMap((answered) =>
    [true, false, undefined].map((confirmed) => {
      const onRecord = answered === 'confirm' && (recordRequired || confirmed === true);
      const onTrust = answered === null && !recordRequired && confirmed === true;
      return { recordRequired, answered, confirmed, isDone: onRecord || onTrust };
    }),
  ),
);

test('CONFIRM-8, CONFIRM-9: a success counts only with a recorded confirmation, or confirmed: true where none is required', async () => {
  for (const recordRequired of [false, true]) {
    await setApp({ record_confirmations: recordRequired });
    for (const { answered, confirmed, isDone } of MATRIX.filter((each) => each.recordRequired === recordRequired)) {
      const write = await askWrite(it);
      if (answered !== null) await recorded(write.id, answered as 'confirm' | 'decline');
      it.script([{ text: 'Noted.' }]);
      const result = { invocation_id: write.id, status: 'ok', result: { moved: true }, ...(confirmed === undefined ? {} : { confirmed }) };
      const body = { ...write.more, conversation_id: write.conversationId, tool_results: [result] };
      const answer = await it.client.chat(body);
      const what = JSON.stringify({ recordRequired, answered, confirmed });
      assert.equal(answer.events.at(-1)?.status, 'completed', what);
      const undone =
        answered === 'confirm' ? /agreed to move_delivery, and the app did not report it/ : /declined move_delivery\. It was not done/;
      assert.match(it.toldOf('call_move'), isDone ? /"moved":true/ : undone, what);
      // Also what came as a result is answered by now: the endpoint says what was recorded.
      const { status, already_answered } = await recorded(write.id, 'decline');
      const shown = answered === 'confirm' || isDone ? 'confirmed' : 'declined';
      assert.deepEqual([status, already_answered], [shown, true], what);
      assert.equal((await storedCard(it, write)).body.status, shown, what);
    }
  }
  await setApp({ record_confirmations: false });
});

/** The claims of a receipt, its signature checked as a backend does it. */
async function claimsOf(receipt: string): Promise<Record<string, unknown>> {
  const { json } = await it.operator('GET', `/apps/${it.app.appId}/identity-secret`);
  const [header = '', payload = '', signature] = receipt.split('.');
  const wanted = createHmac('sha256', (json as { identity_secret: string }).identity_secret).update(`${header}.${payload}`);
  assert.equal(signature, wanted.digest('base64url'));
  return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
}

test('CONFIRM-19: the receipt is over invocation, action, the values as they were changed, person and time', async () => {
  const write = await askWrite(it, undefined, undefined, { user: { id: 'ada' } });
  await edit(it.client, write.id, 1, { day: 'tuesday', note: 'Call +49 30 901820, mail ada@example.com' });
  const before = Date.now();
  const { receipt = '' } = await recorded(write.id, 'confirm');
  const { confirmed_at, iat, ...claims } = await claimsOf(receipt);
  const params = { day: 'tuesday', id: '7', note: 'Call +49 30 901820, mail ada@example.com' };
  const params_sha256 = createHash('sha256').update(JSON.stringify(params)).digest('hex');
  assert.deepEqual(claims, { jti: write.id, sub: 'ada', sub_verified: false, action: 'move_delivery', params_sha256, recorded: true });
  assert.ok(Math.abs(Date.parse(String(confirmed_at)) - before) < 60_000);
  assert.equal(iat, Math.floor(Date.parse(String(confirmed_at)) / 1_000));
  const anonymous = await askWrite(it);
  const { sub } = await claimsOf((await recorded(anonymous.id, 'confirm')).receipt ?? '');
  assert.equal(sub, undefined, 'somebody who is not signed in has no id');
});

/** A continuation that says `ok` and confirmed for the write; `more`: of its result. */
async function trusted(write: Awaited<ReturnType<typeof askWrite>>, more: Record<string, unknown> = {}) {
  it.script([{ text: 'Noted.' }]);
  const result = { invocation_id: write.id, status: 'ok', confirmed: true, result: { moved: true }, ...more };
  return it.client.chat({ ...write.more, conversation_id: write.conversationId, tool_results: [result] });
}

test('CONFIRM-21: a receipt says whether the service recorded the answer, or only the client says that there was one', async () => {
  const write = await askWrite(it);
  const [begun] = (await trusted(write)).events;
  const [given] = (begun?.receipts ?? []) as readonly { receipt: string }[];
  assert.equal((await claimsOf(given?.receipt ?? '')).recorded, false);
  assert.equal((await claimsOf((await recorded(write.id, 'confirm')).receipt ?? '')).recorded, false, 'and so it stays');
});

test('CONFIRM-10: words that have to be typed are never taken on trust, whatever the app records', async () => {
  const write = await askWrite(it, CLOSE);
  await trusted(write);
  assert.match(it.toldOf('call_close'), /declined close_account\. It was not done/);
  const other = await askWrite(it, CLOSE);
  const typed = await confirm(it.client, other.id, { decision: 'confirm', typed: 'Café zu' });
  assert.equal((await claimsOf((typed.json as Recorded).receipt ?? '')).recorded, true);
  await trusted(other);
  assert.match(it.toldOf('call_close'), /"moved":true/);
});

test('CONFIRM-11: a confirmation that names another revision than the card has is 409 with the card, and leaves it as it is', async () => {
  const write = await askWrite(it);
  await edit(it.client, write.id, 1, { day: 'tuesday', note: 'ada@example.com' });
  const stale = await confirm(it.client, write.id, { decision: 'confirm', revision: 1 });
  assert.deepEqual([stale.status, errorOf(stale).code, errorOf(stale).details?.[0]?.path], [409, 'conflict', 'revision']);
  assert.deepEqual((errorOf(stale) as { block?: unknown }).block, await storedCard(it, write), 'as its device is shown it');
  const continued = await trusted(write, { revision: 1 });
  const [error] = continued.events;
  assert.deepEqual([error?.type, error?.code], ['error', 'conflict'], continued.text);
  assert.deepEqual(error?.block, await storedCard(it, write));
  assert.equal((await storedCard(it, write)).body.status, 'pending');
  for (const revision of [0, 1.5, '2']) {
    assert.equal((await confirm(it.client, write.id, { decision: 'confirm', revision })).status, 400, String(revision));
  }
  assert.equal((await confirm(it.client, write.id, { decision: 'confirm', revision: 2 })).status, 200);
  assert.equal((await trusted(write, { revision: 2 })).events.at(-1)?.status, 'completed');
});

test('CONFIRM-11: a decline needs no revision, and a result that names none is taken as before', async () => {
  const write = await askWrite(it);
  await edit(it.client, write.id, 1, { day: 'tuesday' });
  assert.equal((await confirm(it.client, write.id, { decision: 'decline', revision: 1 })).status, 200);
  const other = await askWrite(it);
  assert.equal((await trusted(other)).events.at(-1)?.status, 'completed');
});

test('KEY-4: confirmation of a suspended app reports quota_exceeded, and the card stays', async () => {
  const write = await askWrite(it);
  await setApp({ suspended: true });
  const calls = [
    await confirm(it.client, write.id),
    await it.client.send('POST', `/v1/invocations/${write.id}/edit`, { revision: 1, params: {} }),
  ];
  await setApp({ suspended: false });
  for (const answer of calls) assert.deepEqual([answer.status, errorOf(answer).code], [403, 'quota_exceeded']);
  assert.equal((await storedCard(it, write)).body.status, 'pending');
});
