/**
 * A turn that runs on another node, as readers of this one see it (CLUSTER-12): frames as its owner tells them, and what was
 * lost on the way from rows.
 *
 * Owns: when to look at the turn's row, when to ask the owner to tell again, when to give the owner up. Does not own: the frames
 * (`remote-frames.ts`), and how nodes reach one another.
 *
 * | | told frames | told too far ahead, or `interrupted` | owner says idle, twice | `ownerLost` | row has ended |
 * |---|---|---|---|---|---|
 * | following | kept | rows, then the owner asked again | taking over | taking over | over |
 * | taking over | ignored | ignored | ignored | ignored | over |
 * | over | ignored | ignored | ignored | ignored | ignored |
 *
 * Invariants: a reader gets every event once and in order, whatever is lost; only what is committed is skipped to; the stream ends
 * when the row has ended, and with a retryable error when nobody can say how it ends.
 */
import type { Logger } from 'pino';
import { readTurn } from '../../../storage/conversations/turns.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import type { FrameSlice, FrameSource, Position } from '../../frame-source.ts';
import { Readers } from '../../readers.ts';
import { journalSource } from '../../turns/journal.ts';
import { STOOD_STILL_MS } from '../nodes/heartbeat.ts';
import { endingAt, RemoteFrames, type RemoteSlice } from './remote-frames.ts';
import { brokenOff, REAL_TIMERS, type RemoteTimers, takeOverInTime } from './remote-takeover.ts';

export interface RemoteTurnOptions {
  /** Reads the organisation's file. */
  readonly db: Connection;
  readonly appId: string;
  readonly turnId: string;
  /** Row id. */
  readonly turn: number;
  /** The first seq that is told; everything before it is committed. Not before the first seq of the attempt that runs. */
  readonly fromSeq: number;
  /** Asks the owner to tell from this seq on. Rejects when it cannot be asked: that is tried again. */
  refollow(fromSeq: number): Promise<'following' | 'idle'>;
  /** The owner is lost: ends what it left open; answers where to read on, in placeholder form. Rejects while it may not. */
  takeOver(): Promise<Position>;
  /** Nobody reads any more; called once. */
  leave(): void;
  /** Tells the owner that nobody who reads takes what is told, or that somebody does again. */
  lag(isLagging: boolean): void;
  readonly log: Pick<Logger, 'warn'>;
  nowMs(): number;
  readonly timers?: RemoteTimers;
}

/** While nothing is told the row is looked at so often: Redis may be away without anybody's saying so. */
const LOOK_MS = 1_000;
/** Before the second try, and between two gaps: an owner must not be asked all the time because the channel keeps losing. */
const SOON_MS = 250;
/** A running turn pings every 15 s, so an owner that is silent for longer has forgotten us. */
const SILENCE_MS = 20_000;
/** Its reader left before it came, so nobody would ever say that it can go. */
const UNREAD_MS = 10_000;
/** An owner that says twice that the turn does not run there, while its row is open, has lost it. */
const IDLES_MAX = 2;
/**
 * Committed text beyond this leaves memory, as in a turn's log. With what is not committed yet, which the owner holds too and
 * which is one step of the turn, it bounds the memory of a stream.
 */
const RETAINED_CHARS = 128 * 1024;
const NEVER = Number.POSITIVE_INFINITY;

export class RemoteTurn implements FrameSource {
  readonly #options: RemoteTurnOptions;
  readonly #timers: RemoteTimers;
  readonly #frames: RemoteFrames;
  readonly #readers = new Readers({ left: () => this.#leave(), lag: (isLagging) => this.#options.lag(isLagging) });
  readonly slow = (reader: object, isSlow: boolean) => this.#readers.slow(reader, isSlow);
  readonly #madeAtMs: number;
  #state: 'following' | 'taking_over' | 'over' = 'following';
  /** Where the stream ends, once that is known here; a successor says so itself. */
  #endSeq = NEVER;
  /** Serves what follows our frames, after the owner was lost. */
  #successor: FrameSource | null = null;
  #leaveSuccessor: (() => void) | undefined;
  #left = false;
  #asking = false;
  /** Something was lost while the owner was asked, perhaps what it told with its answer. */
  #askAgain = false;
  #idles = 0;
  #unreachable = 0;
  #heardAtMs: number;
  #caughtUpAtMs = -NEVER;
  /** When rows and owner are to be asked, whatever is told until then. */
  #dueAtMs = NEVER;
  #forgetAtChars = RETAINED_CHARS;
  #disarm: (() => void) | undefined;
  #ringAtMs = 0;

