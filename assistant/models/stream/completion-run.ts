/**
 * Owns one streamed round: from the answer's first byte to the sink's last word. It is the handler that undici calls, the
 * run that the caller holds and what the silence watch watches, in one object, because thousands may be open.
 *
 * phase       | bytes                    | end of the answer           | connection fails           | silence
 * ------------|--------------------------|-----------------------------|----------------------------|---------------
 * waiting     | (the head decides)       |                             | failed broken              | failed silent
 * streaming   | decoded                  | finished, or failed broken  | finished¹, or failed broken | finished¹, or failed silent
 * answering   | kept, to be judged       | failed as judged            | failed as judged           | failed as judged
 * draining    | passed over              | closed                      | closed                     | connection destroyed
 * closed      | passed over              | ignored                     | ignored                    | ignored
 *
 * ¹ when the finish reason has come: nothing of the answer is missing then. `answering` is an answer that is no event stream;
 * `draining` is the rest of an answer after `[DONE]`, read so that the connection can be used again.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { ChatMessage, ModelFailure, ModelRun, ModelSink, RoundResult, ToolCall, Usage } from '../model.ts';
import { withoutEcho } from './echo.ts';
import type { SilenceWatch, Watched } from './silence-watch.ts';
import { SseDecoder, type SsePayloadSink } from './sse-decoder.ts';
import { answerFailure, connectionFailure, retryAfterOf } from './upstream-failure.ts';

/** The log of a run; pino's loggers fit. Never message text, keys or headers. */
export interface ModelLog {
  warn(fields: Record<string, unknown>, message: string): void;
}

/** What a wire makes of the payloads of an answer. Text gathers in `text` until it is taken. */
export interface StreamDecoder extends SsePayloadSink {
  readonly text: string;
  takeText(): string;
  readonly done: boolean;
  /** Why the stream is not to be read on. */
  readonly failure: ModelFailure | undefined;
  readonly finishReason: string | undefined;
  readonly droppedCalls: number;
  readonly usage: Usage | undefined;
  readonly argumentChars: number | undefined;
  result(): RoundResult;
}

export type MakeDecoder = (started: (call: Pick<ToolCall, 'id' | 'name'>) => void, apiKey: string | undefined) => StreamDecoder;

export interface RunSetting {
  readonly decoder: MakeDecoder;
  readonly watch: SilenceWatch<CompletionRun>;
  readonly silenceMs: number;
  readonly apiKey: string | undefined;
  readonly requestId: string;
  readonly log: ModelLog | undefined;
  /** What was asked: an upstream may repeat it in its errors. */
  readonly messages: readonly ChatMessage[];
  /** Called when a round that was not aborted has ended; undefined when it was answered. */
  readonly onOutcome: ((failure: ModelFailure | undefined) => void) | undefined;
}

/** An error body says what matters at its beginning. */
const ANSWER_MAX_BYTES = 16 * 1024;

/** Text handed over at once: the consumer may want no more, and one read may hold much more. */
const FLUSH_CHARS = 4_096;

type Phase = 'waiting' | 'streaming' | 'answering' | 'draining' | 'closed';

/** The reason given to undici when its request is ended. */
const ENDED = new Error('the round has ended');

function flushRun(run: CompletionRun): void {
  run.flush();
}

function resumeRun(run: CompletionRun): void {
  run.readOn();
}

export class CompletionRun implements ModelRun, Watched, Dispatcher.DispatchHandler {
  heard = false;
  quietMs = 0;
  paused = false;
  private phase: Phase = 'waiting';
  private readonly sink: ModelSink;
  private readonly setting: RunSetting;
  private readonly decoder: StreamDecoder;
  private readonly lines: SseDecoder;
  private controller: Dispatcher.DispatchController | undefined;
  private flushScheduled = false;
  private status = 0;
  private contentType = '';
  private retryAfter: unknown;
  private answer: Buffer[] = [];
  private answerBytes = 0;
  private onClosed: (() => void) | undefined;

  /** The run is watched from here on; it has to be dispatched next. */
  constructor(sink: ModelSink, setting: RunSetting) {
    this.sink = sink;
    this.setting = setting;
    this.decoder = setting.decoder((call) => {
      this.flush();
      if (!this.isOver()) this.tell(() => this.sink.toolCallStarted(call));
    }, setting.apiKey);
    this.lines = new SseDecoder(this.decoder);
    setting.watch.add(this);
  }

  pause(): void {
    if (this.paused || this.isOver()) return;
    this.paused = true;
    this.controller?.pause();
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.heard = true;
    // Later: undici reads on at once, which must happen neither inside its own parser nor inside the caller.
    process.nextTick(resumeRun, this);
  }

  abort(): void {
    if (!this.isOver()) this.close();
  }

  whenClosed(listener: () => void): void {
    if (this.phase === 'closed') listener();
    else this.onClosed = listener;
  }

  fail(judged: ModelFailure): void {
    if (this.isOver()) return;
    this.flush();
    if (this.isOver()) return;
    this.close();
    const { usage, argumentChars } = this.decoder;
    const contents = this.setting.messages.map(({ content }) => content);
    const spent = { ...(usage === undefined ? {} : { usage }), ...(argumentChars === undefined ? {} : { argumentChars }) };
    const failure = { ...judged, detail: withoutEcho(judged.detail, contents), ...spent };
    this.setting.onOutcome?.(failure);
    this.tell(() => this.sink.failed(failure));
  }

