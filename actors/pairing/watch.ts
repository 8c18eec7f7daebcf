/** One watched pairing. It never holds up or fails a turn; a page that falls behind is dropped; rows are read again at every look. */
import type { Logger } from 'pino';
import { PING_INTERVAL_MS } from '../../protocol/limits.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { readOpeningWords } from '../../storage/conversations/transcripts.ts';
import { type PairingRow, readPairing } from '../../storage/setup/pairings.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Announcer } from '../announcements.ts';
import { type FrameSlice, type FrameSource, frame, PING_COMMENT } from '../frame-source.ts';
import { Readers } from '../readers.ts';
import type { WatchedTurn } from '../turns/device-watchers.ts';
import type { Turns } from '../turns/turns.ts';
import { isToBeEnded, type PairingState, pairingEnd, pairingState } from './state.ts';
import { StreamRedactor } from './stream-redactor.ts';

export interface WatchServices {
  readonly storage: Storage;
  readonly actors: Pick<Turns, 'watchDevice'>;
  readonly log: Logger;
  nowMs(): number;
  readonly others: Announcer;
}

export interface PairingRef {
  readonly organisationId: string;
  readonly pairingId: string;
}

/** Some hundred answers: a page that reconnects within LINGER_MS misses none of them. */
const KEPT_CHARS = 256 * 1024;
/** Read from one turn at a time: a quarter of what is kept, so that pages can take it before more comes. */
const PULLED_CHARS = 64 * 1024;
/** Turns of one device that are remembered; it opens some 20 a minute, and few of them run at the same time. */
const TURNS_FOLLOWED_MAX = 64;
/** How long turns are followed without a watching page: a page that lost its connection reconnects. */
const LINGER_MS = 60_000;

interface Frame {
  readonly id: number;
  readonly text: string;
}

interface Followed {
  readonly source: FrameSource;
  nextSeq: number;
  readonly words: StreamRedactor;
  leave(): void;
}

/** Data of each event in `text`, which holds whole frames of a turn; pings are left out. */
function* eventsOf(text: string): Generator<string> {
  for (const frame of text.split('\n\n')) {
    const at = frame.indexOf('\ndata: ');
    if (at >= 0 && !frame.includes('event: ping\n')) yield frame.slice(at + '\ndata: '.length);
  }
}

/** Writes that the row is over, so that it stays over when the clock is set back. Reading works on a disk that takes no writes, too. */
export async function writeEnd({ storage, log }: WatchServices, organisationId: string, row: PairingRow, nowMs: number): Promise<void> {
  try {
    await storage.write(organisationId, 'endPairing', pairingEnd(row, nowMs));
  } catch (error) {
    log.warn({ err: error, pairing_id: row.id }, 'storing that a session or pairing expired failed: callers are told that it expired');
  }
}

