/** Several tabs of one app before a service that calls for their actions. */
import type { TestContext } from 'node:test';
import type { ChatBody, ToolResult } from '../../../protocol/runtime/chat.ts';
import type { PendingInvocation } from '../../../protocol/runtime/stream-events.ts';
import { type Assistant, createAssistant } from '../../../web/client/assistant.ts';
import type { Call } from '../../../web/client/conversation/calls.ts';
import { everywhere, keptInMemory } from '../../../web/client/platform/everywhere.ts';
import type { Clock, KeptValues, Tabs } from '../../../web/client/surroundings.ts';
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

export interface Tab {
  readonly assistant: Assistant;
  call(): Call | undefined;
  /** Nothing happens in it from now on, as while a dialog of its page is open. Returns what wakes it. */
  stop(): () => void;
}

/** A service that calls `look` when it is asked to look, and otherwise asks before it calls `move`; and tabs that can do both. */
export class Tabbed {
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
  /** No context comes. */
  isBlind = false;
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
      'GET /v1/conversations/cnv_0/messages': (response) =>
        sendJson(response, 200, { conversation_id: 'cnv_0', messages: [], has_more: false, open: { pending: [] } }),
      'GET /v1/conversations/cnv_1/messages': (response) => {
        const move = { ...OPEN, invocation_id: 'inv_1', name: 'move', risk: 'write', status: 'confirmed' };
        const look = { ...OPEN, invocation_id: 'inv_1', name: 'look', status: 'dispatched' };
        const asked = this.decisions.length > 0 ? [move] : this.chats.some(({ message }) => message?.text === 'Look.') ? [look] : [];
        const pending = this.results.length === 0 ? asked : [];
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
      context: () => (this.isBlind ? new Promise<undefined>(() => {}) : { current_screen: { name: `${name}-${++asked}` } }),
    };
    let missed: (() => void)[] | undefined;
    const unlessStopped = (run: () => void) => (missed === undefined ? run() : void missed.push(run));
    const { tabs: shared } = this.#shared;
    const tabs: Tabs = {
      elect: (team, onLead, onLost = () => {}, isSeizing) => shared.elect(team, onLead, () => unlessStopped(onLost), isSeizing),
      join: (team, onMessage) => shared.join(team, (message) => unlessStopped(() => onMessage(message))),
    };
    const clock: Clock = { nowMs: () => this.clock.nowMs(), after: (ms, run) => this.clock.after(ms, () => unlessStopped(run)) };
    const assistant = createAssistant(options, everywhere({ ...this.#shared, tabs, clock }));
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
    const stop = () => {
      const waiting: (() => void)[] = [];
      missed = waiting;
      return () => {
        missed = undefined;
        for (const run of waiting) run();
      };
    };
    return { assistant, call: () => assistant.conversation.store.get().context.calls[0], stop };
  }

  /** Lets time pass until it is so. */
  async until(isSo: () => boolean): Promise<void> {
    await eventually(() => {
      this.clock.pass(50);
      return isSo();
    });
  }
}
