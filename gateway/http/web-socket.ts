/**
 * WebSockets through which the service only speaks. Owns their upgrade, pace, bounds and end.
 *
 * Invariants: texts are asked for at a steady pace, and only while nothing waits in the socket's buffer, so at most what one look brought waits for
 * a client; a client that takes nothing for `stuckMs` is dropped; what a client sends is not read, and a long message ends its socket.
 */
import type { HttpRequest, HttpResponse, TemplatedApp, WebSocket } from 'uWebSockets.js';
import { Refusal } from '../../protocol/errors.ts';
import { addressKey, type ProxyTrust, readClientAddress } from './client-address.ts';
import { framingProblem } from './framing.ts';

export interface UpgradeRequest {
  header(name: string): string;
  readonly query: URLSearchParams;
  readonly address: string;
}

export interface Speaker {
  /** Texts to send now, null when there will be none any more. */
  next(): readonly string[] | null;
}

export interface SpeakingPath {
  readonly path: string;
  readonly trustProxy: ProxyTrust | undefined;
  admit(request: UpgradeRequest): Speaker;
  refuse(res: HttpResponse, req: HttpRequest, error: unknown): void;
  /** A speaker threw: its socket ends. */
  failed(error: unknown): void;
  /** Lets tests shorten what takes seconds. */
  readonly times?: { readonly lookMs?: number; readonly stuckMs?: number };
}

export interface SpeakingSockets {
  readonly count: number;
  /** Tells all clients to go elsewhere. */
  end(): void;
}

/** Sockets of one process: each costs a read of some rows five times a second. */
const SOCKETS_MAX = 16;
/** What one look brings is at most this, with one frame more: a definition may take a hundred kilobytes. Beyond it the socket is dropped. */
const WAITING_MAX_BYTES = 1_048_576;
/** Viewers say nothing. */
const RECEIVED_MAX_BYTES = 1_024;
/** uWebSockets asks a silent client whether it is there before this ends. */
const IDLE_S = 60;
/** Fast enough for eyes, as live pages look. */
const LOOK_MS = 200;
const STUCK_MS = 10_000;

/** RFC 6455, section 7.4.1. */
const CLOSE = { over: 1000, goingAway: 1001, failed: 1011 } as const;

interface Data {
  readonly speaker: Speaker;
  timer: NodeJS.Timeout | undefined;
  /** 0: nothing waits. */
  waitsSinceMs: number;
}

type Socket = WebSocket<Data>;

function upgradeRequestOf(res: HttpResponse, req: HttpRequest, trustProxy: ProxyTrust | undefined): UpgradeRequest {
  const problem = framingProblem(req);
  if (problem !== undefined) throw new Refusal('invalid_request', problem);
  const address = addressKey(readClientAddress(res, req, trustProxy));
  return { header: (name) => req.getHeader(name), query: new URLSearchParams(req.getQuery() ?? ''), address };
}

/** Whether something still waits for the client, which is dropped when it has taken nothing for too long. */
function isWaiting(socket: Socket, data: Data, stuckMs: number): boolean {
  if (socket.getBufferedAmount() === 0) {
    data.waitsSinceMs = 0;
    return false;
  }
  const nowMs = performance.now();
  if (data.waitsSinceMs === 0) data.waitsSinceMs = nowMs;
  if (nowMs - data.waitsSinceMs >= stuckMs) socket.close();
  return true;
}

function say(socket: Socket, data: Data, failed: (error: unknown) => void): void {
  let texts: readonly string[] | null;
  try {
    texts = data.speaker.next();
  } catch (error) {
    failed(error);
    socket.end(CLOSE.failed, 'internal');
    return;
  }
  if (texts === null) {
    socket.end(CLOSE.over, 'nothing more');
    return;
  }
  socket.cork(() => {
    // uWebSockets closes a socket within `send` when too much waits; then its `close` has cleared the timer.
    for (const text of texts) if (data.timer !== undefined) socket.send(text);
  });
}

/** Serves a path to clients that upgrade. A request for it that does not upgrade is left to other routes. */
export function registerSpeakingSockets(app: TemplatedApp, path: SpeakingPath): SpeakingSockets {
  const open = new Set<Socket>();
  const { lookMs = LOOK_MS, stuckMs = STUCK_MS } = path.times ?? {};
  let isEnded = false;
  const admitted = (res: HttpResponse, req: HttpRequest): Speaker => {
    const speaker = path.admit(upgradeRequestOf(res, req, path.trustProxy));
    if (isEnded || open.size >= SOCKETS_MAX) throw new Refusal('rate_limited', `At most ${SOCKETS_MAX} viewers are served at a time.`);
    return speaker;
  };
  const look = (socket: Socket) => {
    const data = socket.getUserData();
    if (!isWaiting(socket, data, stuckMs)) say(socket, data, path.failed);
  };
  app.ws<Data>(path.path, {
    maxPayloadLength: RECEIVED_MAX_BYTES,
    maxBackpressure: WAITING_MAX_BYTES,
    closeOnBackpressureLimit: 1,
    idleTimeout: IDLE_S,
    sendPingsAutomatically: true,
    upgrade(res, req, context) {
      let speaker: Speaker;
      try {
        speaker = admitted(res, req);
      } catch (error) {
        path.refuse(res, req, error);
        return;
      }
      const [key, protocol, extensions] = ['key', 'protocol', 'extensions'].map((name) => req.getHeader(`sec-websocket-${name}`));
      const data: Data = { speaker, timer: undefined, waitsSinceMs: 0 };
      res.upgrade(data, key ?? '', protocol ?? '', extensions ?? '', context);
    },
    open(socket) {
      open.add(socket);
      const data = socket.getUserData();
      data.timer = setInterval(() => look(socket), lookMs).unref();
      look(socket);
    },
    close(socket) {
      open.delete(socket);
      const data = socket.getUserData();
      clearInterval(data.timer);
      data.timer = undefined;
    },
  });
  return {
    get count() {
      return open.size;
    },
    end() {
      isEnded = true;
      for (const socket of [...open]) socket.end(CLOSE.goingAway, 'the service stops');
    },
  };
}
