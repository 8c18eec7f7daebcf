/** Several tabs of one app: one leads, the others mirror it, and whoever is left goes on. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Assistant, type AssistantOptions, createAssistant } from '../../../web/client/assistant.ts';
import { NEW_CONVERSATION } from '../../../web/client/conversation/logic.ts';
import { threadOf } from '../../../web/client/conversation/thread.ts';
import { browser, onPutAway, onWake, type Page } from '../../../web/client/platform/browser.ts';
import { everywhere, keptInMemory, systemClock } from '../../../web/client/platform/everywhere.ts';
import type { Clock } from '../../../web/client/surroundings.ts';
import { TabTeam } from '../../../web/client/tabs.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from './manual-clock.ts';
import { ANSWER, KEY, USUAL } from './scripted-assistant.ts';
import { type Answer, type ScriptedService, sendJson, startScriptedService, tell } from './scripted-service.ts';
import { TabsInProcess } from './tabs-in-process.ts';

const history: Answer = (response) =>
  sendJson(response, 200, { conversation_id: 'cnv_1', messages: [], has_more: false, open: { pending: [] } });

interface Tabbed {
  readonly service: ScriptedService;
  open(options?: Partial<AssistantOptions>): Assistant;
}

async function startTabs(t: TestContext, chat: Answer, clock: Clock = systemClock): Promise<Tabbed> {
  const answers = { ...USUAL, 'POST /v1/chat': chat, 'GET /v1/conversations/cnv_1/messages': history };
  const service = await startScriptedService(t, answers);
  const [tabs, kept] = [new TabsInProcess(), keptInMemory()];
  const open = (options: Partial<AssistantOptions> = {}): Assistant => {
    const abilities = { components: ['text'] };
    const surroundings = everywhere({ tabs, kept, clock });
    const assistant = createAssistant({ address: service.url, key: KEY, sdk: 'web/1.0.0', abilities, ...options }, surroundings);
    t.after(() => assistant.close());
    return assistant;
  };
  return { service, open };
}

const stateOf = ({ conversation }: Assistant) => conversation.store.get().context;
const phasesOf = (assistant: Assistant): string[] => stateOf(assistant).turns.map(({ phase }) => phase);
const whole: Answer = (response) => {
  tell(response, ANSWER);
  response.end();
};

describe('CLIENT-21: several tabs', () => {
  test('what is said in any of them is sent once, and shown in all', async (t) => {
    const { service, open } = await startTabs(t, whole);
    const [first, second] = [open(), open()];
    await Promise.all([first.ready, second.ready]);
    second.conversation.say('From the second.');
    await eventually(() => phasesOf(first)[0] === 'completed' && phasesOf(second)[0] === 'completed');
    first.conversation.say('From the first.');
    await eventually(() => phasesOf(second)[1] === 'completed');
    assert.equal(service.of('POST', '/v1/chat').length, 2);
    assert.deepEqual(stateOf(second), stateOf(first));
  });

  test('a tab that is opened later shows what the others do', async (t) => {
    const { open } = await startTabs(t, whole);
    const first = open();
    first.conversation.say('Hello.');
    await eventually(() => phasesOf(first)[0] === 'completed');
    const second = open();
    await eventually(() => phasesOf(second)[0] === 'completed');
  });

  test('when the one that leads is closed in mid-answer another one goes on, with the same request', async (t) => {
    const { service, open } = await startTabs(t, (response, asked, n) => {
      if (n === 0) tell(response, ANSWER.slice(0, 3));
      else whole(response, asked, n);
    });
    const first = open();
    await first.ready;
    const second = open();
    await second.ready;
    second.conversation.say('Is it so?');
    await eventually(() => (stateOf(second).turns[0]?.blocks.length ?? 0) > 0);
    await first.close();
    await eventually(() => phasesOf(second)[0] === 'completed');
    const [one, two] = service.of('POST', '/v1/chat');
    assert.equal(one?.body, two?.body);
    assert.equal(threadOf(stateOf(second)).length, 1);
  });

  test('opened together they are one device', async (t) => {
    const { service, open } = await startTabs(t, whole);
    await Promise.all([open().ready, open().ready]);
    const asked = () => service.of('GET', '/v1/apps/config');
    await eventually(() => asked().length === 2);
    assert.equal(new Set(asked().map(({ headers }) => headers['x-service-device'])).size, 1);
  });

  test('CLIENT-24: a question goes with what surrounds it in the tab where it was said', async (t) => {
    const { service, open } = await startTabs(t, whole);
    const home = open({ context: () => ({ current_screen: { name: 'home' } }) });
    await home.ready;
    const lamp = open({ context: () => ({ current_screen: { name: 'lamp' } }) });
    const plain = open();
    await Promise.all([lamp.ready, plain.ready]);
    for (const tab of [lamp, plain, home]) {
      const before = phasesOf(home).length;
      tab.conversation.say('Is this in stock?');
      await eventually(() => phasesOf(home)[before] === 'completed');
    }
    const contexts = service.of('POST', '/v1/chat').map(({ body }) => (JSON.parse(body) as { context?: unknown }).context);
    assert.deepEqual(contexts, [{ current_screen: { name: 'lamp' } }, undefined, { current_screen: { name: 'home' } }]);
  });

  test('whichever is looked at, the one that leads takes up what broke at once', async (t) => {
    const { open } = await startTabs(
      t,
      (response, asked, n) => {
        if (n === 0) response.destroy();
        else whole(response, asked, n);
      },
      // It stands still: nothing is tried again by itself.
      new ManualClock(),
    );
    const first = open();
    await first.ready;
    const second = open();
    await second.ready;
    first.conversation.say('Is it so?');
    await eventually(() => stateOf(first).turns[0]?.isReconnecting === true);
    second.wake();
    await eventually(() => phasesOf(first)[0] === 'completed');
  });
});

test('CLIENT-4, CLIENT-6: a page that lacks everything is a place to run in, and one that is looked at again wakes the client', () => {
  const page = new EventTarget() as unknown as Page;
  const surroundings = browser({}, page);
  assert.equal(surroundings.tabs, undefined);
  const document = Object.assign(new EventTarget(), { visibilityState: 'hidden' });
  const seen = Object.assign(new EventTarget(), { document });
  let woken = 0;
  const end = onWake(
    () => {
      woken += 1;
    },
    seen as unknown as Page,
  );
  seen.dispatchEvent(new Event('online'));
  document.dispatchEvent(new Event('visibilitychange'));
  document.visibilityState = 'visible';
  document.dispatchEvent(new Event('visibilitychange'));
  seen.dispatchEvent(new Event('pageshow'));
  assert.equal(woken, 3);
  end();
  seen.dispatchEvent(new Event('online'));
  assert.equal(woken, 3);
});

test('CLIENT-12: a page that is left is put away, and taken up again only where it comes back as it was', () => {
  const page = new EventTarget();
  const done: string[] = [];
  const end = onPutAway(
    () => done.push('away'),
    () => done.push('back'),
    page as unknown as Page,
  );
  const tell = (type: string, persisted: boolean) => page.dispatchEvent(Object.assign(new Event(type), { persisted }));
  tell('pageshow', false);
  tell('pagehide', true);
  tell('pageshow', true);
  end();
  tell('pagehide', true);
  assert.deepEqual(done, ['away', 'back']);
});

test('CLIENT-4: a page keeps values where it may, and tabs of it elect one that leads', async () => {
  const values = new Map<string, string>();
  const localStorage = {
    getItem: (name: string) => values.get(name) ?? null,
    setItem: (name: string, value: string) => void values.set(name, value),
    removeItem: (name: string) => void values.delete(name),
  };
  const held: Promise<void>[] = [];
  const locks = {
    request: async (_name: string, _options: object, work: () => Promise<void>) => {
      const lock = work();
      held.push(lock);
      await lock;
    },
  };
  const page = Object.assign(new EventTarget(), { localStorage, navigator: { locks }, BroadcastChannel }) as unknown as Page;
  const { kept, tabs } = browser({}, page);
  await kept.write('name', 'value');
  assert.deepEqual([await kept.read('name'), values.get('name')], ['value', 'value']);
  await kept.remove('name');
  assert.equal(await kept.read('name'), null);
  let isLeading = false;
  const resign = tabs?.elect('tabs', () => {
    isLeading = true;
  });
  assert.ok(isLeading);
  resign?.();
  await Promise.all(held);
});

describe('CLIENT-33: who tells of what is counted', () => {
  test('the tab that asked, and the one that leads once that is gone, which is waited for once', async (t) => {
    const { open } = await startTabs(t, whole);
    const [first, second] = [open(), open()];
    await Promise.all([first.ready, second.ready]);
    second.conversation.say('From the second.');
    await eventually(() => phasesOf(second).at(-1) === 'completed');
    const [turn] = stateOf(first).turns;
    const tells = (assistant: Assistant) => assistant.conversation.isOwn(turn?.tab);
    assert.deepEqual([tells(first), tells(second), first.conversation.isOwn(undefined)], [false, true, true]);
    await second.close();
    await eventually(() => tells(first));
  });

  test('a tab that several wait for is waited for by one lock', async () => {
    const elected: string[] = [];
    const tabs = new TabsInProcess();
    const counting = Object.assign(Object.create(tabs), {
      elect: (name: string, onLead: () => void) => {
        elected.push(name);
        return tabs.elect(name, onLead);
      },
      join: (...given: Parameters<TabsInProcess['join']>) => tabs.join(...given),
    }) as TabsInProcess;
    const duties = { lead: () => Promise.resolve(), lost() {}, mirror() {}, fulfil() {}, open() {}, state: () => NEW_CONVERSATION };
    let minted = 0;
    const surroundings = { clock: new ManualClock(), mintUuid: () => `tab-${minted++}` };
    const [one, other] = [new TabTeam(counting, 'team', surroundings, duties), new TabTeam(tabs, 'team', surroundings, duties)];
    const told: number[] = [];
    for (let n = 0; n < 3; n++) one.whenGone(other.own, () => told.push(n));
    assert.equal(one.isGone(other.own), false);
    other.close();
    await eventually(() => told.length === 3 && one.isGone(other.own));
    assert.equal(elected.filter((name) => name === `team:${other.own}`).length, 1);
    one.close();
  });
});
