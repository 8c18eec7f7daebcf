/**
 * Follows one turn over as many connections as it takes until it is over (CLIENT-6). A stream that breaks is taken up again: by the
 * same request with the same `turn_id`, which the service answers with the turn as it is, or after a reload from the last event that is
 * known. It owns connections and pauses; what events mean is `conversation/`.
 */
import { PING_INTERVAL_MS } from '../../../protocol/limits.ts';
import type { ChatBody } from '../../../protocol/runtime/chat.ts';
import type { Reading } from '../events.ts';
import { jsonText } from '../json.ts';
import type { Log } from '../log.ts';
import type { Clock, FetchRequest } from '../surroundings.ts';
import { type Failure, logged, ownFailure } from './failure.ts';
import { backoffMs, chanceOf, Pause } from './pause.ts';
import type { Requests } from './requests.ts';
import { StreamConnection, type StreamEnding } from './stream-connection.ts';

/** A turn that brings nothing new for so long, over however many connections, is shown as failed; `wake` or the person tries again. */
const TROUBLE_MAX_MS = 120_000;
/** After a device slept: pings that should have come are missing. */
const SUSPECT_AFTER_MS = PING_INTERVAL_MS * 1.5;

/** `send`: the request itself. `attach`: the turn that it opened. */
export type StreamMode = 'send' | 'attach';

export interface FollowedTurn {
  readonly turnId: string;
  /** Sent unchanged at every try. Null: somebody else's request opened the turn, so that it can only be attached to. */
  readonly request: ChatBody | null;
}

export interface TurnListener {
  opened(mode: StreamMode): void;
  told(reading: Reading): void;
  lost(): void;
  failed(failure: Failure): void;
  /** For `Last-Event-ID`; undefined when nothing of the turn is known. It rises with everything new. */
  lastEventId(): number | undefined;
  isOver(): boolean;
}

export interface TurnStreamParts {
  readonly requests: Requests;
  readonly clock: Clock;
  readonly mintUuid: () => string;
  readonly idleMs: number;
  readonly log: Log;
}

export class TurnStream {
  readonly #parts: TurnStreamParts;
  readonly #turn: FollowedTurn;
  readonly #listener: TurnListener;
  readonly #pause: Pause;
  #connection: StreamConnection | undefined;
  #isClosed = false;
  /** Since when nothing new has come; undefined while something does. */
  #troubleSinceMs: number | undefined;
  #tries = 0;
  /** Connections in a row that told events and none that was new. */
  #fruitless = 0;
  #hasHeard = false;

  constructor(parts: TurnStreamParts, turn: FollowedTurn, listener: TurnListener) {
    this.#parts = parts;
    this.#turn = turn;
    this.#listener = listener;
    this.#pause = new Pause(parts.clock);
  }

