/** Sends what an app wants to count, in batches and without a promise: what cannot be sent is thrown away (CLIENT-15). */
import { failureOf, logged } from '../transport/failure.ts';
import type { Ground } from '../transport/requests.ts';

const BATCH_EVERY_MS = 10_000;
/** Far below the 256 KB of a body, for events of a usual size. */
const BATCH_MAX = 50;
/** While the service is away. More would be a leak. */
const WAITING_MAX = 200;

export interface TelemetryEvent {
  readonly name: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

export class Telemetry {
  readonly #ground: Ground;
  #waiting: readonly (TelemetryEvent & { readonly at: string })[] = [];
  #stopTimer: (() => void) | undefined;
  #isClosed = false;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  track(event: TelemetryEvent): void {
    if (this.#isClosed) return;
    if (this.#waiting.length >= WAITING_MAX) {
      this.#ground.log.say('debug', 'events_dropped', { count: 1 });
      return;
    }
    this.#waiting = [...this.#waiting, { ...event, at: new Date(this.#ground.surroundings.clock.nowMs()).toISOString() }];
    this.#stopTimer ??= this.#ground.surroundings.clock.after(BATCH_EVERY_MS, () => void this.flush());
  }

  /** Sends what waits. Never rejects. */
  async flush(): Promise<void> {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const batch = this.#waiting.slice(0, BATCH_MAX);
    if (batch.length === 0) return;
    this.#waiting = this.#waiting.slice(BATCH_MAX);
    try {
      await this.#ground.requests.json({ method: 'POST', path: '/v1/events', body: { events: batch } });
    } catch (error) {
      this.#ground.log.say('debug', 'events_dropped', { count: batch.length, ...logged(failureOf(error)) });
    }
    if (this.#waiting.length > 0 && !this.#isClosed)
      this.#stopTimer ??= this.#ground.surroundings.clock.after(BATCH_EVERY_MS, () => void this.flush());
  }

  close(): void {
    void this.flush();
    this.#isClosed = true;
    this.#stopTimer?.();
  }
}
