/** A running service with one live app whose model plays a script, and the rules that every stream of it keeps. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { defuseMarkdown } from '../../../protocol/catalog/markdown.ts';
import {
  type Client,
  createClient,
  createOperator,
  createTestApp,
  type StreamAnswer,
  type StreamedEvent,
  type TestApp,
} from '../../support/client.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { type Play, startUpstream, type UpstreamRequest, upstreamEnv } from '../../support/upstream.ts';

export interface Pending {
  readonly invocation_id: string;
  readonly name: string;
  readonly block_id?: string;
}

export interface WireBlock {
  readonly id: string;
  readonly index: number;
  readonly block_type: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly fallback_text?: string;
}

export interface WireMessage {
  readonly id: string;
  readonly role: string;
  readonly blocks: readonly WireBlock[];
}

export interface ScriptedChat {
  readonly service: RunningService;
  readonly app: TestApp;
  readonly client: Client;
  /** A request to `/console/api` + path, as the operator. */
  readonly operator: ReturnType<typeof createOperator>;
  /** The same service and model with a new app. */
  withApp(settings?: Record<string, unknown>): Promise<ScriptedChat>;
  /** What the model does from here on, round by round. */
  script(...rounds: (readonly Play[])[]): void;
  /** What the model was asked since the script began. */
  asked(): readonly UpstreamRequest[];
  lastRequest(): UpstreamRequest;
  /** What the model was told of a call, in the newest request. */
  toldOf(callId: string): string;
  /** POST /v1/chat, its stream held against the grammar. */
  chat(body: Record<string, unknown>): Promise<StreamAnswer>;
  say(text: string, more?: Record<string, unknown>): Promise<StreamAnswer>;
  /** A page of the conversation's messages; `query` as `?limit=2`. */
  stored(conversationId: string, query?: string): Promise<readonly WireMessage[]>;
}

/** Outline of a stream with words alone. */
export const DONE = ['turn.start', 'block.start', 'block.delta', 'block.ready', 'turn.end'];
/** A body of key_points. */
export const POINTS = { title: 'Shipping', points: [{ text: 'Two days.' }] };

export function gate(): { wait: Promise<void>; open: () => void } {
  let open = () => {};
  const wait = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { wait, open };
}

export const readies = (events: readonly StreamedEvent[]): WireBlock[] =>
  events.filter((event) => event.type === 'block.ready').map((event) => event.block as WireBlock);
export const starts = (events: readonly StreamedEvent[]): StreamedEvent[] => events.filter((event) => event.type === 'block.start');
export const pendingOf = (answer: StreamAnswer): readonly Pending[] => answer.events.at(-1)?.pending as readonly Pending[];
export const thread = (answer: StreamAnswer): string => String(answer.events[0]?.conversation_id);
export const toolNames = (request: UpstreamRequest): string[] => (request.tools ?? []).map((tool) => tool.function.name);

/** The rules every stream keeps, whatever is in it. */
export function assertGrammar({ status, events, text }: StreamAnswer): void {
  assert.equal(status, 200, text);
  const first = events[0]?.seq ?? -1;
  events.forEach((event, n) => {
    assert.deepEqual([event.v, event.seq], [1, first + n], 'v is 1 and seq rises by one');
  });
  assert.deepEqual([events[0]?.type, events.at(-1)?.type], ['turn.start', 'turn.end']);
  assert.equal(events.filter((event) => event.type === 'turn.end').length, 1);
  const open = new Map<unknown, { id: unknown; words: string }>();
  for (const event of events) {
    if (event.type === 'block.start') {
      assert.ok(!open.has(event.index), 'an index is announced once');
      open.set(event.index, { id: event.id, words: '' });
    } else if (event.type === 'block.delta') {
      const block = open.get(event.index);
      assert.ok(block !== undefined, 'words follow their block.start');
      block.words += String(event.text_delta);
    } else if (event.type === 'block.ready') {
      const block = event.block as WireBlock;
      const announced = open.get(event.index);
      assert.deepEqual([block.index, block.id], [event.index, announced?.id], 'a block is ready after it was announced');
      if (announced !== undefined && announced.words !== '') assert.equal(block.body.md, defuseMarkdown(announced.words));
    }
  }
}

/** `settings` of the app, and more environment of the service. */
export async function startScriptedChat(
  t: TestContext,
  { env = {}, settings = {} }: { env?: Readonly<Record<string, string>>; settings?: Record<string, unknown> } = {},
): Promise<ScriptedChat> {
  let rounds: readonly (readonly Play[])[] = [];
  let playedBefore = 0;
  const upstream = await startUpstream(t, (_, n) => rounds[n - playedBefore] ?? [{ text: 'Asked too often.' }]);
  const service = await startService(t, { env: { ...upstreamEnv(upstream), DEMO: 'off', LOG_LEVEL: 'silent', ...env } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const asked = () => upstream.requests.slice(playedBefore);
  const lastRequest = () => asked().at(-1) as UpstreamRequest;
  const withApp: ScriptedChat['withApp'] = async (ofApp = {}) => {
    const app = await createTestApp(service.baseUrl, service.operatorToken, ofApp);
    const client = createClient(service.baseUrl, app.liveKey);
    const chat: ScriptedChat['chat'] = async (body) => {
      const answer = await client.chat(body);
      assertGrammar(answer);
      return answer;
    };
    return {
      service,
      app,
      client,
      operator,
      withApp,
      script(...next) {
        rounds = next;
        playedBefore = upstream.requests.length;
      },
      asked,
      lastRequest,
      toldOf: (callId) => lastRequest().messages.find((message) => message.tool_call_id === callId)?.content ?? '',
      chat,
      say: (text, more = {}) => chat({ message: { text }, ...more }),
      async stored(conversationId, query = '') {
        const { json } = await client.send('GET', `/v1/conversations/${conversationId}/messages${query}`);
        return (json as { messages: readonly WireMessage[] }).messages;
      },
    };
  };
  return withApp(settings);
}
