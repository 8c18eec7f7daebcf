/** What is done with messages that inbox.ts let in: each goes to its handler, and a question is answered. */
import type { Logger } from 'pino';
import { plainRefusal, Refusal } from '../../../protocol/errors.ts';
import type { PendingAsks } from './asks.ts';
import type { Message } from './envelope.ts';

export type AskHandler = (ask: unknown, from: string) => Promise<unknown>;
export type Handler = (message: unknown, from: string) => void;

/** Bodies are as the sender's program, of the same contract, made them. */
export class Desk {
  readonly answers = new Map<string, AskHandler>();
  readonly tells = new Map<string, Handler>();
  readonly announcements = new Map<string, Handler>();
  expired = 0;
  readonly #asks: PendingAsks;
  readonly #log: Logger;
  readonly #nowMs: () => number;
  readonly #reply: (to: string, message: Message) => void;

  constructor(asks: PendingAsks, log: Logger, nowMs: () => number, reply: (to: string, message: Message) => void) {
    this.#asks = asks;
    this.#log = log;
    this.#nowMs = nowMs;
    this.#reply = reply;
  }

  /** Never throws. A kind that nobody handles is one of a newer program. */
  deliver(message: Message, from: string): void {
    if (message[0] === 'tell') this.#hand(this.tells, message[1], message[2], from);
    else if (message[0] === 'announce') this.#hand(this.announcements, message[1], message[2], from);
    else if (message[0] === 'ask') void this.#answer(message[1], message[2], message[3], message[4], from);
    else if (message[0] === 'answer') this.#asks.answered(message[1], from, message[2]);
    else if (message[0] === 'refused') this.#asks.refused(message[1], from, message[2]);
    else if (message[0] === 'failed') this.#asks.failed(message[1], from);
  }

  #hand(handlers: ReadonlyMap<string, Handler>, kind: string, body: unknown, from: string): void {
    try {
      handlers.get(kind)?.(body, from);
    } catch (error) {
      this.#log.error({ err: error, kind, from }, 'a message of another node was not handled');
    }
  }

  async #answer(id: number, kind: string, body: unknown, expiresAtMs: number, from: string): Promise<void> {
    // It lay in Redis or in a socket: nobody waits for it, and what it asks for is asked somewhere else by now.
    if (this.#nowMs() > expiresAtMs) {
      this.expired += 1;
      return;
    }
    const handler = this.answers.get(kind);
    try {
      this.#reply(from, handler === undefined ? ['failed', id] : ['answer', id, await handler(body, from)]);
    } catch (error) {
      if (error instanceof Refusal) {
        this.#reply(from, ['refused', id, plainRefusal(error)]);
        return;
      }
      this.#log.error({ err: error, kind, from }, 'a question of another node was not answered');
      this.#reply(from, ['failed', id]);
    }
  }
}
