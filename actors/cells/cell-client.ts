/**
 * HTTP calls from cell to cell (CELL-7): the one place that knows how a cell is reached, and whether it answers. Each call and each answer is
 * proven (cell-proof.ts).
 */
import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { readCellUrl } from '../../storage/moving/cells.ts';
import type { Vault } from '../../storage/secrets/vault.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { CELL_HEADERS, CellProofs, statementHeaders, UNPROVEN } from './cell-proof.ts';

/** An idle connection is let go of well before the other side would close it (10 s): a request must not meet a closing one. */
const IDLE_MS = 5_000;
/** Idle connections kept per cell: what a burst of small requests needs again at once. */
const IDLE_SOCKETS_MAX = 64;
/** Requests passed on to one cell that have no answer yet: more would fill this process with connections to a cell that answers none. */
const WAITING_MAX = 1_000;
/** A cell that left a request without an answer for so long is asked whether it is there. Smoke runs take minutes and send nothing before they end. */
const SILENT_MS = 10_000;
/** It answers that from memory. */
const PROBE_TIMEOUT_MS = 2_000;
/** A cell that is away is not asked again for so long, and all requests for it are refused. */
const AWAY_MS = 2_000;
/** Longer answers are no answers of the cell interface, which are records of some hundred bytes. */
const ANSWER_MAX_BYTES = 1024 * 1024;

/** A cell that is not known, cannot be reached, or did not answer in time. */
export class CellUnreachable extends Error {
  readonly cell: string;

  constructor(cell: string, reason: string) {
    super(`cell ${cell} cannot be reached: ${reason}`);
    this.name = 'CellUnreachable';
    this.cell = cell;
  }
}

export interface CellAnswer {
  readonly status: number;
  /** Undefined when the answer was no JSON. */
  readonly json: unknown;
}

export interface CallTimeouts {
  /** How long nothing may move, neither of a streamed body nor of the answer. */
  readonly timeoutMs: number;
  /** The same once a streamed body was sent. */
  readonly answerTimeoutMs?: number;
}

