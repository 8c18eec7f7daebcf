/**
 * What one running turn has said so far, in order, for any number of readers at their own pace.
 *
 * Owns the seq of every event, the merging of text deltas (one event per loop tick), and what the journal gets.
 * Invariants: seq only rises. A reader is a number, so a slow one costs nothing. Committed events may leave memory; readers that come
 * back to them are served from the journal.
 */
import { appended } from '../../assistant/growing-text.ts';
import { renderDelta, renderEvent, type StreamEvent } from '../../protocol/runtime/stream-events.ts';
import type { FrameSlice, FrameSource } from '../frame-source.ts';
import { Readers, type ReadersHooks } from '../readers.ts';

/** A run of deltas of one text block: the k-th has seq `seq + k` and ends at `ends[k]` in `text`. */
interface DeltaRun {
  readonly seq: number;
  readonly index: number;
  readonly blockId: string;
  /** Where `text` starts in the text of the block. */
  readonly offset: number;
  readonly ends: number[];
  text: string;
}

interface Said {
  readonly seq: number;
  readonly event: StreamEvent;
}

type Entry = DeltaRun | Said;

/**
 * How the journal keeps an entry: deltas as the places where they end in the block's text, a finished block as its
 * id, any other event as it is.
 */
export type JournalEntry =
  | { readonly seq: number; readonly deltas: string; readonly index: number; readonly from: number; readonly ends: readonly number[] }
  | { readonly seq: number; readonly ready: string; readonly index: number }
  | { readonly seq: number; readonly event: StreamEvent };

/** Committed events beyond this much text leave memory. Most answers are shorter, and readers are few and near the end. */
const RETAINED_CHARS = 4 * 1024;

function isDeltaRun(entry: Entry): entry is DeltaRun {
  return 'ends' in entry;
}

function lastSeq(entry: Entry): number {
  return isDeltaRun(entry) ? entry.seq + entry.ends.length - 1 : entry.seq;
}

/** What a turn is told of the readers of its log. */
interface Speaker {
  /** Called when no reader takes anything, and when one does again or none is left. */
  readersLag(isLagging: boolean): void;
  /** Its share of what long answers may say: how late it is, and whether anyone reads. */
  readonly share: { readonly lateMs: number; isRead: boolean };
}

export class TurnLog implements FrameSource, ReadersHooks {
  /** Serves seqs that have left memory. */
  readonly #older: FrameSource | null;
  // Itself, because functions of its own for each turn would be half a kilobyte for as long as the answer comes.
  readonly #readers = new Readers(this);
  turn: Speaker | null = null;
  #entries: Entry[] = [];
  #nextSeq: number;
  /** Everything before this seq is in the journal. */
  #journalled: number;
  #retainedChars = 0;
  #ended = false;
  /** Text of this loop tick, not an event yet. */
  #pending = '';
  #pendingIndex = 0;
  #pendingBlockId = '';
  /** Characters of the present block that are events already. */
  #blockChars = 0;
  #lastFrame = '';
  #lastFrameSeq = -1;

  constructor(firstSeq: number, older: FrameSource | null) {
    this.#nextSeq = firstSeq;
    this.#journalled = firstSeq;
    this.#older = older;
  }

  /** The seq that the next event gets; text of this tick becomes an event first. */
  get nextSeq(): number {
    this.#sealText();
    return this.#nextSeq;
  }

  get readers(): number {
    return this.#readers.count;
  }

  say(event: StreamEvent): void {
    this.#sealText();
    this.#entries.push({ seq: this.#nextSeq, event });
    this.#nextSeq += 1;
    this.#readers.wake();
  }

  /** Text of a text block; what comes within one loop tick becomes one `block.delta`. */
  sayText(index: number, blockId: string, delta: string): void {
    if (this.#pendingBlockId !== blockId) {
      this.#sealText();
      this.#pendingIndex = index;
      this.#pendingBlockId = blockId;
      this.#blockChars = 0;
    }
    this.#pending += delta;
    this.#readers.wake();
  }

  end(): void {
    this.#ended = true;
    this.#readers.wake();
  }

