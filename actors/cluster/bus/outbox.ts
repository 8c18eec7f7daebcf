/**
 * What this node sends: one envelope for each addressee and loop tick. It owns the numbers of envelopes and the bounds on what waits.
 * What cannot be sent is lost, and its addressee is told so: the next envelope to it shows a gap (see inbox.ts).
 */
import type { Vault } from '../../../storage/files/vault.ts';
import { channelOf, type Message, packMessage, sealEnvelope } from './envelope.ts';

/** A tick's messages beyond this go in several envelopes: a larger one would hold up what is told to everybody else. */
const ENVELOPE_MAX_BYTES = 1024 * 1024;
/** The largest message is a turn's command, under 1 MB by the limits of a request's body; a larger one is a mistake here. */
const MESSAGE_MAX_BYTES = 8 * 1024 * 1024;
/** Sent and not yet taken by Redis. It takes gigabytes a second; with this much waiting it is away and has not been noticed yet. */
const IN_FLIGHT_MAX_BYTES = 32 * 1024 * 1024;
/** Addressees whose last number is known. A cell has tens of nodes, and each restart makes one more. */
const ADDRESSEES_MAX = 1_000;

export interface OutboxOptions {
  readonly cell: string | null;
  readonly self: string;
  readonly vault: Pick<Vault, 'seal'>;
  readonly nowMs: () => number;
  readonly isUp: () => boolean;
  /** Answers how many took it. */
  readonly publish: (channel: string, wire: Buffer) => Promise<number>;
  /** Messages that were not sent. */
  readonly onLost: (messages: number) => void;
}

interface Waiting {
  readonly packed: Buffer[];
  bytes: number;
  readonly undelivered: (() => void)[];
}

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Number of the last envelope by addressee, the longest unused first. */
  readonly #numbers = new Map<string, number>();
  /** Addressees that lost something and may not know it yet. */
  readonly #owed = new Set<string>();
  /** Envelopes that Redis has not answered for. */
  readonly #inFlight = new Set<Promise<void>>();
  #inFlightBytes = 0;
  #number = 0;
  #scheduled = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /**
   * Puts the message into this tick's envelope. `undelivered` is called at most once, when nobody takes it or it cannot be sent.
   * @throws Error when the message cannot be packed or has more than 8 MB.
   */
  post(addressee: string, message: Message, undelivered?: () => void): void {
    const packed = packMessage(message);
    if (packed.length > MESSAGE_MAX_BYTES) throw new Error(`A message of ${packed.length} bytes, where ${MESSAGE_MAX_BYTES} may travel.`);
    let waiting = this.#waiting.get(addressee);
    if (waiting !== undefined && waiting.bytes + packed.length > ENVELOPE_MAX_BYTES) {
      this.#send(addressee, waiting);
      waiting = undefined;
    }
    if (waiting === undefined) {
      waiting = { packed: [], bytes: 0, undelivered: [] };
      this.#waiting.set(addressee, waiting);
    }
    waiting.packed.push(packed);
    waiting.bytes += packed.length;
    if (undelivered !== undefined) waiting.undelivered.push(undelivered);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.flush());
  }

  /** Sends what waits. */
  flush(): void {
    this.#scheduled = false;
    const all = [...this.#waiting];
    this.#waiting.clear();
    for (const [addressee, waiting] of all) this.#send(addressee, waiting);
  }

  /** Tells those who lost something, with an empty envelope. To be called when Redis is back. */
  settleOwed(): void {
    for (const addressee of [...this.#owed]) this.#send(addressee, { packed: [], bytes: 0, undelivered: [] });
  }

  /** Sends what waits and resolves when Redis took it or did not. */
  async drained(): Promise<void> {
    this.flush();
    await Promise.all(this.#inFlight);
  }

  #send(addressee: string, waiting: Waiting): void {
    const previous = this.#numbers.get(addressee) ?? 0;
    this.#number += 1;
    const number = this.#number;
    // Counted whether it leaves or not: the gap is what tells the addressee.
    this.#numbers.delete(addressee);
    this.#numbers.set(addressee, number);
    if (this.#numbers.size > ADDRESSEES_MAX) this.#numbers.delete(this.#numbers.keys().next().value ?? '');
    if (!this.#options.isUp() || this.#inFlightBytes > IN_FLIGHT_MAX_BYTES) {
      this.#lose(addressee, waiting);
      return;
    }
    const { cell, self, vault, nowMs } = this.#options;
    const wire = sealEnvelope(vault, { cell, addressee, sender: self }, { number, previous, sealedAtMs: nowMs() }, waiting.packed);
    const sent = this.#publish(addressee, wire, waiting);
    this.#inFlight.add(sent);
    void sent.finally(() => this.#inFlight.delete(sent));
  }

  async #publish(addressee: string, wire: Buffer, waiting: Waiting): Promise<void> {
    this.#inFlightBytes += wire.length;
    this.#owed.delete(addressee);
    try {
      const receivers = await this.#options.publish(channelOf(this.#options.cell, addressee), wire);
      // A node that is connecting again hears of nothing meanwhile and looks everything up by itself.
      this.#inFlightBytes -= wire.length;
      if (receivers === 0) for (const undelivered of waiting.undelivered) undelivered();
      // Only after one that came through: what fails at once must not be tried again at once.
      this.settleOwed();
    } catch {
      this.#inFlightBytes -= wire.length;
      // It may have arrived all the same; then its addressee sees no gap.
      this.#lose(addressee, waiting);
    }
  }

  #lose(addressee: string, waiting: Waiting): void {
    if (this.#owed.size < ADDRESSEES_MAX) this.#owed.add(addressee);
    this.#options.onLost(waiting.packed.length);
    for (const undelivered of waiting.undelivered) undelivered();
  }
}
