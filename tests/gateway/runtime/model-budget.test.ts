/**
 * What failed attempts cost counts for the day's budget, and the budget is looked at
 * before every round of the model but the one that tells a person how a confirmed write ended.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { dataLayout } from '../../../storage/data-layout.ts';
import { openReader } from '../../../storage/sqlite/database.ts';
import { HANDSHAKE, outline, type StreamAnswer } from '../../support/client.ts';
import { fetchUntil } from '../../support/partial.ts';
import type { Play } from '../../support/upstream.ts';
import { FILE } from '../../support/whole-file.ts';
import { confirm, handshake, MOVE } from './asked-write.ts';
import { gate, pendingOf, type ScriptedChat, startScriptedChat, thread, toolNames } from './scripted-chat.ts';

/** A round that says nothing costs 102 millionths of a dollar: 100 tokens in at 1 USD a million, 1 out at 2. */
const ROUND_USD = 0.000_102;
/** The service answers this itself, so that the model is asked again. */
const AGAIN: Play = { call: 'no_such_tool', args: {}, id: 'call_again' };
const READ: Play = { call: 'find_order', args: { id: '7' }, id: 'call_read' };
const NOTICES = { client: { ...HANDSHAKE, capabilities: ['notices'] } };

const shared = await startScriptedChat(FILE);
const budget = (rounds: number): Promise<ScriptedChat> => shared.withApp({ daily_model_budget_usd: rounds * ROUND_USD });

async function usageOf(it: ScriptedChat) {
  const { json } = await it.operator('GET', `/orgs/${it.app.organisationId}/usage`);
  const usage = json as { spent_usd: number; failed_usd: number; apps: { spent_usd: number; failed_usd: number }[] };
  assert.deepEqual([usage.spent_usd, usage.failed_usd], [usage.apps[0]?.spent_usd, usage.apps[0]?.failed_usd]);
  return { spent: usage.spent_usd, failed: usage.failed_usd };
}

/** Told in the stream before anything opened. */
function assertRefused({ events, text }: StreamAnswer): void {
  assert.deepEqual([outline(events), events[0]?.code, events[0]?.retryable], [['error', 'turn.end'], 'quota_exceeded', false], text);
}

test('LIMIT-17: an upstream that breaks in round two spends the day’s budget; credit is not drawn, usage shows both', async () => {
  const it = await budget(3);
  it.script([AGAIN], [{ reset: true }]);
  const failed = await it.say('Hello');
  assert.deepEqual([outline(failed.events).slice(-2), failed.events.at(-1)?.billable], [['error', 'turn.end'], false]);
  assert.deepEqual(await usageOf(it), { spent: 0, failed: ROUND_USD });
  it.script([AGAIN], [{ reset: true }]);
  await it.say('Hello');
  it.script([{ text: 'Fin.' }]);
  await it.say('Hello');
  assert.deepEqual(await usageOf(it), { spent: ROUND_USD, failed: 2 * ROUND_USD });
  assertRefused(await it.client.say('Hello'));
});

test('LIMIT-17, LIMIT-18: each attempt counts once, and a new one is not begun when the budget is spent', async () => {
  const it = await budget(2.5);
  const turn = { turn_id: randomUUID() };
  for (let attempt = 1; attempt <= 2; attempt++) {
    it.script([AGAIN], [{ reset: true }]);
    assert.equal((await it.client.say('Hello', turn)).events.at(-1)?.status, 'error');
    assert.deepEqual(await usageOf(it), { spent: 0, failed: attempt * ROUND_USD });
  }
  it.script([{ text: 'Fin.' }]);
  await it.say('Something else');
  it.script([{ text: 'Fin.' }]);
  assertRefused(await it.client.say('Hello', turn));
  assert.equal(it.asked().length, 0, 'the model is not asked');
  await it.operator('PATCH', `/apps/${it.app.appId}`, { daily_model_budget_usd: null });
  assert.equal((await it.client.say('Hello', turn)).events.at(-1)?.status, 'completed', 'it is begun once there is one');
});

test('LIMIT-18: the budget is looked at between the rounds of a turn', async () => {
  const it = await budget(2);
  it.script([{ text: 'Let me see.' }, AGAIN], [AGAIN], [{ text: 'Never asked.' }]);
  const stopped = await it.say('Hello');
  assert.deepEqual(outline(stopped.events), ['turn.start', 'block.start', 'block.delta', 'block.ready', 'error', 'turn.end']);
  assert.deepEqual([stopped.events.at(-2)?.code, stopped.events.at(-1)?.status], ['quota_exceeded', 'error']);
  assert.equal(it.asked().length, 2);
  const { spent, failed } = await usageOf(it);
  assert.ok(spent === 0 && failed >= 2 * ROUND_USD, 'the turn did not end well, so it draws no credit');
});

test('LIMIT-18, STREAM-12: a build that shows notices is told between rounds with one, and the turn is completed and free', async () => {
  const it = await budget(1);
  it.script([AGAIN], [{ text: 'Never asked.' }]);
  const { events } = await it.say('Hello', NOTICES);
  assert.deepEqual(outline(events), ['turn.start', 'notice', 'turn.end']);
  assert.deepEqual([events[1]?.reason, events[2]?.status, events[2]?.billable], ['spend_paused', 'completed', false]);
});

