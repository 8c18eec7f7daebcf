/** Several tabs of one app, of which the one that leads stops, as behind a dialog of its page: another one leads, and nothing is lost or done twice. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { type Tab, Tabbed } from './tabbed.ts';

const done = (by: string, agreed: object = {}) => [{ invocation_id: 'inv_1', status: 'ok', result: { by }, ...agreed }];
const stateIn = ({ assistant }: Tab) => assistant.conversation.store.get().context;

/** Ten seconds, from when a tab asked the one that leads for something. */
async function silent({ clock }: Tabbed): Promise<void> {
  await eventually(() => clock.waitingMs.includes(10_000));
  clock.pass(10_000);
}

describe('CLIENT-35: a tab that leads and has stopped', () => {
  /** The second tab runs what it was asked for, and the first one, which leads, hears nothing any more. */
  async function stopped(t: TestContext, text: string) {
    const tabbed = await new Tabbed(t).start();
    const first = await tabbed.open('first');
    const second = await tabbed.open('second');
    tabbed.isHolding = true;
    second.assistant.conversation.say(text);
    if (text === 'Move.') {
      await tabbed.until(() => second.call()?.phase === 'asking');
      second.assistant.conversation.confirm('inv_1');
    }
    await tabbed.until(() => tabbed.held.length === 1);
    return { tabbed, first, second, wake: first.stop() };
  }

  test('keeps no outcome from the service: the tab that ran the action leads from then on, and the other follows it once it wakes', async (t) => {
    for (const [text, agreed] of [
      ['Look.', {}],
      ['Move.', { confirmed: true }],
    ] as const) {
      const { tabbed, first, second, wake } = await stopped(t, text);
      tabbed.held[0]?.();
      await tabbed.until(() => second.call()?.phase === 'settled');
      wake();
      await tabbed.until(() => first.call()?.phase === 'settled');
      assert.deepEqual(tabbed.results[0], done('second', agreed)[0]);
      assert.equal(tabbed.ran.length, 1);
      const before = tabbed.chats.length;
      first.assistant.conversation.say('Look.');
      await tabbed.until(() => tabbed.chats.length > before);
      const { turns } = second.assistant.conversation.store.get().context;
      assert.ok(
        turns.some(({ turnId }) => turnId === tabbed.chats.at(-1)?.turn_id),
        'sent by the tab that leads now',
      );
    }
  });

  test('keeps no outcome from a tab that was opened meanwhile, and leads then', async (t) => {
    const { tabbed, second } = await stopped(t, 'Move.');
    const third = await tabbed.open('third');
    third.assistant.conversation.say('Look.');
    await eventually(() => tabbed.clock.waitingMs.includes(10_000));
    tabbed.held[0]?.();
    await tabbed.until(() => second.call()?.phase === 'settled');
    assert.deepEqual([tabbed.ran[0], tabbed.results[0]], ['move in second', done('second', { confirmed: true })[0]]);
  });

  test('loses its place only where it is silent for ten seconds', async (t) => {
    const { tabbed, first, second, wake } = await stopped(t, 'Look.');
    tabbed.held[0]?.();
    await setImmediate();
    await setImmediate();
    tabbed.clock.pass(9_000);
    wake();
    await tabbed.until(() => second.call()?.phase === 'settled');
    assert.deepEqual([tabbed.ran, tabbed.results], [['look in second'], done('second')]);
    tabbed.clock.pass(10_000);
    // It leads still: what is said there is sent by itself.
    second.stop();
    const before = tabbed.chats.length;
    first.assistant.conversation.say('Move.');
    await tabbed.until(() => tabbed.chats.length > before);
  });

  test('tells once it wakes what came of an action that it had begun, and the action runs once', async (t) => {
    for (const [text, agreed] of [
      ['Look.', {}],
      ['Move.', { confirmed: true }],
    ] as const) {
      const tabbed = await new Tabbed(t).start();
      const first = await tabbed.open('first');
      const second = await tabbed.open('second');
      tabbed.isHolding = true;
      first.assistant.conversation.say(text);
      if (text === 'Move.') {
        await tabbed.until(() => first.call()?.phase === 'asking');
        first.assistant.conversation.confirm('inv_1');
      }
      await tabbed.until(() => tabbed.held.length === 1 && second.call()?.phase === 'running');
      const wake = first.stop();
      second.assistant.conversation.say('And then?');
      await silent(tabbed);
      await tabbed.until(() => stateIn(second).turns.some(({ payload }) => payload.message?.text === 'And then?'));
      // It ends before the tab hears that it leads no more.
      tabbed.held[0]?.();
      await setImmediate();
      wake();
      await tabbed.until(() => second.call()?.phase === 'settled');
      const name = text === 'Look.' ? 'look' : 'move';
      assert.deepEqual([tabbed.ran, tabbed.results], [[`${name} in first`], done('first', agreed)]);
      await tabbed.until(() => first.call()?.phase === 'settled');
    }
  });

  test('is not waited for where it sleeps for longer than its action may take: nobody knows, and it does nothing again when it wakes', async (t) => {
    const tabbed = await new Tabbed(t).start();
    const first = await tabbed.open('first');
    const second = await tabbed.open('second');
    tabbed.isHolding = true;
    first.assistant.conversation.say('Move.');
    await tabbed.until(() => first.call()?.phase === 'asking');
    first.assistant.conversation.confirm('inv_1');
    await tabbed.until(() => tabbed.held.length === 1 && second.call()?.phase === 'running');
    const wake = first.stop();
    second.assistant.conversation.say('And then?');
    await silent(tabbed);
    await tabbed.until(() => tabbed.results.length === 1);
    tabbed.held[0]?.();
    wake();
    await tabbed.until(() => first.call()?.phase === 'settled');
    assert.deepEqual(tabbed.ran, ['move in first']);
    assert.match(tabbed.results[0]?.error ?? '', /Whether it was done is not known/);
    assert.equal(tabbed.results.length, 1);
  });

  test('opens no conversation that another tab asks for: that one does, and what was said goes there', async (t) => {
    for (const id of ['cnv_0', undefined]) {
      const tabbed = await new Tabbed(t).start();
      const first = await tabbed.open('first');
      const second = await tabbed.open('second');
      first.assistant.conversation.say('Move.');
      await tabbed.until(() => second.call()?.phase === 'asking');
      const wake = first.stop();
      second.assistant.open(id);
      await silent(tabbed);
      await tabbed.until(() => stateIn(second).conversationId === id && stateIn(second).turns.length === 0);
      wake();
      await tabbed.until(() => stateIn(first).conversationId === id && stateIn(first).turns.length === 0);
      first.assistant.conversation.say('Look.');
      await tabbed.until(() => tabbed.chats.length === 2);
      assert.equal(tabbed.chats[1]?.conversation_id, id);
    }
  });

  test('leads no more where another tab is only looked at', async (t) => {
    const tabbed = await new Tabbed(t).start();
    const first = await tabbed.open('first');
    const second = await tabbed.open('second');
    const wake = first.stop();
    second.assistant.wake();
    await silent(tabbed);
    await setImmediate();
    second.assistant.conversation.say('Move.');
    await tabbed.until(() => second.call()?.phase === 'asking');
    wake();
    await tabbed.until(() => first.call()?.phase === 'asking');
  });

  test('is followed by another one as often as that happens, one after the other', async (t) => {
    const tabbed = await new Tabbed(t).start();
    const first = await tabbed.open('first');
    const second = await tabbed.open('second');
    const wakeFirst = first.stop();
    second.assistant.wake();
    await silent(tabbed);
    await setImmediate();
    wakeFirst();
    await setImmediate();
    const wakeSecond = second.stop();
    first.assistant.wake();
    await silent(tabbed);
    await setImmediate();
    wakeSecond();
    // It stops again before the other one has heard of it.
    first.stop();
    second.assistant.conversation.say('Look.');
    await silent(tabbed);
    await tabbed.until(() => second.call()?.phase === 'settled');
    assert.deepEqual([tabbed.ran, tabbed.results], [['look in second'], done('second')]);
  });

  test('has told what it begins before it begins it: a dialog of the action itself stops it, and what came of it is told once', async (t) => {
    for (const [text, agreed] of [
      ['Look.', {}],
      ['Move.', { confirmed: true }],
    ] as const) {
      const tabbed = await new Tabbed(t).start();
      const first = await tabbed.open('first');
      const second = await tabbed.open('second');
      tabbed.isHolding = true;
      first.assistant.conversation.say(text);
      if (text === 'Move.') {
        await tabbed.until(() => second.call()?.phase === 'asking');
        first.assistant.conversation.confirm('inv_1');
      }
      await eventually(() => tabbed.held.length === 1);
      const wake = first.stop();
      second.assistant.wake();
      await silent(tabbed);
      tabbed.held[0]?.();
      await setImmediate();
      wake();
      await tabbed.until(() => tabbed.results.length > 0);
      const name = text === 'Look.' ? 'look' : 'move';
      assert.deepEqual([tabbed.ran, tabbed.results], [[`${name} in first`], done('first', agreed)]);
    }
  });

  test('loses nothing that was said in it before it could send it: whoever leads then sends it, once', async (t) => {
    const tabbed = await new Tabbed(t).start();
    const first = await tabbed.open('first');
    const second = await tabbed.open('second');
    first.assistant.conversation.say('Look.');
    await tabbed.until(() => stateIn(second).turns.at(-1)?.phase === 'completed');
    tabbed.isBlind = true;
    first.assistant.conversation.say('Move.');
    first.assistant.conversation.say('And then?');
    const wake = first.stop();
    second.assistant.wake();
    await silent(tabbed);
    await setImmediate();
    tabbed.isBlind = false;
    wake();
    await tabbed.until(() => tabbed.chats.length === 4);
    const said = tabbed.chats.slice(2).map(({ message, context }) => [message?.text, context?.current_screen?.name.split('-')[0]]);
    assert.deepEqual(said, [
      ['Move.', 'first'],
      ['And then?', 'first'],
    ]);
  });

  test('has nothing sent that others took back, or that was said in a conversation that is open no more', async (t) => {
    for (const isOther of [false, true]) {
      const tabbed = await new Tabbed(t).start();
      const first = await tabbed.open('first');
      const second = await tabbed.open('second');
      first.assistant.conversation.say('Look.');
      await tabbed.until(() => stateIn(second).turns.at(-1)?.phase === 'completed');
      tabbed.isBlind = true;
      const turnId = first.assistant.conversation.say('Move.');
      if (!isOther) await eventually(() => (tabbed.clock.pass(1), stateIn(second).turns.some((turn) => turn.turnId === turnId)));
      const wake = first.stop();
      if (isOther) second.assistant.open('cnv_0');
      else second.assistant.wake();
      await silent(tabbed);
      await setImmediate();
      if (!isOther) second.assistant.conversation.discard(turnId);
      tabbed.isBlind = false;
      await setImmediate();
      wake();
      await tabbed.until(() => stateIn(first).conversationId === (isOther ? 'cnv_0' : 'cnv_1'));
      first.assistant.conversation.say('And then?');
      await tabbed.until(() => tabbed.chats.length > 2);
      assert.equal(tabbed.chats[2]?.message?.text, 'And then?');
    }
  });

  test('shows no other tab again what it knew, once it wakes', async (t) => {
    const tabbed = await new Tabbed(t).start();
    const first = await tabbed.open('first');
    const second = await tabbed.open('second');
    const third = await tabbed.open('third');
    first.assistant.conversation.say('Move.');
    await tabbed.until(() => second.call()?.phase === 'asking' && third.call()?.phase === 'asking');
    first.assistant.conversation.decline('inv_1');
    const wake = first.stop();
    second.assistant.open('cnv_0');
    await silent(tabbed);
    await tabbed.until(() => stateIn(third).conversationId === 'cnv_0');
    const shown = new Set<string | undefined>();
    third.assistant.conversation.store.subscribe(({ context }) => shown.add(context.conversationId));
    wake();
    await tabbed.until(() => shown.size > 0);
    assert.deepEqual([...shown], ['cnv_0']);
  });
});
