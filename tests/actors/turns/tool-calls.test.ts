/** What the model is asked in one turn, and what its calls become. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnAnswer } from '../../../actors/turns/answer.ts';
import { TurnLog } from '../../../actors/turns/log.ts';
import { TurnRequests } from '../../../actors/turns/requests.ts';
import { ServerCalls } from '../../../actors/turns/server-calls.ts';
import { TurnSpending } from '../../../actors/turns/spending.ts';
import { ToolCalls } from '../../../actors/turns/tool-calls.ts';
import { ScriptedModel, turnsWorld } from './world.ts';

async function roundsOf(t: Parameters<typeof turnsWorld>[0]) {
  const world = await turnsWorld(t);
  const facts = world.facts(new ScriptedModel(() => ({})), 'cnv_1', world.command({ message: { text: 'Where is it?' } }), { isNew: true });
  const spending = new TurnSpending(facts);
  const requests = new TurnRequests(facts);
  const answer = new TurnAnswer(facts, new TurnLog(0, null));
  return { requests, calls: new ToolCalls(facts, answer, new ServerCalls(facts)), spending };
}

const call = (name: string, args = '{}') => ({ id: `call_${name}`, name, arguments: args });

test('ACTION-1: the first round asks with the words of the person, and what the app can do', async (t) => {
  const { requests, spending } = await roundsOf(t);
  const request = requests.next(0, spending);
  assert.deepEqual(request.messages, [{ role: 'user', content: 'Where is it?' }]);
  const names = request.tools.map(({ name }) => name);
  assert.ok(names.includes('look_up') && names.includes('cancel'));
});

test('ACTION-1, CONFIRM-1: a read waits for the client and a write for the person; both are rows of the next commit, once', async (t) => {
  const { calls, requests } = await roundsOf(t);
  const { serverCalls, waiting } = calls.sort([call('look_up'), call('cancel')], requests);
  assert.deepEqual([serverCalls, waiting], [0, { reads: 1, confirmations: 1 }]);
  const rows = calls.takeNewInvocations();
  assert.deepEqual(
    rows.map(({ name, executor, risk }) => [name, executor, risk]),
    [
      ['look_up', 'client', 'read'],
      ['cancel', 'client', 'write'],
    ],
  );
  assert.deepEqual(calls.takeNewInvocations(), []);
  assert.deepEqual(
    calls.pending().map(({ name, block_id }) => [name, block_id !== undefined]),
    [
      ['look_up', false],
      ['cancel', true],
    ],
  );
  assert.deepEqual(
    calls.executions().map(({ type }) => type),
    ['action.execute'],
  );
});

test('ACTION-2: what the model called that does not exist, or called wrongly, it is told in the next round, behind its own words', async (t) => {
  const { requests, calls, spending } = await roundsOf(t);
  requests.next(0, spending);
  requests.heard('Let me see. ');
  const { serverCalls, waiting } = calls.sort([call('nothing_of_the_kind')], requests);
  assert.deepEqual([serverCalls, waiting], [1, { reads: 0, confirmations: 0 }]);
  requests.remember(calls);
  const [, said, told] = requests.next(0, spending).messages;
  assert.deepEqual([said?.role, said?.content], ['assistant', 'Let me see. ']);
  assert.match(told?.content ?? '', /There is no tool called "nothing_of_the_kind"/);
});

test('LIMIT-16, LIMIT-17: a round that reports no usage is charged by its length, and a turn that failed for free by nothing', async (t) => {
  const { requests, spending } = await roundsOf(t);
  assert.equal(spending.charge(false), null);
  const request = requests.next(0, spending);
  assert.ok(request.messages.length > 0);
  spending.asked(request);
  spending.heard(8);
  spending.finished({ usage: undefined }, 0);
  const charge = spending.charge(true);
  assert.deepEqual([charge?.outputTokens, charge?.billed], [2, true]);
  assert.ok((charge?.inputTokens ?? 0) > 0);
});

test('MODEL-41: a round that is stopped is charged as the one’s that is asked in place of a model that is passed over', async (t) => {
  const { requests, spending } = await roundsOf(t);
  spending.asked(requests.next(0, spending));
  spending.passedOver('two');
  spending.heard(8);
  assert.deepEqual(spending.charge(true)?.model, 'two');
});

test('MODEL-41: a round that is stopped while a stand-in answers is charged as the stand-in’s', async (t) => {
  const { requests, spending } = await roundsOf(t);
  spending.asked(requests.next(0, spending));
  assert.equal(spending.mayFallBack(), true);
  spending.fellBack({ kind: 'busy', detail: 'later', model: 'one' }, 'two');
  spending.heard(8);
  const charge = spending.charge(true);
  assert.deepEqual([charge?.model, charge?.outputTokens], ['two', 2]);
  assert.deepEqual(
    [1, 2, 3, 4].map(() => spending.mayFallBack()),
    [true, true, true, false],
  );
});
