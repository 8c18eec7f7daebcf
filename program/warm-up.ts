/**
 * The warm-up (RUN-36 to RUN-38): turns through all of the program before load arrives, so that the engine has compiled and optimised what they run. A
 * second composition of the same code, with its own server, model, organisation and log; it shares the writer thread, whose code has to be warm too,
 * and its files lie in memory. All of it goes when it ends; nothing of it is counted, logged or kept.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server as NetServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pino, { type Logger } from 'pino';
import { runtimeRoutes } from '../gateway/runtime/routes.ts';
import { startServer } from '../gateway/server.ts';
import type { Services } from '../gateway/services.ts';
import { CATALOG } from '../protocol/catalog/catalog.ts';
import { mintId } from '../protocol/ids.ts';
import { CATALOG_VERSION } from '../protocol/limits.ts';
import { createApp } from '../storage/apps/app-creation.ts';
import type { Storage } from '../storage/storage.ts';
import { watchLoad } from '../watch/load-watch.ts';
import { Starts } from '../watch/starts.ts';
import { threadClock } from '../watch/thread-time.ts';
import { compose } from './compose.ts';
import { type Config, readConfig } from './config.ts';
import { collectGarbage, keepOptimised, STARTED_MS } from './engine.ts';

/** Longest warm-up, in the event loop's own time: some 1,000 turns, of which the last cost little more than a warm one. A rollout waits so long for each process. */
export const WARM_UP_MAX_MS = 3_000;
/** The same by the clock, on a machine that is busy with other work. */
export const WARM_UP_BUSY_MAX_MS = 8_000;
/** Where files lie in memory. On a system without it there is no warm-up. */
const MEMORY = '/dev/shm';
/** Turns at a time: enough for groups of writes, and so few that somebody else's request waits for some milliseconds. */
const VISITORS = 16;
/** A client reads history and configuration after so many conversations. */
const READS_EVERY = 8;
/** How often it is looked whether people who came early are served. */
const GIVE_WAY_MS = 50;
/** The cost of a turn is compared from one batch of so many to the next. */
const BATCH_TURNS = 100;
/** It stands still once so many batches in a row were hardly cheaper than the cheapest before. */
const STILL_BATCHES = 4;
const HARDLY_CHEAPER = 0.97;

const US_PER_MS = 1e3;
/**
 * Turns of a first composition, before another one takes over: what is optimised for one alone is thrown away when the next comes, which
 * would be the one that serves.
 */
const FIRST_TURNS = 100;
const MODEL = 'warm-up';
const HOST = '127.0.0.1';
/** In each organisation's `usage` a turn costs nothing, and no limit is met. */
const PRICES = { [MODEL]: { input: 0, output: 0 } };
const LIMITS = {
  messages_per_minute: 10_000,
  messages_per_day: 10_000_000,
  messages_per_minute_per_address: 0,
  messages_per_day_per_address: 0,
};
const LAST_PIECE = '0\r\n\r\n';

