/**
 * The doorbell between the nodes of a cell: questions, one-way messages and announcements over Redis (CLUSTER-18). Envelopes are
 * sealed, so that Redis learns nothing and whoever reaches it can forge nothing; whatever is lost is found again in rows. It owns
 * the connections; outbox.ts owns what leaves, inbox.ts what is let in, bus-desk.ts what is done with it, asks.ts the questions that wait.
 */
import type { Logger } from 'pino';
import type { Vault } from '../../../storage/files/vault.ts';
import type { Announcements, Announcer } from '../../announcements.ts';
import { NodeUnreachable, PendingAsks } from './asks.ts';
import { type AskHandler, Desk, type Handler } from './bus-desk.ts';
import { channelOf, EVERYONE, type Message } from './envelope.ts';
import { Inbox, type InboxCounts } from './inbox.ts';
import type { Asks, Tells } from './messages.ts';
import { Outbox } from './outbox.ts';
import { openLink, type RedisLink } from './redis-connection.ts';

export { NodeFailed, NodeUnreachable } from './asks.ts';

/** A client waits for the answer, and a refusal because of an unreachable node is to reach it within a second. */
const ASK_TIMEOUT_MS = 750;
/** A start waits so long for Redis; then it goes on without. */
const START_WAIT_MS = 1_000;
/** Gaps come in numbers, and each listener then looks up all it knows: once is enough for those that come together. */
const GAP_PAUSE_MS = 100;

export interface Bus extends Announcer {
  /** This node. */
  readonly self: string;
  /** False while Redis is away: everything that is told meanwhile is lost. */
  readonly connected: boolean;
  /** Asks one node. @throws NodeUnreachable when no answer came in time; NodeFailed; the Refusal that the other side threw. */
  ask<K extends keyof Asks>(node: string, kind: K, ask: Asks[K]['ask']): Promise<Asks[K]['answer']>;
  /** Never throws; what is told to one node within a loop tick travels as one message. */
  tell<K extends keyof Tells>(node: string, kind: K, message: Tells[K]): void;
  answer<K extends keyof Asks>(kind: K, handler: (ask: Asks[K]['ask'], from: string) => Promise<Asks[K]['answer']>): void;
  hear<K extends keyof Tells>(kind: K, handler: (message: Tells[K], from: string) => void): void;
  /**
   * Called each time Redis is back after it was away, once this node hears again, and when another node's envelopes show that some
   * were lost: what was told meanwhile is to be looked up.
   */
  onReconnected(listener: () => void): void;
  close(): Promise<void>;
}

export interface BusCounts extends InboxCounts {
  /** Messages of this node that could not be sent. */
  lost: number;
  /** Questions that came when their asker had given up. */
  expired: number;
}

/** As `createBus` makes it: what it counted since the start, too. */
export interface CountingBus extends Bus {
  counts(): BusCounts;
}

export interface BusOptions {
  readonly redisUrl: string;
  /** CELL_ID; null: there are no cells. */
  readonly cell: string | null;
  /** This node's id. */
  readonly self: string;
  readonly vault: Pick<Vault, 'seal' | 'open'>;
  readonly log: Logger;
  /** Wall clock, the same for all nodes of the cell. */
  readonly nowMs?: () => number;
  readonly askTimeoutMs?: number;
}

/** Calls its listeners, once for all reasons that come together. */
class Reconnections {
  readonly listeners: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;

