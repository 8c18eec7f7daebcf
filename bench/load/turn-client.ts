/** Clients of one server that read streams with the load tester's connections. */
import { randomUUID } from 'node:crypto';
import { TurnChecker } from '../../tools/turn-checker/turn-checker.ts';
import { type NumberedEvent, readFrame } from '../../web/client/events.ts';
import { FrameDecoder } from '../../web/client/frames.ts';
import { Connections, type Exchange, type Request } from '../loadtest/connections.ts';
import type { Failure } from '../loadtest/failure.ts';
import { type Asker, ask, Body, failureOf, handshake, headersOf, jsonOf, mintDevice, mintRequestId } from '../loadtest/service-api.ts';
import { SilenceWatch } from '../loadtest/silence-watch.ts';
import { CLIENT } from '../servers/service.ts';

export interface StreamEvent {
  readonly seq: number;
  readonly type: string;
  readonly data: string;
  /** When the read came that brought its last line, as `performance.now()` says it. */
  readonly atMs: number;
}

/** Sends a request and reads its answer to the end; `watch` as in `ask`. @throws Error when it is not 200, or cut off */
function readAnswer(
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

/** A client that reads streams event by event and says when each came, by this process's clock. */
export class StreamClient {
  protected readonly connections: Connections;

  constructor(port: number) {
    this.connections = new Connections(new URL(`http://127.0.0.1:${port}`));
  }

  /** Sends a request and tells the events of its answer; resolves at its end. @throws Error when it is not 200, or cut off */
  read(request: Request, onEvent: (event: StreamEvent) => void): Promise<void> {
    let atMs = 0;
    const decoder = new FrameDecoder(({ id, event = '', data }) => onEvent({ seq: Number(id ?? -1), type: event, data, atMs }));
    return readAnswer(this.connections, request, (bytes) => {
      atMs = performance.now();
      decoder.push(bytes);
    });
  }

  close(): void {
    this.connections.close();
  }
}

/** An app by its key, and a device. */
interface LiveAsker {
  readonly liveKey: string;
  readonly device: string;
}

function bareHeaders({ liveKey, device }: LiveAsker): Request['headers'] {
  return { 'X-Service-Key': liveKey, 'X-Service-Device': device };
}

/** POST /v1/chat; without a conversation it begins one. */
export function turnRequest(asker: LiveAsker, turnId: string, conversationId?: string): Request {
  const body = JSON.stringify({ turn_id: turnId, conversation_id: conversationId, message: { text: 'Hello' }, client: CLIENT });
  return { method: 'POST', path: '/v1/chat', headers: bareHeaders(asker), body };
}

/** GET /v1/chat/:turn_id */
export function attachRequest(asker: LiveAsker, turnId: string): Request {
  return { method: 'GET', path: `/v1/chat/${turnId}`, headers: bareHeaders(asker) };
}

/**
 * The parts of an answer in the order in which they were whole: `text 4` (characters that came as deltas), other blocks by their
 * type, `calls <action>`, errors and notices by their code, and at the end how it ended. Parts that came twice stand there twice.
 */
export function shapeOf(events: readonly NumberedEvent[]): string {
  const parts: string[] = [];
  let chars = 0;
  for (const event of events) {
    if (event.type === 'block.delta') chars += event.text_delta.length;
    else if (event.type === 'block.ready') {
      const { block_type: type } = event.block;
      parts.push(type === 'text' ? `text ${chars}` : type);
      if (type === 'text') chars = 0;
    } else if (event.type === 'action.execute') parts.push(`calls ${event.name}`);
    else if (event.type === 'error') parts.push(`error ${event.code}`);
    else if (event.type === 'notice') parts.push(`notice ${event.reason}`);
    else if (event.type === 'turn.end') parts.push(event.status);
  }
  return parts.join(', ');
}

interface TurnRequest {
  readonly asker: Asker;
  readonly components: ReadonlySet<string>;
  readonly conversationId: string | undefined;
  /** `message` or `tool_results`. */
  readonly say: Readonly<Record<string, unknown>>;
}

/** A turn that was whole. Times are those of `performance.now()`. */
export type ReadTurn = Awaited<ReturnType<TurnClient['turn']>>;

/** A client that sends turns as an SDK does and checks all that comes: the order of events, blocks against the catalog, one start and one end. */
export class TurnClient extends StreamClient {
  readonly #silence = new SilenceWatch();

  override close(): void {
    this.#silence.close();
    super.close();
  }

  /** Registers the actions of a build as an app does when it starts; returns the manifest's hash. @throws Error when it is refused */
  async register(key: string, manifest: object): Promise<string> {
    const body = JSON.stringify({ sdk: 'web/1.0.0', manifest });
    const headers = headersOf({ key, device: mintDevice(), manifestHash: undefined }, mintRequestId());
    const answer = await ask(this.connections, { method: 'POST', path: '/v1/apps/manifest', headers, body }, this.#silence.watch);
    const { manifest_hash: hash } = jsonOf(answer);
    if (answer.status !== 200 || typeof hash !== 'string') throw new Error(`the manifest was refused: ${failureOf(answer).message}`);
    return hash;
  }

  /** Sends a turn and reads it to its end. `wanted`: its shape. @throws Error that says why it was not whole */
  turn({ asker, components, conversationId, say }: TurnRequest, wanted: string) {
    const body = JSON.stringify({ turn_id: randomUUID(), conversation_id: conversationId, ...say, client: handshake(asker, components) });
    const checker = new TurnChecker({ components, continues: 'tool_results' in say });
    const events: NumberedEvent[] = [];
    const sentAtMs = performance.now();
    let firstDeltaAtMs = Number.NaN;
    const decoder = new FrameDecoder((frame) => {
      const reading = readFrame(frame);
      const nowMs = performance.now();
      checker.take(reading, nowMs);
      if (reading.kind !== 'event') return;
      events.push(reading.event);
      if (reading.event.type === 'block.delta' && Number.isNaN(firstDeltaAtMs)) firstDeltaAtMs = nowMs;
    });
    checker.attached(sentAtMs);
    const request = { method: 'POST', path: '/v1/chat', headers: headersOf(asker, mintRequestId()), body } as const;
    return readAnswer(this.connections, request, (bytes) => decoder.push(bytes), this.#silence.watch).then(() => {
      const [fault] = checker.conclude(true);
      if (fault !== undefined) throw new Error(`${fault.kind}: ${fault.problem}`);
      const came = shapeOf(events);
      if (came !== wanted) throw new Error(`it brought "${came}", not "${wanted}"`);
      return { events, sentAtMs, firstDeltaAtMs, endedAtMs: performance.now() };
    });
  }
}