  #sealText(): void {
    if (this.#pending === '') return;
    const text = this.#pending;
    const seq = this.#nextSeq;
    this.#nextSeq += 1;
    this.#pending = '';
    const last = this.#entries.at(-1);
    if (last !== undefined && isDeltaRun(last) && last.blockId === this.#pendingBlockId && seq === last.seq + last.ends.length) {
      last.text = appended(last.text, text);
      last.ends.push(last.text.length);
    } else {
      this.#entries.push({
        seq,
        index: this.#pendingIndex,
        blockId: this.#pendingBlockId,
        offset: this.#blockChars,
        ends: [text.length],
        text,
      });
    }
    this.#blockChars += text.length;
    this.#retainedChars += text.length;
    // Nearly every reader asks for exactly this frame next, in this tick.
    this.#lastFrame = renderDelta(seq, this.#pendingIndex, text);
    this.#lastFrameSeq = seq;
  }

  flush(): void {
    this.#readers.flush();
  }

  subscribe(wake: () => void): () => void {
    return this.#readers.add(wake);
  }

  waking(): void {
    this.#sealText();
  }

  woken(): void {
    this.#lastFrame = '';
    this.#lastFrameSeq = -1;
  }

  came(): void {
    if (this.turn !== null) this.turn.share.isRead = true;
  }

  left(): void {
    if (this.turn !== null) this.turn.share.isRead = false;
  }

  lag(isLagging: boolean): void {
    this.turn?.readersLag(isLagging);
  }

  slow(reader: object, isSlow: boolean): void {
    this.#readers.slow(reader, isSlow);
  }

  lateMs(): number {
    return this.turn?.share.lateMs ?? 0;
  }

  read(seq: number, maxChars: number): FrameSlice {
    this.#sealText();
    if (seq === this.#lastFrameSeq && seq === this.#nextSeq - 1) return { text: this.#lastFrame, nextSeq: seq + 1, ended: this.#ended };
    const first = this.#entries[0];
    const from = first === undefined ? this.#nextSeq : first.seq;
    if (seq < from && this.#older !== null) {
      const slice = this.#older.read(seq, maxChars);
      if (slice.text !== '') return { ...slice, ended: slice.ended || (this.#ended && slice.nextSeq >= this.#nextSeq) };
    }
    return this.#readRetained(Math.max(seq, from), maxChars);
  }

  #readRetained(seq: number, maxChars: number): FrameSlice {
    let text = '';
    let next = seq;
    for (let at = this.#find(seq); at < this.#entries.length && text.length < maxChars; at++) {
      const entry = this.#entries[at] as Entry;
      if (!isDeltaRun(entry)) {
        text += renderEvent(entry.seq, entry.event);
        next = entry.seq + 1;
        continue;
      }
      for (let k = Math.max(0, next - entry.seq); k < entry.ends.length && text.length < maxChars; k++) {
        text += renderDelta(entry.seq + k, entry.index, entry.text.slice(k === 0 ? 0 : entry.ends[k - 1], entry.ends[k]));
        next = entry.seq + k + 1;
      }
    }
    return { text, nextSeq: next, ended: this.#ended && next >= this.#nextSeq };
  }

  #find(seq: number): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lastSeq(this.#entries[middle] as Entry) < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** What was said since the last commit, as the journal keeps it; pings are not worth keeping. */
  unjournalled(): JournalEntry[] {
    this.#sealText();
    const kept: JournalEntry[] = [];
    for (let at = this.#find(this.#journalled); at < this.#entries.length; at++) {
      const entry = this.#entries[at] as Entry;
      if (isDeltaRun(entry)) {
        const skip = Math.max(0, this.#journalled - entry.seq);
        const from = entry.offset + (skip === 0 ? 0 : (entry.ends[skip - 1] as number));
        const ends = entry.ends.slice(skip).map((end) => entry.offset + end);
        kept.push({ seq: entry.seq + skip, deltas: entry.blockId, index: entry.index, from, ends });
      } else if (entry.event.type !== 'ping') kept.push(journalEvent(entry.seq, entry.event));
    }
    return kept;
  }

  /** Everything before `seq` is committed now, and may leave memory. */
  journalledUpTo(seq: number): void {
    this.#journalled = seq;
    if (this.#retainedChars <= RETAINED_CHARS || this.#older === null) return;
    const keep = this.#find(seq);
    this.#entries = this.#entries.slice(keep);
    this.#retainedChars = this.#entries.reduce((sum, entry) => sum + (isDeltaRun(entry) ? entry.text.length : 0), 0);
  }
}

/** One event as the journal keeps it: a finished block by its id, anything else whole. */
export function journalEvent(seq: number, event: StreamEvent): JournalEntry {
  return event.type === 'block.ready' ? { seq, ready: event.block.id, index: event.index } : { seq, event };
}
