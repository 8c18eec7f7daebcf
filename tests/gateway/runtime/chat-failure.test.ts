/** Turns that fail, are stopped, are left or have to wait. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createClient, HANDSHAKE, outline, spoken } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { fetchUntil } from '../../support/partial.ts';
import { readMetrics } from '../../support/process.ts';
import { said } from '../../support/upstream.ts';
import { FILE } from '../../support/whole-file.ts';
import { DONE, gate, readies, startScriptedChat, thread } from './scripted-chat.ts';

const it = await startScriptedChat(FILE);

for (const status of [429, 503, 529]) {
  test(`MODEL-16, CHAT-12: upstream ${status} before output is model_busy, and the same turn_id starts a new attempt`, async () => {
    it.script([{ status }], [{ text: 'Now.' }]);
    const turn = { turn_id: randomUUID() };
    const failed = await it.say('Hello', turn);
    assert.deepEqual(outline(failed.events), ['turn.start', 'error', 'turn.end']);
    assert.deepEqual([failed.events[1]?.code, failed.events[1]?.retryable, failed.events[2]?.status], ['model_busy', true, 'error']);
    const retried = await it.say('Hello', turn);
    assert.deepEqual([outline(retried.events), spoken(retried.events)], [DONE, 'Now.']);
    assert.equal(retried.events[0]?.message_id, failed.events[0]?.message_id);
    assert.equal(thread(retried), thread(failed));
    assert.equal(retried.events[0]?.seq, (failed.events.at(-1)?.seq ?? 0) + 1);
    assert.equal((await it.stored(thread(failed))).length, 2);
  });
}

test('HISTORY-7, CHAT-12: a failed turn that is sent again moves its conversation to the front', async () => {
  it.script([{ status: 503 }], [{ text: 'Other.' }], [{ text: 'Now.' }]);
  const turn = { turn_id: randomUUID() };
  const failed = await it.say('Hello', turn);
  const other = await it.say('Something else');
  await it.say('Hello', turn);
  const { json } = await it.client.send('GET', '/v1/conversations');
  const { conversations } = json as { conversations: { conversation_id: string }[] };
  assert.deepEqual(
    conversations.slice(0, 2).map(({ conversation_id }) => conversation_id),
    [thread(failed), thread(other)],
  );
});

test('CHAT-12: a failed turn that is sent again once more was said is asked with what was said up to it', async () => {
  it.script([{ status: 503 }], [{ text: 'Blue.' }], [{ text: 'Now.' }]);
  const turn = { turn_id: randomUUID() };
  const failed = await it.say('Which day is it?', turn);
  await it.say('Which colour is it?', { conversation_id: thread(failed) });
  const retried = await it.say('Which day is it?', turn);
  assert.equal(spoken(retried.events), 'Now.');
  const request = it.asked().at(-1);
  assert.deepEqual(request && said(request).map(({ content }) => content), ['Which day is it?']);
});

for (const [status, retryable] of [
  [400, false],
  [401, false],
  [403, false],
  [404, false],
  [500, true],
] as const) {
  test(`MODEL-16: upstream ${status} is internal, says nothing of the upstream, and is${retryable ? '' : ' not'} retryable`, async () => {
    it.script([{ status, body: { error: { message: 'secret upstream words', type: 'odd' } } }], [{ text: 'Now.' }]);
    const turn = { turn_id: randomUUID() };
    const { events, text } = await it.say('Hello', turn);
    assert.deepEqual(outline(events), ['turn.start', 'error', 'turn.end']);
    assert.deepEqual([events[1]?.code, events[1]?.retryable, events[2]?.status], ['internal', retryable, 'error']);
    assert.doesNotMatch(text, /secret upstream words/);
    // Who repeats it all the same costs no second request where that is in vain.
    await it.say('Hello', turn);
    assert.equal(it.asked().length, retryable ? 2 : 1);
  });
}

for (const [header, told] of [
  ['7', 7],
  ['0.2', 1],
  ['soon', undefined],
  ['86400', undefined],
] as const) {
  test(`MODEL-16: the Retry-After of an upstream's 429 is passed on as retry_after_s (${header})`, async () => {
    it.script([{ status: 429, headers: { 'Retry-After': header } }]);
    const { events } = await it.say('Hello');
    assert.deepEqual([events[1]?.code, events[1]?.retry_after_s], ['model_busy', told]);
  });
}

for (const [finish, flag] of [
  ['length', 'truncated'],
  ['content_filter', 'filtered'],
] as const) {
  test(`CHAT-19: turn.end says ${flag} where the model ended with ${finish}, and what was said stays`, async () => {
    it.script([{ text: 'The beginning' }, { finish }]);
    const answer = await it.say('Hello');
    assert.deepEqual(outline(answer.events), DONE);
    const end = answer.events.at(-1);
    assert.deepEqual([end?.status, end?.[flag], end?.billable], ['completed', true, true]);
    assert.equal((await it.stored(thread(answer)))[1]?.blocks[0]?.body.md, 'The beginning');
    it.script([{ text: 'Whole.' }]);
    const whole = (await it.say('Hello')).events.at(-1);
    assert.deepEqual([whole?.truncated, whole?.filtered], [undefined, undefined]);
  });
}

for (const [what, plays, retryable] of [
  ['ended with length', [{ finish: 'length' }], false],
  ['ended with content_filter', [{ finish: 'content_filter' }], false],
  ['said nothing', [], true],
  ['said white space', [{ text: ' \n ' }], true],
] as const) {
  test(`CHAT-20: a turn whose model ${what} before any word is an error and not an empty answer`, async () => {
    it.script(plays, [{ text: 'Now.' }]);
    const turn = { turn_id: randomUUID() };
    const { events } = await it.say('Hello', turn);
    assert.deepEqual(outline(events), ['turn.start', 'error', 'turn.end']);
    assert.deepEqual(
      [events[1]?.code, events[1]?.retryable, events[2]?.status, events[2]?.billable],
      ['internal', retryable, 'error', false],
    );
    if (retryable) assert.equal(spoken((await it.say('Hello', turn)).events), 'Now.');
  });
}

test('CHAT-20: a turn that used up its rounds without a word is an error', async () => {
  it.script(...Array.from({ length: 6 }, () => [{ call: 'search_knowledge', args: { query: 'returns' } }]));
  const { events } = await it.say('Hello');
  assert.deepEqual(outline(events), ['turn.start', 'error', 'turn.end']);
  assert.deepEqual([events[1]?.code, events[1]?.retryable, it.asked().length], ['internal', true, 6]);
});

test('CHAT-21: an upstream that breaks off is internal and retryable; blocks already sent stay until the retry answers', async () => {
  const { wait, open } = gate();
  it.script(
    [{ text: 'These words stay.' }, { call: 'key_points', args: '{"poi' }, { wait }, { reset: true }],
    [{ text: 'The whole answer.' }],
  );
  const turn = { turn_id: randomUUID() };
  const whole = it.say('Hello', turn);
  await fetchUntil(it.service.baseUrl, it.app.liveKey, turn.turn_id, '"block_type":"key_points"');
  open();
  const failed = await whole;
  const [error, end] = failed.events.slice(-2);
  assert.deepEqual([error?.type, error?.code, error?.retryable, end?.status], ['error', 'internal', true, 'error']);
  assert.equal(readies(failed.events)[0]?.body.md, 'These words stay.');
  const [, broken] = await it.stored(thread(failed));
  assert.deepEqual(broken?.blocks, readies(failed.events));
  const retried = await it.say('Hello', turn);
  assert.equal(spoken(retried.events), 'The whole answer.');
  const messages = await it.stored(thread(failed));
  assert.deepEqual([messages.length, messages[1]?.id], [2, broken?.id]);
  assert.deepEqual(messages[1]?.blocks, readies(retried.events));
  // The model that tries again is not shown what the failed attempt had said.
  assert.doesNotMatch(JSON.stringify(it.lastRequest().messages), /These words stay/);
});

test('CHAT-10: a turn_id that waits its turn is not shared with another body', async () => {
  const { wait, open } = gate();
  it.script([{ text: 'First.' }, { wait }], [{ text: 'Second.' }]);
  const turn = { turn_id: randomUUID() };
  const first = it.say('One', turn);
  const [started] = await fetchUntil(it.service.baseUrl, it.app.liveKey, turn.turn_id, 'First.');
  const conversation_id = started?.conversation_id;
  const waiting = { turn_id: randomUUID(), conversation_id };
  const second = it.say('Two', waiting);
  const same = it.say('Two', waiting);
  const waits = async () => (await readMetrics(it.service.baseUrl)).get('assistant_turns_waiting') === 1;
  await eventually(waits, undefined, () => 'one turn waits');
  const other = await it.client.chat({ message: { text: 'Something else' }, ...waiting });
  assert.deepEqual(outline(other.events), ['error', 'turn.end']);
  assert.match(other.text, /turn_id was used before/);
  open();
  await first;
  assert.equal(spoken((await second).events), 'Second.');
  assert.deepEqual((await same).events, (await second).events);
});

test('CHAT-18: stop ends the model, what was said stays, and only the turn’s device may', async () => {
  it.script([{ text: 'Said so far.' }, { wait: new Promise(() => {}) }], [{ text: 'Next.' }]);
  const turnId = randomUUID();
  const whole = it.say('Talk', { turn_id: turnId });
  await fetchUntil(it.service.baseUrl, it.app.liveKey, turnId, 'Said so far.');
  const stranger = createClient(it.service.baseUrl, it.app.liveKey, 'e'.repeat(32));
  assert.equal((await stranger.send('POST', `/v1/chat/${turnId}/stop`)).status, 404);
  assert.equal((await createClient(it.service.baseUrl, it.app.testKey).send('POST', `/v1/chat/${turnId}/stop`)).status, 404);
  const stop = await it.client.send('POST', `/v1/chat/${turnId}/stop`);
  assert.deepEqual([stop.status, (stop.json as { stopped: boolean }).stopped], [200, true]);
  const answer = await whole;
  assert.deepEqual(outline(answer.events), DONE);
  assert.deepEqual([answer.events.at(-1)?.status, answer.events.at(-1)?.stopped], ['completed', true]);
  assert.equal((await it.stored(thread(answer)))[1]?.blocks[0]?.body.md, 'Said so far.');
  assert.equal(((await it.client.send('POST', `/v1/chat/${turnId}/stop`)).json as { stopped: boolean }).stopped, false);
  assert.equal(spoken((await it.say('Go on', { conversation_id: thread(answer) })).events), 'Next.');
});

test('CHAT-7: three turns wait behind the running one, each sees the answers before it; a fourth is rate_limited', async () => {
  const { wait, open } = gate();
  it.script(
    [{ text: 'Hello.' }],
    [{ text: 'Answer 0.' }, { wait }],
    [{ text: 'Answer 1.' }],
    [{ text: 'Answer 2.' }],
    [{ text: 'Answer 3.' }],
  );
  const more = { conversation_id: thread(await it.say('Hello')) };
  const turnId = randomUUID();
  const running = it.say('Question 0', { ...more, turn_id: turnId });
  await fetchUntil(it.service.baseUrl, it.app.liveKey, turnId, 'Answer 0.');
  const behind = [1, 2, 3, 4].map((n) => it.client.say(`Question ${n}`, more));
  const refused = await Promise.race(behind);
  assert.deepEqual(outline(refused.events), ['error', 'turn.end']);
  assert.deepEqual([refused.events[0]?.code, refused.events[0]?.retryable], ['rate_limited', true]);
  open();
  await running;
  const answered = (await Promise.all(behind)).filter((answer) => answer !== refused);
  assert.deepEqual(answered.map((answer) => spoken(answer.events)).sort(), ['Answer 1.', 'Answer 2.', 'Answer 3.']);
  const said = it.lastRequest().messages.map((message) => message.content);
  assert.deepEqual(
    said.filter((content) => content.startsWith('Answer')),
    ['Answer 0.', 'Answer 1.', 'Answer 2.'],
  );
  assert.equal((await it.stored(more.conversation_id)).length, 10);
});

test('CHAT-11: a client that goes away does not stop its turn; the retry finds the answer, and the model was asked once', async () => {
  const { wait, open } = gate();
  it.script([{ text: 'First half, ' }, { wait }, { text: 'second half.' }]);
  const turnId = randomUUID();
  const leaving = new AbortController();
  const left = fetch(`${it.service.baseUrl}/v1/chat`, {
    method: 'POST',
    headers: { ...it.client.headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ turn_id: turnId, message: { text: 'Hello' }, client: HANDSHAKE }),
    signal: leaving.signal,
  }).then((response) => response.text());
  await fetchUntil(it.service.baseUrl, it.app.liveKey, turnId, 'First half');
  leaving.abort();
  await assert.rejects(left);
  open();
  const found = await it.say('Hello', { turn_id: turnId });
  assert.deepEqual([outline(found.events), spoken(found.events)], [DONE, 'First half, second half.']);
  assert.equal(it.asked().length, 1);
});
