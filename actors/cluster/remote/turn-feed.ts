/**
 * The owner's end of a relayed turn (CLUSTER-12): one reader of the turn's log, which sends what it reads to another node.
 *
 * Invariants: it sends whole frames in order, each once, from where it was asked to, no faster than the other node takes them, and then
 * stops or has ended. What goes wrong with one source ends its line only; whoever reads it asks again. A feed whose reader takes nothing is a
 * slow reader of the turn.
 */
import type { Logger } from 'pino';
import type { FrameSource } from '../../frame-source.ts';
import type { Line } from '../questions/line.ts';
import type { Relayed, Wanted } from './relay-lines.ts';

/** As much as a stream reads for its client at a time, so that what is sent is passed on as it is. */
const SLICE_MAX_CHARS = 16 * 1024;
/** The live end of a turn is one slice; whoever is further behind lets the other streams have their turn. */
const SLICES_PER_TURN_MAX = 2;

class TurnFeed {
  readonly #line: Line;
  readonly #source: FrameSource;
  readonly #log: Pick<Logger, 'error'>;
  #seq = 0;
  #unsubscribe: (() => void) | undefined;
  /** The line is full, or others have their turn: whatever ends that pumps. */
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

  /** False when nothing more is there to be sent now. */
  #sendSlice(): boolean {
    const { text, nextSeq, ended } = this.#source.read(this.#seq, SLICE_MAX_CHARS);
    // A position that rose over nothing is sent with what follows it.
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

/** Sends the turn to whoever is at the other end of the line, until it has ended or the line has. */
export function feedTurn(line: Line, source: FrameSource, log: Pick<Logger, 'error'>): void {
  new TurnFeed(line, source, log);
}
