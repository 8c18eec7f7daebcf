/**
 * A model server whose answer is a function of what it is asked, at a pace that can be set while it runs. Every call is counted
 * under the name of its question, and says in its answer how many it was: two calls for one question never answer alike.
 */
import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { callChunks, completionChunk, DONE, requestBody, STREAM_HEAD, usageChunk } from './completions.ts';
import { serveFake } from './fake-server.ts';

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

const MODEL = 'paced';
/** Idle connections must not be closed under the next call: the service would have to take it for a failure of the model. */
const KEEP_ALIVE_MS = 10 * 60_000;

const ENDING = usageChunk(MODEL, { prompt_tokens: 1_000, completion_tokens: 1_000 }) + DONE;

/** The question's name, and which question of the conversation it is, from 1. */
export function questionOf(messages: readonly Message[]): { name: string; ordinal: number; wantsCard: boolean } {
  const asked = messages.filter(({ role, content }) => role === 'user' && QUESTION.test(String(content)));
  const text = String(asked.at(-1)?.content ?? '');
  const wantsCard = messages.at(-1)?.role === 'user' && text.includes(ASKS_FOR_CARD);
  return { name: QUESTION.exec(text)?.[1] ?? 'unnamed', ordinal: asked.length, wantsCard };
}

async function speak(res: ServerResponse, opening: string, { words, delayMs }: Pace): Promise<void> {
  res.write(completionChunk(MODEL, { content: opening }));
  for (let n = 0; n < words && !res.destroyed; n++) {
    if (delayMs > 0) await pause(delayMs);
    res.write(completionChunk(MODEL, { content: ' word' }));
  }
  res.end(completionChunk(MODEL, {}, 'stop') + ENDING);
}

/** What is answered to the n-th call for the question that is the `ordinal`-th of its conversation. */
export function pacedAnswer(name: string, ordinal: number, call: number, words: number): string {
  return `Answer ${call} to ${name}, question ${ordinal}.${' word'.repeat(words)}`;
}

/** Listens on loopback, or on the address given. */
export async function startPacedModel(t: TestContext, listenOn = '127.0.0.1'): Promise<PacedModel> {
  const calls = new Map<string, number>();
  let pace: Pace = { words: 4, delayMs: 0 };
  const { server, url, close } = await serveFake(async (req, res) => {
    const { messages } = await requestBody<{ messages: readonly Message[] }>(req);
    const { name, ordinal, wantsCard } = questionOf(messages);
    const call = (calls.get(name) ?? 0) + 1;
    calls.set(name, call);
    res.writeHead(200, STREAM_HEAD);
    const card = { id: `call_${name}`, name: CARD_ACTION, args: {} };
    if (wantsCard) res.end(callChunks(MODEL, card).join('') + completionChunk(MODEL, {}, 'tool_calls') + ENDING);
    else await speak(res, pacedAnswer(name, ordinal, call, 0), pace);
  }, listenOn);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  t.after(close);
  const urlOf = (host?: string) => `${url(host)}/v1`;
  return {
    url: urlOf,
    pace(next) {
      pace = next;
    },
    calls,
    env: (host) => ({ OPENAI_BASE_URL: urlOf(host), MODEL, MODEL_CHECK: 'off', MODEL_PRICES: '{"paced":{"input":1,"output":2}}' }),
  };
}