  now(): void {
    for (const listener of this.listeners) listener();
  }
  soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.now();
    }, GAP_PAUSE_MS);
    this.#timer.unref();
  }
  stop(): void {
    this.listeners.length = 0;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

/** Two connections, since one that listens may not speak; the bus is connected while both are up. */
class RedisBus implements CountingBus {
  readonly self: string;
  readonly isAlone = false;
  /** Resolves when Redis is there for the first time. */
  readonly first: Promise<void>;
  connected = false;
  readonly #log: Logger;
  readonly #nowMs: () => number;
  readonly #askTimeoutMs: number;
  readonly #reconnections = new Reconnections();
  readonly #asks: PendingAsks;
  readonly #desk: Desk;
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  readonly #publisher: RedisLink;
  readonly #subscriber: RedisLink;
  #isStarted = false;
  #atFirst: () => void = () => {};
  #lost = 0;

  constructor(options: BusOptions) {
    const { redisUrl, cell, self, vault, log, nowMs = Date.now, askTimeoutMs = ASK_TIMEOUT_MS } = options;
    this.self = self;
    this.#log = log;
    this.#nowMs = nowMs;
    this.#askTimeoutMs = askTimeoutMs;
    this.first = new Promise((resolve) => {
      this.#atFirst = resolve;
    });
    this.#asks = new PendingAsks(askTimeoutMs);
    this.#desk = new Desk(this.#asks, log, nowMs, (to, message) => this.#post(to, message));
    const deliver = (message: Message, from: string) => this.#desk.deliver(message, from);
    this.#inbox = new Inbox({ cell, self, vault, log, nowMs, deliver, onGap: () => this.#reconnections.soon() });
    this.#outbox = new Outbox({
      cell,
      self,
      vault,
      nowMs,
      isUp: () => this.connected,
      publish: (channel, wire) => this.#publisher.redis.publish(channel, wire),
      onLost: (messages) => {
        this.#lost += messages;
      },
    });
    const onChange = () => this.#change();
    const everyone = Buffer.from(channelOf(cell, EVERYONE));
    const prepare = (redis: RedisLink['redis']) => redis.subscribe(channelOf(cell, self), everyone.toString());
    this.#publisher = openLink({ redisUrl, log, onUp: onChange, onDown: onChange });
    this.#subscriber = openLink({ redisUrl, log, prepare, onUp: onChange, onDown: onChange });
    this.#subscriber.redis.on('messageBuffer', (channel: Buffer, wire: Buffer) =>
      this.#inbox.take(channel.equals(everyone) ? EVERYONE : self, wire),
    );
  }

  /** From now on, Redis coming up is Redis coming back. */
  started(): void {
    this.#isStarted = true;
  }

  #change(): void {
    const was = this.connected;
    this.connected = this.#publisher.up && this.#subscriber.up;
    if (!this.connected || was) return;
    this.#inbox.forgive();
    this.#outbox.settleOwed();
    this.#atFirst();
    if (!this.#isStarted) return;
    this.#log.info('Redis is there again; what other nodes said meanwhile is looked up');
    this.#reconnections.now();
  }

  /** For what has nobody to throw to: a body that cannot travel is a bug of this program. */
  #post(addressee: string, message: Message): void {
    try {
      this.#outbox.post(addressee, message);
    } catch (error) {
      this.#log.error({ err: error, kind: message[1], addressee }, 'a message for another node could not be packed');
    }
  }

  ask<K extends keyof Asks>(node: string, kind: K, ask: Asks[K]['ask']): Promise<Asks[K]['answer']> {
    if (!this.connected) return Promise.reject(new NodeUnreachable(node, 'Redis is away'));
    const expiresAtMs = this.#nowMs() + this.#askTimeoutMs;
    const send = (id: number, undelivered: () => void) => this.#outbox.post(node, ['ask', id, kind, ask, expiresAtMs], undelivered);
    return this.#asks.open(node, kind, send) as Promise<Asks[K]['answer']>;
  }

  tell<K extends keyof Tells>(node: string, kind: K, message: Tells[K]): void {
    this.#post(node, ['tell', kind, message]);
  }

  announce<K extends keyof Announcements>(kind: K, message: Announcements[K]): void {
    this.#post(EVERYONE, ['announce', kind, message]);
  }

  answer<K extends keyof Asks>(kind: K, handler: (ask: Asks[K]['ask'], from: string) => Promise<Asks[K]['answer']>): void {
    this.#desk.answers.set(kind, handler as AskHandler);
  }

  hear<K extends keyof Tells>(kind: K, handler: (message: Tells[K], from: string) => void): void {
    this.#desk.tells.set(kind, handler as Handler);
  }

  listen<K extends keyof Announcements>(kind: K, handler: (message: Announcements[K], from: string) => void): void {
    this.#desk.announcements.set(kind, handler as Handler);
  }

  lookEvery(everyMs: number, look: () => void): () => void {
    const looks = setInterval(look, everyMs).unref();
    return () => clearInterval(looks);
  }

  onReconnected(listener: () => void): void {
    this.#reconnections.listeners.push(listener);
  }

  counts(): BusCounts {
    return { ...this.#inbox.counts, lost: this.#lost, expired: this.#desk.expired };
  }

  async close(): Promise<void> {
    this.#reconnections.stop();
    await this.#outbox.drained();
    this.connected = false;
    this.#asks.failAll('this node ends');
    this.#publisher.close();
    this.#subscriber.close();
  }
}

/**
 * Resolves when Redis is there, or after a second without it; then it connects in the background. Never rejects because Redis is
 * away. Handlers are to be registered at once: a question without a handler fails.
 */
export async function createBus(options: BusOptions): Promise<CountingBus> {
  const bus = new RedisBus(options);
  let giveUp: NodeJS.Timeout | undefined;
  const waited = new Promise<void>((resolve) => {
    giveUp = setTimeout(resolve, START_WAIT_MS);
  });
  await Promise.race([bus.first, waited]);
  clearTimeout(giveUp);
  bus.started();
  return bus;
}
