/**
 * What processes reach each other by, replaced: unix sockets, Redis and the server of an app. Each is as fast as chance
 * says, and fails as `faults` says. Imported before the program is.
 */
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { Duplex, Readable } from 'node:stream';
import { type Owner, world } from './world.ts';

const require = createRequire(import.meta.url);

/** What goes wrong at present. */
export const faults = {
  /** Of messages through Redis, in percent. */
  lost: 0,
  doubled: 0,
  redisAway: false,
  /** How long sockets, threads and servers take at most, in ms. */
  socketMs: 0.5,
  threadMs: 0.5,
  serverMs: 20,
  /** Of calls of the app's server, in percent, that are refused, and of which the answer is lost. */
  refused: 0,
  unanswered: 0,
  /** The share of what clients read, in percent, after which their connection breaks. */
  unheard: 0,
  /** Of writes, in percent, that find the file locked. */
  busy: 0,
};
const CALM = { ...faults };

export const happens = (percent: number) => percent > 0 && world.dice.below(100) < percent;
const failure = (code: string) => Object.assign(new Error(code), { code });

/** Delivers in order, each after a delay. */
export class Wire {
  #lastMs = 0;

  send(maxMs: number, owner: Owner | null, run: () => void): void {
    this.#lastMs = Math.max(this.#lastMs, world.nowMs + world.between([0.01, maxMs]));
    world.after(this.#lastMs - world.nowMs, owner, run);
  }
}

const sockets = new Set<SimulatedSocket>();
const servers = new Map<string, SimulatedServer>();

class SimulatedSocket extends Duplex {
  readonly owner: Owner | null;
  peer: SimulatedSocket | null = null;
  readonly #wire = new Wire();

  constructor(owner: Owner | null) {
    super({ allowHalfOpen: false });
    this.owner = owner;
    sockets.add(this);
    owner?.atEnd.push(() => this.vanish());
  }

  ref = () => this;
  unref = () => this;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    // What is written before it is connected waits for that.
    if (this.peer === null) {
      this.once('connect', () => this._write(chunk, _encoding, done));
      return;
    }
    this.#tell((peer) => void peer.push(chunk));
    done();
  }
  override _read(): void {}
  override _final(done: () => void): void {
    this.#tell((peer) => void peer.push(null));
    done();
  }
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    sockets.delete(this);
    this.#tell((peer) => void peer.destroy());
    done(error);
  }

  /** Its process is gone: the other side hears that, and this one nothing. */
  vanish(): void {
    if (!sockets.delete(this)) return;
    this.#tell((peer) => void peer.destroy());
  }

  /** The connection is cut: both sides hear it. */
  cut(): void {
    const { owner } = this;
    world.soon(owner, () => this.destroy(failure('ECONNRESET')));
  }

  #tell(what: (peer: SimulatedSocket) => void): void {
    const { peer } = this;
    if (peer === null) return;
    this.#wire.send(faults.socketMs, peer.owner, () => {
      if (!peer.destroyed) what(peer);
    });
  }
}

class SimulatedServer extends EventEmitter {
  readonly owner = world.current;
  readonly #id = `server ${servers.size}`;
  isOpen = false;

