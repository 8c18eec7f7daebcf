/**
 * The frames of this node's running turns for readers on other nodes (CLUSTER-12): each feed is one reader of the turn's log,
 * which tells another node what it reads.
 *
 * Invariants: a feed tells whole frames in order, from where it was asked to, and then stops or has ended; what goes wrong with
 * one source ends its feed only. A feed whose readers take nothing is a slow reader of the turn. Nothing is told twice on its own account: whoever lost something asks for it again.
 */
import type { Logger } from 'pino';
import { Refusal } from '../../../protocol/errors.ts';
import type { FrameSource } from '../../frame-source.ts';
import type { Tells } from '../bus/messages.ts';

export interface FeedServices {
  /** Never throws; what it is given in one loop tick may travel together. */
  tell(reader: string, frames: Tells['frames']): void;
  readonly log: Pick<Logger, 'error'>;
}

/** As much as a stream reads for its client at a time, so that most of what is told is passed on as it is. */
const SLICE_MAX_CHARS = 16 * 1024;
/** The live end of a turn is one slice; whoever is further behind lets the other streams have their turn. */
const SLICES_PER_TURN_MAX = 2;
/** By reading node, some 500 bytes each: a node carries about as many streams, so one that asks for more has lost count. */
const FEEDS_PER_NODE_MAX = 10_000;

interface FeedOptions {
  readonly source: FrameSource;
  readonly stream: number;
  readonly fromSeq: number;
  tell(frames: Tells['frames']): void;
  /** It stopped by itself; with what went wrong, if anything did. */
  over(error?: unknown): void;
}

class Feed {
  readonly #options: FeedOptions;
  #seq: number;
  #unsubscribe: (() => void) | undefined;
  #stopped = false;
  #turnPlanned = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#seq = options.fromSeq;
  }

  start(): void {
    try {
      this.#unsubscribe = this.#options.source.subscribe(() => this.#pump());
    } catch (error) {
      this.#fail(error);
    }
    this.#pump();
  }

  /** Nobody there takes what is told, or somebody does again. */
  lag(isLagging: boolean): void {
    if (!this.#stopped) this.#options.source.slow?.(this, isLagging);
  }

  stop(): void {
    this.lag(false);
    this.#stopped = true;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  /** Says where it stands without telling anything, so that a reader who missed something notices. */
  resound(): void {
    const { stream, tell } = this.#options;
    tell({ stream, seq: this.#seq, nextSeq: this.#seq, text: '', ended: false });
  }

  #pump(): void {
    if (this.#turnPlanned) return;
    try {
      for (let slices = 0; slices < SLICES_PER_TURN_MAX; slices++) {
        if (this.#stopped || !this.#tellSlice()) return;
      }
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#turnPlanned = true;
    setImmediate(() => {
      this.#turnPlanned = false;
      this.#pump();
    });
  }

  /** False when nothing more is there to be told now. */
  #tellSlice(): boolean {
    const { over, source, stream, tell } = this.#options;
    const seq = this.#seq;
    const { text, nextSeq, ended } = source.read(seq, SLICE_MAX_CHARS);
    // A position that rose over nothing is told with what follows it.
    if (text === '' && !ended) return false;
    this.#seq = nextSeq;
    tell({ stream, seq, nextSeq, text, ended });
    if (!ended) return true;
    this.stop();
    over();
    return false;
  }

  #fail(error: unknown): void {
    if (this.#stopped) return;
    this.stop();
    this.#options.over(error);
  }
}

export class TurnFeeds {
  readonly #services: FeedServices;
  /** By reading node, then by its number for the stream. */
  readonly #readers = new Map<string, Map<number, Feed>>();

  constructor(services: FeedServices) {
    this.#services = services;
  }

  get count(): number {
    let count = 0;
    for (const feeds of this.#readers.values()) count += feeds.size;
    return count;
  }

  /**
   * Tells `reader` the frames of `source` from `fromSeq` on, in place of what was told for the same stream. What is there already
   * is told before this returns, so say first whatever the reader must know before.
   * @throws Refusal `rate_limited` when that node follows as many turns as it may.
   */
  feed(reader: string, stream: number, source: FrameSource, fromSeq: number): void {
    this.drop(reader, stream);
    const feeds = this.#readers.get(reader) ?? new Map<number, Feed>();
    if (feeds.size >= FEEDS_PER_NODE_MAX) {
      const message = `Node ${reader} follows ${FEEDS_PER_NODE_MAX} turns of this one already. Close streams there, or add nodes.`;
      throw new Refusal('rate_limited', message, { retryAfterS: 1 });
    }
    const feed: Feed = new Feed({
      source,
      stream,
      fromSeq,
      tell: (frames) => this.#services.tell(reader, frames),
      over: (error) => {
        this.#forget(reader, stream, feed);
        // Its reader finds out by the silence, and asks again.
        if (error !== undefined) this.#services.log.error({ err: error, reader }, 'a turn could not be sent to another node');
      },
    });
    feeds.set(stream, feed);
    this.#readers.set(reader, feeds);
    feed.start();
  }

  /** Nobody reads this stream there any more. */
  drop(reader: string, stream: number): void {
    const feed = this.#readers.get(reader)?.get(stream);
    if (feed === undefined) return;
    feed.stop();
    this.#forget(reader, stream, feed);
  }

  /** Nobody who reads this stream there takes what is told, or somebody does again. */
  lag(reader: string, stream: number, isLagging: boolean): void {
    this.#readers.get(reader)?.get(stream)?.lag(isLagging);
  }

  /** The node is lost. */
  dropNode(reader: string): void {
    for (const feed of this.#readers.get(reader)?.values() ?? []) feed.stop();
    this.#readers.delete(reader);
  }

  /** This node was cut off: tells every reader where its stream stands, so that each that missed something asks for it. */
  resound(): void {
    for (const feeds of this.#readers.values()) for (const feed of feeds.values()) feed.resound();
  }

  close(): void {
    for (const reader of [...this.#readers.keys()]) this.dropNode(reader);
  }

  #forget(reader: string, stream: number, feed: Feed): void {
    const feeds = this.#readers.get(reader);
    if (feeds?.get(stream) !== feed) return;
    feeds.delete(stream);
    if (feeds.size === 0) this.#readers.delete(reader);
  }
}
