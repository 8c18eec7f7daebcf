/**
 * C1's client: asks for an app's configuration over connections that stay open, one request at a time on each, and checks every answer. It
 * knows just as much of HTTP as it meets: an answer is a head, and as many bytes as its `Content-Length` says.
 */
import { createConnection, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { mintDevice } from '../../load/stream-client.ts';
import { reasonOf } from '../../workloads/rounds.ts';

export const CONFIG_PATH = '/v1/apps/config';

/** 304: the client names the configuration that it has. */
export type Status = 200 | 304;

type Headers = readonly (readonly [name: string, value: string])[];

/** The configuration of an app as the service answers it. */
export interface ConfigAnswer {
  readonly etag: string;
  /** Those of the answer with this status, without what belongs to a connection or to a moment. */
  readonly headers: Readonly<Record<Status, Headers>>;
  readonly body: string;
}

/** An app that is asked for its configuration, and what it has to answer. */
export interface ConfigApp {
  readonly liveKey: string;
  readonly answer: ConfigAnswer;
}

/** One for all connections: what a read brought is looked at before the next one. */
const READ = Buffer.alloc(256 * 1024);
const HEAD_END = '\r\n\r\n';
/** Headers that uWebSockets or the connection adds. */
const NOT_OF_THE_ANSWER = new Set(['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding', 'uwebsockets']);
const SHOWN_CHARS = 300;
/** The reasons of the first broken requests say enough. */
const SHOWN_MAX = 3;

interface Answered {
  readonly head: string;
  readonly bodyBytes: number;
}

/** One connection. */
class Connection {
  readonly #socket: Socket;
  #read = '';
  #settle: { resolve: (answered: Answered) => void; reject: (error: Error) => void } | undefined;

  constructor(port: number) {
    const take = (length: number): boolean => {
      this.#take(READ.toString('latin1', 0, length));
      return true;
    };
    this.#socket = createConnection({ port, host: '127.0.0.1', onread: { buffer: READ, callback: take } });
    this.#socket.setNoDelay(true);
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('the connection was closed')));
  }

  /** @throws Error when the connection ends first */
  ask(request: string): Promise<Answered> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#settle = undefined;
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    this.#settle?.reject(error);
    this.#settle = undefined;
  }

  #take(read: string): void {
    this.#read += read;
    const headEnd = this.#read.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.#read.slice(0, headEnd);
    const due = head.startsWith('HTTP/1.1 304') ? 0 : Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    const bodyBytes = this.#read.length - headEnd - HEAD_END.length;
    if (bodyBytes < due) return;
    this.#read = '';
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.resolve({ head, bodyBytes });
  }
}

function request({ liveKey, answer }: ConfigApp, status: Status): string {
  const known = status === 304 ? `If-None-Match: ${answer.etag}\r\n` : '';
  return `GET ${CONFIG_PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Service-Key: ${liveKey}\r\nX-Service-Device: ${mintDevice()}\r\n${known}\r\n`;
}

/** @throws Error when it is not the answer that is due */
function check({ head, bodyBytes }: Answered, { answer }: ConfigApp, status: Status): void {
  const due = status === 304 ? 0 : Buffer.byteLength(answer.body);
  const hasEtag = head.toLowerCase().includes(`etag: ${answer.etag.toLowerCase()}`);
  if (head.startsWith(`HTTP/1.1 ${status}`) && hasEtag && bodyBytes === due) return;
  throw new Error(`an answer was not ${status} with ${due} bytes but ${bodyBytes}: ${head.slice(0, SHOWN_CHARS)}`);
}

/** The configuration of an app, as the service answers it first. @throws Error when it does not */
export async function configOf(origin: string, liveKey: string): Promise<ConfigApp> {
  const caller = { 'X-Service-Key': liveKey, 'X-Service-Device': mintDevice() };
  const fresh = await fetch(origin + CONFIG_PATH, { headers: caller });
  const body = await fresh.text();
  const etag = fresh.headers.get('etag');
  if (fresh.status !== 200 || etag === null) throw new Error(`${CONFIG_PATH} answered ${fresh.status}: ${body.slice(0, SHOWN_CHARS)}`);
  const unchanged = await fetch(origin + CONFIG_PATH, { headers: { ...caller, 'If-None-Match': etag } });
  await unchanged.arrayBuffer();
  if (unchanged.status !== 304) throw new Error(`${CONFIG_PATH} answered ${unchanged.status} to the tag that it gave`);
  const headersOf = (response: Response): Headers => [...response.headers].filter(([name]) => !NOT_OF_THE_ANSWER.has(name));
  return { liveKey, answer: { etag, headers: { 200: headersOf(fresh), 304: headersOf(unchanged) }, body } };
}

/** What a load of requests saw. */
export interface Asked {
  readonly ok: number;
  readonly broken: number;
  readonly reasons: readonly string[];
  readonly wallS: number;
  /** Part of its core that this client used, 0 to 1. */
  readonly busy: number;
}

/** Asks so many times over so many connections, each app in its turn, every time as another device. */
export async function askConfigs(
  port: number,
  apps: readonly ConfigApp[],
  status: Status,
  requests: number,
  connections: number,
): Promise<Asked> {
  const reasons: string[] = [];
  let [begun, ok, broken] = [0, 0, 0];
  const work = async (): Promise<void> => {
    let connection = new Connection(port);
    while (begun < requests) {
      const app = apps[begun++ % apps.length] as ConfigApp;
      try {
        check(await connection.ask(request(app, status)), app, status);
        ok++;
      } catch (error) {
        broken++;
        if (reasons.length < SHOWN_MAX) reasons.push(reasonOf(error));
        connection.close();
        connection = new Connection(port);
      }
    }
    connection.close();
  };
  const [cpu, fromMs] = [process.cpuUsage(), performance.now()];
  await Promise.all(Array.from({ length: connections }, work));
  const wallS = (performance.now() - fromMs) / 1e3;
  const { user, system } = process.cpuUsage(cpu);
  return { ok, broken, reasons, wallS, busy: (user + system) / 1e6 / wallS };
}
