/** Owns one connection over which a turn is told: sends the request, decodes what comes, and notices silence. */
import { type Reading, readFrame } from '../events.ts';
import { FrameDecoder } from '../frames.ts';
import type { ByteReader, Clock, Fetch, FetchRequest } from '../surroundings.ts';
import { type Failure, ownFailure, refusalFrom, silenceHint, strangerHint } from './failure.ts';

export type StreamEnding =
  /** The response is complete. Whether the turn is, its events say. */
  | { readonly kind: 'whole' }
  | {
      readonly kind: 'broken';
      readonly reason: 'unreachable' | 'cut' | 'silent' | 'too_long' | 'no_stream';
      readonly hint?: string | undefined;
    }
  | { readonly kind: 'refused'; readonly failure: Failure }
  | { readonly kind: 'closed' };

export interface ConnectionParts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly idleMs: number;
}

export class StreamConnection {
  readonly #parts: ConnectionParts;
  readonly #cancel = new AbortController();
  #closedFor: 'closed' | 'silent' | undefined;
  #stopTimer: () => void = () => {};
  #heardAtMs: number;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#heardAtMs = parts.clock.nowMs();
  }

  /** When bytes came last, or the connection was begun. */
  get heardAtMs(): number {
    return this.#heardAtMs;
  }

  /** Sends the request and tells of every frame until the connection ends. Never rejects. */
  async run(address: string, request: Omit<FetchRequest, 'signal'>, onReading: (reading: Reading) => void): Promise<StreamEnding> {
    // Where nothing could be read of what comes the service is not asked: it would be asked again and again (CLIENT-34).
    if (typeof TextDecoder !== 'function') {
      const message = 'This platform has no TextDecoder: install one before the assistant starts.';
      return { kind: 'refused', failure: ownFailure('unusable', message, false) };
    }
    this.#heard();
    const asked = `${request.method} ${address}`;
    let isOpen = false;
    try {
      // Not as a method: a browser's fetch refuses to be one of anything else.
      const { fetch } = this.#parts;
      const answer = await fetch(address, { ...request, signal: this.#cancel.signal });
      this.#heard();
      if (answer.status !== 200) {
        const failure = refusalFrom(asked, answer, await answer.text(), this.#parts.clock.nowMs());
        return failure.code === 'unreachable' ? this.#ended('unreachable', failure.hint) : { kind: 'refused', failure };
      }
      // The page of somebody between, such as a hotel that wants to be paid first.
      if (!(answer.headers.get('Content-Type') ?? '').startsWith('text/event-stream'))
        return this.#ended('no_stream', strangerHint(asked, answer));
      if (answer.body === null || answer.body === undefined) {
        const failure = ownFailure('unusable', 'This platform’s fetch does not stream: hand in one that does.', false);
        return { kind: 'refused', failure };
      }
      isOpen = true;
      return await this.#read(answer.body.getReader(), onReading);
    } catch (error) {
      return isOpen ? this.#ended('cut') : this.#ended('unreachable', silenceHint(asked, error));
    } finally {
      this.#stopTimer();
      // Whoever stops reading lets go of the connection, too.
      this.#cancel.abort();
    }
  }

  close(): void {
    this.#end('closed');
  }

  async #read(reader: ByteReader, onReading: (reading: Reading) => void): Promise<StreamEnding> {
    const decoder = new FrameDecoder((frame) => {
      if (this.#closedFor === undefined) onReading(readFrame(frame));
    });
    for (;;) {
      const { done, value } = await reader.read();
      if (this.#closedFor !== undefined) return this.#ended('cut');
      if (done) return { kind: 'whole' };
      this.#heard();
      if (value !== undefined && !decoder.push(value)) return this.#ended('too_long');
    }
  }

  #heard(): void {
    const { clock, idleMs } = this.#parts;
    this.#heardAtMs = clock.nowMs();
    this.#stopTimer();
    this.#stopTimer = clock.after(idleMs, () => this.#end('silent'));
  }

  #end(why: 'closed' | 'silent'): void {
    if (this.#closedFor !== undefined) return;
    this.#closedFor = why;
    this.#stopTimer();
    this.#cancel.abort();
  }

  #ended(reason: Extract<StreamEnding, { kind: 'broken' }>['reason'], hint?: string): StreamEnding {
    if (this.#closedFor === 'closed') return { kind: 'closed' };
    return this.#closedFor === 'silent' ? { kind: 'broken', reason: 'silent' } : { kind: 'broken', reason, hint };
  }
}
