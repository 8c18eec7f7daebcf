/**
 * Runs one turn: sends it, reads its stream over one or more connections, measures its times and checks its events. A stream that breaks
 * is re-attached after its last event, as clients do.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { PendingInvocation } from '../../protocol/runtime/stream-events.ts';
import { TurnChecker } from '../../tools/turn-checker/turn-checker.ts';
import { type NumberedEvent, readFrame } from '../../web/client/events.ts';
import { FrameDecoder } from '../../web/client/frames.ts';
import type { Connections, Request } from './connections.ts';
import { type Failure, shown } from './failure.ts';
import { type Asker, Body, failureOf, handshake, headersOf, mintRequestId } from './service-api.ts';
import type { SilenceWatch } from './silence-watch.ts';
import type { Measure, VisitKind } from './slo.ts';
import type { Tally } from './tally.ts';

export interface TurnContext {
  readonly connections: Connections;
  readonly silence: SilenceWatch;
  readonly tally: Tally;
  /** Longer pauses within an answer are counted. */
  readonly pauseMs: number;
  /** True once the run is over, so that no stream re-attaches. */
  readonly isOver: () => boolean;
}

export interface Question {
  readonly kind: VisitKind;
  readonly asker: Asker;
  readonly conversationId: string | undefined;
  readonly components: ReadonlySet<string>;
  /** `message` or `tool_results`. */
  readonly say: Readonly<Record<string, unknown>>;
  /** The intended start, by `performance.now()`: latency counts from here. */
  readonly fromMs: number;
  readonly isRamp: boolean;
  /** Cut the connection after this many events, re-attach, and replay the turn from its start at the end. */
  readonly cutAfter?: number;
}

export type TurnResult = Awaited<ReturnType<Turn['play']>>;

/** The longest answer of the service is far shorter: whatever is longer would fill the memory that 10,000 streams share. */
const STREAM_MAX_BYTES = 16 * 1024 * 1024;
/** A refusal has a few hundred bytes, a proxy's page some thousand. */
const REFUSAL_MAX_BYTES = 64 * 1024;
/** One error ends a turn and a few may be noticed: a stream of them is hostile, and says no more. */
const FAILURES_MAX = 20;
const NAME_MAX_CHARS = 100;
const MESSAGE_MAX_CHARS = 300;
const RESUME_AFTER_MS = [0, 250, 1_000];

type Ending = 'whole' | 'cut-on-purpose' | Failure;

export class Turn {
  readonly #context: TurnContext;
  readonly #question: Question;
  readonly #turnId = randomUUID();
  readonly #requestId = mintRequestId();
  readonly #checker: TurnChecker;
  readonly #failures: Failure[] = [];
  #taken: Partial<Record<Measure, number>> = {};
  #lastDeltaMs = 0;
  #lastEventMs = 0;
  #count = 0;
  #bytes = 0;
  #isReplay = false;
  #conversationId: string | undefined;
  #model: string | undefined;
  #pending: readonly PendingInvocation[] = [];

