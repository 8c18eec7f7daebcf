/**
 * The order of the turns of one conversation: one runs, a few wait behind it (CHAT-7), and copies of one request share its result.
 * Knows nothing of turns: what runs is `work`, and `running` says how long what it started lasts. It is no `Serial`, because a piece of work that waits can be
 * withdrawn, and copies of one request share one piece.
 */
import { Refusal } from '../../protocol/errors.ts';
import { WAITING_TURNS_MAX } from '../../protocol/limits.ts';
import { reusedTurnId } from './admission.ts';

export interface QueuedTurn {
  readonly turnId: string;
  readonly fingerprint: string;
}

interface Waiting<Key> {
  /** Null: it cannot be withdrawn. */
  readonly key: Key | null;
  /** It is next, or was withdrawn. */
  resume(isWithdrawn: boolean): void;
}

interface Requested<Result> {
  readonly fingerprint: string;
  readonly result: Promise<Result>;
}

export interface TurnQueueOptions {
  /** Settles when what `work` started has ended; null when it started nothing. Asked each time `work` is done. */
  running(): Promise<void> | null;
  onIdle(): void;
}

function withdrawn(): Refusal {
  return new Refusal('invalid_request', 'The turn was stopped before it began.', { stopped: true });
}

export class TurnQueue<Result, Key extends QueuedTurn = QueuedTurn> {
  readonly #options: TurnQueueOptions;
  #busy = false;
  readonly #waiting: Waiting<Key>[] = [];
  /** Turns that begin or wait for it, by their `turn_id`: a second request for one shares its result. */
  readonly #requested = new Map<string, Requested<Result>>();
  /** The work that holds the queue now, until what it started runs. */
  #beginning: Promise<unknown> | null = null;

  constructor(options: TurnQueueOptions) {
    this.#options = options;
  }

  get busy(): boolean {
    return this.#busy;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Settles when the turn that is about to begin, if there is one, runs or was refused. */
  async begun(): Promise<void> {
    await this.#beginning?.catch(() => undefined);
  }

  /**
   * Runs `work` once for all requests with this `turn_id`.
   * @throws Refusal `rate_limited` when too many wait, `invalid_request` when the `turn_id` was used for another request.
   */
  once(key: Key, work: () => Promise<Result>): Promise<Result> {
    const { turnId, fingerprint } = key;
    const requested = this.#requested.get(turnId);
    if (requested !== undefined) {
      // Its row is not there yet, so nothing else has compared: a stranger who guessed the `turn_id` must not share the stream.
      return requested.fingerprint === fingerprint ? requested.result : Promise.reject(reusedTurnId());
    }
    if (this.#busy && this.#waiting.length >= WAITING_TURNS_MAX) {
      const message = `This conversation has ${WAITING_TURNS_MAX} messages waiting for an answer. Wait for one of them before sending more.`;
      return Promise.reject(new Refusal('rate_limited', message));
    }
    const result = this.inTurn(work, key).finally(() => this.#requested.delete(turnId));
    this.#requested.set(turnId, { fingerprint, result });
    return result;
  }

  /** Takes a turn that waits out of the queue. False: none with this id waits, or `allows` says no. */
  withdraw(turnId: string, allows: (key: Key) => boolean): boolean {
    const at = this.#waiting.findIndex(({ key }) => key?.turnId === turnId && allows(key));
    if (at < 0) return false;
    const [waiting] = this.#waiting.splice(at, 1);
    waiting?.resume(true);
    return true;
  }

  /**
   * Runs `work` when the conversation is free; it stays taken until what `work` started has ended.
   * @throws Refusal with `stopped` when the turn was withdrawn while it waited.
   */
  async inTurn<Made>(work: () => Promise<Made>, key: Key | null = null): Promise<Made> {
    if (this.#busy && (await new Promise<boolean>((resume) => this.#waiting.push({ key, resume })))) throw withdrawn();
    this.#busy = true;
    try {
      const result = work();
      this.#beginning = result;
      return await result;
    } finally {
      this.#beginning = null;
      const running = this.#options.running();
      if (running === null) this.#release();
      else void running.then(() => this.#release());
    }
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next.resume(false);
      return;
    }
    this.#busy = false;
    this.#options.onIdle();
  }
}
