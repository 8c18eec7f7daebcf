/**
 * Event streams: from a FrameSource to a client, at the client's pace. Owns every open stream and the one timer that
 * checks them all.
 *
 * Invariants: frames are written whole and in order; after a write that uWebSockets had to buffer nothing more is read
 * from the source until the buffer is empty, so at most one slice waits per client; a client that takes nothing for
 * `stuckMs` is dropped; one that leaves is unsubscribed at once. Neither ends the turn.
 */
import type { FrameSource } from '../../actors/frame-source.ts';
import type { Refusal } from '../../protocol/errors.ts';
import { PING_INTERVAL_MS } from '../../protocol/limits.ts';
import { refusalEvents, renderEvent } from '../../protocol/runtime/stream-events.ts';
import type { StreamPosition } from '../route.ts';
import type { Exchange, Headers } from './exchange.ts';

const STREAM_HEADERS: Headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Without a first byte of the body not even the head leaves. */
const OPENING = ': open\n\n';
/** A ping without an id: a client that comes back must not be taken for one that has seen the turn's first event. */
const WAITING = renderEvent(0, { type: 'ping' }).replace(/^id: 0\n/, '');
/** A comment, written to learn whether uWebSockets' buffer is empty: only a write tells. */
const PROBE = ':\n';

/** At most 48 KB of UTF-8 per slice: with the probe below the 64 KB that may wait for one client. */
const SLICE_MAX_CHARS = 16 * 1024;
/** After these other streams are served: a long journal replayed to a fast client must not hold up the loop. */
const SLICES_AT_ONCE_MAX = 16;
const STUCK_MS = 10_000;
const SWEEP_MS = 1_000;

export interface StreamTimes {
  nowMs(): number;
  /** A client that takes nothing for this long is dropped. */
  readonly stuckMs?: number;
  readonly sweepMs?: number;
  /** Called when `count` has changed. */
  counted?(): void;
  /** Before its first frame a stream sends a ping at least this often. */
  readonly waitingMs?: number;
}

/** The source that a stream reads, and how far it has. */
interface Attached {
  readonly source: FrameSource;
  readonly sinceMs: number;
  seq: number;
  unsubscribe: () => void;
}

class EventStream {
  readonly #exchange: Exchange;
  readonly #streams: EventStreams;
  /** Also logs errors that are not refusals. */
  readonly #refusalOf: (error: unknown) => Refusal;
  /** Never back: it waits for its source, reads it, and is closed. */
  #state: 'waiting' | Attached | 'closed' = 'waiting';
  #started = false;
  /** Since when the client has taken nothing although something waits; 0 while nothing waits. */
  #blockedSinceMs = 0;
  #spokeAtMs: number;
  #nextPlanned = false;

  constructor(exchange: Exchange, streams: EventStreams, refusalOf: (error: unknown) => Refusal) {
    this.#exchange = exchange;
    this.#streams = streams;
    this.#refusalOf = refusalOf;
    this.#spokeAtMs = streams.nowMs();
    exchange.whenAborted(() => this.#close());
    exchange.beginStream(STREAM_HEADERS, OPENING, () => this.#writable());
  }

  attach({ source, fromSeq }: StreamPosition): void {
    if (this.#state === 'closed') return;
    const attached: Attached = { source, sinceMs: this.#streams.nowMs(), seq: fromSeq, unsubscribe: () => {} };
    this.#state = attached;
    attached.unsubscribe = source.subscribe(() => this.#pump());
    this.#pump();
  }

  get #attached(): Attached | undefined {
    return typeof this.#state === 'object' ? this.#state : undefined;
  }

  refuse(reason: unknown): void {
    const refusal = this.#refusalOf(reason);
    if (this.#state === 'closed') return;
    if (!refusal.stopped) this.#exchange.refused(refusal.code);
    const text = refusalEvents(refusal)
      .map((event, seq) => renderEvent(seq, event))
      .join('');
    this.#exchange.cork(() => {
      this.#exchange.write(text);
      this.#exchange.endStream();
    });
    this.#close();
  }

  look(nowMs: number, stuckMs: number, waitingMs: number): void {
    if (this.#blockedSinceMs !== 0) {
      if (nowMs - this.#blockedSinceMs >= stuckMs) this.drop();
    } else if (this.#isLate(nowMs, stuckMs)) {
      this.drop();
    } else if (!this.#started && nowMs - this.#spokeAtMs >= waitingMs) {
      this.#spokeAtMs = nowMs;
      this.#exchange.cork(() => this.#write(WAITING));
    }
  }

  /** Whether the process cannot send all its answers in time: then a client that reads nothing cannot be told. */
  #isLate(nowMs: number, lateMs: number): boolean {
    const attached = this.#attached;
    return attached !== undefined && nowMs - attached.sinceMs >= lateMs && (attached.source.lateMs?.() ?? 0) >= lateMs;
  }

  drop(): void {
    this.#exchange.drop();
    this.#close();
  }

  #writable(): void {
    this.#exchange.cork(() => {
      if (this.#blockedSinceMs !== 0) {
        // The client took something, be it not all: it is slow, not stuck.
        this.#blockedSinceMs = this.#streams.nowMs();
        if (!this.#exchange.write(PROBE)) return;
        this.#blockedSinceMs = 0;
        this.#attached?.source.slow?.(this, false);
      }
      this.#tryFill();
    });
  }

  #pump(): void {
    if (this.#state === 'closed' || this.#blockedSinceMs !== 0) return;
    this.#exchange.cork(() => this.#tryFill());
  }

  #tryFill(): void {
    try {
      this.#fill();
    } catch (error) {
      // A source that fails half-way: nothing true can be said in the stream any more, and a broken one is retried.
      this.#refusalOf(error);
      setImmediate(() => this.drop());
    }
  }

