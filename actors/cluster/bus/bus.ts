/**
 * Announcements between the nodes of a cell, over Redis (CLUSTER-17). Envelopes are sealed: Redis learns nothing from them, and nobody with access
 * to it can forge one. What is lost is found again in rows. This file owns the connections, outbox.ts what is sent and inbox.ts what is
 * accepted. Questions between nodes and the frames of turns go over the sockets of the host: see questions/.
 */
import type { Logger } from 'pino';
import type { Vault } from '../../../storage/secrets/vault.ts';
import type { Announcements, Announcer } from '../../announcements.ts';
import { channelOf, type Message } from './envelope.ts';
import { Inbox, type InboxCounts } from './inbox.ts';
import { Outbox } from './outbox.ts';
import { openLink, type RedisLink } from './redis-connection.ts';

/** How long a start waits for Redis; then it continues without. */
const START_WAIT_MS = 1_000;
/** Gaps come together, and each makes listeners read all their rows: one reading is enough for all of them. */
const GAP_PAUSE_MS = 100;

type Handler = (message: unknown, from: string) => void;

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
  /** Called when Redis becomes usable or unusable. */
  readonly onConnection?: (isConnected: boolean) => void;
}

/** Calls its listeners, once for all causes that come together. */
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
export class Bus implements Announcer {
  readonly self: string;
  readonly isAlone = false;
  /** Resolves when Redis is there for the first time. */
  readonly first: Promise<void>;
  /** False while Redis is away: everything that is announced meanwhile is lost. */
  connected = false;
  readonly #log: Logger;
  readonly #reconnections = new Reconnections();
  /** By kind. */
  readonly #handlers = new Map<string, Handler>();
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  readonly #publisher: RedisLink;
  readonly #subscriber: RedisLink;
  #isStarted = false;
  #atFirst: () => void = () => {};
  readonly #onConnection: BusOptions['onConnection'];
  #lost = 0;

  constructor(options: BusOptions) {
    const { redisUrl, cell, self, vault, log, nowMs = Date.now } = options;
    this.self = self;
    this.#log = log;
    this.#onConnection = options.onConnection;
    this.first = new Promise((resolve) => {
      this.#atFirst = resolve;
    });
    const deliver = (message: Message, from: string) => this.#deliver(message, from);
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
    const prepare = (redis: RedisLink['redis']) => redis.subscribe(channelOf(cell));
    this.#publisher = openLink({ redisUrl, log, onUp: onChange, onDown: onChange });
    this.#subscriber = openLink({ redisUrl, log, prepare, onUp: onChange, onDown: onChange });
    this.#subscriber.redis.on('messageBuffer', (_channel: Buffer, wire: Buffer) => this.#inbox.take(wire));
  }

  /** From now on, Redis coming up is Redis coming back. */
  started(): void {
    this.#isStarted = true;
  }

  #change(): void {
    const was = this.connected;
    this.connected = this.#publisher.up && this.#subscriber.up;
    if (this.connected !== was) this.#onConnection?.(this.connected);
    if (!this.connected || was) return;
    this.#inbox.forgive();
    this.#outbox.settleOwed();
    this.#atFirst();
    if (!this.#isStarted) return;
    this.#log.info('Redis is connected again: reading from rows what other nodes announced meanwhile');
    this.#reconnections.now();
  }

  announce<K extends keyof Announcements>(kind: K, message: Announcements[K]): void {
    try {
      this.#outbox.post([kind, message]);
    } catch (error) {
      // A message that cannot be encoded is a bug of this program, and no caller would handle the error.
      this.#log.error({ err: error, kind }, 'encoding an announcement failed: other nodes find the change in rows');
    }
  }

  listen<K extends keyof Announcements>(kind: K, handler: (message: Announcements[K], from: string) => void): void {
    this.#handlers.set(kind, handler as Handler);
  }

  /** Never throws. A kind without a listener comes from a newer version of the program. */
  #deliver([kind, body]: Message, from: string): void {
    try {
      this.#handlers.get(kind)?.(body, from);
    } catch (error) {
      this.#log.error({ err: error, kind, from }, 'handling an announcement of another node failed: the change is found in rows later');
    }
  }

  lookEvery(everyMs: number, look: () => void): () => void {
    const looks = setInterval(look, everyMs).unref();
    return () => clearInterval(looks);
  }

  /**
   * Called when Redis is back and this node receives again, and when a gap in another node's envelopes shows that some were lost: the
   * listener then reads the rows.
   */
  onReconnected(listener: () => void): void {
    this.#reconnections.listeners.push(listener);
  }

  /** Since the start; `lost`: messages of this node that could not be sent. */
  counts(): InboxCounts & { readonly lost: number } {
    return { ...this.#inbox.counts, lost: this.#lost };
  }

  async close(): Promise<void> {
    this.#reconnections.stop();
    await this.#outbox.drained();
    this.connected = false;
    this.#publisher.close();
    this.#subscriber.close();
  }
}

/**
 * Resolves when Redis is there, or after a second without it; then it connects in the background. Never rejects because Redis is
 * away.
 */
export async function createBus(options: BusOptions): Promise<Bus> {
  const bus = new Bus(options);
  let giveUp: NodeJS.Timeout | undefined;
  const waited = new Promise<void>((resolve) => {
    giveUp = setTimeout(resolve, START_WAIT_MS);
  });
  await Promise.race([bus.first, waited]);
  clearTimeout(giveUp);
  bus.started();
  return bus;
}