export class PairingWatch {
  readonly #ref: PairingRef;
  readonly #services: WatchServices;
  readonly #onIdle: () => void;
  readonly #readers = new Readers({
    left: () => {
      this.#unwatchedSinceMs = this.#services.nowMs();
    },
  });
  readonly #turns = new Map<string, Followed>();
  #frames: Frame[] = [];
  #keptChars = 0;
  #nextId = 1;
  #row: PairingRow | undefined;
  #state: PairingState = 'over';
  /** How often the timer has fired. Pages that got nothing else since it last did are sent a ping. */
  #looks = 0;
  #timer: NodeJS.Timeout | undefined;
  #unwatch: (() => void) | undefined;
  #unwatchedSinceMs: number;
  #closed = false;
  /** Whether storing the expiry was tried, with or without success. A claim resets it. */
  #isEndWritten = false;

  constructor(ref: PairingRef, services: WatchServices, onIdle: () => void) {
    this.#ref = ref;
    this.#services = services;
    this.#onIdle = onIdle;
    this.#unwatchedSinceMs = services.nowMs();
    this.#refresh(true);
  }

  get readers(): number {
    return this.#readers.count;
  }

  #refresh(isFirst = false): void {
    if (this.#closed) return;
    const { storage, nowMs } = this.#services;
    this.#row = readPairing(storage.organisation(this.#ref.organisationId), this.#ref.pairingId);
    const state = this.#row === undefined ? 'over' : pairingState(this.#row, nowMs());
    if (!isFirst && !this.#isEndWritten && this.#row !== undefined && isToBeEnded(this.#row, state)) {
      void this.#writeEnd(this.#row);
      return;
    }
    this.#state = state;
    if (state === 'claimed') this.#isEndWritten = false;
    if (this.#row !== undefined && this.#state === 'claimed') this.#watch(this.#row);
    else this.#leaveTurns();
    this.#arm();
    this.#readers.wake();
  }

  /** The same after a change of the row: an error here does not undo the change, and the next look retries. */
  notice(): void {
    try {
      this.#refresh();
    } catch (error) {
      this.#fail(error);
      this.#arm();
    }
  }

  async #writeEnd(row: PairingRow): Promise<void> {
    this.#isEndWritten = true;
    await writeEnd(this.#services, this.#ref.organisationId, row, this.#services.nowMs());
    this.notice();
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const dueAtMs = this.#row?.watchedUntilMs ?? this.#row?.codeExpiresAtMs ?? 0;
    const leftMs = dueAtMs - this.#services.nowMs();
    const waitMs = leftMs > 0 ? Math.min(leftMs, PING_INTERVAL_MS) : PING_INTERVAL_MS;
    this.#timer = setTimeout(() => this.#look(), waitMs);
    this.#timer.unref();
  }

  #look(): void {
    this.#looks += 1;
    const unwatchedMs = this.#services.nowMs() - this.#unwatchedSinceMs;
    if (this.#readers.count === 0 && unwatchedMs >= LINGER_MS) {
      this.close();
      return;
    }
    this.notice();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#leaveTurns();
    this.#onIdle();
  }

  #watch({ appId, deviceId }: PairingRow): void {
    if (deviceId === null || this.#unwatch !== undefined) return;
    const { organisationId } = this.#ref;
    this.#unwatch = this.#services.actors.watchDevice({ organisationId, appId, deviceId }, (turn) => {
      try {
        this.#follow(appId, turn);
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  #fail(error: unknown): void {
    this.#services.log.error(
      { err: error, pairing_id: this.#ref.pairingId },
      'showing a turn on the watched page of its test build failed',
    );
  }

  #leaveTurns(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
    for (const followed of this.#turns.values()) followed.leave();
    this.#turns.clear();
  }

  #follow(appId: string, { turnId, conversationId, position }: WatchedTurn): void {
    const known = this.#turns.get(turnId);
    if (known?.source === position.source) return;
    known?.leave();
    if (known === undefined) this.#opened(appId, turnId, conversationId);
    const nextSeq = Math.max(position.fromSeq, known?.nextSeq ?? 0);
    const followed: Followed = { source: position.source, nextSeq, words: new StreamRedactor(), leave: () => {} };
    this.#turns.delete(turnId);
    this.#turns.set(turnId, followed);
    const head = JSON.stringify({ turn_id: turnId, conversation_id: conversationId }).slice(0, -1);
    const pull = () => this.#pull(followed, head);
    followed.leave = position.source.subscribe(pull);
    const [oldest, least] = this.#turns.entries().next().value ?? [];
    if (this.#turns.size > TURNS_FOLLOWED_MAX && oldest !== undefined) {
      least?.leave();
      this.#turns.delete(oldest);
    }
    pull();
  }

  #opened(appId: string, turnId: string, conversationId: string): void {
    const said = readOpeningWords(this.#services.storage.organisation(this.#ref.organisationId), appId, turnId);
    const message = said === null ? null : { id: said.id, blocks: said.blocks, created_at: timestamp(said.createdAtMs) };
    this.#keep('turn.opened', JSON.stringify({ turn_id: turnId, conversation_id: conversationId, message }));
  }

  /** Takes what the turn has said since; the rest of a long one at the next loop tick. */
  #pull(followed: Followed, head: string): void {
    try {
      const { text, nextSeq, ended } = followed.source.read(followed.nextSeq, PULLED_CHARS);
      followed.nextSeq = nextSeq;
      for (const event of eventsOf(text)) {
        for (const shown of followed.words.shown(event)) this.#keep('turn', `${head},"event":${shown}}`);
      }
      if (ended) followed.leave();
      else if (text !== '' && [...this.#turns.values()].includes(followed)) setImmediate(() => this.#pull(followed, head));
    } catch (error) {
      followed.leave();
      this.#fail(error);
    }
  }

  #keep(type: 'turn' | 'turn.opened', data: string): void {
    const id = this.#nextId++;
    const text = frame(type, data, id);
    this.#frames.push({ id, text });
    this.#keptChars += text.length;
    while (this.#keptChars > KEPT_CHARS && this.#frames.length > 1) this.#keptChars -= this.#frames.shift()?.text.length ?? 0;
    this.#readers.wake();
  }

  #slice(seq: number, maxChars: number): { text: string; nextSeq: number } {
    const first = this.#frames[0]?.id ?? this.#nextId;
    let text = '';
    let next = seq;
    while (next < this.#nextId && text.length < maxChars) text += this.#frames[next++ - first]?.text ?? '';
    return { text, nextSeq: next };
  }

  /** The pairing and its turns for one page; `render` is the pairing as it travels. Ends with the pairing. */
  source(render: (row: PairingRow, state: PairingState) => object): FrameSource {
    let begun = false;
    let toldState: PairingState | undefined;
    let lookedAt = this.#looks;
    return {
      read: (seq, maxChars): FrameSlice => {
        const first = this.#frames[0]?.id ?? this.#nextId;
        // What a page saw of an earlier watch, or long ago, is no place to go on from.
        const from = begun || (seq >= first && seq <= this.#nextId) ? seq : first;
        if (from < first || this.#row === undefined) return { text: '', nextSeq: from, ended: true };
        let { text, nextSeq } = this.#slice(from, maxChars);
        const caughtUp = nextSeq >= this.#nextId;
        const isOver = this.#state === 'expired' || this.#state === 'over';
        if (!begun || (caughtUp && toldState !== this.#state)) {
          toldState = this.#state;
          const told = frame('pairing', JSON.stringify(render(this.#row, this.#state)));
          text = begun ? text + told : told + text;
        }
        if (text === '' && lookedAt !== this.#looks) text = PING_COMMENT;
        lookedAt = this.#looks;
        begun = true;
        return { text, nextSeq, ended: caughtUp && isOver };
      },
      subscribe: (wake) => this.#readers.add(wake),
    };
  }
}
