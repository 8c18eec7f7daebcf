/**
 * The owner's end of a relayed turn (CLUSTER-12): one reader of the turn's log, which sends what it reads to another node.
 *
 * Invariants: it sends whole frames in order, each once, from the requested seq on, no faster than the other node takes them. An error of one
 * source ends its line only, and the reader asks again. A feed whose reader takes nothing is a slow reader of the turn.
 */
import type { Logger } from 'pino';
import type { FrameSource } from '../../frame-source.ts';
import type { Relayed, Wanted } from '../questions/asks.ts';
import type { Line } from '../questions/line.ts';

/** As much as a stream reads for its client at a time, so that what is sent is passed on as it is. */
const SLICE_MAX_CHARS = 16 * 1024;
/** A reader at the live end needs one slice; one that is further behind must not hold up other streams. */
const SLICES_PER_TURN_MAX = 2;

class TurnFeed {
  readonly #line: Line;
  readonly #source: FrameSource;
  readonly #log: Pick<Logger, 'error'>;
  #seq = 0;
  #unsubscribe: (() => void) | undefined;
  /** The line is full, or other streams go first: `#goOn` is called when that is over. */
  #isWaiting = false;
  #isOver = false;

  constructor(line: Line, source: FrameSource, log: Pick<Logger, 'error'>) {
    this.#line = line;
    this.#source = source;
    this.#log = log;
    line.hear({
      message: (message) => this.#wanted(message as Wanted),
      closed: () => this.#stop(),
      drained: () => this.#goOn(),
    });
  }

  #wanted([kind, value]: Wanted): void {
    if (kind === 'slow') this.#source.slow?.(this, value);
    if (kind !== 'from' || this.#unsubscribe !== undefined) return;
    this.#seq = value;
    try {
      this.#unsubscribe = this.#source.subscribe(() => this.#pump());
    } catch (error) {
      this.#fail(error);
    }
    this.#pump();
  }

  #goOn(): void {
    this.#isWaiting = false;
    this.#pump();
  }

  #pump(): void {
    try {
      for (let slices = 0; slices < SLICES_PER_TURN_MAX; slices++) {
        if (this.#isWaiting || this.#isOver || !this.#sendSlice()) return;
      }
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    setImmediate(() => this.#goOn());
  }

  /** False when there is nothing more to send now. */
  #sendSlice(): boolean {
    const { text, nextSeq, ended } = this.#source.read(this.#seq, SLICE_MAX_CHARS);
    // A seq that advanced without text is sent with the next text.
    if (text === '' && !ended) return false;
    this.#seq = nextSeq;
    this.#isWaiting = !this.#line.send(['frames', nextSeq, text, ended] satisfies Relayed);
    if (!ended) return true;
    this.#stop();
    this.#line.end();
    return false;
  }

  #stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#source.slow?.(this, false);
    this.#unsubscribe?.();
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#stop();
    this.#line.close();
    this.#log.error({ err: error }, 'relaying a turn to another node failed: that node looks for it again');
  }
}

/** Sends the turn over the line, until either ends. */
export function feedTurn(line: Line, source: FrameSource, log: Pick<Logger, 'error'>): void {
  new TurnFeed(line, source, log);
}
