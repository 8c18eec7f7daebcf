/** A client that reads streams event by event and says when each came, by this process's clock: one answer at a time. */
import { FrameDecoder } from '../../web/client/frames.ts';
import { Connections, type Exchange, type Request } from '../loadtest/connections.ts';
import type { Failure } from '../loadtest/failure.ts';
import { Body, failureOf, mintDevice } from '../loadtest/service-api.ts';
import { CLIENT } from '../servers/service.ts';

export { mintDevice };

export interface StreamEvent {
  readonly seq: number;
  readonly type: string;
  /** Its JSON. */
  readonly data: string;
  /** When the read came that brought its last line, as `performance.now()` says it. */
  readonly atMs: number;
}

/** Sends a request and reads its answer to the end; `watch` as in `ask`. @throws Error when it is not 200, or cut off */
export function readAnswer(
  connections: Connections,
  request: Request,
  onBytes: (bytes: Uint8Array) => void,
  watch: (exchange: Exchange, fail: (failure: Failure) => void) => () => void = () => () => undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let refused: Parameters<typeof failureOf>[0] | undefined;
    const refusal = new Body();
    const fail = ({ code, message }: Failure): void => {
      over();
      reject(new Error(`${code}: ${message}`));
    };
    const exchange = connections.send(request, {
      head: ({ status, headers }) => {
        if (status !== 200) refused = { status, headers, text: '' };
      },
      body: (bytes) => {
        if (refused === undefined) onBytes(bytes);
        else refusal.add(bytes);
      },
      end: () => {
        if (refused !== undefined) return fail(failureOf({ ...refused, text: refusal.text() }));
        over();
        resolve();
      },
      failed: fail,
    });
    const over = watch(exchange, fail);
  });
}

export class StreamClient {
  readonly #connections: Connections;

  constructor(port: number) {
    this.#connections = new Connections(new URL(`http://127.0.0.1:${port}`));
  }

  /** Sends a request and tells the events of its answer; resolves at its end. @throws Error when it is not 200, or cut off */
  read(request: Request, onEvent: (event: StreamEvent) => void): Promise<void> {
    let atMs = 0;
    const decoder = new FrameDecoder(({ id, event = '', data }) => onEvent({ seq: Number(id ?? -1), type: event, data, atMs }));
    return readAnswer(this.#connections, request, (bytes) => {
      atMs = performance.now();
      decoder.push(bytes);
    });
  }

  close(): void {
    this.#connections.close();
  }
}

/** Who asks: an app by its key, and a device. */
export interface Asker {
  readonly liveKey: string;
  readonly device: string;
}

function headersOf({ liveKey, device }: Asker): Request['headers'] {
  return { 'X-Service-Key': liveKey, 'X-Service-Device': device };
}

/** POST /v1/chat; without a conversation it begins one. */
export function turnRequest(asker: Asker, turnId: string, conversationId?: string): Request {
  const body = JSON.stringify({ turn_id: turnId, conversation_id: conversationId, message: { text: 'Hello' }, client: CLIENT });
  return { method: 'POST', path: '/v1/chat', headers: headersOf(asker), body };
}

/** GET /v1/chat/:turn_id */
export function attachRequest(asker: Asker, turnId: string): Request {
  return { method: 'GET', path: `/v1/chat/${turnId}`, headers: headersOf(asker) };
}
