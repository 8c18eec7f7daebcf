/** Two ends of a line between nodes, in the test's hand: it decides what arrives, and when the line breaks. */
import type { Hearing, Line } from '../../../../actors/cluster/questions/line.ts';

/** Messages under way beyond which a line is full. */
const FULL = 4;

class End implements Line {
  /** On their way to the other end. */
  readonly queue: unknown[] = [];
  readonly #waiting: unknown[] = [];
  readonly #pair: LinePair;
  #hearing: Hearing | null = null;
  #isHeld = false;
  #isClosed = false;
  #isFull = false;

  constructor(pair: LinePair) {
    this.#pair = pair;
  }

  send(message: unknown): boolean {
    if (!this.#pair.isOpen) return true;
    this.queue.push(structuredClone(message));
    this.#isFull = this.queue.length >= FULL;
    return !this.#isFull;
  }

  hear(hearing: Hearing | null): void {
    this.#hearing = hearing;
    this.#deliver();
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (!isHeld) setImmediate(() => this.#deliver());
  }

  end(): void {
    this.#pair.isEnding = true;
  }

  close(): void {
    this.#hearing = null;
    this.#pair.break(0);
  }

  take(message: unknown): void {
    this.#waiting.push(message);
    this.#deliver();
  }

  sent(): void {
    if (!this.#isFull || this.queue.length > 0) return;
    this.#isFull = false;
    this.#hearing?.drained?.();
  }

  broke(): void {
    this.#isClosed = true;
    this.#deliver();
  }

  #deliver(): void {
    while (this.#hearing !== null && !this.#isHeld) {
      if (this.#waiting.length > 0) {
        this.#hearing.message(this.#waiting.shift());
        continue;
      }
      if (!this.#isClosed) return;
      const { closed } = this.#hearing;
      this.#hearing = null;
      closed();
    }
  }
}

export class LinePair {
  readonly owner: End = new End(this);
  readonly reader: End = new End(this);
  isOpen = true;
  /** The owner said all: the line closes after it. */
  isEnding = false;

  /** So many messages of either side arrive. */
  deliver(count: number): void {
    for (const [from, to] of [
      [this.reader, this.owner],
      [this.owner, this.reader],
    ] as const) {
      for (const message of from.queue.splice(0, count)) to.take(message);
      if (this.isOpen) from.sent();
    }
    if (this.isEnding && this.owner.queue.length === 0) this.break(0);
  }

  /** The line ends; so many messages of either side arrive before, the rest never does. */
  break(arriving: number): void {
    if (!this.isOpen) return;
    if (arriving > 0) this.deliver(arriving);
    if (!this.isOpen) return;
    this.isOpen = false;
    for (const end of [this.owner, this.reader]) {
      end.queue.length = 0;
      end.broke();
    }
  }
}
