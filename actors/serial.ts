/** A serial queue: work is done one piece at a time, in its order, and the number of waiting pieces is bounded. */

export interface SerialBound {
  readonly max: number;
  full(): Error;
}

export interface SerialOptions {
  /** Absent: the callers keep the number small. */
  readonly bound?: SerialBound;
  idle?(): void;
}

export class Serial {
  readonly #options: SerialOptions;
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(options: SerialOptions = {}) {
    this.#options = options;
  }

  /** Pieces that wait, with the one that is being done. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Does `work` when all that came before it is done or has failed. @throws what `full` answers, at once, when too much waits. */
  do<Value>(work: () => Promise<Value>): Promise<Value> {
    const { bound, idle } = this.#options;
    if (bound !== undefined && this.#waiting >= bound.max) throw bound.full();
    this.#waiting += 1;
    const done = this.#tail.then(work);
    this.#tail = done.catch(() => undefined);
    return done.finally(() => {
      this.#waiting -= 1;
      if (this.#waiting === 0) idle?.();
    });
  }

  /** Settles when all that waits now is done or has failed. */
  async done(): Promise<void> {
    await this.#tail;
  }
}

/** A serial queue for each key, such as an app. A queue exists only while it has work. */
export class SerialByKey {
  readonly #bound: SerialBound;
  readonly #queues = new Map<string, Serial>();

  constructor(bound: SerialBound) {
    this.#bound = bound;
  }

  do<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
    const queue = this.#queues.get(key) ?? new Serial({ bound: this.#bound, idle: () => this.#queues.delete(key) });
    this.#queues.set(key, queue);
    return queue.do(work);
  }
}