  constructor(onConnection: (socket: SimulatedSocket) => void) {
    super();
    this.on('connection', onConnection);
    servers.set(this.#id, this);
    this.owner?.atEnd.push(() => this.close());
  }
  listen({ path }: { path: string }, done: () => void): void {
    // What is at the path tells who listens there, wherever it is moved to.
    fs.writeFileSync(path, this.#id);
    this.isOpen = true;
    world.soon(this.owner, done);
  }
  close(): void {
    this.isOpen = false;
  }
  unref = () => this;
}

function serverAt(path: string): SimulatedServer | string {
  try {
    const server = servers.get(fs.readFileSync(path, 'utf8'));
    return server?.isOpen === true ? server : 'ECONNREFUSED';
  } catch {
    return 'ENOENT';
  }
}

function connect(path: string): SimulatedSocket {
  const socket = new SimulatedSocket(world.current);
  world.after(world.between([0.01, faults.socketMs]), socket.owner, () => {
    if (socket.destroyed) return;
    const server = serverAt(path);
    if (typeof server === 'string') {
      socket.destroy(failure(server));
      return;
    }
    const other = new SimulatedSocket(server.owner);
    [socket.peer, other.peer] = [other, socket];
    // The kernel accepts, whether or not the process looks.
    world.soon(server.owner, () => server.emit('connection', other));
    socket.emit('connect');
  });
  return socket;
}

/** Cuts some connections of this process, or of all. */
export function cutSockets(owner: Owner | null, percent: number): void {
  for (const socket of [...sockets]) if ((owner === null || socket.owner === owner) && happens(percent)) socket.cut();
}

const redis = { values: new Map<string, string>(), hashes: new Map<string, Map<string, string>>(), clients: new Set<SimulatedRedis>() };

/** Redis as ioredis shows it, as far as the program uses it. */
class SimulatedRedis extends EventEmitter {
  readonly #owner = world.current;
  readonly #retryMs: (attempt: number) => number;
  readonly #wire = new Wire();
  readonly #channels = new Set<string>();
  #isUp = false;
  #isClosed = false;
  #attempts = 0;

  constructor(_url: string, { retryStrategy }: { retryStrategy(attempt: number): number }) {
    super();
    this.#retryMs = retryStrategy;
    redis.clients.add(this);
    this.#owner?.atEnd.push(() => redis.clients.delete(this));
  }

  async connect(): Promise<void> {
    this.#wire.send(faults.socketMs, this.#owner, () => {
      if (this.#isClosed || this.#isUp) return;
      if (faults.redisAway) this.#retry();
      else {
        this.#isUp = true;
        this.#attempts = 0;
        this.emit('ready');
      }
    });
  }
  #retry(): void {
    this.#attempts += 1;
    world.after(this.#retryMs(this.#attempts), this.#owner, () => void this.connect());
  }
  drop(): void {
    world.soon(this.#owner, () => {
      if (!this.#isUp) return;
      this.#isUp = false;
      this.#channels.clear();
      this.emit('close');
      this.#retry();
    });
  }
  disconnect(again = false): void {
    this.#isClosed = !again;
    if (again) this.drop();
    else redis.clients.delete(this);
    this.#isUp &&= again;
  }

  #do<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const lost = () => reject(new Error('Connection is closed.'));
      if (!this.#isUp) {
        world.soon(this.#owner, lost);
        return;
      }
      this.#wire.send(faults.socketMs, null, () => {
        const value = faults.redisAway ? undefined : work();
        this.#wire.send(faults.socketMs, this.#owner, () => (this.#isUp && !faults.redisAway ? resolve(value as T) : lost()));
      });
    });
  }

  ping = () => this.#do(() => 'PONG');
  subscribe = (channel: string) => this.#do(() => this.#channels.add(channel));
  publish = (channel: string, wire: Buffer) =>
    this.#do(() => {
      for (const client of redis.clients) {
        if (!client.#channels.has(channel) || happens(faults.lost)) continue;
        for (let copies = happens(faults.doubled) ? 2 : 1; copies > 0; copies--)
          client.#wire.send(faults.socketMs, client.#owner, () => client.emit('messageBuffer', Buffer.from(channel), Buffer.from(wire)));
      }
    });
  set = (key: string, value: string, _px?: 'PX', ttlMs?: number) =>
    this.#do(() => {
      redis.values.set(key, value);
      if (ttlMs !== undefined) world.after(ttlMs, null, () => redis.values.get(key) === value && redis.values.delete(key));
    });
  del = (key: string) => this.#do(() => redis.values.delete(key));
  scan = (_cursor: string, _match: string, pattern: string) =>
    this.#do(() => ['0', [...redis.values.keys()].filter((key) => key.startsWith(pattern.replace(/\*$/, '').replaceAll('\\', '')))]);
  getrange = (key: string) => this.#do(() => redis.values.get(key) ?? '');
  #hash(key: string): Map<string, string> {
    const hash = redis.hashes.get(key) ?? new Map<string, string>();
    redis.hashes.set(key, hash);
    return hash;
  }
  hset = (key: string, fields: Readonly<Record<string, string>>) =>
    this.#do(() => {
      for (const [field, value] of Object.entries(fields)) this.#hash(key).set(field, value);
    });
  setNewField = (key: string, field: string, value: string) =>
    this.#do(() => {
      if (this.#hash(key).has(field)) return 0;
      this.#hash(key).set(field, value);
      return 1;
    });
  readField = (key: string, field: string) => this.#do(() => this.#hash(key).get(field) ?? null);
  scanFields = (key: string) => this.#do(() => ['0', [...this.#hash(key)].flat()]);
  swapField = (key: string, field: string, was: string, value: string) =>
    this.#do(() => {
      if (this.#hash(key).get(field) !== was) return 0;
      this.#hash(key).set(field, value);
      return 1;
    });
}

