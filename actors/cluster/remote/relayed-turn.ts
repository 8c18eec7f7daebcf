/**
 * The reader's end of a turn that runs on another node (CLUSTER-12): frames as the owner sends them over a connection (a line), and when that
 * breaks, the next source of the same turn.
 *
 * | place | a line closes | found elsewhere | the last frame | its reader leaves |
 * |---|---|---|---|---|
 * | relayed: the owner sends | sought; unread without a reader | – | over | over |
 * | unread: no line, no reader | – | – | – | – |
 * | sought: the next source is searched | – | relayed or served; over when it is not found | – | over |
 * | served: an attempt of this node, or rows | – | – | (the source says so) | over |
 * | over | – | – | – | – |
 *
 * A reader that subscribes to an unread turn starts the search. Invariants: the reader gets every event once, in order, and the end. The stream
 * ends with a retryable error when the turn is not found. Unread text is bounded: beyond the bound the line is held.
 */
import type { Logger } from 'pino';
import { Refusal } from '../../../protocol/errors.ts';
import { renderEvent } from '../../../protocol/runtime/stream-events.ts';
import type { FrameSlice, FrameSource } from '../../frame-source.ts';
import { Readers } from '../../readers.ts';
import { errorEvent, FAILED_END, INTERRUPTED } from '../../turns/events.ts';
import type { Relayed, Wanted } from '../questions/asks.ts';
import type { Line } from '../questions/line.ts';

/** Where a turn can be read: the first seq of its current attempt, and a line to its owner or a source on this node. */
export type Found = { readonly fromSeq: number } & ({ readonly line: Line } | { readonly source: FrameSource });

export interface Timers {
  /** Does `work` once, in `ms`; returns a function that cancels it. Must not keep the process alive. */
  set(work: () => void, ms: number): () => void;
}

const REAL_TIMERS: Timers = {
  set(work, ms) {
    const timer = setTimeout(work, ms).unref();
    return () => clearTimeout(timer);
  },
};

export interface RelayedTurnOptions {
  /** To the owner, which waits for the first seq to send. */
  readonly line: Line;
  /** The first seq of the attempt that is read. */
  readonly fromSeq: number;
  /** Finds where the turn can be read now; ends a turn that a lost owner left open. Rejects while it is not found. */
  find(): Promise<Found>;
  /** The committed frames of the turn before `endSeq`. */
  committed(endSeq: number): FrameSource;
  readonly turnId: string;
  readonly log: Pick<Logger, 'warn'>;
  readonly timers?: Timers;
}

/** Unread text beyond this holds the line: four slices of a stream. */
const UNREAD_MAX_CHARS = 64 * 1024;
/** A line that closes sooner counts as no success. */
const SOON_MS = 250;
/** Between tries to find the turn, 3.75 s in all: another node that took it over has ended it by then. */
const PAUSES_MS = [250, 500, 1_000, 2_000];
/** In a frame only: JSON has no line ends. */
const TURN_END = '\nevent: turn.end\n';
/** Without a reader for so long, the line is closed: the reader left before it subscribed. */
const UNREAD_MS = 10_000;

type Place =
  | { readonly kind: 'relayed'; readonly line: Line }
  | { readonly kind: 'unread' }
  | { readonly kind: 'sought' }
  | { readonly kind: 'served'; readonly source: FrameSource; readonly leave: () => void }
  | { readonly kind: 'over' };

