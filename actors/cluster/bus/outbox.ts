/**
 * What this node announces: one envelope for each loop tick. It owns the numbers of envelopes and the bounds on what waits. What cannot be
 * sent is lost, and the others are told so: the next envelope shows a gap (see inbox.ts).
 */
import type { Vault } from '../../../storage/secrets/vault.ts';
import { channelOf, type Message, packMessage, sealEnvelope } from './envelope.ts';

/** A tick's messages beyond this go in several envelopes: a larger one would hold up what else Redis has to do. */
const ENVELOPE_MAX_BYTES = 1024 * 1024;
/** The largest message is 1,000 counts, some 100 KB. */
const MESSAGE_MAX_BYTES = 1024 * 1024;
/** Sent and not yet taken by Redis. It takes gigabytes a second; with this much waiting it is away and has not been noticed yet. */
const IN_FLIGHT_MAX_BYTES = 32 * 1024 * 1024;

export interface OutboxOptions {
  readonly cell: string | null;
  readonly self: string;
  readonly vault: Pick<Vault, 'seal'>;
  readonly nowMs: () => number;
  readonly isUp: () => boolean;
  readonly publish: (channel: string, wire: Buffer) => Promise<unknown>;
  /** Messages that were not sent. */
  readonly onLost: (messages: number) => void;
}

export class Outbox {
  readonly #options: OutboxOptions;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Envelopes that Redis has not answered for. */
  readonly #inFlight = new Set<Promise<void>>();
  #inFlightBytes = 0;
  #number = 0;
  #isScheduled = false;
  /** Something was lost, and the others may not know it yet. */
  #isOwed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Puts the message into this tick's envelope. @throws Error when it cannot be packed or has more than a megabyte. */
  post(message: Message): void {
    const packed = packMessage(message);
    if (packed.length > MESSAGE_MAX_BYTES) throw new Error(`A message of ${packed.length} bytes, where ${MESSAGE_MAX_BYTES} may travel.`);
    if (this.#waitingBytes + packed.length > ENVELOPE_MAX_BYTES) this.#flush();
    this.#waiting.push(packed);
    this.#waitingBytes += packed.length;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  /** Tells the others that they lost something, with an empty envelope. To be called when Redis is back. */
  settleOwed(): void {
    if (this.#isOwed) this.#send([]);
  }

  /** Sends what waits and resolves when Redis took it or did not. */
  async drained(): Promise<void> {
    this.#flush();
    await Promise.all(this.#inFlight);
  }

  #flush(): void {
    const packed = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (packed.length > 0) this.#send(packed);
  }

  #send(packed: readonly Buffer[]): void {
    // Counted even if it is not sent: the gap tells the other nodes.
    this.#number += 1;
    if (!this.#options.isUp() || this.#inFlightBytes > IN_FLIGHT_MAX_BYTES) {
      this.#lose(packed.length);
      return;
    }
    const { cell, self, vault, nowMs } = this.#options;
    const wire = sealEnvelope(vault, { cell, sender: self }, { number: this.#number, sealedAtMs: nowMs() }, packed);
    const sent = this.#publish(wire, packed.length);
    this.#inFlight.add(sent);
    void sent.finally(() => this.#inFlight.delete(sent));
  }

  async #publish(wire: Buffer, messages: number): Promise<void> {
    this.#inFlightBytes += wire.length;
    this.#isOwed = false;
    try {
      await this.#options.publish(channelOf(this.#options.cell), wire);
      this.#inFlightBytes -= wire.length;
      // Only after a success: what fails at once must not be retried at once.
      this.settleOwed();
    } catch {
      this.#inFlightBytes -= wire.length;
      // It may have arrived all the same; then there is no gap.
      this.#lose(messages);
    }
  }

  #lose(messages: number): void {
    this.#isOwed = true;
    this.#options.onLost(messages);
  }
}
