/**
 * Who was there long before the loss: a conversation with its stream, an upload and a setup agent. Asks a host for all of them afterwards, and
 * says what is not as it was, and what a host that must not write has taken.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient, createOperator, HANDSHAKE, type TestApp } from '../../tests/support/client.ts';
import { AGENT, type Agent, agentOf, createAgent, openSession } from '../../tests/support/setup-agent.ts';
import { OPERATOR_TOKEN } from './host.ts';

interface Asked {
  readonly status: number;
  readonly text: string;
}

/** `wanted`: what a read has to contain. Writes have none. */
interface Question {
  readonly what: string;
  readonly wanted?: string;
  ask(baseUrl: string): Promise<Asked>;
}

async function upload({ baseUrl, headers }: Client): Promise<Asked> {
  const body = new FormData();
  body.append('file', new Blob(['A chair and a lamp.'], { type: 'text/plain' }), 'order.txt');
  const answer = await fetch(`${baseUrl}/v1/uploads`, { method: 'POST', headers, body });
  return { status: answer.status, text: await answer.text() };
}

/** The messages of a history up to its last one, so that those that follow later do not count. */
const messagesOf = (text: string) => JSON.stringify((JSON.parse(text) as { messages?: unknown }).messages).replace(/\]$/, '');

async function read(asked: Promise<Asked>, of: (text: string) => string = (text) => text): Promise<Asked> {
  const { status, text } = await asked;
  return { status, text: status === 200 ? of(text) : text };
}

function questions({ appId, organisationId, liveKey }: TestApp, device: string, agent: Agent, seen: Seen): readonly Question[] {
  const client = (baseUrl: string) => createClient(baseUrl, liveKey, device);
  const operator = (baseUrl: string) => createOperator(baseUrl, OPERATOR_TOKEN);
  const setup = (baseUrl: string) => createAgent(() => baseUrl, agent.token);
  const { conversationId, turnId, history } = seen;
  const event = [{ step: 'discover', status: 'done', title: 'Read the files again' }];
  const path = `/v1/conversations/${conversationId}/messages`;
  return [
    { what: 'the history', wanted: history, ask: (at) => read(client(at).send('GET', path), messagesOf) },
    { what: 'the stream of a turn', wanted: 'turn.end', ask: (at) => client(at).send('GET', `/v1/chat/${turnId}`) },
    { what: 'the conversation on the console', wanted: turnId, ask: (at) => operator(at)('GET', `/conversations/${conversationId}`) },
    { what: 'the organisation on the console', wanted: appId, ask: (at) => operator(at)('GET', `/orgs/${organisationId}/apps`) },
    { what: 'a turn that goes on', ask: (at) => client(at).say('And my other order?', { conversation_id: conversationId }) },
    { what: 'a turn in a new conversation', ask: (at) => client(at).say('Is anybody there?') },
    { what: 'an upload', ask: (at) => upload(client(at)) },
    { what: 'the setup interface', ask: (at) => setup(at).send('POST', '/events', event) },
    { what: 'a change on the console', ask: (at) => operator(at)('PATCH', `/apps/${appId}`, { name: `Named ${randomUUID()}` }) },
  ];
}

interface Seen {
  readonly conversationId: string;
  readonly turnId: string;
  readonly history: string;
}

/** A cell that just came is found by the others within ten seconds, and what asks for it is sent again. */
const SENT_AGAIN_MS = 30_000;
const PAUSE_MS = 500;

async function untilAnswered(question: Question, baseUrl: string): Promise<Asked> {
  for (const endMs = performance.now() + SENT_AGAIN_MS; ; await pause(PAUSE_MS)) {
    const asked = await question.ask(baseUrl);
    const mayComeRight = asked.status >= 500 || asked.text.includes('"retryable":true');
    if (!mayComeRight || performance.now() > endMs) return asked;
  }
}

const REFUSED = /storage_unavailable|uploads_unavailable/;

export class Witness {
  readonly #questions: readonly Question[];

  private constructor(all: readonly Question[]) {
    this.#questions = all;
  }

  /** Speaks to the host while it is well. @throws Error when it does not answer */
  static async of(baseUrl: string, app: TestApp): Promise<Witness> {
    const device = randomUUID().replaceAll('-', '');
    const client = createClient(baseUrl, app.liveKey, device);
    const turnId = randomUUID();
    const { events, text } = await client.chat({ turn_id: turnId, client: HANDSHAKE, message: { text: 'Where is my order?' } });
    const conversationId = String(events.find(({ type }) => type === 'turn.start')?.conversation_id);
    const history = await client.send('GET', `/v1/conversations/${conversationId}/messages`);
    if (events.at(-1)?.status !== 'completed' || history.status !== 200) throw new Error(`no witness: ${text} ${history.text}`);
    const { code } = await openSession(createOperator(baseUrl, OPERATOR_TOKEN), app.appId, 'sync');
    const agent = await agentOf(baseUrl, code);
    await agent.get('POST', '/start', AGENT);
    return new Witness(questions(app, device, agent, { conversationId, turnId, history: messagesOf(history.text) }));
  }

  /** @returns sentences of what is not as it must be at a host that `serves`, or at one that is fenced */
  async asks(baseUrl: string, serves: boolean): Promise<string[]> {
    const wrong: string[] = [];
    // One after the other: a turn must not be in the history that is compared.
    for (const question of this.#questions) {
      const { what, wanted } = question;
      const { status, text } = await (serves ? untilAnswered(question, baseUrl) : question.ask(baseUrl));
      const isAnswered = status < 300 && !text.includes('event: error');
      const isRight = wanted !== undefined ? isAnswered && text.includes(wanted) : serves ? isAnswered : REFUSED.test(text);
      if (!isRight) wrong.push(`${what} at ${serves ? 'a host that serves' : 'a fenced host'}: ${status} ${text.slice(-300)}`);
    }
    return wrong;
  }
}
