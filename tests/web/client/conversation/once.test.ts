/** What a confirmation allows is run by one client once, whatever becomes of the page that asked: before a service that is slow to confirm. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import type { ConfirmReply } from '../../../../protocol/runtime/invocations.ts';
import type { MessagesReply } from '../../../../protocol/runtime/messages.ts';
import type { PendingInvocation } from '../../../../protocol/runtime/stream-events.ts';
import { type Assistant, createAssistant } from '../../../../web/client/assistant.ts';
import type { Call } from '../../../../web/client/conversation/calls.ts';
import { Keeping } from '../../../../web/client/conversation/keeping.ts';
import { Log } from '../../../../web/client/log.ts';
import { everywhere, keptInMemory, systemClock } from '../../../../web/client/platform/everywhere.ts';
import type { Surroundings } from '../../../../web/client/surroundings.ts';
import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../manual-clock.ts';
import { ANSWER, KEY, USUAL } from '../scripted-assistant.ts';
import { type Answer, type ScriptedService, sendJson, startScriptedService, tell } from '../scripted-service.ts';
import { TabsInProcess } from '../tabs-in-process.ts';

const MOVE: PendingInvocation = {
  invocation_id: 'inv_1',
  name: 'move',
  params: { day: 'monday' },
  risk: 'write',
  timeout_ms: 1_000,
  executor: 'client',
};
const ASKS = [...ANSWER.slice(0, -1), { type: 'turn.end', status: 'awaiting_confirmation', pending: [MOVE] } as const];

/** A service that records the first answer, tells it when the test says so, and knows which results came. */
class SlowService {
  status: 'pending' | 'confirmed' | 'over' = 'pending';
  /** Answers to confirmations that were recorded and not told. */
  readonly held: (() => void)[] = [];
  isSlow = false;
  /** The answer is lost on its way. */
  isCutting = false;
  /** Nor does it arrive. */
  isDeaf = false;
  /** It does not say whose answer it recorded. */
  isOlder = false;
  readonly decisions: (string | undefined)[] = [];
  #recorded: string | undefined;
  readonly results: unknown[] = [];
  #service: ScriptedService | undefined;

  get url(): string {
    return this.#service?.url ?? '';
  }

  async start(t: TestContext): Promise<this> {
    const confirm: Answer = (response, asked) => this.#confirm(response, asked.body);
    this.#service = await startScriptedService(t, {
      ...USUAL,
      'POST /v1/chat': (response, asked) => this.#chat(response, asked.body),
      'POST /v1/invocations/inv_1/confirm': confirm,
      'GET /v1/conversations/cnv_1/messages': (response) => sendJson(response, 200, this.#history()),
    });
    return this;
  }

  #chat(response: ServerResponse, body: string): void {
    const { tool_results: results } = JSON.parse(body) as { readonly tool_results?: readonly unknown[] };
    if (results !== undefined) {
      this.results.push(...results);
      this.status = 'over';
    }
    tell(response, results === undefined ? ASKS : ANSWER);
    response.end();
  }

  #confirm(response: ServerResponse, body: string): void {
    const { decision_id: id } = JSON.parse(body) as { readonly decision_id?: string };
    this.decisions.push(id);
    const whose = this.isOlder ? {} : { yours: id === this.#recorded };
    const reply: ConfirmReply = { status: 'confirmed', ...(this.status === 'pending' ? {} : { already_answered: true, ...whose }) };
    if (this.status === 'pending' && !this.isDeaf) {
      this.status = 'confirmed';
      this.#recorded = id;
    }
    if (this.isCutting) response.destroy();
    else if (this.isSlow) this.held.push(() => sendJson(response, 200, reply));
    else sendJson(response, 200, reply);
  }

  #history(): MessagesReply {
    const pending = this.status === 'over' ? [] : [{ ...MOVE, status: this.status }];
    return { conversation_id: 'cnv_1', messages: [], has_more: false, open: { pending } };
  }
}

interface Client {
  readonly assistant: Assistant;
  call(): Call | undefined;
}

/** Clients of one installation, and how often the handler ran in each. */
function clientsOf(t: TestContext, service: SlowService, shared: Partial<Surroundings>) {
  const ran: string[] = [];
  const open = (name: string, own: Partial<Surroundings> = {}): Client => {
    const abilities = { components: ['text', 'confirm_card'] };
    const options = { address: service.url, key: KEY, sdk: 'web/1.0.0', abilities };
    const assistant = createAssistant(options, everywhere({ ...shared, ...own }));
    assistant.registerAction({ name: 'move', description: 'Moves.', risk: 'write' }, () => {
      ran.push(name);
      return { moved: true };
    });
    t.after(() => assistant.close());
    return { assistant, call: () => assistant.conversation.store.get().context.calls[0] };
  };
  return { ran, open };
}

