/** In a worker: what all workers count, by way of the supervisor, so that whichever answers GET /metrics answers for all (RUN-45). */

/** What a worker and the supervisor ask and tell each other beside `listening` and `alive`. `values` are metrics, of one process or of each. */
export type GatherMessage =
  | { readonly kind: 'gather' }
  | { readonly kind: 'measure' }
  | { readonly kind: 'measured'; readonly values: readonly object[] }
  | { readonly kind: 'gathered'; readonly values: readonly (readonly object[])[] };

/** A worker that takes longer is left out of the sum: its loop stands still, which shows elsewhere. */
export const MEASURED_MS = 2_000;

export function gatherMessage(message: unknown): GatherMessage | undefined {
  const { kind } = (message ?? {}) as { readonly kind?: unknown };
  return kind === 'gather' || kind === 'measure' || kind === 'measured' || kind === 'gathered' ? (message as GatherMessage) : undefined;
}

export class Gathered {
  #own: () => Promise<readonly object[]> = () => Promise.resolve([]);
  #asked: Promise<readonly (readonly object[])[]> | undefined;
  #answer: (values: readonly (readonly object[])[]) => void = () => {};

  constructor() {
    process.on('message', (raw) => {
      const message = gatherMessage(raw);
      if (message?.kind === 'measure') void this.#own().then((values) => this.#send({ kind: 'measured', values }));
      if (message?.kind === 'gathered') this.#answer(message.values);
    });
  }

  #send(message: GatherMessage): void {
    // A channel that closes meanwhile says so by itself.
    process.send?.(message, undefined, undefined, () => {});
  }

  /** From now on this process tells what it counts. */
  tells(own: () => Promise<readonly object[]>): void {
    this.#own = own;
  }

  /** The metrics of each worker; of this one alone where the supervisor does not answer. Whoever asks meanwhile gets the same. */
  all(): Promise<readonly (readonly object[])[]> {
    this.#asked ??= this.#ask().finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }

  async #ask(): Promise<readonly (readonly object[])[]> {
    const answered = new Promise<readonly (readonly object[])[]>((resolve) => {
      this.#answer = resolve;
      setTimeout(resolve, 2 * MEASURED_MS, []).unref();
    });
    this.#send({ kind: 'gather' });
    const values = await answered;
    return values.length > 0 ? values : [await this.#own()];
  }
}
