/** Two processes on the same rows, each with its own actors: what one of them does to a conversation between the other's looks. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { OwnedElsewhere } from '../../../actors/turns/epoch.ts';
import { readTurn } from '../../../storage/conversations/turns.ts';
import { readOn } from './fixture.ts';
import { gate, readToEnd, ScriptedModel, turnsWorld } from './world.ts';

test('ACTION-7: a copy of a continuation that finds its results taken by the same turn, opened elsewhere, is that turn', async (t) => {
  const world = await turnsWorld(t);
  const [asksAgain, answers] = [gate(), gate()];
  const model = new ScriptedModel((asked) => {
    if (asked === 1) return { toolCalls: [{ id: 'call_1', name: 'look_up', arguments: '{}' }] };
    if (asked > 2) return { text: 'It is on its way.' };
    asksAgain.open();
    return { text: 'Too late.', after: answers.opened };
  });
  const [here, there] = [world.node('here', model), world.node('there', model)];
  const asked = await here.accept(world.command({ message: { text: 'look it up' } }));
  const end = (await readToEnd(asked.position)).at(-1);
  assert.equal(end?.data.status, 'awaiting_tool_results');
  const [{ invocation_id }] = end.data.pending as [{ invocation_id: string }];
  const conversation = { conversation_id: asked.conversationId };
  // Keeps the conversation busy there, so that the copy waits after it was looked up.
  await there.accept(world.command({ ...conversation, message: { text: 'And another thing.' } }));
  await asksAgain.opened;
  const continuation = world.command({ ...conversation, tool_results: [{ invocation_id, status: 'ok', result: {} }] });
  const copy = there.accept(continuation);
  const first = await readToEnd((await here.accept(continuation)).position);
  answers.open();
  const second = await readToEnd((await copy).position);
  assert.equal(first.at(-1)?.data.status, 'completed');
  assert.deepEqual(second, first);
  assert.equal(model.requests.length, 3);
});

test('CHAT-18: a stop of a turn whose process was lost is answered once the turn has its end in rows', async (t) => {
  const world = await turnsWorld(t);
  const never = gate();
  const model = new ScriptedModel(() => ({ after: never.opened }));
  const command = world.command({ message: { text: 'Hello' } });
  await world.node('lost', model).accept(command);
  const { appId, organisationId } = world;
  const caller = { organisationId, appId, channel: 'sandbox', deviceId: 'device', person: null } as const;
  assert.equal(await world.node('here', model).stop(caller, command.turnId), false);
  assert.equal(readTurn(world.db, appId, command.turnId)?.state, 'failed');
});

test('CHAT-18: a stop does not say that a turn has ended while a reader finds out that another node runs it', async (t) => {
  const world = await turnsWorld(t);
  const never = gate();
  const model = new ScriptedModel(() => ({ after: never.opened }));
  const command = world.command({ message: { text: 'Hello' } });
  await world.node('there', model).accept(command);
  const ownership = { self: 'here', process: 'here', isLost: () => false, mayTake: () => false };
  const here = world.node('here', model, { ownership });
  const { appId, organisationId } = world;
  const caller = { organisationId, appId, channel: 'sandbox', deviceId: 'device', person: null } as const;
  const reader = here.attach(caller, command.turnId);
  const stop = here.stop(caller, command.turnId);
  await assert.rejects(reader, OwnedElsewhere);
  await assert.rejects(stop, OwnedElsewhere);
});

/** The texts of the statements by which rows are read on the event loop while `work` is done. */
async function readsOf(t: TestContext, work: () => Promise<unknown>): Promise<string[]> {
  const reads: string[] = [];
  const driver = new Database(':memory:');
  const statement = Object.getPrototypeOf(driver.prepare('SELECT 1')) as Database.Statement;
  driver.close();
  for (const name of ['get', 'all'] as const) {
    const read = statement[name];
    t.mock.method(statement, name, function (this: Database.Statement, ...values: unknown[]) {
      reads.push(this.source);
      return read.apply(this, values);
    });
  }
  await work();
  t.mock.restoreAll();
  return reads;
}

test('STORE-26: a turn that wakes a conversation reads its row once, and rows of calls only where the model has called an action', async (t) => {
  const world = await turnsWorld(t);
  const model = new ScriptedModel((asked) =>
    asked === 2 ? { toolCalls: [{ id: 'call_1', name: 'look_up', arguments: '{}' }] } : { text: 'It is on its way.' },
  );
  const here = world.node('here', model);
  const { conversationId, position } = await here.accept(world.command({ message: { text: 'Hello' } }));
  await readToEnd(position);
  const say = async (text: string) =>
    readToEnd((await here.accept(world.command({ conversation_id: conversationId, message: { text } }))).position);
  const ofRow = (sql: string) => sql.includes('FROM conversations WHERE id = :id');
  const ofCalls = (sql: string) => /FROM invocations WHERE (?!conversation_id = conversations\.id)/.test(sql);
  const plain = await readsOf(t, () => say('look it up'));
  assert.deepEqual([plain.filter(ofRow).length, plain.filter(ofCalls).length], [1, 0]);
  const afterCall = await readsOf(t, () => say('And?'));
  assert.equal(afterCall.filter(ofRow).length, 1);
  assert.ok(afterCall.some(ofCalls));
  const told = model.requests.at(-1)?.messages.map(({ role, content }) => [role, role === 'tool' ? 'a result' : content]);
  assert.deepEqual(told?.slice(2), [
    ['user', 'look it up'],
    ['assistant', ''],
    ['tool', 'a result'],
    ['user', 'And?'],
  ]);
});

test('STREAM-5: while the model says nothing a ping comes every fifteen seconds', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const world = await turnsWorld(t);
  const [asked, never] = [gate(), gate()];
  const model = new ScriptedModel(() => {
    asked.open();
    return { after: never.opened };
  });
  const { position } = await world.node('here', model).accept(world.command({ message: { text: 'Hello' } }));
  await asked.opened;
  const pings = () =>
    readOn(position.source, position.fromSeq, Number.MAX_SAFE_INTEGER).frames.filter((frame) => frame.type === 'ping').length;
  for (const [ms, count] of [
    [14_999, 0],
    [1, 1],
    [14_999, 1],
    [1, 2],
  ] as const) {
    t.mock.timers.tick(ms);
    assert.equal(pings(), count);
  }
});
