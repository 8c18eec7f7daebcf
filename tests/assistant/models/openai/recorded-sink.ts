/** Owns what the model tests share: a sink that remembers, a request to send, and a server whose bytes the test writes itself. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { ImagePart, Model, ModelFailure, ModelRequest, ModelSink, RoundResult } from '../../../../assistant/models/model.ts';
import { DONE } from '../../../support/completions.ts';
import { serveFake } from '../../../support/fake-server.ts';

export type Heard =
  | { readonly text: string }
  | { readonly started: string; readonly id: string }
  | { readonly finished: RoundResult }
  | { readonly failed: ModelFailure };

/** Remembers every call in order; `ended` settles with the last word. */
export class RecordedSink implements ModelSink {
  readonly heard: Heard[] = [];
  readonly ended: Promise<RoundResult | ModelFailure>;
  /** Called after each delta was written down. */
  onText: (delta: string) => void = () => {};
  private settle: (end: RoundResult | ModelFailure) => void = () => {};

  constructor() {
    this.ended = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  text(delta: string): void {
    this.heard.push({ text: delta });
    this.onText(delta);
  }

  toolCallStarted(call: { readonly id: string; readonly name: string }): void {
    this.heard.push({ started: call.name, id: call.id });
  }

  finished(result: RoundResult): void {
    this.heard.push({ finished: result });
    this.settle(result);
  }

  failed(failure: ModelFailure): void {
    this.heard.push({ failed: failure });
    this.settle(failure);
  }

  get spoken(): string {
    return this.heard.map((item) => ('text' in item ? item.text : '')).join('');
  }

  get lastWords(): number {
    return this.heard.filter((item) => 'finished' in item || 'failed' in item).length;
  }
}

export function request(parts: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: 'You help.',
    messages: [{ role: 'user', content: 'Hello' }],
    now: '',
    passages: [],
    tools: [],
    requestId: 'req-1',
    sender: { app: 'app_1', device: 'd' },
    ...parts,
  };
}

/** One round to its end. */
export async function round(
  model: Model,
  parts: Partial<ModelRequest> = {},
): Promise<{ sink: RecordedSink; end: RoundResult | ModelFailure }> {
  const sink = new RecordedSink();
  model.stream(request(parts), sink);
  return { sink, end: await sink.ended };
}

export interface ByteServer {
  readonly baseUrl: string;
  readonly server: Server;
  close(): Promise<void>;
}

/** A server that answers each request as `handle` does. */
export async function byteServer(handle: (res: ServerResponse, req: IncomingMessage) => void): Promise<ByteServer> {
  const { server, url, close } = await serveFake((req, res) => {
    req.resume();
    handle(res, req);
  });
  return { baseUrl: `${url()}/v1`, server, close };
}

/** A data line as OpenAI writes it. */
export function dataLine(chunk: unknown): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

export function chunkOf(delta: unknown, finishReason: string | null = null): Record<string, unknown> {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'test-model',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    usage: null,
  };
}

export function contentLine(content: string): string {
  return dataLine(chunkOf({ content }));
}

export const STOP_LINE = dataLine(chunkOf({}, 'stop'));
export const DONE_LINE = DONE;

/** A picture that comes in pieces of this size; `opened` hears each time it is read. */
export function picture(mediaType: string, bytes: Uint8Array, pieceBytes = 64 * 1024, opened = () => {}): ImagePart {
  return {
    mediaType,
    bytes: bytes.length,
    async *pieces() {
      opened();
      for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
    },
  };
}