export class RelayedTurn implements FrameSource {
  readonly #options: RelayedTurnOptions;
  readonly #timers: Timers;
  #place: Place = { kind: 'unread' };
  /** Sent by the owner and not read yet. */
  readonly #slices: FrameSlice[] = [];
  #chars = 0;
  /** The next seq to receive; null until the reader has asked for its first one. */
  #nextSeq: number | null = null;
  readonly #readers = new Readers({
    came: () => this.#came(),
    left: () => this.#over(),
    lag: (isLagging) => this.#lag(isLagging),
  });
  #noReader: () => void;

  constructor(options: RelayedTurnOptions) {
    this.#options = options;
    this.#timers = options.timers ?? REAL_TIMERS;
    this.#noReader = this.#timers.set(() => this.#unread(), UNREAD_MS);
    this.#relay(options.line);
  }

  read(seq: number, maxChars: number): FrameSlice {
    const slice = this.#slices.shift();
    if (slice !== undefined) {
      this.#chars -= slice.text.length;
      if (this.#place.kind === 'relayed') this.#place.line.hold(this.#chars >= UNREAD_MAX_CHARS);
      return slice;
    }
    if (this.#place.kind === 'served') return this.#place.source.read(seq, maxChars);
    if (this.#nextSeq === null) {
      this.#nextSeq = seq;
      this.#begin();
    }
    return { text: '', nextSeq: seq, ended: this.#place.kind === 'over' };
  }

  subscribe(wake: () => void): () => void {
    if (this.#readers.count > 0) throw new Error('a relayed turn has one reader: attach to it once more');
    return this.#readers.add(wake);
  }

  slow(reader: object, isSlow: boolean): void {
    this.#readers.slow(reader, isSlow);
  }

  #came(): void {
    this.#noReader();
    if (this.#place.kind === 'unread') void this.#seek(0);
  }

  #lag(isLagging: boolean): void {
    if (this.#place.kind === 'relayed') this.#place.line.send(['slow', isLagging] satisfies Wanted);
    else if (this.#place.kind === 'served') this.#place.source.slow?.(this, isLagging);
  }

  lateMs(): number {
    return this.#place.kind === 'served' ? (this.#place.source.lateMs?.() ?? 0) : 0;
  }

  #relay(line: Line): void {
    this.#place = { kind: 'relayed', line };
    // An owner that closes each line at once must not be asked without pause.
    let pauseMs = SOON_MS;
    const settled = this.#timers.set(() => {
      pauseMs = 0;
    }, SOON_MS);
    line.hear({
      message: (message) => this.#take(message as Relayed),
      closed: () => {
        settled();
        this.#place = { kind: 'unread' };
        if (this.#readers.count > 0) void this.#seek(pauseMs);
      },
    });
    this.#begin();
  }

  /** Asks the owner for frames, once the first seq is known. */
  #begin(): void {
    if (this.#place.kind !== 'relayed' || this.#nextSeq === null) return;
    this.#place.line.send(['from', this.#nextSeq] satisfies Wanted);
    if (this.#readers.isLagging) this.#place.line.send(['slow', true] satisfies Wanted);
  }

  #take([, nextSeq, text, isClosed]: Relayed): void {
    // Its owner may be lost before it has closed the stream; nothing follows the end of a turn (STREAM-7).
    const ended = isClosed || text.includes(TURN_END);
    this.#nextSeq = nextSeq;
    this.#slices.push({ text, nextSeq, ended });
    this.#chars += text.length;
    if (this.#place.kind === 'relayed') {
      if (ended) {
        this.#place.line.close();
        this.#place = { kind: 'over' };
      } else if (this.#chars >= UNREAD_MAX_CHARS) this.#place.line.hold(true);
    }
    this.#readers.wake();
  }

  #unread(): void {
    if (this.#place.kind === 'relayed') this.#place.line.close();
    this.#place = { kind: 'unread' };
  }

  async #seek(pauseMs: number): Promise<void> {
    this.#place = { kind: 'sought' };
    if (pauseMs > 0) await this.#pause(pauseMs);
    for (const next of [...PAUSES_MS, null]) {
      if (this.#place.kind !== 'sought') return;
      try {
        this.#goOn(await this.#options.find());
        return;
      } catch (error) {
        if (next === null || (error instanceof Refusal && error.status === 404)) this.#giveUp(error);
        else await this.#pause(next);
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timers.set(resolve, ms);
    });
  }

  #goOn(found: Found): void {
    const isNewer = found.fromSeq > this.#options.fromSeq;
    if ('line' in found && (isNewer || this.#place.kind !== 'sought')) found.line.close();
    if (this.#place.kind !== 'sought') return;
    // A newer attempt is another answer: this one ends where that one begins.
    if (isNewer) this.#serve(this.#options.committed(found.fromSeq));
    else if ('line' in found) this.#relay(found.line);
    else this.#serve(found.source);
    this.#readers.wake();
  }

  #serve(source: FrameSource): void {
    this.#place = { kind: 'served', source, leave: source.subscribe(() => this.#readers.flush()) };
    if (this.#readers.isLagging) source.slow?.(this, true);
  }

  /** The turn was not found: the client is told to try again, and then gets what the rows hold. */
  #giveUp(error: unknown): void {
    if (this.#place.kind !== 'sought') return;
    const seq = this.#nextSeq ?? this.#options.fromSeq;
    const text = renderEvent(seq, errorEvent(INTERRUPTED)) + renderEvent(seq + 1, FAILED_END);
    this.#slices.push({ text, nextSeq: seq + 2, ended: true });
    this.#chars += text.length;
    this.#place = { kind: 'over' };
    this.#readers.wake();
    this.#options.log.warn(
      { err: error, turn_id: this.#options.turnId },
      'following a turn on another node failed: the client was told to try again',
    );
  }

  /** Its reader has left. */
  #over(): void {
    const place = this.#place;
    this.#place = { kind: 'over' };
    this.#slices.length = 0;
    if (place.kind === 'relayed') place.line.close();
    else if (place.kind === 'served') {
      if (this.#readers.isLagging) place.source.slow?.(this, false);
      place.leave();
    }
  }
}