  /** Follows the turn to its end, beginning with this mode. Never rejects. */
  async follow(first: StreamMode): Promise<void> {
    // A turn that is attached to has been opened: its first connection tries again.
    let isAgain = first === 'attach';
    for (let mode = first; ; isAgain = true) {
      const before = this.#listener.lastEventId();
      const ending = await this.#connect(mode);
      if (this.#isClosed || this.#listener.isOver()) return;
      this.#noteProgress(before);
      if (ending.kind === 'refused' && !this.#isWorthWaiting(ending.failure, isAgain)) {
        if (mode !== 'attach' || ending.failure.status !== 404 || this.#turn.request === null) {
          this.#listener.failed(ending.failure);
          return;
        }
        // The service does not have the turn (yet): the request opens it.
        mode = 'send';
        continue;
      }
      if (!(await this.#waitAfter(ending))) return;
      mode = this.#modeOfNext();
    }
  }

  /** The network is back, or somebody looks at the page again: tries at once, and does not trust a connection that has been silent. */
  wake(): void {
    this.#troubleSinceMs = undefined;
    this.#tries = 0;
    this.#pause.skip();
    const connection = this.#connection;
    if (connection !== undefined && this.#parts.clock.nowMs() - connection.heardAtMs > SUSPECT_AFTER_MS) connection.close();
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.close();
    this.#pause.skip();
  }

  /**
   * The request itself finds the turn whatever became of it, but is told it from its start: over a line that cuts every stream after so
   * many bytes it would never come further. So where that brought nothing new, every other try goes on after the last event.
   */
  #modeOfNext(): StreamMode {
    if (this.#turn.request === null) return 'attach';
    return this.#fruitless % 2 === 1 ? 'attach' : 'send';
  }

  #noteProgress(before: number | undefined): void {
    if (this.#listener.lastEventId() === before) {
      if (before !== undefined && this.#hasHeard) this.#fruitless += 1;
      return;
    }
    this.#troubleSinceMs = undefined;
    this.#tries = 0;
    this.#fruitless = 0;
  }

  /** A turn that was sent before is waited for; the refusal of a new one is told at once. */
  #isWorthWaiting({ status, retryable }: Failure, isAgain: boolean): boolean {
    return isAgain && retryable && status !== undefined;
  }

  async #connect(mode: StreamMode): Promise<StreamEnding> {
    const { requests, clock, idleMs } = this.#parts;
    if (mode === 'send') await requests.sender.renewToken();
    if (this.#isClosed) return { kind: 'closed' };
    const connection = new StreamConnection({ fetch: requests.fetch, clock, idleMs });
    this.#connection = connection;
    this.#hasHeard = false;
    this.#listener.opened(mode);
    const { address, request } = mode === 'send' ? this.#sending() : this.#attaching();
    return connection.run(requests.address(address), request, (reading) => {
      this.#hasHeard = true;
      this.#listener.told(reading);
      if (this.#listener.isOver()) connection.close();
    });
  }

  #sending(): { address: string; request: Omit<FetchRequest, 'signal'> } {
    const headers = this.#parts.requests.headers({ hasBody: true, isTurn: true });
    return { address: '/v1/chat', request: { method: 'POST', headers, body: jsonText(this.#turn.request ?? {}) } };
  }

  #attaching(): { address: string; request: Omit<FetchRequest, 'signal'> } {
    const after = this.#listener.lastEventId();
    const headers = this.#parts.requests.headers({ hasBody: false, isTurn: true });
    const more = after === undefined ? {} : { 'Last-Event-ID': String(after) };
    return { address: `/v1/chat/${this.#turn.turnId}`, request: { method: 'GET', headers: { ...headers, ...more } } };
  }

  /** Waits before the next try. False: it has been tried for long enough, and the listener was told. */
  async #waitAfter(ending: StreamEnding): Promise<boolean> {
    const { clock, log, mintUuid } = this.#parts;
    const details = { turn_id: this.#turn.turnId, ...this.#shown(ending) };
    log.say('info', ending.kind === 'broken' && ending.reason === 'silent' ? 'stream_idle' : 'stream_broken', details);
    const asked = ending.kind === 'refused' ? ending.failure : undefined;
    this.#troubleSinceMs ??= clock.nowMs();
    const leftMs = this.#troubleSinceMs + TROUBLE_MAX_MS - clock.nowMs();
    if (leftMs < (asked?.retryAfterMs ?? 0)) {
      log.say('warn', 'stream_lost', details);
      this.#listener.failed(asked ?? ownFailure('unreachable', 'The connection to the assistant was lost. Try again.', true));
      return false;
    }
    this.#listener.lost();
    await this.#pause.wait(asked?.retryAfterMs ?? backoffMs(this.#tries++, chanceOf(mintUuid())));
    return !this.#isClosed;
  }

  #shown(ending: StreamEnding): Readonly<Record<string, unknown>> {
    if (ending.kind === 'refused') return logged(ending.failure);
    if (ending.kind !== 'broken') return { reason: ending.kind };
    return { reason: ending.reason, ...(ending.hint === undefined ? {} : { hint: ending.hint }) };
  }
}
