/** Owns the streams of a conversation's turns: one for each turn that is live, whatever asks for it. */
import type { Reading } from '../events.ts';
import { type StreamMode, TurnStream, type TurnStreamParts } from '../transport/turn-stream.ts';
import { findTurn } from './changes.ts';
import type { ConversationStore } from './logic.ts';
import { isLive } from './turn.ts';

export class FollowedTurns {
  readonly #parts: TurnStreamParts;
  readonly #store: ConversationStore;
  readonly #streams = new Map<string, TurnStream>();
  readonly #delayed = new Map<string, () => void>();

  constructor(parts: TurnStreamParts, store: ConversationStore) {
    this.#parts = parts;
    this.#store = store;
  }

  follow(turnId: string, mode: StreamMode, afterMs: number): void {
    if (this.#delayed.has(turnId)) return;
    if (afterMs === 0) {
      this.#begin(turnId, mode);
      return;
    }
    const cancel = this.#parts.clock.after(afterMs, () => {
      this.#delayed.delete(turnId);
      this.#begin(turnId, mode);
    });
    this.#delayed.set(turnId, cancel);
  }

  wake(): void {
    for (const stream of this.#streams.values()) stream.wake();
  }

  close(): void {
    for (const cancel of this.#delayed.values()) cancel();
    for (const stream of this.#streams.values()) stream.close();
    this.#delayed.clear();
    this.#streams.clear();
  }

  #begin(turnId: string, mode: StreamMode): void {
    const turn = findTurn(this.#store.get().context, turnId);
    if (turn === undefined || !isLive(turn) || this.#streams.has(turnId)) return;
    const stream = new TurnStream(this.#parts, turn, {
      opened: (opened) => this.#store.send({ type: 'streamOpened', turnId, mode: opened }),
      told: (reading) => this.#told(turnId, reading),
      lost: () => this.#store.send({ type: 'streamLost', turnId }),
      failed: (failure) => {
        // First, so that what is asked for now finds the place free.
        this.#streams.delete(turnId);
        this.#store.send({ type: 'streamFailed', turnId, failure });
      },
      lastEventId: () => {
        const seq = findTurn(this.#store.get().context, turnId)?.lastSeq ?? -1;
        return seq < 0 ? undefined : seq;
      },
      isOver: () => {
        const now = findTurn(this.#store.get().context, turnId);
        return now === undefined || !isLive(now) || now.connection === 'none';
      },
    });
    this.#streams.set(turnId, stream);
    void stream.follow(mode).finally(() => {
      if (this.#streams.get(turnId) === stream) this.#streams.delete(turnId);
    });
  }

  /** What a frame says, whether or not this build can read it. */
  #told(turnId: string, reading: Reading): void {
    if (reading.kind === 'event') {
      const { event } = reading;
      const isLast = event.type === 'turn.end';
      // The turn may be asked for once more as soon as its end is known.
      if (isLast) this.#streams.delete(turnId);
      if (event.type === 'turn.end' && event.user_token_refused === true) this.#parts.requests.sender.tokenRefused();
      this.#store.send({ type: 'eventTold', turnId, event, isNumbered: reading.id !== undefined });
      return;
    }
    const details = { turn_id: turnId, ...(reading.kind === 'unknown' ? { type: reading.type } : { problem: reading.problem }) };
    this.#parts.log.say(reading.kind === 'unknown' ? 'debug' : 'warn', 'event_skipped', details);
    if (reading.seq !== undefined) this.#store.send({ type: 'eventSkipped', turnId, seq: reading.seq });
  }
}
