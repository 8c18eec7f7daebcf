/**
 * A client that sends turns as an SDK does and checks all that comes: the order of events, blocks against the catalog, one start and one
 * end. It owns connections to one server, and what it tells of a turn.
 */
import { randomUUID } from 'node:crypto';
import { TurnChecker } from '../../tools/turn-checker/turn-checker.ts';
import { type NumberedEvent, readFrame } from '../../web/client/events.ts';
import { FrameDecoder } from '../../web/client/frames.ts';
import { Connections } from '../loadtest/connections.ts';
import { type Asker, ask, failureOf, handshake, headersOf, jsonOf, mintDevice, mintRequestId } from '../loadtest/service-api.ts';
import { SilenceWatch } from '../loadtest/silence-watch.ts';
import { readAnswer } from './stream-client.ts';
import { shapeOf } from './turn-shape.ts';

/** What a turn is sent with. */
export interface TurnRequest {
  readonly asker: Asker;
  readonly components: ReadonlySet<string>;
  /** Undefined: a new one. */
  readonly conversationId: string | undefined;
  /** `message` or `tool_results`. */
  readonly say: Readonly<Record<string, unknown>>;
}

/** A turn that was whole. Times are those of `performance.now()`. */
export interface ReadTurn {
  readonly events: readonly NumberedEvent[];
  readonly sentAtMs: number;
  /** NaN when there was no text. */
  readonly firstDeltaAtMs: number;
  readonly endedAtMs: number;
}

export class TurnClient {
  readonly #connections: Connections;
  readonly #silence = new SilenceWatch();

  constructor(port: number) {
    this.#connections = new Connections(new URL(`http://127.0.0.1:${port}`));
  }

  close(): void {
    this.#silence.close();
    this.#connections.close();
  }

  /** Registers the actions of a build as an app does when it starts; returns the manifest's hash. @throws Error when it is refused */
  async register(key: string, manifest: object): Promise<string> {
    const body = JSON.stringify({ sdk: 'web/1.0.0', manifest });
    const headers = headersOf({ key, device: mintDevice(), manifestHash: undefined }, mintRequestId());
    const answer = await ask(this.#connections, { method: 'POST', path: '/v1/apps/manifest', headers, body }, this.#silence.watch);
    const { manifest_hash: hash } = jsonOf(answer);
    if (answer.status !== 200 || typeof hash !== 'string') throw new Error(`the manifest was refused: ${failureOf(answer).message}`);
    return hash;
  }

  /** Sends a turn and reads it to its end. `wanted`: its shape. @throws Error that says why it was not whole */
  read({ asker, components, conversationId, say }: TurnRequest, wanted: string): Promise<ReadTurn> {
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
    return readAnswer(this.#connections, request, (bytes) => decoder.push(bytes), this.#silence.watch).then(() => {
      const [fault] = checker.conclude(true);
      if (fault !== undefined) throw new Error(`${fault.kind}: ${fault.problem}`);
      const came = shapeOf(events);
      if (came !== wanted) throw new Error(`it brought "${came}", not "${wanted}"`);
      return { events, sentAtMs, firstDeltaAtMs, endedAtMs: performance.now() };
    });
  }
}
