/** Where the time of a model's round went. */
import type { Usage } from '../../assistant/models/model.ts';
import type { RoundCost } from '../../machines/chat-turn.ts';

export class RoundClock {
  readonly #nowMs: () => number;
  #admittedMs: number | undefined;
  #begunAtMs = 0;
  #askedAtMs: number | undefined;
  #firstMs: number | undefined;
  #usage: Usage | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** A round begins. `receivedAtMs`: the arrival of the request, for its first round. */
  begun(receivedAtMs: number | undefined): void {
    const nowMs = this.#nowMs();
    this.#admittedMs = receivedAtMs === undefined ? undefined : Math.max(0, nowMs - receivedAtMs);
    this.#begunAtMs = nowMs;
    this.#askedAtMs = undefined;
    this.#firstMs = undefined;
    this.#usage = undefined;
  }

  /** The request went to the model. */
  asked(): void {
    this.#askedAtMs = this.#nowMs();
  }

  /** Something of the answer came; only the first counts. */
  heard(): void {
    if (this.#firstMs === undefined && this.#askedAtMs !== undefined) this.#firstMs = Math.max(0, this.#nowMs() - this.#askedAtMs);
  }

  /** The upstream's own count; undefined: it reports none. */
  reported(usage: Usage | undefined): void {
    this.#usage = usage;
  }

  /** What the round cost, where the model was asked. */
  cost(): { readonly cost?: RoundCost } {
    if (this.#askedAtMs === undefined) return {};
    const cost = {
      ...(this.#admittedMs === undefined ? {} : { admittedMs: this.#admittedMs }),
      preparedMs: Math.max(0, this.#askedAtMs - this.#begunAtMs),
      ...(this.#firstMs === undefined ? {} : { firstMs: this.#firstMs }),
      ...this.#usage,
    };
    return { cost };
  }
}
