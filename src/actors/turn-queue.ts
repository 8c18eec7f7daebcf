/**
 * The order of the turns of one conversation: one at a time, a few waiting behind it, and copies of one request sharing its
 * fate. Knows nothing of turns: what runs is `work`, and how long it lasts is told by whoever started it.
 */
import { Refusal } from '../protocol/errors.ts';
import { WAITING_TURNS_MAX } from '../protocol/limits.ts';
import { reusedTurnId } from './turn-admission.ts';

interface Requested<Opened> {
  readonly fingerprint: string;
  readonly opened: Promise<Opened>;
}

export interface TurnQueueOptions {
  /** Settles when what `work` started has ended; null when it started nothing. Asked each time `work` is done. */
  running(): Promise<void> | null;
  /** Nothing runs and nothing waits. */
  onIdle(): void;
}

export class TurnQueue<Opened> {
  readonly #options: TurnQueueOptions;
  #busy = false;
  readonly #waiting: (() => void)[] = [];
  /** Turns that are being opened or wait for it, by their key: a second request for one shares its fate. */
  readonly #requested = new Map<string, Requested<Opened>>();
  /** The opening that holds the queue now, until what it started runs. */
  #opening: Promise<Opened> | null = null;

  constructor(options: TurnQueueOptions) {
    this.#options = options;
  }

  get busy(): boolean {
    return this.#busy;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Settles when the turn that is being opened, if there is one, runs or was refused. */
  async opened(): Promise<void> {
    await this.#opening?.catch(() => undefined);
  }

  /**
   * Runs `work` once for all requests with this key.
   * @throws Refusal `rate_limited` when too many wait, `invalid_request` when the key stands for another request.
   */
  once({ turnId, fingerprint }: { readonly turnId: string; readonly fingerprint: string }, work: () => Promise<Opened>): Promise<Opened> {
    const requested = this.#requested.get(turnId);
    if (requested !== undefined) {
      // Its row is not there yet, so nobody else has compared: a stranger who guessed the key must not share the stream.
      return requested.fingerprint === fingerprint ? requested.opened : Promise.reject(reusedTurnId());
    }
    if (this.#busy && this.#waiting.length >= WAITING_TURNS_MAX) {
      const message = `This conversation has ${WAITING_TURNS_MAX} messages waiting for an answer. Wait for one of them before sending more.`;
      return Promise.reject(new Refusal('rate_limited', message));
    }
    const opened = this.inTurn(work).finally(() => this.#requested.delete(turnId));
    this.#requested.set(turnId, { fingerprint, opened });
    return opened;
  }

  /** Runs `work` when the conversation is free; it stays taken until what `work` started has ended. */
  async inTurn(work: () => Promise<Opened>): Promise<Opened> {
    if (this.#busy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#busy = true;
    try {
      this.#opening = work();
      return await this.#opening;
    } finally {
      this.#opening = null;
      const running = this.#options.running();
      if (running === null) this.#release();
      else void running.then(() => this.#release());
    }
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    this.#busy = false;
    this.#options.onIdle();
  }
}