function chunk(choices: readonly object[], more: object = {}): string {
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model: MODEL, choices, ...more })}\n\n`;
}

function piece(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

const words = ['Your ', 'order ', 'is ', 'on ', 'its ', 'way.'].map((content) =>
  chunk([{ index: 0, delta: { content }, logprobs: null, finish_reason: null }]),
);
/** An answer of a model, in three writes. */
const ANSWER = [
  `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${piece(words.slice(0, 2).join(''))}`,
  piece(words.slice(2).join('')),
  piece(
    chunk([{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }]) +
      chunk([], { usage: { prompt_tokens: 12, completion_tokens: 6, total_tokens: 18 } }) +
      'data: [DONE]\n\n',
  ) + LAST_PIECE,
] as const;

/** A model that gives every request the same answer, and asks nobody who they are: there is nothing to be had of it. */
async function startModel(): Promise<NetServer> {
  const server = createServer((socket) => {
    let left = 0;
    socket.on('error', () => socket.destroy());
    socket.on('data', (data) => {
      if (left === 0) {
        const head = data.toString('latin1');
        left = head.indexOf('\r\n\r\n') + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1]);
      }
      left -= data.length;
      if (left === 0) answer(socket, 0);
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, HOST, resolve));
  return server;
}

function answer(socket: Socket, at: number): void {
  const bytes = ANSWER[at];
  if (bytes === undefined || socket.destroyed) return;
  socket.write(bytes);
  setImmediate(answer, socket, at + 1);
}

/** A connection of a client: one request at a time. */
class Visitor {
  readonly #socket: Socket;
  readonly #head: string;
  device = '';
  #said = '';
  #settle: { resolve(said: string): void; reject(error: Error): void } | undefined;

  constructor(port: number, key: string) {
    this.#head = `Host: ${HOST}\r\nX-Service-Key: ${key}\r\n`;
    this.#socket = connect(port, HOST);
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text: string) => {
      this.#said += text;
      if (this.#isWhole()) this.#settle?.resolve(this.#said);
    });
    this.#socket.on('error', (error) => this.#settle?.reject(error));
    this.#socket.on('close', () => this.#settle?.reject(new Error('the connection was closed')));
  }

  #isWhole(): boolean {
    if (this.#said.endsWith(LAST_PIECE)) return true;
    const end = this.#said.indexOf('\r\n\r\n') + 4;
    return end > 4 && this.#said.length - end >= Number(/content-length: (\d+)/i.exec(this.#said.slice(0, end))?.[1]);
  }

  /** The answer with its head. @throws Error unless it is 200 */
  async ask(method: string, path: string, body?: unknown): Promise<string> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const about = body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
    this.#said = '';
    const said = await new Promise<string>((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(`${method} ${path} HTTP/1.1\r\n${this.#head}X-Service-Device: ${this.device}\r\n${about}\r\n${text}`);
    });
    if (!said.startsWith('HTTP/1.1 200')) throw new Error(`${path} was answered ${said.slice(0, said.indexOf('\r'))}`);
    return said;
  }

  close(): void {
    this.#socket.destroy();
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / US_PER_MS;
}

/** Whether the CPU of a turn stands still, asked before each; `spentMs` is that of all so far. */
export function standstill(spentMs: () => number): () => boolean {
  let turns = 0;
  let still = 0;
  let beforeMs = spentMs();
  let cheapestMs = Number.POSITIVE_INFINITY;
  return () => {
    turns += 1;
    if (turns % BATCH_TURNS === 0) {
      const nowMs = spentMs();
      still = nowMs - beforeMs < cheapestMs * HARDLY_CHEAPER ? 0 : still + 1;
      cheapestMs = Math.min(cheapestMs, nowMs - beforeMs);
      beforeMs = nowMs;
    }
    return still >= STILL_BATCHES;
  };
}

/** Conversations of two turns, each on a device of its own, and what a client reads at times. `mayGoOn` is asked before each turn. */
async function visit(visitor: Visitor, components: readonly string[], mayGoOn: () => Promise<boolean>): Promise<void> {
  const client = { protocol: 1, sdk: 'web/0.50.0', catalog_version: CATALOG_VERSION, components };
  const body = { message: { text: 'Where is my order?' }, client };
  for (let count = 1; await mayGoOn(); count += 1) {
    visitor.device = randomBytes(16).toString('hex');
    const said = await visitor.ask('POST', '/v1/chat', { ...body, turn_id: randomUUID() });
    const id = /"conversation_id":"([^"]+)"/.exec(said)?.[1];
    if (!(await mayGoOn())) return;
    await visitor.ask('POST', '/v1/chat', { ...body, turn_id: randomUUID(), conversation_id: id });
    // Not each time, because addresses have limits for reads.
    if (count % READS_EVERY !== 0) continue;
    await visitor.ask('GET', `/v1/conversations/${id}/messages`);
    await visitor.ask('GET', '/v1/apps/config');
  }
}

export interface WarmUpOptions {
  readonly config: Config;
  readonly log: Logger;
  /** The one that serves, whose writer thread gets warm. */
  readonly storage: Storage;
  readonly stalls: NonNullable<Services['stalls']>;
  /** Whether people are being served now: then the warm-up waits. */
  isBusy(): boolean;
}

export class WarmUp {
  readonly #options: WarmUpOptions;
  readonly #loopTime = threadClock();
  #ended = false;
  #done: Promise<void> | undefined;
  /** False once it has ended, or where it is off. */
  isAhead: boolean;

  constructor(options: WarmUpOptions) {
    this.#options = options;
    // The offline model is for trying the service out, where no load is waited for.
    this.isAhead = options.config.warmUp && options.config.model.provider !== 'offline';
  }

  /** Settles once nothing is left of it. Idempotent; never rejects. */
  run(): Promise<void> {
    this.#done ??= this.isAhead && !this.#ended ? this.#run() : Promise.resolve(keepOptimised(STARTED_MS, this.#options.isBusy));
    return this.#done;
  }