test('LIMIT-18: a continuation is refused once the budget is spent, and none of it is stored', async () => {
  const it = await budget(1);
  const more = await handshake(it.client);
  it.script([READ], [{ text: 'Never asked.' }]);
  const turn = await it.say('Where is it?', more);
  const results = [{ invocation_id: pendingOf(turn)[0]?.invocation_id, status: 'ok', result: { state: 'sent' } }];
  const body = { tool_results: results, conversation_id: thread(turn), turn_id: randomUUID(), ...more };
  assertRefused(await it.client.chat(body));
  assert.equal(it.asked().length, 1);
  await it.operator('PATCH', `/apps/${it.app.appId}`, { daily_model_budget_usd: null });
  assert.equal((await it.chat(body)).events.at(-1)?.status, 'completed', 'the same one is taken once there is a budget');
});

test('LIMIT-18: the round that tells how a confirmed write ended is asked whatever was spent, and is offered no action', async () => {
  const it = await budget(1);
  const more = await handshake(it.client);
  it.script([MOVE], [{ reset: true }], [{ text: 'It was moved.' }, MOVE], [{ text: 'Never asked.' }]);
  const turn = await it.say('Move it', more);
  const id = String(pendingOf(turn)[0]?.invocation_id);
  assert.equal((await confirm(it.client, id)).status, 200);
  const results = [{ invocation_id: id, status: 'ok', confirmed: true }];
  const body = { tool_results: results, conversation_id: thread(turn), turn_id: randomUUID(), ...more };
  assert.equal((await it.chat(body)).events.at(-1)?.status, 'error', 'the upstream breaks at first');
  const told = await it.chat(body);
  assert.match(told.text, /It was moved/);
  assert.equal(it.asked().length, 3, 'the new attempt tells it, and what it asks for more is not done');
  assert.equal(told.events.at(-2)?.code, 'quota_exceeded');
  assert.deepEqual(
    toolNames(it.lastRequest()).filter((name) => ['find_order', 'move_delivery', 'close_account', 'search_knowledge'].includes(name)),
    [],
  );
  assert.match(it.toldOf('call_move'), /"status":"ok"/);
});

test('LIMIT-18: a person who declined asks for nothing more of the budget', async () => {
  const it = await budget(1);
  const more = await handshake(it.client);
  it.script([MOVE], [{ text: 'Never asked.' }]);
  const turn = await it.say('Move it', more);
  const results = [{ invocation_id: pendingOf(turn)[0]?.invocation_id, status: 'declined' }];
  assertRefused(await it.client.chat({ tool_results: results, conversation_id: thread(turn), ...more }));
});

test('LIMIT-17: what a stopped turn is guessed to cost includes the definitions of its tools', async (t) => {
  const it = await shared.withApp();
  const { wait, open } = gate();
  t.after(open);
  it.script([{ text: 'One moment' }, { wait }]);
  const turnId = randomUUID();
  const running = it.client.say('Tell me', { turn_id: turnId });
  await fetchUntil(it.service.baseUrl, it.app.liveKey, turnId, 'One moment');
  assert.deepEqual((await it.client.send('POST', `/v1/chat/${turnId}/stop`)).json, { ok: true, stopped: true });
  await running;
  const { messages, tools } = it.lastRequest();
  const said = messages.reduce((sum, { content }) => sum + content.length, 0);
  const offered = (tools ?? []).reduce((sum, { function: { name, description, parameters } }) => {
    return sum + name.length + description.length + JSON.stringify(parameters).length;
  }, 0);
  assert.ok(offered > said, 'the tools are most of it');
  const db = openReader(dataLayout(it.service.dataDir).organisation(it.app.organisationId));
  const charged = db.statement('SELECT input_tokens FROM charges').get()?.input_tokens as number;
  db.close();
  const chars = charged * 4;
  assert.ok(chars >= said + offered && chars < 1.1 * (said + offered), `${chars} of ${said} and ${offered}`);
});

test('LIMIT-17: an attempt that breaks off in its answer costs what was asked and said, so that failing is not free', async () => {
  const it = await budget(20);
  const turn = { turn_id: randomUUID() };
  it.script([{ text: 'word '.repeat(4_800) }, { reset: true }]);
  const broken = await it.say('Hello', turn);
  assert.deepEqual([broken.events.at(-1)?.status, broken.events.at(-1)?.billable], ['error', false]);
  const { spent, failed } = await usageOf(it);
  assert.ok(spent === 0 && failed >= 0.012, `${failed} USD`);
  it.script([{ text: 'Never asked.' }]);
  assertRefused(await it.client.say('Hello', turn));
  assert.equal(it.asked().length, 0);
});

test('LIMIT-20: a turn that failed ten times is not tried again, and the stream says so', async () => {
  const it = await shared.withApp();
  const turn = { turn_id: randomUUID() };
  for (let attempt = 1; attempt <= 10; attempt++) {
    it.script([{ reset: true }]);
    const { events } = await it.say('Hello', turn);
    assert.equal(events.at(-2)?.retryable, attempt < 10, `attempt ${attempt}`);
    if (attempt === 10) assert.match(String(events.at(-2)?.message), /Send another message/);
  }
  it.script([{ text: 'Never asked.' }]);
  assert.equal((await it.client.say('Hello', turn)).events.at(-2)?.retryable, false, 'what was said is said again');
  assert.equal(it.asked().length, 0);
});
