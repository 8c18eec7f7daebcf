/**
 * A model server whose answer is a function of what it is asked, at a pace that can be set while it runs. Every call is counted
 * under the name of its question, and says in its answer how many it was: two calls for one question never answer alike.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

export interface Pace {
  /** Words of an answer, after its first ones. */
  readonly words: number;
  /** Before each word. */
  readonly delayMs: number;
}

export interface PacedModel {
  /** As the service reaches it; `host` where it listens on all addresses. */
  url(host?: string): string;
  /** Of answers from now on. */
  pace(next: Pace): void;
  /** Calls by the name of the question. */
  readonly calls: ReadonlyMap<string, number>;
  /** Environment that points the service at it, by way of `host`. */
  env(host?: string): Record<string, string>;
}

interface Message {
  readonly role: string;
  readonly content: unknown;
}

/** Letters only: digits might be taken for personal data and be put out of sight. */
const QUESTION = /\bask ([a-z]{8,})\b/;
/** A message with this makes the model call the action that a person has to confirm. */
export const ASKS_FOR_CARD = 'and show the card';
/** What it calls then, without parameters. */
export const CARD_ACTION = 'move_delivery';

const HEAD = { 'Content-Type': 'text/event-stream' };
/** Idle connections must not be closed under the next call: the service would have to take it for a failure of the model. */
const KEEP_ALIVE_MS = 10 * 60_000;

async function messagesOf(req: IncomingMessage): Promise<readonly Message[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return (JSON.parse(Buffer.concat(chunks).toString('utf8')) as { messages: readonly Message[] }).messages;
}

function chunk(delta: unknown, finish: string | null = null): string {
  return `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'paced', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

const USAGE = `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'paced', choices: [], usage: { prompt_tokens: 1_000, completion_tokens: 1_000 } })}\n\n`;

function callChunks(id: string): string {
  const start = { index: 0, id, type: 'function', function: { name: CARD_ACTION, arguments: '' } };
  return chunk({ tool_calls: [start] }) + chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] });
}

/** The question's name, and which question of the conversation it is, from 1. */
function questionOf(messages: readonly Message[]): { name: string; ordinal: number; wantsCard: boolean } {
  const asked = messages.filter(({ role, content }) => role === 'user' && QUESTION.test(String(content)));
  const text = String(asked.at(-1)?.content ?? '');
  const wantsCard = messages.at(-1)?.role === 'user' && text.includes(ASKS_FOR_CARD);
  return { name: QUESTION.exec(text)?.[1] ?? 'unnamed', ordinal: asked.length, wantsCard };
}

async function speak(res: ServerResponse, opening: string, { words, delayMs }: Pace): Promise<void> {
  res.write(chunk({ content: opening }));
  for (let n = 0; n < words && !res.destroyed; n++) {
    if (delayMs > 0) await pause(delayMs);
    res.write(chunk({ content: ' word' }));
  }
  res.end(`${chunk({}, 'stop')}${USAGE}data: [DONE]\n\n`);
}

/** What is answered to the n-th call for the question that is the `ordinal`-th of its conversation. */
export function pacedAnswer(name: string, ordinal: number, call: number, words: number): string {
  return `Answer ${call} to ${name}, question ${ordinal}.${' word'.repeat(words)}`;
}

/** Listens on loopback, or on the address given. */
export async function startPacedModel(t: TestContext, listenOn = '127.0.0.1'): Promise<PacedModel> {
  const calls = new Map<string, number>();
  let pace: Pace = { words: 4, delayMs: 0 };
  const server = createServer(async (req, res) => {
    const { name, ordinal, wantsCard } = questionOf(await messagesOf(req));
    const call = (calls.get(name) ?? 0) + 1;
    calls.set(name, call);
    res.writeHead(200, HEAD);
    if (wantsCard) res.end(`${callChunks(`call_${name}`)}${chunk({}, 'tool_calls')}${USAGE}data: [DONE]\n\n`);
    else await speak(res, pacedAnswer(name, ordinal, call, 0), pace);
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve) => server.listen(0, listenOn, resolve));
  t.after(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const url = (host = '127.0.0.1') => `http://${host}:${(server.address() as AddressInfo).port}/v1`;
  return {
    url,
    pace(next) {
      pace = next;
    },
    calls,
    env: (host) => ({ OPENAI_BASE_URL: url(host), MODEL: 'paced', MODEL_CHECK: 'off', MODEL_PRICES: '{"paced":{"input":1,"output":2}}' }),
  };
}
