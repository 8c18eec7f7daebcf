/** A person changes a value on a card before confirming it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FILE } from '../../support/whole-file.ts';
import { type AskedWrite, askWrite, confirm, edit, errorOf, storedCard } from './asked-write.ts';
import { startScriptedChat, type WireBlock } from './scripted-chat.ts';

const it = await startScriptedChat(FILE);

interface Edited {
  readonly status: string;
  readonly revision: number;
  readonly block: WireBlock & { readonly revision: number };
}

interface Field {
  readonly param: string;
  readonly value: unknown;
  readonly error?: string;
}

const fieldsOf = ({ body }: WireBlock) => body.fields as readonly Field[];
const valuesOf = (block: WireBlock) =>
  Object.fromEntries(fieldsOf(block).flatMap(({ param, value }) => (value === undefined ? [] : [[param, value]])));

async function edited(write: AskedWrite, revision: number, params: unknown): Promise<Edited> {
  const { status, json, text } = await edit(it.client, write.id, revision, params);
  assert.equal(status, 200, text);
  return json as Edited;
}

async function refusal(write: AskedWrite, revision: unknown, params: unknown) {
  const answer = await it.client.send('POST', `/v1/invocations/${write.id}/edit`, { revision, params });
  const { code, message, details } = errorOf(answer);
  assert.deepEqual([answer.status, code], [400, 'invalid_request'], answer.text);
  return { message, paths: details?.map(({ path }) => path) };
}

test('CONFIRM-13: the card is drawn anew at the next revision, and that is what is confirmed', async () => {
  const write = await askWrite(it);
  const { status, revision, block } = await edited(write, 1, { day: 'tuesday' });
  assert.deepEqual([status, revision, block.revision, block.id], ['pending', 2, 2, write.card.id]);
  assert.deepEqual([block.body.summary, block.body.edit_state, block.body.status], ['Deliver 7 on tuesday?', 'idle', 'pending']);
  assert.equal(block.body.expires_at, write.card.body.expires_at, 'a change does not buy time');
  assert.deepEqual(valuesOf(block), { id: '7', day: 'tuesday' });
  assert.match(block.fallback_text ?? '', /Deliver 7 on tuesday\?/);
  assert.deepEqual(await storedCard(it, write), block, 'history shows the same');
  const again = await edited(write, 2, { note: 'Ring twice', day: 'monday' });
  assert.deepEqual([again.revision, valuesOf(again.block)], [3, { id: '7', day: 'monday', note: 'Ring twice' }]);
  const cleared = await edited(write, 3, { note: null });
  assert.deepEqual([cleared.revision, valuesOf(cleared.block)], [4, { id: '7', day: 'monday' }], 'null takes an optional value away');
  assert.deepEqual((await confirm(it.client, write.id)).status, 200);
  assert.deepEqual(
    [(await storedCard(it, write)).body.status, valuesOf(await storedCard(it, write))],
    ['confirmed', { id: '7', day: 'monday' }],
  );
});

test('CONFIRM-4: the sentence is drawn in the language that the person was asked in', async () => {
  const write = await askWrite(it, undefined, 'de');
  const { block } = await edited(write, 1, { day: 'tuesday' });
  assert.deepEqual([block.body.summary, block.body.confirm_label], ['7 am tuesday liefern?', 'Verschieben']);
});

test('CONFIRM-14: a stale revision is 400 with details, and the card stays as it is', async () => {
  const write = await askWrite(it);
  await edited(write, 1, { day: 'tuesday' });
  for (const revision of [1, 3]) assert.deepEqual((await refusal(write, revision, { day: 'monday' })).paths, ['revision']);
  const card = await storedCard(it, write);
  assert.deepEqual([card.body.edit_state, valuesOf(card).day], ['idle', 'tuesday']);
});

test('CONFIRM-14: a parameter that is unknown or not editable is 400 with details, and the card stays as it is', async () => {
  const write = await askWrite(it);
  assert.deepEqual((await refusal(write, 1, { id: '8', day: 'tuesday', colour: 'red', toString: 'x' })).paths, [
    'params.id',
    'params.colour',
    'params.toString',
  ]);
  const card = await storedCard(it, write);
  assert.deepEqual([card, card.body.edit_state], [{ ...write.card }, 'idle']);
  assert.equal((await confirm(it.client, write.id)).status, 200);
});

test('CONFIRM-15: after a bad value the card waits in rejected, for another change or a decline but not for a confirmation', async () => {
  const write = await askWrite(it);
  for (const [params, path] of [
    [{ day: 'sunday' }, 'params.day'],
    [{ day: 7 }, 'params.day'],
    [{ day: null }, 'params.day'],
  ] as const) {
    assert.deepEqual((await refusal(write, 1, params)).paths, [path]);
  }
  const card = await storedCard(it, write);
  assert.deepEqual([card.body.edit_state, card.body.status, valuesOf(card).day], ['rejected', 'pending', 'monday']);
  const [id, day] = fieldsOf(card);
  assert.deepEqual([id?.error, typeof day?.error], [undefined, 'string'], 'the field says what is wrong with it');
  const refused = await confirm(it.client, write.id);
  assert.deepEqual([refused.status, errorOf(refused).code], [400, 'invalid_request']);
  assert.deepEqual(await storedCard(it, write), card, 'and the card stays as it is');
  const { revision, block } = await edited(write, 1, { day: 'tuesday' });
  assert.deepEqual([revision, block.body.edit_state, fieldsOf(block).some(({ error }) => error !== undefined)], [2, 'idle', false]);
  assert.equal((await confirm(it.client, write.id)).status, 200);
});

test('CONFIRM-15: a card in rejected may be declined, and what is put back needs no new value', async () => {
  const declined = await askWrite(it);
  await refusal(declined, 1, { day: 'sunday' });
  assert.deepEqual((await confirm(it.client, declined.id, { decision: 'decline' })).json, { status: 'declined' });
  const card = await storedCard(it, declined);
  assert.deepEqual(
    [card.body.status, card.body.edit_state, fieldsOf(card).some(({ error }) => error !== undefined)],
    ['declined', 'idle', false],
  );
  const kept = await askWrite(it);
  await refusal(kept, 1, { day: 'sunday' });
  assert.deepEqual(valuesOf((await edited(kept, 1, {})).block), { id: '7', day: 'monday' });
  assert.equal((await confirm(it.client, kept.id)).status, 200);
});

test('CONFIRM-14: a card that was answered is not changed any more', async () => {
  for (const decision of ['confirm', 'decline']) {
    const write = await askWrite(it);
    await confirm(it.client, write.id, { decision });
    const before = await storedCard(it, write);
    assert.match((await refusal(write, 1, { day: 'tuesday' })).message, /answered: it is (confirmed|declined)/);
    assert.deepEqual(await storedCard(it, write), before);
  }
});

test('CONFIRM-14: an edit with a malformed body is 400', async () => {
  const write = await askWrite(it);
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`p${n}`, n]));
  for (const [revision, params, path] of [
    ['1', {}, 'revision'],
    [0, {}, 'revision'],
    [1.5, {}, 'revision'],
    [1, undefined, 'params'],
    [1, [], 'params'],
    [1, many, 'params'],
  ] as const) {
    assert.deepEqual((await refusal(write, revision, params)).paths, [path], JSON.stringify([revision, params]));
  }
});

test('CONFIRM-13, PRIVACY-9: a changed value is stored in placeholder form, and shown to its device as it was typed', async () => {
  const write = await askWrite(it);
  const note = 'Mail ada@example.com first';
  const { block } = await edited(write, 1, { note });
  assert.equal(valuesOf(block).note, note);
  assert.deepEqual(await storedCard(it, write), block);
  const transcript = await it.operator('GET', `/conversations/${write.conversationId}`);
  assert.equal(transcript.status, 200, transcript.text);
  assert.match(transcript.text, /Mail ⟦email_1⟧ first/);
  assert.doesNotMatch(transcript.text, /ada@example\.com/);
  assert.deepEqual(valuesOf((await edited(write, 2, { day: 'tuesday' })).block), { id: '7', day: 'tuesday', note });
});

test('CONFIRM-17: the model learns of changed values from the result; its own call is not rewritten', async () => {
  const write = await askWrite(it);
  await edited(write, 1, { day: 'tuesday' });
  await confirm(it.client, write.id);
  it.script([{ text: 'Done.' }]);
  const result = { invocation_id: write.id, status: 'ok', confirmed: true, result: { moved: true } };
  await it.chat({ ...write.more, conversation_id: write.conversationId, tool_results: [result] });
  const called = JSON.stringify(it.lastRequest().messages.flatMap(({ tool_calls }) => tool_calls ?? []));
  assert.match(called, /monday/);
  assert.doesNotMatch(called, /tuesday/);
  assert.match(it.toldOf('call_move'), /tuesday/);
});

test('CONFIRM-16: of changes sent together one is made, and every other is told that the card has moved on', async () => {
  const write = await askWrite(it);
  const answers = await Promise.all(Array.from({ length: 16 }, (_, n) => edit(it.client, write.id, 1, { note: `note ${n}` })));
  const made = answers.filter(({ status }) => status === 200);
  assert.deepEqual([made.length, answers.filter(({ status }) => status === 400).length], [1, 15]);
  const [{ block }] = made.map(({ json }) => json as Edited) as [Edited];
  assert.deepEqual(await storedCard(it, write), block);
});
