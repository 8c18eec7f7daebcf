/**
 * Accepts or rejects the envelopes that arrive over Redis. Anybody with access to Redis can put bytes into the channel, so an envelope counts
 * only when it opens and is new:
 *
 * - it must be sealed in this cell by its sender (see envelope.ts);
 * - its number must be above every earlier number of its sender: a replayed one is refused;
 * - it must be less than 30 s old: a node that is new to a sender knows none of its numbers.
 *
 * A gap in a sender's numbers means that envelopes were lost: `onGap` is called.
 */
import type { Logger } from 'pino';
import type { Vault } from '../../../storage/secrets/vault.ts';
import { throttledWarning } from '../nodes/throttled-warning.ts';
import { type Envelope, type Message, openEnvelope, senderOf } from './envelope.ts';

/** Longer than any delay of a working Redis, and too short for a replay to be of use. */
const AGE_MAX_MS = 30_000;
/** Senders whose numbers are known. A cell has tens of nodes, and each restart makes one more. */
const SENDERS_MAX = 1_000;
const NAME_SHOWN_CHARS = 100;

export interface InboxCounts {
  /** Bytes that were no envelope of ours. */
  unopened: number;
  /** Envelopes that came twice, or after a later one. */
  replayed: number;
  /** Envelopes that were too old. */
  stale: number;
  /** Times that an envelope was seen to be missing. */
  gaps: number;
}

export interface InboxOptions {
  readonly cell: string | null;
  readonly self: string;
  readonly vault: Pick<Vault, 'open'>;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly deliver: (message: Message, from: string) => void;
  readonly onGap: () => void;
}

interface Seen {
  readonly number: number;
  /** False after an outage of this node itself: its listeners read the rows anyway. */
  isComplete: boolean;
}

export class Inbox {
  readonly #options: InboxOptions;
  readonly #warn: ReturnType<typeof throttledWarning>;
  /** By sender, the longest silent first. */
  readonly #seen = new Map<string, Seen>();
  readonly counts: InboxCounts = { unopened: 0, replayed: 0, stale: 0, gaps: 0 };

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#warn = throttledWarning(
      options.log,
      'messages from Redis were refused (unopened: another service shares this Redis with another MASTER_KEY, or they are forged; replayed, stale: they came twice or late)',
    );
  }

  /** Call it when this node receives again after an outage: gaps from the outage are already known. */
  forgive(): void {
    for (const seen of this.#seen.values()) seen.isComplete = false;
  }

  /** Never throws for what others sent. */
  take(wire: Buffer): void {
    const sender = senderOf(wire);
    // A node receives its own announcements.
    if (sender === this.#options.self) return;
    const envelope = sender === null ? null : this.#open(sender, wire);
    if (sender === null || envelope === null) {
      this.#refuse('unopened', sender);
      return;
    }
    if (!this.#isNext(sender, envelope)) return;
    for (const message of envelope.messages) this.#options.deliver(message, sender);
  }

  #open(sender: string, wire: Buffer): Envelope | null {
    try {
      return openEnvelope(this.#options.vault, { cell: this.#options.cell, sender }, wire);
    } catch {
      return null;
    }
  }

  #refuse(why: 'unopened' | 'replayed' | 'stale', from: string | null): void {
    this.counts[why] += 1;
    // A forged envelope may carry any name.
    this.#warn({ why, from: from?.slice(0, NAME_SHOWN_CHARS) });
  }

  #isNext(sender: string, { number, sealedAtMs }: Envelope): boolean {
    const seen = this.#seen.get(sender);
    if (seen !== undefined && number <= seen.number) {
      this.#refuse('replayed', sender);
      return false;
    }
    const isStale = this.#options.nowMs() - sealedAtMs > AGE_MAX_MS;
    if (isStale) this.#refuse('stale', sender);
    // It leaves no mark: it may be a repeated one, of a node that is no more.
    if (isStale && seen === undefined) return false;
    // A sender that is new here may have begun before this node did.
    const isComplete = seen === undefined || !seen.isComplete || number === seen.number + 1;
    if (isStale || !isComplete) {
      this.counts.gaps += 1;
      this.#options.onGap();
    }
    this.#seen.delete(sender);
    this.#seen.set(sender, { number, isComplete: true });
    if (this.#seen.size > SENDERS_MAX) this.#seen.delete(this.#seen.keys().next().value ?? '');
    return !isStale;
  }
}
