/** Several tabs of one app: what a turn calls for is done where the person asked, or agreed, whichever tab leads. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { ToolResult } from '../../../protocol/runtime/chat.ts';
import type { ConversationState } from '../../../web/client/conversation/state.ts';
import { eventually } from '../../support/eventually.ts';
import { Tabbed } from './tabbed.ts';

const done = (by: string, agreed: object = {}) => [{ invocation_id: 'inv_1', status: 'ok', result: { by }, ...agreed }];

describe('CLIENT-32: a turn belongs to the tab that asked', () => {
  test('its manifest, its context and its actions are those of that tab, and so they are as it goes on', async (t) => {
    const tabbed = await new Tabbed(t).start();
    const first = await tabbed.open('first', ['move']);
    const second = await tabbed.open('second', ['look']);
    second.assistant.conversation.say('Look.');
    await tabbed.until(() => first.call()?.phase === 'settled');
    assert.deepEqual([tabbed.ran, tabbed.results], [['look in second'], done('second')]);
    const told = tabbed.chats.map(({ client, context }) => [client.manifest_hash, context?.current_screen?.name]);
    assert.deepEqual(told, [
      ['look', 'second-1'],
      ['look', 'second-2'],
    ]);
    first.assistant.conversation.say('Look.');
    await tabbed.until(() => tabbed.chats.length === 3);
    const [, , last] = tabbed.chats;
    assert.deepEqual([last?.client.manifest_hash, last?.context?.current_screen?.name], ['move', 'first-1']);
  });

  test('its manifest is registered again where the service has forgotten it: once, before the turn is tried again', async (t) => {
    const tabbed = await new Tabbed(t).start();
    await tabbed.open('first', ['move']);
    const second = await tabbed.open('second', ['look']);
    const { store } = second.assistant.conversation;
    const looks = () => tabbed.registered.filter((hash) => hash === 'look').length;
    tabbed.hasForgotten = true;
    second.assistant.conversation.say('Look.');
    await tabbed.until(() => store.get().context.turns.at(-1)?.hasEarlyRetried === true);
    await eventually(() => looks() === 2);
    tabbed.hasForgotten = false;
    await tabbed.until(() => second.call()?.phase === 'settled');
    assert.deepEqual(tabbed.results, done('second'));
    tabbed.hasForgotten = true;
    second.assistant.conversation.say('Look.');
    await tabbed.until(() => store.get().context.turns.at(-1)?.failure !== undefined);
    tabbed.hasForgotten = false;
    for (const name of ['third', 'fourth', 'fifth']) {
      const { assistant } = await tabbed.open(name, ['move']);
      await tabbed.until(() => assistant.conversation.store.get().context.turns.length > 0);
    }
    const asked = tabbed.chats.length;
    second.assistant.conversation.say('Look.');
    await tabbed.until(() => tabbed.chats.length > asked);
    // At first, for each turn, and where the tab saw how the second one was tried again.
    assert.ok(looks() === 3 || looks() === 4, `${looks()}`);
  });

  test('what runs in it goes on when the tab that leads is closed, and its result is sent once', async (t) => {
    const tabbed = await new Tabbed(t).start();
    const first = await tabbed.open('first');
    const second = await tabbed.open('second');
    tabbed.isHolding = true;
    second.assistant.conversation.say('Look.');
    await tabbed.until(() => tabbed.held.length === 1 && second.call()?.phase === 'running');
    await first.assistant.close();
    tabbed.held[0]?.();
    await tabbed.until(() => second.call()?.phase === 'settled');
    assert.deepEqual([tabbed.ran, tabbed.results], [['look in second'], done('second')]);
  });

  test('a read of the tab that led runs in the next one when it is closed', async (t) => {
    const tabbed = await new Tabbed(t).start();
    const first = await tabbed.open('first');
    const second = await tabbed.open('second');
    tabbed.isHolding = true;
    first.assistant.conversation.say('Look.');
    await tabbed.until(() => tabbed.held.length === 1 && second.call()?.phase === 'running');
    await first.assistant.close();
    tabbed.isHolding = false;
    await tabbed.until(() => second.call()?.phase === 'settled');
    assert.deepEqual([tabbed.ran, tabbed.results], [['look in first', 'look in second'], done('second')]);
  });

  test('when it is closed a read runs in the tab that leads, and is unavailable where that one has no such action', async (t) => {
    for (const actions of [['look'], []]) {
      const tabbed = await new Tabbed(t).start();
      const first = await tabbed.open('first', actions);
      const second = await tabbed.open('second');
      tabbed.isHolding = true;
      second.assistant.conversation.say('Look.');
      await tabbed.until(() => tabbed.held.length === 1);
      tabbed.isHolding = false;
      await second.assistant.close();
      await tabbed.until(() => first.call()?.phase === 'settled');
      assert.deepEqual(tabbed.results, actions.length === 0 ? [{ invocation_id: 'inv_1', status: 'unavailable' }] : done('first'));
    }
  });

  test('what was said or done in it is not lost where it is closed before it has looked around', async (t) => {
    for (const isSaid of [false, true]) {
      const tabbed = await new Tabbed(t).start();
      const first = await tabbed.open('first');
      const second = await tabbed.open('second');
      tabbed.isBlind = isSaid;
      tabbed.isHolding = true;
      second.assistant.conversation.say('Look.');
      if (isSaid) second.assistant.conversation.say('Move.');
      else {
        await tabbed.until(() => tabbed.held.length === 1);
        tabbed.isBlind = true;
        tabbed.held[0]?.();
        await setImmediate();
      }
      tabbed.isHolding = false;
      tabbed.isBlind = false;
      await second.assistant.close();
      const { store } = first.assistant.conversation;
      await tabbed.until(() => store.get().context.turns.some(({ payload }) => payload.tool_results !== undefined));
      await tabbed.until(() => first.call()?.phase === 'settled');
      const said = store.get().context.turns.flatMap(({ payload }) => payload.message?.text ?? []);
      assert.deepEqual([said, tabbed.results], isSaid ? [['Look.', 'Move.'], done('first')] : [['Look.'], done('second')]);
    }
  });

  test('one that sleeps keeps nobody waiting for longer than its action may take', async (t) => {
    const tabbed = await new Tabbed(t).start();
    const first = await tabbed.open('first');
    const second = await tabbed.open('second');
    tabbed.isHolding = true;
    second.assistant.conversation.mirror = () => {};
    second.assistant.conversation.say('Look.');
    await tabbed.until(() => first.call()?.phase === 'settled');
    assert.deepEqual([tabbed.ran, tabbed.results], [[], [{ invocation_id: 'inv_1', status: 'timeout' }]]);
  });
});

describe('CLIENT-32: what a person agreed to', () => {
  async function asked(t: TestContext) {
    const tabbed = await new Tabbed(t).start();
    const first = await tabbed.open('first');
    const second = await tabbed.open('second');
    first.assistant.conversation.say('Move.');
    await tabbed.until(() => second.call()?.phase === 'asking');
    return { tabbed, first, second };
  }

  test('is done in the tab where they agreed', async (t) => {
    const { tabbed, first, second } = await asked(t);
    second.assistant.conversation.confirm('inv_1');
    await tabbed.until(() => first.call()?.phase === 'settled');
    assert.deepEqual([tabbed.ran, tabbed.results], [['move in second'], done('second', { confirmed: true })]);
  });

  test('in another tab than asked goes on with what is in the tab that asked', async (t) => {
    const tabbed = await new Tabbed(t).start();
    await tabbed.open('first');
    const second = await tabbed.open('second', ['move']);
    const third = await tabbed.open('third');
    second.assistant.conversation.say('Move.');
    await tabbed.until(() => third.call()?.phase === 'asking');
    third.assistant.conversation.confirm('inv_1');
    await tabbed.until(() => tabbed.results.length === 1);
    const told = tabbed.chats.map(({ client, context }) => [client.manifest_hash, context?.current_screen?.name]);
    assert.deepEqual(tabbed.ran, ['move in third']);
    assert.deepEqual(told, [
      ['move', 'second-1'],
      ['move', 'second-1'],
    ]);
  });

  test('waits and says so where that tab was closed before it began, and is done where they agree again', async (t) => {
    const { tabbed, first, second } = await asked(t);
    tabbed.isSlow = true;
    second.assistant.conversation.confirm('inv_1');
    await tabbed.until(() => tabbed.untold.length === 1);
    await second.assistant.close();
    tabbed.isSlow = false;
    tabbed.untold[0]?.();
    await tabbed.until(() => first.call()?.phase === 'asking');
    assert.match(first.call()?.failure?.message ?? '', /tab where you agreed was closed/);
    assert.deepEqual([tabbed.ran, tabbed.results], [[], []]);
    first.assistant.conversation.confirm('inv_1');
    await tabbed.until(() => first.call()?.phase === 'settled');
    assert.deepEqual([tabbed.ran, tabbed.results], [['move in first'], done('first', { confirmed: true })]);
    assert.equal(new Set(tabbed.decisions).size, 1);
  });

  test('waits as well after the page was loaded again, until they agree again', async (t) => {
    for (const loads of [1, 2]) {
      const { tabbed, first, second } = await asked(t);
      tabbed.isSlow = true;
      second.assistant.conversation.confirm('inv_1');
      await tabbed.until(() => tabbed.untold.length === 1);
      await second.assistant.close();
      tabbed.untold[0]?.();
      await tabbed.until(() => first.call()?.phase === 'asking');
      let last = first;
      for (let load = 1; load <= loads; load++) {
        await last.assistant.close();
        last = await tabbed.open('loaded');
        await tabbed.until(() => tabbed.untold.length === 1 + load);
      }
      tabbed.isSlow = false;
      tabbed.untold.at(-1)?.();
      await tabbed.until(() => last.call()?.phase === 'asking' || tabbed.results.length > 0);
      assert.match(last.call()?.failure?.message ?? '', /tab where you agreed was closed/);
      assert.deepEqual([tabbed.ran, tabbed.results], [[], []]);
      last.assistant.conversation.confirm('inv_1');
      await tabbed.until(() => tabbed.results.length === 1);
      assert.deepEqual([tabbed.ran, tabbed.results], [['move in loaded'], done('loaded', { confirmed: true })]);
    }
  });

  test('is not told as late for a tab where they agreed before', async (t) => {
    const { tabbed, first, second } = await asked(t);
    tabbed.isSlow = true;
    second.assistant.conversation.confirm('inv_1');
    await tabbed.until(() => tabbed.untold.length === 1);
    await second.assistant.close();
    tabbed.isSlow = false;
    tabbed.untold[0]?.();
    await eventually(() => first.call()?.phase === 'asking');
    tabbed.clock.pass(5_500);
    tabbed.isHolding = true;
    first.assistant.conversation.confirm('inv_1');
    await eventually(() => tabbed.held.length === 1);
    tabbed.clock.pass(900);
    tabbed.held[0]?.();
    await tabbed.until(() => first.call()?.phase === 'settled');
    assert.deepEqual([tabbed.ran, tabbed.results], [['move in first'], done('first', { confirmed: true })]);
  });

  test('is told as not done in time of a tab that sleeps, which does not do it when it wakes', async (t) => {
    const { tabbed, first, second } = await asked(t);
    const { conversation } = second.assistant;
    const untold: ConversationState[] = [];
    conversation.mirror = (state) => void untold.push(state);
    conversation.confirm('inv_1');
    await tabbed.until(() => first.call()?.phase === 'settled');
    Reflect.deleteProperty(conversation, 'mirror');
    for (const state of untold) conversation.mirror(state);
    await setImmediate();
    assert.deepEqual([tabbed.ran, tabbed.results], [[], [{ invocation_id: 'inv_1', status: 'timeout', confirmed: true }]]);
  });

  test('is not known to be done or not where that tab sleeps and nothing can be kept', async (t) => {
    const { tabbed, first, second } = await asked(t);
    tabbed.isFull = true;
    const { conversation } = second.assistant;
    conversation.mirror = () => {};
    conversation.confirm('inv_1');
    await tabbed.until(() => first.call()?.phase === 'settled');
    // It may wake before it hears what was told, and does it then.
    const [{ status, error = '' }] = tabbed.results as [ToolResult];
    assert.equal(status, 'error');
    assert.match(error, /Whether it was done is not known/);
  });

  test('is done no second time where that tab was closed after it began: nobody knows', async (t) => {
    for (const { isLeader, isFull } of [{ isLeader: false }, { isLeader: true }, { isLeader: false, isFull: true }]) {
      const { tabbed, first, second } = await asked(t);
      tabbed.isFull = isFull === true;
      const [agreed, other] = isLeader ? [first, second] : [second, first];
      tabbed.isHolding = true;
      agreed.assistant.conversation.confirm('inv_1');
      await tabbed.until(() => tabbed.held.length === 1 && other.call()?.phase === 'running');
      await agreed.assistant.close();
      await tabbed.until(() => tabbed.results.length === 1 || other.call()?.phase === 'asking');
      assert.equal(tabbed.ran.length, 1);
      const [{ status, error = '' }] = tabbed.results as [ToolResult];
      assert.equal(status, 'error');
      assert.match(error, /Whether it was done is not known/);
    }
  });
});
