/** Several tabs of one app: what a turn calls for is done where the person asked, or agreed, whichever tab leads. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { ChatBody, ToolResult } from '../../../protocol/runtime/chat.ts';
import type { PendingInvocation } from '../../../protocol/runtime/stream-events.ts';
import { type Assistant, createAssistant } from '../../../web/client/assistant.ts';
import type { Call } from '../../../web/client/conversation/calls.ts';
import type { ConversationState } from '../../../web/client/conversation/state.ts';
import { everywhere, keptInMemory } from '../../../web/client/platform/everywhere.ts';
import type { KeptValues } from '../../../web/client/surroundings.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from './manual-clock.ts';
import { ANSWER, KEY, USUAL } from './scripted-assistant.ts';
import { sendJson, startScriptedService, tell } from './scripted-service.ts';
import { TabsInProcess } from './tabs-in-process.ts';

const OPEN = { risk: 'read', params: {}, timeout_ms: 1_000, executor: 'client' } as const;

const FORGOTTEN = [
  { type: 'error', code: 'manifest_unknown', message: 'Register it again.', retryable: false },
  { type: 'turn.end', status: 'error' },
] as const;

interface Tab {
  readonly assistant: Assistant;
  call(): Call | undefined;
}

/** A service that calls `look` when it is asked to look, and otherwise asks before it calls `move`; and tabs that can do both. */
class Tabbed {
  readonly chats: ChatBody[] = [];
  readonly results: ToolResult[] = [];
  readonly decisions: string[] = [];
  /** Hashes of manifests that were sent. */
  readonly registered: string[] = [];
  hasForgotten = false;
  /** What began in which tab, in order. */
  readonly ran: string[] = [];
  readonly clock = new ManualClock();
  /** Handlers that do not end before the test says so. */
  readonly held: (() => void)[] = [];
  isHolding = false;
  /** Answers to confirmations that were recorded and not told. */
  readonly untold: (() => void)[] = [];
  isSlow = false;
  /** Nothing more can be kept. */
  isFull = false;
  readonly #shared = { tabs: new TabsInProcess(), kept: this.#place(keptInMemory()) };
  readonly #t: TestContext;
  #url = '';

  constructor(t: TestContext) {
    this.#t = t;
  }

  async start(): Promise<this> {
    const { url } = await startScriptedService(this.#t, {
      ...USUAL,
      // The hash says which actions the manifest has.
      'POST /v1/apps/manifest': (response, { body }) => {
        const { manifest } = JSON.parse(body) as { readonly manifest: { readonly actions: readonly { readonly name: string }[] } };
        const hash = manifest.actions.map(({ name }) => name).join();
        this.registered.push(hash);
        sendJson(response, 200, { manifest_hash: hash });
      },
      'POST /v1/chat': (response, asked) => {
        const body = JSON.parse(asked.body) as ChatBody;
        this.chats.push(body);
        this.results.push(...(body.tool_results ?? []));
        if (this.hasForgotten) tell(response, FORGOTTEN);
        else if (body.tool_results !== undefined) tell(response, ANSWER);
        else tell(response, [...ANSWER.slice(0, -1), ...this.#calls(body.message?.text === 'Look.')]);
        response.end();
      },
      'POST /v1/invocations/inv_1/confirm': (response, { body }) => {
        const { decision_id: id = '' } = JSON.parse(body) as { readonly decision_id?: string };
        const again = this.decisions.length === 0 ? {} : { already_answered: true, yours: this.decisions[0] === id };
        this.decisions.push(id);
        const answer = () => sendJson(response, 200, { status: 'confirmed', ...again });
        if (this.isSlow) this.untold.push(answer);
        else answer();
      },
      'GET /v1/conversations/cnv_1/messages': (response) => {
        const isOpen = this.results.length === 0 && this.decisions.length > 0;
        const pending = isOpen ? [{ ...OPEN, invocation_id: 'inv_1', name: 'move', risk: 'write', status: 'confirmed' }] : [];
        sendJson(response, 200, { conversation_id: 'cnv_1', messages: [], has_more: false, open: { pending } });
      },
    });
    this.#url = url;
    return this;
  }

  #place(kept: KeptValues): KeptValues {
    const full = () => Promise.reject(new Error('The place is full.'));
    return { ...kept, write: (...args) => (this.isFull ? full() : kept.write(...args)) };
  }

  #calls(isRead: boolean) {
    const call: PendingInvocation = { ...OPEN, invocation_id: 'inv_1', ...(isRead ? { name: 'look' } : { name: 'move', risk: 'write' }) };
    const end = { type: 'turn.end', status: isRead ? 'awaiting_tool_results' : 'awaiting_confirmation', pending: [call] } as const;
    return isRead ? ([{ type: 'action.execute', ...call }, end] as const) : ([end] as const);
  }

  /** A tab in which these actions are registered. */
  async open(name: string, actions: readonly string[] = ['look', 'move']): Promise<Tab> {
    let asked = 0;
    const options = {
      ...{ address: this.#url, key: KEY, sdk: 'web/1.0.0', abilities: { components: ['text', 'confirm_card'] } },
      context: () => ({ current_screen: { name: `${name}-${++asked}` } }),
    };
    const assistant = createAssistant(options, everywhere({ ...this.#shared, clock: this.clock }));
    for (const action of actions) {
      const risk = action === 'look' ? 'read' : 'write';
      assistant.registerAction({ name: action, description: 'Does it.', risk }, async () => {
        this.ran.push(`${action} in ${name}`);
        if (this.isHolding) await new Promise<void>((resolve) => this.held.push(resolve));
        return { by: name };
      });
    }
    this.#t.after(() => assistant.close());
    await assistant.ready;
    return { assistant, call: () => assistant.conversation.store.get().context.calls[0] };
  }

  /** Lets time pass until it is so. */
  async until(isSo: () => boolean): Promise<void> {
    await eventually(() => {
      this.clock.pass(50);
      return isSo();
    });
  }
}

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

  test('its manifest is registered again where the service has forgotten it', async (t) => {
    const tabbed = await new Tabbed(t).start();
    await tabbed.open('first', ['move']);
    const second = await tabbed.open('second', ['look']);
    tabbed.hasForgotten = true;
    second.assistant.conversation.say('Look.');
    await tabbed.until(() => tabbed.registered.filter((hash) => hash === 'look').length > 1);
    tabbed.hasForgotten = false;
    second.assistant.conversation.say('Look.');
    await tabbed.until(() => second.call()?.phase === 'settled');
    assert.deepEqual(tabbed.results, done('second'));
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