async function asks(client: Client): Promise<void> {
  client.assistant.conversation.say('Move it.');
  await eventually(() => client.call()?.phase === 'asking');
}

const DONE = [{ invocation_id: 'inv_1', status: 'ok', result: { moved: true }, confirmed: true }];

describe('CLIENT-12: a confirmed write', () => {
  test('is not run by a client that was closed before the answer came, and once by the next, without another question', async (t) => {
    const service = await new SlowService().start(t);
    const { ran, open } = clientsOf(t, service, { kept: keptInMemory() });
    const first = open('first');
    await asks(first);
    service.isSlow = true;
    first.assistant.conversation.confirm('inv_1');
    await eventually(() => service.held.length === 1);
    await first.assistant.close();
    service.isSlow = false;
    const second = open('second');
    await eventually(() => service.results.length === 1);
    service.held[0]?.();
    await eventually(() => second.call()?.phase === 'settled');
    assert.deepEqual([ran, service.results], [['second'], DONE]);
  });

  test('is asked about again where the answer was not recorded yet, and runs once though both answers are told', async (t) => {
    const service = await new SlowService().start(t);
    const { ran, open } = clientsOf(t, service, { kept: keptInMemory() });
    const first = open('first');
    await asks(first);
    service.isSlow = true;
    first.assistant.conversation.confirm('inv_1');
    await eventually(() => service.held.length === 1);
    await first.assistant.close();
    service.status = 'pending';
    const second = open('second');
    await eventually(() => second.call()?.phase === 'asking');
    service.status = 'confirmed';
    second.assistant.conversation.confirm('inv_1');
    await eventually(() => service.held.length === 2);
    for (const answer of service.held) answer();
    await eventually(() => service.results.length === 1);
    assert.deepEqual([ran, service.results], [['second'], DONE]);
  });

  test('is not run where the person changed their mind before it could be', async (t) => {
    const service = await new SlowService().start(t);
    const { ran, open } = clientsOf(t, service, { kept: keptInMemory() });
    const first = open('first');
    await asks(first);
    service.isSlow = true;
    first.assistant.conversation.confirm('inv_1');
    await eventually(() => service.held.length === 1);
    await first.assistant.close();
    service.isSlow = false;
    service.status = 'pending';
    const second = open('second');
    await eventually(() => second.call()?.phase === 'asking');
    service.status = 'confirmed';
    second.assistant.conversation.decline('inv_1');
    await eventually(() => service.results.length === 1);
    assert.deepEqual([ran, service.results], [[], [{ invocation_id: 'inv_1', status: 'declined' }]]);
  });

  test('that another client of the person agreed to is run there alone', async (t) => {
    const service = await new SlowService().start(t);
    const phone = clientsOf(t, service, { kept: keptInMemory() });
    const laptop = clientsOf(t, service, { kept: keptInMemory() });
    const [one, two] = [phone.open('phone'), laptop.open('laptop')];
    await asks(one);
    await asks(two);
    one.assistant.conversation.confirm('inv_1');
    await eventually(() => service.results.length === 1);
    service.status = 'confirmed';
    two.assistant.conversation.confirm('inv_1');
    await eventually(() => two.call()?.phase === 'settled');
    assert.deepEqual([phone.ran, laptop.ran, service.results], [['phone'], [], DONE]);
  });

  test('whose answer was lost before it was recorded runs where another client of the person agreed, and not here', async (t) => {
    const service = await new SlowService().start(t);
    const phone = clientsOf(t, service, { kept: keptInMemory() });
    const laptop = clientsOf(t, service, { kept: keptInMemory() });
    const clock = new ManualClock();
    const [one, two] = [phone.open('phone'), laptop.open('laptop', { clock })];
    await asks(one);
    await asks(two);
    service.isCutting = true;
    service.isDeaf = true;
    two.assistant.conversation.confirm('inv_1');
    await eventually(() => service.decisions.length === 1 && clock.waitingMs.some((ms) => ms <= 500));
    service.isCutting = false;
    service.isDeaf = false;
    one.assistant.conversation.confirm('inv_1');
    await eventually(() => service.results.length === 1);
    service.status = 'confirmed';
    await eventually(() => {
      clock.pass(100);
      return two.call()?.phase === 'settled';
    });
    const [lost, recorded, again] = service.decisions;
    assert.deepEqual([again === lost, recorded === lost], [true, false]);
    assert.deepEqual([phone.ran, laptop.ran, service.results], [['phone'], [], DONE]);
  });

  test('whose answer was recorded and lost on the way runs here, also after a reload, whether or not the service says whose it is', async (t) => {
    for (const isOlder of [false, true]) {
      for (const isReloaded of [false, true]) {
        const service = await new SlowService().start(t);
        service.isOlder = isOlder;
        const { ran, open } = clientsOf(t, service, { kept: keptInMemory() });
        const clock = new ManualClock();
        const first = open('page', { clock });
        await asks(first);
        service.isCutting = true;
        first.assistant.conversation.confirm('inv_1');
        await eventually(() => service.status === 'confirmed' && clock.waitingMs.some((ms) => ms <= 500));
        service.isCutting = false;
        if (isReloaded) {
          await first.assistant.close();
          open('page');
        }
        await eventually(() => {
          clock.pass(100);
          return service.results.length === 1;
        });
        assert.deepEqual([ran, service.results, new Set(service.decisions).size], [['page'], DONE, 1]);
        assert.match(service.decisions[0] ?? '', /^[0-9a-f-]{36}$/);
      }
    }
  });

  test('whose answer was lost on the way runs in one of two tabs that do not know each other', async (t) => {
    const service = await new SlowService().start(t);
    service.isOlder = true;
    const { ran, open } = clientsOf(t, service, { kept: keptInMemory() });
    const clock = new ManualClock();
    const first = open('first', { clock });
    await asks(first);
    const second = open('second');
    await eventually(() => second.call()?.phase === 'asking');
    service.isCutting = true;
    first.assistant.conversation.confirm('inv_1');
    await eventually(() => service.status === 'confirmed' && clock.waitingMs.some((ms) => ms <= 500));
    service.isCutting = false;
    service.status = 'pending';
    second.assistant.conversation.confirm('inv_1');
    await eventually(() => service.results.length === 1);
    await eventually(() => {
      clock.pass(100);
      return first.call()?.phase !== 'deciding';
    });
    await eventually(() => second.call()?.phase === 'settled');
    assert.deepEqual([ran, service.results], [['second'], DONE]);
  });

  test('is not run by a page that was put away meanwhile and comes back as it was; what another page did is shown', async (t) => {
    const service = await new SlowService().start(t);
    const { ran, open } = clientsOf(t, service, { kept: keptInMemory() });
    const first = open('first');
    await asks(first);
    service.isSlow = true;
    first.assistant.conversation.confirm('inv_1');
    await eventually(() => service.held.length === 1);
    first.assistant.suspend();
    service.isSlow = false;
    const second = open('second');
    await eventually(() => service.results.length === 1 && second.call()?.phase === 'settled');
    await second.assistant.close();
    const before = first.assistant.conversation;
    service.held[0]?.();
    first.assistant.resume();
    await eventually(() => first.assistant.conversation.store.get().context.history.phase === 'read');
    assert.notEqual(first.assistant.conversation, before);
    assert.equal(first.call(), undefined);
    first.assistant.conversation.say('And now?');
    await eventually(
      () => first.call()?.phase === 'asking',
      undefined,
      () => 'it goes on as any page',
    );
    assert.deepEqual([ran, service.results], [['second'], DONE]);
  });

  test('that was agreed to before the page was put away runs when it comes back, if nobody else did', async (t) => {
    const service = await new SlowService().start(t);
    const { ran, open } = clientsOf(t, service, { kept: keptInMemory(), tabs: new TabsInProcess(), clock: systemClock });
    const first = open('first');
    await first.assistant.ready;
    await asks(first);
    service.isSlow = true;
    first.assistant.conversation.confirm('inv_1');
    await eventually(() => service.held.length === 1);
    first.assistant.suspend();
    service.held[0]?.();
    service.isSlow = false;
    first.assistant.resume();
    await eventually(() => service.results.length === 1);
    assert.deepEqual([ran, service.results], [['first'], DONE]);
  });

  test('goes on in another tab when the one that leads is closed before the answer comes', async (t) => {
    const service = await new SlowService().start(t);
    const { ran, open } = clientsOf(t, service, { kept: keptInMemory(), tabs: new TabsInProcess(), clock: systemClock });
    const first = open('first');
    await first.assistant.ready;
    await asks(first);
    const second = open('second');
    await eventually(() => second.call()?.phase === 'asking');
    service.isSlow = true;
    second.assistant.conversation.confirm('inv_1');
    await eventually(() => second.call()?.phase === 'deciding' && service.held.length === 1);
    await first.assistant.close();
    service.isSlow = false;
    service.held[0]?.();
    await eventually(() => service.results.length === 1);
    assert.deepEqual([ran, service.results], [['second'], DONE]);
  });

  test('begins in one of several that ask at the same time: in one client, in clients of one page, in tabs around a change of the leader', async () => {
    for (const tabs of [undefined, new TabsInProcess()]) {
      const kept = keptInMemory();
      const client = () => new Keeping(kept, 'app', new Log(() => {}), tabs);
      const one = client();
      const asked = tabs === undefined ? [one, one] : [one, one, client(), client()];
      const begun = await Promise.all(asked.flatMap((each) => ['inv_1', 'inv_2'].map((id) => each.begin(id))));
      assert.equal(begun.filter((isFirst) => isFirst).length, 2);
      assert.deepEqual([await one.begin('inv_1'), await one.begin('inv_2')], [false, false]);
    }
  });
});