  fallSilent(): void {
    if (this.phase === 'draining' || this.phase === 'closed') this.close();
    else if (this.phase === 'answering') this.fail(this.judged());
    else if (this.decoder.finishReason !== undefined) this.finish();
    else this.fail({ kind: 'silent', detail: `nothing came for ${this.setting.silenceMs} ms` });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.isOver()) controller.abort(ENDED);
    else if (this.paused) controller.pause();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // They are views of the answer's first piece, all of which they would keep for as long as the answer goes on.
    controller.rawHeaders = null;
    if (status < 200 || this.isOver()) return;
    this.heard = true;
    this.status = status;
    const type = headers['content-type'];
    this.retryAfter = headers['retry-after'];
    this.contentType = typeof type === 'string' ? (type.split(';', 1)[0] ?? '').trim().toLowerCase() : '';
    // Small servers forget the content type; what they send will show.
    const isStream = status < 300 && (this.contentType === 'text/event-stream' || this.contentType === '');
    this.phase = isStream ? 'streaming' : 'answering';
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.phase === 'streaming') {
      this.heard = true;
      this.decode(chunk);
    } else if (this.phase === 'answering') {
      this.answer.push(chunk.subarray(0, ANSWER_MAX_BYTES - this.answerBytes));
      this.answerBytes += chunk.length;
      if (this.answerBytes >= ANSWER_MAX_BYTES) this.fail(this.judged());
    }
  }

  onResponseEnd(): void {
    if (this.phase === 'answering') this.fail(this.judged());
    if (this.phase === 'streaming') {
      if (!this.lines.end()) this.breakOff('a line of the stream is too long');
      this.settle();
      if (this.phase === 'streaming') this.endWithoutDone({ kind: 'broken', detail: 'the stream ended without a finish reason' });
    }
    this.close();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.phase === 'answering') this.fail(this.judged());
    if (!this.isOver()) this.endWithoutDone(connectionFailure(error, this.phase === 'streaming'));
    this.close();
  }

  flush(): void {
    this.flushScheduled = false;
    if (this.isOver() || this.decoder.text === '') return;
    const text = this.decoder.takeText();
    try {
      this.sink.text(text);
    } catch (error) {
      this.giveUp(error);
    }
  }

  readOn(): void {
    if (!this.paused && this.phase !== 'closed') this.controller?.resume();
  }

  isOver(): boolean {
    return this.phase === 'draining' || this.phase === 'closed';
  }

  private decode(chunk: Buffer): void {
    if (!this.lines.push(chunk)) this.breakOff('a line of the stream is too long');
    else if (this.decoder.done || this.decoder.failure !== undefined) this.settle();
    else if (this.decoder.text.length >= FLUSH_CHARS) this.flush();
    else if (!this.flushScheduled && this.decoder.text !== '') {
      this.flushScheduled = true;
      process.nextTick(flushRun, this);
    }
  }

  private settle(): void {
    if (this.decoder.done) this.finish();
    else if (this.decoder.failure !== undefined) this.fail(this.decoder.failure);
  }

  private breakOff(detail: string): void {
    this.fail({ kind: 'broken', detail });
  }

  private endWithoutDone(otherwise: ModelFailure): void {
    if (this.decoder.finishReason !== undefined) this.finish();
    else this.fail(otherwise);
  }

  private finish(): void {
    if (this.isOver()) return;
    this.flush();
    if (this.isOver()) return;
    this.phase = 'draining';
    const { droppedCalls } = this.decoder;
    if (droppedCalls > 0) {
      this.setting.log?.warn(
        { request_id: this.setting.requestId, dropped: droppedCalls },
        'the model made more tool calls than a round may have: the rest were dropped',
      );
    }
    const wasPaused = this.paused;
    this.paused = false;
    if (wasPaused) process.nextTick(resumeRun, this);
    const result = this.decoder.result();
    this.setting.onOutcome?.(undefined);
    this.tell(() => this.sink.finished(result));
  }

  private judged(): ModelFailure {
    const body = Buffer.concat(this.answer).toString('utf8');
    const { status, contentType } = this;
    return answerFailure({ status, contentType, body, retryAfterS: retryAfterOf(this.retryAfter, Date.now()) }, this.setting.apiKey);
  }

  private close(): void {
    if (this.phase === 'closed') return;
    this.phase = 'closed';
    this.answer = [];
    this.setting.watch.remove(this);
    this.controller?.abort(ENDED);
    this.onClosed?.();
  }

  private tell(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.giveUp(error);
    }
  }

  /** The sink threw: it is told that the round failed, once, if it has not been told of an end already. */
  private giveUp(error: unknown): void {
    this.setting.log?.warn(
      { request_id: this.setting.requestId, err: error },
      'handling the model’s output threw an error: the round failed',
    );
    if (this.isOver()) return;
    this.close();
    this.tell(() => this.sink.failed({ kind: 'broken', detail: 'the consumer of the stream threw' }));
  }
}
