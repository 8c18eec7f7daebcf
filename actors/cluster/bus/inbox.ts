/**
 * What this node takes from Redis: it opens envelopes, and owns which of them count. Anybody who reaches Redis can put bytes into a
 * channel, so an envelope counts only when it opens and was not there before:
 *
 * - it must be sealed for this channel by its sender (see envelope.ts);
 * - its number must be above every number that its sender had on this channel: one that is sent again is refused;
 * - it must be less than 30 s old: a node that never heard of the sender knows no numbers. What lies under a node's own id was
 *   sealed for this start of it alone, so this is about announcements.
 *
 * An envelope that is missing before this one, by its sender's numbers, was lost: `onGap` says so.
 */
import type { Logger } from 'pino';
import type { Vault } from '../../../storage/files/vault.ts';
import { seldomWarning } from '../nodes/seldom-warning.ts';
import { type Envelope, EVERYONE, type Message, openEnvelope, type Route, senderOf } from './envelope.ts';

/** Above every delay in which the asker or reader still waits; below what makes an old announcement of use to anybody. */
const AGE_MAX_MS = 30_000;
/** Senders on each channel whose numbers are known. A cell has tens of nodes, and each restart makes one more. */
const SENDERS_MAX = 1_000;
const NAME_SHOWN_CHARS = 100;

export interface InboxCounts {
  /** Bytes that were no envelope of ours. */
  unopened: number;
  /** Envelopes that had been there before, or came after a later one. */
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
  number: number;
  /** False after this node was away itself: what it missed then is known. */
  isComplete: boolean;
}

export class Inbox {
  readonly #options: InboxOptions;
  readonly #warn: ReturnType<typeof seldomWarning>;
  /** By addressee and sender, the longest silent first. */
  readonly #seen = new Map<string, Seen>();
  readonly counts: InboxCounts = { unopened: 0, replayed: 0, stale: 0, gaps: 0 };

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#warn = seldomWarning(
      options.log,
      'messages from Redis were refused (unopened: another service shares this Redis with another MASTER_KEY, or they are forged; replayed, stale: they came twice or late)',
    );
  }

  /** To be called when this node hears again after it was away: what is missing from before then is no news. */
  forgive(): void {
    for (const seen of this.#seen.values()) seen.isComplete = false;
  }

  /** Never throws for what others sent. `addressee`: whose channel it came on, this node's or everyone's. */
  take(addressee: string, wire: Buffer): void {
    const { self, deliver } = this.#options;
    const sender = senderOf(wire);
    // What this node announced comes back to it.
    if (sender === self && addressee === EVERYONE) return;
    const envelope = sender === null ? null : this.#open({ cell: this.#options.cell, addressee, sender }, wire);
    if (sender === null || envelope === null) {
      this.#refuse('unopened', sender);
      return;
    }
    if (!this.#isNext(addressee, sender, envelope)) return;
    for (const message of envelope.messages) deliver(message, sender);
  }

  #open(route: Route, wire: Buffer): Envelope | null {
    try {
      return openEnvelope(this.#options.vault, route, wire);
    } catch {
      return null;
    }
  }

  #refuse(why: 'unopened' | 'replayed' | 'stale', from: string | null): void {
    this.counts[why] += 1;
    // Whoever forges an envelope chooses the name.
    this.#warn({ why, from: from?.slice(0, NAME_SHOWN_CHARS) });
  }

  #isNext(addressee: string, sender: string, { number, previous, sealedAtMs }: Envelope): boolean {
    const key = `${addressee} ${sender}`;
    const seen = this.#seen.get(key);
    if (seen !== undefined && number <= seen.number) {
      this.#refuse('replayed', sender);
      return false;
    }
    // Whoever speaks to everyone may have begun before this node did; its own channel begins with it, and so do the numbers there.
    const isNew = seen === undefined && addressee === EVERYONE;
    const isStale = this.#options.nowMs() - sealedAtMs > AGE_MAX_MS;
    if (isStale) this.#refuse('stale', sender);
    // It leaves no mark: it may be a repeated one, of a node that is no more.
    if (isStale && isNew) return false;
    const isComplete = isNew || previous === 0 || previous === (seen?.number ?? 0) || seen?.isComplete === false;
    if (isStale || !isComplete) {
      this.counts.gaps += 1;
      this.#options.onGap();
    }
    this.#seen.delete(key);
    this.#seen.set(key, { number, isComplete: true });
    if (this.#seen.size > SENDERS_MAX) this.#seen.delete(this.#seen.keys().next().value ?? '');
    return !isStale;
  }
}
