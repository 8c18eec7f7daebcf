/** The runtime interface as the load tester uses it: headers, handshake, requests other than turns, and errors in responses. */
import { randomBytes, randomUUID } from 'node:crypto';
import { CATALOG } from '../../protocol/catalog/catalog.ts';
import { CATALOG_VERSION, PROTOCOL_VERSION } from '../../protocol/limits.ts';
import { NOTICES_CAPABILITY } from '../../protocol/runtime/stream-events.ts';
import type { AnswerHead } from './answer-scanner.ts';
import type { Connections, Exchange, Request } from './connections.ts';
import { type Failure, shown } from './failure.ts';

export interface Asker {
  readonly key: string;
  readonly device: string;
  /** The manifest that the load tester registered for this app, if any. */
  readonly manifestHash: string | undefined;
}

export interface WholeAnswer {
  readonly status: number;
  readonly headers: AnswerHead['headers'];
  readonly text: string;
}

/** Bounds the body of a response that is no stream. */
const BODY_MAX_BYTES = 2 * 1024 * 1024;
const MESSAGE_SHOWN_CHARS = 300;
const PAGE_SHOWN_CHARS = 100;

/** The components of a minimal client, and of one that draws all. */
export const FEW_COMPONENTS: ReadonlySet<string> = new Set(['text', 'confirm_card']);
export const ALL_COMPONENTS: ReadonlySet<string> = new Set(CATALOG.keys());

export function mintDevice(): string {
  return randomBytes(16).toString('hex');
}

/** Sent with each request, to find failures in the log of the service. */
export function mintRequestId(): string {
  return `loadtest-${randomUUID()}`;
}

export function headersOf({ key, device }: Asker, requestId: string): Record<string, string> {
  return { 'X-Service-Key': key, 'X-Service-Device': device, 'X-Request-Id': requestId, 'X-Service-SDK': 'loadtest' };
}

export function handshake({ manifestHash }: Asker, components: ReadonlySet<string>): Readonly<Record<string, unknown>> {
  return {
    protocol: PROTOCOL_VERSION,
    sdk: 'web/1.0.0',
    catalog_version: CATALOG_VERSION,
    capabilities: [NOTICES_CAPABILITY],
    components: [...components],
    ...(manifestHash === undefined ? {} : { manifest_hash: manifestHash }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The body of an answer as JSON by name; {} when it is none. */
export function jsonOf({ text }: Pick<WholeAnswer, 'text'>): Readonly<Record<string, unknown>> {
  const value = parsed(text);
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** The failure in a response that is no success: the error of the service, or the status and page of a proxy. */
export function failureOf(answer: WholeAnswer): Failure {
  const { error } = jsonOf(answer) as { error?: { code?: unknown; message?: unknown } };
  if (typeof error?.code === 'string') {
    return {
      code: `${answer.status} ${error.code}`,
      message: typeof error.message === 'string' ? shown(error.message, MESSAGE_SHOWN_CHARS) : '',
    };
  }
  const type = answer.headers.get('content-type') ?? 'no content type';
  return {
    code: `${answer.status}`,
    message: `not an answer of the service (${type}): ${shown(answer.text.replaceAll(/\s+/g, ' '), PAGE_SHOWN_CHARS)}`,
  };
}

export class Body {
  readonly #chunks: Buffer[] = [];
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes = BODY_MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  add(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#bytes <= this.#maxBytes) this.#chunks.push(Buffer.from(bytes));
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Sends a request and waits for the whole response. `watch` observes the exchange until the function that it returns is called. @throws NoAnswer */
export function ask(
  connections: Connections,
  request: Request,
  watch: (exchange: Exchange, fail: (failure: Failure) => void) => () => void,
): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    const body = new Body();
    let head: AnswerHead = { status: 0, headers: new Map() };
    const fail = (failure: Failure): void => {
      over();
      reject(new NoAnswer(failure));
    };
    const exchange = connections.send(request, {
      head: (answer) => {
        head = answer;
      },
      body: (bytes) => body.add(bytes),
      end: () => {
        over();
        resolve({ status: head.status, headers: head.headers, text: body.text() });
      },
      failed: fail,
    });
    const over = watch(exchange, fail);
  });
}