async function readJson(answer: http.IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > ANSWER_MAX_BYTES) throw new Error(`it answered more than ${ANSWER_MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** How the body travels: its bytes, or its stream, with the headers that say so. */
function payloadOf(body: object | undefined) {
  if (body instanceof Readable) return { stream: body, headers: { 'Content-Type': 'application/octet-stream' } };
  if (body === undefined) return { bytes: '', headers: {} };
  const bytes = Buffer.from(JSON.stringify(body));
  return { bytes, headers: { 'Content-Type': 'application/json', 'Content-Length': String(bytes.length) } };
}

/** Sends the body and settles with the answer. Whatever fails ends both. */
function exchange(
  request: http.ClientRequest,
  { stream, bytes }: ReturnType<typeof payloadOf>,
  { timeoutMs, answerTimeoutMs }: CallTimeouts,
  isProven: (answer: http.IncomingMessage) => boolean,
): Promise<CellAnswer> {
  return new Promise((resolve, reject) => {
    const wait = (ms: number) => setTimeout(() => request.destroy(new Error(`nothing moved for ${ms} ms`)), ms);
    let timer = wait(timeoutMs);
    const fail = (error: Error) => {
      clearTimeout(timer);
      stream?.destroy();
      request.destroy();
      reject(error);
    };
    request.on('error', fail);
    request.on('response', (answer) => {
      if (!isProven(answer)) {
        fail(new Error(UNPROVEN));
        return;
      }
      const status = answer.statusCode ?? 0;
      answer.on('data', () => timer.refresh());
      readJson(answer).then((json) => {
        clearTimeout(timer);
        // What it answered before it read the whole body stands; the rest is of no use to it.
        if (stream !== undefined && !stream.readableEnded) {
          stream.destroy();
          request.destroy();
        }
        resolve({ status, json });
      }, fail);
    });
    if (stream === undefined) {
      request.end(bytes);
      return;
    }
    stream.on('error', fail);
    stream.on('data', () => timer.refresh());
    stream.on('end', () => {
      if (answerTimeoutMs === undefined) return;
      clearTimeout(timer);
      timer = wait(answerTimeoutMs);
    });
    stream.pipe(request);
  });
}

/** What this process knows of a cell that it passes requests on to. */
interface Reach {
  readonly waiting: Set<http.ClientRequest>;
  isAway: boolean;
  probedAtMs: number;
  probe?: Promise<void> | undefined;
}

/** A question of the cell itself is about no client. */
const OF_ITSELF = { organisationId: '', clientAddress: '', clientHost: '', vouchedFor: '' } as const;

const AGENT = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_SOCKETS_MAX, noDelay: true } as const;

export class CellClient {
  readonly proofs: CellProofs;
  readonly #self: string;
  readonly #control: Connection;
  readonly #plain = new http.Agent(AGENT);
  readonly #secure = new https.Agent(AGENT);
  readonly #reaches = new Map<string, Reach>();
  readonly #silentMs: number;

  /** `self`: the cell that calls. */
  constructor(
    self: string,
    { vault, control }: { readonly vault: Pick<Vault, 'digest'>; readonly control: Connection },
    { nowMs = Date.now, silentMs = SILENT_MS }: { nowMs?(): number; readonly silentMs?: number } = {},
  ) {
    this.#self = self;
    this.proofs = new CellProofs(vault, nowMs);
    this.#control = control;
    this.#silentMs = silentMs;
  }

  url(cell: string): string | undefined {
    return readCellUrl(this.#control, cell);
  }

  /** A request to the cell, not yet ended; the caller handles its `error`. @throws CellUnreachable for an unknown cell. */
  request(cell: string, method: string, path: string, headers: http.OutgoingHttpHeaders | readonly string[]): http.ClientRequest {
    const url = this.url(cell);
    if (url === undefined) throw new CellUnreachable(cell, 'it was never seen');
    const { protocol, hostname, port, pathname } = new URL(url);
    const secure = protocol === 'https:';
    return (secure ? https : http).request({
      method,
      // An IPv6 literal is written in brackets in an address, and without them when it is connected to.
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? (secure ? 443 : 80) : port,
      path: pathname.replace(/\/$/, '') + path,
      headers,
      agent: secure ? this.#secure : this.#plain,
    });
  }

  /**
   * A request as `request` makes it, on behalf of a client: so many may wait for the cell, and while it is silent none does.
   * @throws CellUnreachable
   */
  async pass(cell: string, method: string, path: string, headers: http.OutgoingHttpHeaders): Promise<http.ClientRequest> {
    const reach = this.#reachOf(cell);
    if (reach.isAway && performance.now() - reach.probedAtMs >= AWAY_MS) await this.#probe(cell, reach);
    if (reach.isAway) throw new CellUnreachable(cell, 'it did not answer a moment ago');
    if (reach.waiting.size >= WAITING_MAX) throw new CellUnreachable(cell, `${WAITING_MAX} requests wait for its answers`);
    const request = this.request(cell, method, path, headers);
    let silence: NodeJS.Timeout | undefined;
    let isSettled = false;
    const settle = () => {
      isSettled = true;
      clearTimeout(silence);
      reach.waiting.delete(request);
    };
    // While its body still comes from the client, it is not the cell that is waited for; it may answer before all of it came.
    request.once('finish', () => {
      if (isSettled) return;
      silence = setTimeout(() => this.#probe(cell, reach).then(() => silence?.refresh()), this.#silentMs).unref();
      reach.waiting.add(request);
    });
    request.once('response', settle).once('close', settle);
    // One that failed says little; where others wait, it is worth a question.
    request.once('error', () => {
      settle();
      if (reach.waiting.size > 0) void this.#probe(cell, reach);
    });
    return request;
  }

  #reachOf(cell: string): Reach {
    const known = this.#reaches.get(cell);
    if (known !== undefined) return known;
    const reach: Reach = { waiting: new Set(), isAway: false, probedAtMs: -AWAY_MS };
    // As many as there are cells: others cannot be named (CELLS_MAX).
    this.#reaches.set(cell, reach);
    return reach;
  }

  /** Asks the cell whether it is there. If not, those that wait for it are told. Never throws. */
  #probe(cell: string, reach: Reach): Promise<void> {
    const tell = (isAway: boolean) => {
      Object.assign(reach, { isAway, probe: undefined, probedAtMs: performance.now() });
      if (isAway) for (const request of reach.waiting) request.destroy(new Error('it does not answer'));
    };
    const ask = () => this.call(cell, 'GET', '/cell/v1/about', undefined, { timeoutMs: PROBE_TIMEOUT_MS });
    // Twice: after a pause of this process its timer is due before the waiting answer is read.
    reach.probe ??= ask()
      .catch(ask)
      .then(
        () => tell(false),
        () => tell(true),
      );
    return reach.probe;
  }

  /** One call of another cell's interface. A Readable travels as it is, any other object as JSON. @throws CellUnreachable */
  async call(cell: string, method: string, path: string, body: object | undefined, timeouts: CallTimeouts): Promise<CellAnswer> {
    const payload = payloadOf(body);
    try {
      const statement = { method, target: path, from: this.#self, to: cell, ...OF_ITSELF };
      const headers = statementHeaders(statement, this.proofs);
      const request = this.request(cell, method, path, { ...payload.headers, ...headers });
      const isProven = (answer: http.IncomingMessage) => this.proofs.proves(answer, headers[CELL_HEADERS.token]);
      return await exchange(request, payload, timeouts, isProven);
    } catch (error) {
      if (error instanceof CellUnreachable) throw error;
      throw new CellUnreachable(cell, error instanceof Error ? error.message : String(error));
    }
  }

  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }
}