  constructor(context: TurnContext, question: Question) {
    this.#context = context;
    this.#question = question;
    this.#conversationId = question.conversationId;
    this.#checker = new TurnChecker({
      components: question.components,
      continues: 'tool_results' in question.say,
      remembers: question.cutAfter !== undefined,
    });
  }

  async play() {
    const { tally } = this.#context;
    tally.turnBegan();
    const first = await this.#connect(this.#chatRequest());
    let ending = first;
    for (let tries = 0; this.#shouldResume(ending) && tries < RESUME_AFTER_MS.length; tries++) {
      const wasPlanned = ending === 'cut-on-purpose';
      if (!wasPlanned && RESUME_AFTER_MS[tries] !== 0) await pause(RESUME_AFTER_MS[tries]);
      if (this.#context.isOver()) break;
      ending = await this.#connect(this.#reattachRequest(this.#checker.lastEventId), this.#checker.lastEventId);
    }
    if (first === 'cut-on-purpose' && this.#checker.isOver) {
      this.#isReplay = true;
      ending = await this.#connect(this.#reattachRequest(undefined));
    }
    const faults = this.#checker.conclude(ending === 'whole');
    const isWhole = this.#failures.length === 0 && faults.length === 0;
    tally.turnEnded({
      kind: this.#question.kind,
      requestId: this.#requestId,
      isRamp: this.#question.isRamp,
      taken: this.#taken,
      failures: this.#failures,
      faults,
      hasRecovered: this.#checker.isOver && this.#failures.length > 0 && this.#failures.every(isBreak),
    });
    return {
      conversationId: this.#conversationId,
      pending: this.#pending,
      isWhole,
      failures: this.#failures,
      faultCount: faults.length,
      model: this.#model,
    };
  }

  #shouldResume(ending: Ending): boolean {
    if (ending === 'whole' || this.#checker.isOver || this.#context.isOver()) return false;
    return ending === 'cut-on-purpose' || isBreak(ending);
  }

  #chatRequest(): Request {
    const { asker, components, say, conversationId } = this.#question;
    const body = {
      turn_id: this.#turnId,
      ...(conversationId === undefined ? {} : { conversation_id: conversationId }),
      ...say,
      client: handshake(asker, components),
    };
    return { method: 'POST', path: '/v1/chat', headers: headersOf(asker, this.#requestId), body: JSON.stringify(body) };
  }

  #reattachRequest(after: number | undefined): Request {
    const headers = headersOf(this.#question.asker, this.#requestId);
    const more = after === undefined ? {} : { 'Last-Event-ID': String(after) };
    return { method: 'GET', path: `/v1/chat/${this.#turnId}`, headers: { ...headers, ...more } };
  }

  #connect(request: Request, after?: number): Promise<Ending> {
    const { connections, silence, tally } = this.#context;
    const { cutAfter } = this.#question;
    const isFirst = this.#count === 0 && request.method === 'POST';
    tally.requests += 1;
    this.#checker.attached(performance.now(), after);
    return new Promise((resolve) => {
      let refusal: { readonly status: number; readonly headers: ReadonlyMap<string, string>; readonly body: Body } | undefined;
      let isStopped = false;
      const finish = (ending: Ending): void => {
        isStopped = true;
        over();
        if (typeof ending === 'object') this.#failures.push(ending);
        resolve(ending);
      };
      const decoder = new FrameDecoder((frame) => {
        if (isStopped) return;
        const reading = readFrame(frame);
        const nowMs = performance.now();
        this.#checker.take(reading, nowMs);
        if (reading.kind === 'event') this.#told(reading.event, reading.id !== undefined, nowMs);
        if (!isFirst || cutAfter === undefined || this.#count < cutAfter || this.#checker.isOver) return;
        exchange.cut();
        finish('cut-on-purpose');
      });
      const exchange = connections.send(request, {
        head: ({ status, headers }) => {
          const isStream = status === 200 && (headers.get('content-type') ?? '').startsWith('text/event-stream');
          if (!isStream) refusal = { status, headers, body: new Body(REFUSAL_MAX_BYTES) };
        },
        body: (bytes) => {
          if (refusal !== undefined) {
            refusal.body.add(bytes);
            return;
          }
          this.#bytes += bytes.length;
          const isTooLong = this.#bytes > STREAM_MAX_BYTES;
          if (isStopped || (!isTooLong && decoder.push(bytes)) || isStopped) return;
          this.#checker.tooLong();
          exchange.cut();
          finish({ code: 'too_long', message: `${isTooLong ? 'the stream' : 'a frame of the stream'} is too long` });
        },
        end: () => finish(refusal === undefined ? 'whole' : failureOf({ ...refusal, text: refusal.body.text() })),
        failed: finish,
      });
      const over = silence.watch(exchange, finish);
    });
  }

  #told(event: NumberedEvent, isNumbered: boolean, nowMs: number): void {
    if (!isNumbered || this.#isReplay) return;
    const { tally, pauseMs } = this.#context;
    const { fromMs, isRamp } = this.#question;
    this.#count += 1;
    tally.events += 1;
    if (this.#count === 1) this.#taken.first_event = nowMs - fromMs;
    const sinceMs = nowMs - this.#lastEventMs;
    // The model thinks before its first words; the first delta measures that.
    if (this.#taken.first_delta !== undefined && sinceMs > pauseMs) tally.pause(sinceMs, this.#requestId, event.seq);
    this.#lastEventMs = nowMs;
    switch (event.type) {
      case 'turn.start':
        this.#conversationId = event.conversation_id;
        this.#model = shown(event.model, NAME_MAX_CHARS);
        return;
      case 'block.delta':
        this.#delta(event.text_delta.length, nowMs, fromMs, isRamp);
        return;
      case 'error':
        this.#failed({ code: `${event.code} (in the stream)`, message: event.message });
        return;
      case 'notice':
        this.#failed({ code: `notice ${event.reason}`, message: event.message });
        return;
      case 'turn.end':
        this.#taken.turn = nowMs - fromMs;
        this.#pending = event.pending ?? [];
    }
  }

  #failed({ code, message }: Failure): void {
    if (this.#failures.length < FAILURES_MAX) this.#failures.push({ code, message: shown(message, MESSAGE_MAX_CHARS) });
  }

  #delta(chars: number, nowMs: number, fromMs: number, isRamp: boolean): void {
    const { tally } = this.#context;
    tally.delta(chars);
    if (this.#taken.first_delta === undefined) {
      this.#taken.first_delta = nowMs - fromMs;
      tally.firstDelta(nowMs - fromMs);
    } else {
      const betweenMs = nowMs - this.#lastDeltaMs;
      tally.between(betweenMs, isRamp);
      this.#taken.between_deltas = Math.max(betweenMs, this.#taken.between_deltas ?? 0);
    }
    this.#lastDeltaMs = nowMs;
  }
}

/** The connection broke, or fell silent, in the middle of a stream. */
function isBreak(ending: Failure): boolean {
  return ending.code === 'cut' || ending.code === 'silent';
}