  /** No further turn is begun; settles as `run`. */
  end(): Promise<void> {
    this.#ended = true;
    return this.run();
  }

  async #run(): Promise<void> {
    try {
      await this.#inMemory();
    } catch (error) {
      this.#options.log.info({ err: error }, 'the warm-up ended early: the first turns are slower');
    } finally {
      collectGarbage();
      this.isAhead = false;
    }
  }

  async #inMemory(): Promise<void> {
    // Otherwise a process that nobody uses in its first seconds would lose what it does this for.
    keepOptimised(0, () => true);
    const { config } = this.#options;
    // The same at each start, so that what a killed process left is replaced.
    const { dev, ino } = statSync(config.dataDir);
    const node = config.cluster === undefined ? 'alone' : (config.cluster.nodeId ?? process.pid);
    const dir = join(MEMORY, `assistant-warm-up-${dev}-${ino}-${node}`);
    const remove = () => rmSync(dir, { recursive: true, force: true });
    remove();
    mkdirSync(dir, { mode: 0o700 });
    process.once('exit', remove);
    const model = await startModel();
    try {
      const { port } = model.address() as AddressInfo;
      const mayGoOn = this.#bound();
      let left = FIRST_TURNS;
      await this.#play(dir, port, async () => --left >= 0 && mayGoOn());
      if (!this.#ended) await this.#play(dir, port, mayGoOn);
    } finally {
      model.close();
      process.off('exit', remove);
      remove();
    }
  }

  /** To be asked before each turn: waits while others are answered. */
  #bound(): () => Promise<boolean> {
    const untilMs = performance.now() + WARM_UP_BUSY_MAX_MS;
    const untilRanMs = this.#loopTime().ranMs + WARM_UP_MAX_MS;
    const isLate = () => performance.now() >= untilMs || this.#loopTime().ranMs >= untilRanMs;
    const standsStill = standstill(cpuMs);
    return async () => {
      while (this.#options.isBusy() && !isLate()) await pause(GIVE_WAY_MS);
      this.#ended ||= standsStill() || isLate();
      return !this.#ended;
    };
  }

  async #play(dir: string, modelPort: number, mayGoOn: () => Promise<boolean>): Promise<void> {
    const config = readConfig({
      ...{ DATA_DIR: dir, PORT: '0', DEMO: 'off', OPENAI_BASE_URL: `http://${HOST}:${modelPort}/v1`, MODEL, MODEL_CHECK: 'off' },
      ...{ OPENAI_API_KEY: MODEL, MODEL_PRICES: JSON.stringify(PRICES) },
    });
    const log = pino({ level: this.#options.config.logLevel }, { write() {} });
    const composed = await compose(config, log, () => {}, this.#options.storage);
    const load = watchLoad({ writes: () => composed.services.storage.stats(), log });
    const starts = new Starts({ log, threadTime: this.#loopTime, opening: () => load.stats().turnsOpening });
    // The same fields in the same order as in main.ts: what is optimised depends on it.
    const services: Services = { ...composed.services, stalls: this.#options.stalls, load, starts, isWarming: () => false };
    const server = await startServer({ host: HOST, port: 0, services, routes: runtimeRoutes, passing: true });
    const visitors: Visitor[] = [];
    try {
      services.node.send({ type: 'serve', url: HOST });
      const key = await prepare(services.storage);
      for (let number = 0; number < VISITORS; number += 1) visitors.push(new Visitor(server.port, key));
      const all = [...CATALOG.keys()];
      await Promise.all(visitors.map((visitor, number) => visit(visitor, number % 2 === 0 ? all : ['text'], mayGoOn)));
    } finally {
      for (const visitor of visitors) visitor.close();
      server.close();
      await composed.close();
    }
  }
}

/** Makes the organisation and its app; returns the app's key. */
async function prepare(storage: Storage): Promise<string> {
  const nowMs = Date.now();
  const organisationId = mintId('org', nowMs);
  const autoTopUp = { enabled: false, amount_usd: 10 };
  await storage.writeControl('createOrganisation', { id: organisationId, name: MODEL, plan: 'scale', members: [], autoTopUp, nowMs });
  const { app, keys } = await createApp(storage, { organisationId, name: MODEL, platformHint: 'web', settings: LIMITS, nowMs });
  await storage.write(organisationId, 'goLive', { appId: app.id, organisationId, nowMs });
  return keys.live;
}