  /** Writes what the source has, until it has no more, the client takes no more, or others have waited long enough. */
  #fill(): void {
    const attached = this.#attached;
    if (attached === undefined) return;
    for (let slices = 0; slices < SLICES_AT_ONCE_MAX; slices++) {
      if (this.#state === 'closed' || this.#blockedSinceMs !== 0) return;
      const { text, nextSeq, ended } = attached.source.read(attached.seq, SLICE_MAX_CHARS);
      attached.seq = nextSeq;
      if (text !== '') {
        this.#started = true;
        this.#write(text);
      }
      if (ended) {
        this.#exchange.endStream();
        this.#close();
        return;
      }
      if (text === '') return;
    }
    this.#planNext();
  }

  #planNext(): void {
    if (this.#nextPlanned) return;
    this.#nextPlanned = true;
    setImmediate(() => {
      this.#nextPlanned = false;
      this.#pump();
    });
  }

  #write(text: string): void {
    if (this.#exchange.write(text)) return;
    this.#blockedSinceMs = this.#streams.nowMs();
    this.#attached?.source.slow?.(this, true);
  }

  #close(): void {
    const state = this.#state;
    if (state === 'closed') return;
    this.#state = 'closed';
    if (state !== 'waiting') {
      state.source.slow?.(this, false);
      state.unsubscribe();
    }
    this.#streams.forget(this);
  }
}

export class EventStreams {
  readonly nowMs: () => number;
  readonly #stuckMs: number;
  readonly #sweepMs: number;
  readonly #waitingMs: number;
  readonly #counted: () => void;
  readonly #open = new Set<EventStream>();
  #timer: NodeJS.Timeout | undefined;

  constructor(times: StreamTimes) {
    this.nowMs = () => times.nowMs();
    this.#stuckMs = times.stuckMs ?? STUCK_MS;
    this.#sweepMs = times.sweepMs ?? SWEEP_MS;
    this.#waitingMs = times.waitingMs ?? PING_INTERVAL_MS;
    this.#counted = () => times.counted?.();
  }

  /** Opens at once, fills when the source is there. A rejection is told in the stream (CHAT-16). */
  open(exchange: Exchange, source: Promise<StreamPosition>, refusalOf: (error: unknown) => Refusal): void {
    // The client may have left while the route was at work; then the source has no reader.
    if (!exchange.open) {
      source.catch(refusalOf);
      return;
    }
    const stream = new EventStream(exchange, this, refusalOf);
    this.#open.add(stream);
    this.#counted();
    this.#timer ??= setInterval(() => this.#sweep(), this.#sweepMs).unref();
    source.then(
      (position) => stream.attach(position),
      (error: unknown) => stream.refuse(error),
    );
  }

  get count(): number {
    return this.#open.size;
  }

  /** Cuts what is still open. */
  dropAll(): void {
    for (const stream of this.#open) stream.drop();
  }

  forget(stream: EventStream): void {
    if (this.#open.delete(stream)) this.#counted();
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #sweep(): void {
    const nowMs = this.nowMs();
    for (const stream of this.#open) stream.look(nowMs, this.#stuckMs, this.#waitingMs);
  }
}