/** Redis goes, and comes back with nothing. */
export function setRedis(isAway: boolean): void {
  faults.redisAway = isAway;
  if (!isAway) return;
  redis.values.clear();
  redis.hashes.clear();
  for (const client of redis.clients) client.drop();
}

export interface ServerCall {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The app's own server: what is done when a request to it is made, and when it arrives. */
export const server = { sent: (_call: ServerCall): void => {}, called: (_call: ServerCall): void => {} };

type Connects = (options: object, done: (error: Error | null) => void) => void;

/** An undici client with one connection to the app's server. */
class SimulatedClient {
  readonly #connect: Connects;
  #reject: (error: Error) => void = () => {};

  constructor(_origin: string, { connect: opens }: { connect: Connects }) {
    this.#connect = opens;
  }
  request({ path, headers }: ServerCall): Promise<unknown> {
    const owner = world.current;
    server.sent({ path, headers });
    const [isRefused, isUnanswered] = [happens(faults.refused), happens(faults.unanswered)];
    const status = world.dice.pick([200, 200, 200, 200, 409, 502]);
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      world.after(world.between([0.1, faults.serverMs]), owner, () => {
        if (isRefused) {
          reject(failure('ECONNREFUSED'));
          return;
        }
        this.#connect({ hostname: '127.0.0.1', host: '127.0.0.1', protocol: 'http:', port: '80' }, (error) => error && reject(error));
        world.after(world.between([0.1, faults.serverMs]), null, () => {
          server.called({ path, headers });
          world.after(world.between([0.1, faults.serverMs]), owner, () => {
            if (isUnanswered) reject(failure('ECONNRESET'));
            else resolve({ statusCode: status, headers: {}, body: Readable.from([Buffer.from('{"done":true}')]) });
          });
        });
      });
    });
  }
  async destroy(reason?: Error): Promise<void> {
    this.#reject(reason ?? new Error('destroyed'));
  }
}

/** Nothing of an earlier run is left, and nothing goes wrong yet. */
export function beginNetwork(): void {
  Object.assign(faults, CALM);
  sockets.clear();
  servers.clear();
  redis.values.clear();
  redis.hashes.clear();
  redis.clients.clear();
}

export function calm(): void {
  Object.assign(faults, CALM, { redisAway: faults.redisAway });
  setRedis(false);
}

function replace(path: string, exports: unknown): void {
  require(path);
  const module = require.cache[require.resolve(path)];
  if (module !== undefined) module.exports = exports;
}

Object.assign(net, { connect, createServer: (onConnection: () => void) => new SimulatedServer(onConnection) });
syncBuiltinESMExports();
replace('ioredis', { Redis: SimulatedRedis });
replace('undici/lib/core/connect.js', () => (_options: object, done: (error: null, socket: object) => void) => done(null, {}));
replace('undici/lib/dispatcher/client.js', SimulatedClient);