  constructor(options: RemoteTurnOptions) {
    this.#options = options;
    this.#timers = options.timers ?? REAL_TIMERS;
    this.#frames = new RemoteFrames(journalSource(options.db, options.turn, null), options.fromSeq);
    this.#madeAtMs = options.nowMs();
    this.#heardAtMs = this.#madeAtMs;
    this.#arm(LOOK_MS);
  }

  get readers(): number {
    return this.#readers.count;
  }

  /** The first seq that is not here: what to follow from. */
  get nextSeq(): number {
    return this.#frames.nextSeq;
  }

  /** A `frames` message of the owner. */
  receive(told: RemoteSlice & { readonly ended: boolean }): void {
    if (this.#state !== 'following' || this.#left) return;
    const before = this.#frames.nextSeq;
    if (!this.#frames.add(told)) {
      // While the owner is asked, what it told before may still come.
      if (!this.#asking) this.#catchUpAt(this.#caughtUpAtMs + SOON_MS);
      return;
    }
    this.#heardAtMs = this.#options.nowMs();
    if (told.ended) this.#finish(told.nextSeq);
    else if (this.#frames.nextSeq > before) {
      if (this.#frames.chars > this.#forgetAtChars) this.#look();
      this.#readers.wake();
    }
  }

  /** Redis is back after it was away, so what was told meanwhile is lost; or following begins. */
  interrupted(): void {
    if (this.#state === 'following' && !this.#left) this.#catchUp();
  }

  /** The owner is no more, or does not answer: what it says from now on does not count. */
  ownerLost(): void {
    if (this.#state !== 'following' || this.#left) return;
    this.#state = 'taking_over';
    void this.#takeOver();
  }

  read(seq: number, maxChars: number): FrameSlice {
    const { text, nextSeq } = this.#frames.read(seq, maxChars);
    if (text === '' && this.#successor !== null) return this.#successor.read(nextSeq, maxChars);
    return { text, nextSeq, ended: nextSeq >= this.#endSeq };
  }

  subscribe(wake: () => void): () => void {
    if (this.#left && this.#state !== 'over') this.#giveUp(new Error('a reader came after the stream was left'));
    const leave = this.#readers.add(wake);
    this.#followSuccessor();
    return leave;
  }

  #leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#disarm?.();
    this.#leaveSuccessor?.();
    this.#options.leave();
  }

  #arm(ms: number): void {
    this.#disarm?.();
    this.#ringAtMs = this.#options.nowMs() + ms;
    this.#disarm = this.#timers.set(() => this.#ring(), ms);
  }

  #ring(): void {
    const nowMs = this.#options.nowMs();
    if (this.readers === 0 && nowMs - this.#madeAtMs >= UNREAD_MS) {
      this.#leave();
      return;
    }
    if (this.#state === 'over' && this.readers > 0) return;
    const isDue = nowMs >= this.#dueAtMs || nowMs - this.#ringAtMs >= STOOD_STILL_MS;
    this.#dueAtMs = isDue ? NEVER : this.#dueAtMs;
    if (isDue && this.#state === 'following') this.#catchUp();
    else if (this.#state !== 'over' && nowMs - this.#heardAtMs >= LOOK_MS) this.#lookAround(nowMs);
    this.#arm(Math.max(0, Math.min(LOOK_MS, this.#dueAtMs - nowMs)));
  }

  /** Nothing was told for a while: that is usual, unless the rows have more than was told. */
  #lookAround(nowMs: number): void {
    const before = this.#frames.nextSeq;
    if (!this.#look() || this.#state !== 'following') return;
    if (this.#frames.nextSeq > before || nowMs - this.#heardAtMs >= SILENCE_MS) this.#catchUp();
  }

  /** Takes what the row says. False when the turn is over with it. */
  #look(): boolean {
    const { appId, db, fromSeq, turnId } = this.#options;
    try {
      const row = readTurn(db, appId, turnId);
      if (row === undefined) this.#giveUp(new Error('a turn vanished while it was read'));
      // A newer attempt runs, so ours has ended.
      else if (row.attemptSeq > fromSeq) this.#finish(row.attemptSeq);
      else if (row.endedAtMs !== null) this.#finish(row.nextSeq);
      else this.#takeCommitted(row.nextSeq);
    } catch (error) {
      this.#warn(error, 'the row of a turn of another node could not be read');
    }
    return this.#state !== 'over';
  }

  /** The turn is open and everything before `seq` is in its rows; once it has ended, what an owner told before it died is not. */
  #takeCommitted(seq: number): void {
    if (seq > this.#frames.nextSeq) {
      this.#frames.skipTo(seq);
      this.#readers.wake();
    }
    if (this.#frames.chars <= this.#forgetAtChars) return;
    this.#frames.forget(seq);
    // What stays is not committed: looking for more makes sense when as much has come again.
    this.#forgetAtChars = this.#frames.chars + RETAINED_CHARS;
  }

  #catchUpAt(atMs: number): void {
    const leftMs = atMs - this.#options.nowMs();
    if (leftMs <= 0) this.#catchUp();
    else if (atMs < this.#dueAtMs) {
      this.#dueAtMs = atMs;
      this.#arm(Math.min(leftMs, LOOK_MS));
    }
  }

  #catchUp(): void {
    this.#dueAtMs = NEVER;
    this.#askAgain = this.#asking;
    if (this.#asking) return;
    this.#caughtUpAtMs = this.#options.nowMs();
    if (this.#look()) void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    let outcome: 'following' | 'idle' | 'unreachable' = 'unreachable';
    try {
      outcome = await this.#options.refollow(this.#frames.nextSeq);
    } catch {
      // Redis is away, or the owner: whoever watches it says which.
    }
    this.#asking = false;
    if (this.#state !== 'following' || this.#left) return;
    const nowMs = this.#options.nowMs();
    this.#idles = outcome === 'idle' ? this.#idles + 1 : 0;
    this.#unreachable = outcome === 'unreachable' ? this.#unreachable + 1 : 0;
    if (outcome === 'following') this.#heardAtMs = nowMs;
    if (outcome === 'following' && this.#readers.isLagging) this.#options.lag(true);
    // It may have ended just before it was asked for.
    if (outcome === 'idle' && !this.#look()) return;
    if (this.#idles >= IDLES_MAX) this.ownerLost();
    else if (this.#askAgain) this.#catchUp();
    else if (outcome !== 'following') this.#catchUpAt(nowMs + (this.#unreachable > 1 ? LOOK_MS : SOON_MS));
  }

  async #takeOver(): Promise<void> {
    const isNeeded = () => this.#state === 'taking_over' && !this.#left;
    try {
      const position = await takeOverInTime(
        () => this.#options.takeOver(),
        () => isNeeded() && this.#look(),
        this.#timers,
      );
      if (position !== null && isNeeded()) this.#succeed(position);
    } catch (error) {
      if (isNeeded() && this.#look()) this.#giveUp(error);
    }
  }

  #succeed({ source, fromSeq }: Position): void {
    this.#state = 'over';
    // A newer attempt is another answer: ours ends where it begins.
    this.#successor = fromSeq > this.#options.fromSeq ? endingAt(source, fromSeq) : source;
    this.#followSuccessor();
    this.#readers.wake();
  }

  #followSuccessor(): void {
    if (this.readers === 0 || this.#left) return;
    this.#leaveSuccessor ??= this.#successor?.subscribe(() => this.#readers.wake());
  }

  #finish(endSeq: number): void {
    this.#frames.skipTo(endSeq);
    this.#endSeq = this.#frames.nextSeq;
    this.#state = 'over';
    this.#readers.wake();
  }

  /** Nobody can say how the turn goes on: the client is told to try again, and finds then what the rows say. */
  #giveUp(error: unknown): void {
    const seq = this.#frames.nextSeq;
    this.#frames.add(brokenOff(seq));
    this.#finish(seq);
    this.#warn(error, 'a turn of another node could not be read to its end');
  }

  #warn(error: unknown, message: string): void {
    this.#options.log.warn({ err: error, turn_id: this.#options.turnId }, message);
  }
}
