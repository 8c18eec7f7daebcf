/**
 * What a turn of another node has told here, for readers at their own pace: slices in memory, and between them what only the
 * rows have. Owns the order of it; which frames to ask for, and when, is not decided here.
 *
 * Invariants: slices rise and never overlap; every seq below `nextSeq` that is in no slice is committed, so the journal serves it.
 */
import type { FrameSource } from '../../frame-source.ts';

/** Whole frames from `seq` up to `nextSeq`; what the first one skips (a ping of long ago) was never kept. */
export interface RemoteSlice {
  readonly seq: number;
  readonly nextSeq: number;
  readonly text: string;
}

export interface ReadFrames {
  readonly text: string;
  readonly nextSeq: number;
}

const FRAME_OPENS = 'id: ';
const FRAME_CLOSES = '\n\n';

/** The seq of the frame that begins at `at`. */
function seqAt(text: string, at: number): number {
  return Number(text.slice(at + FRAME_OPENS.length, text.indexOf('\n', at)));
}

/** Where the frame after the one at `at` begins. Data is JSON in one line, so an empty line only ever ends a frame. */
function frameAfter(text: string, at: number): number {
  const closes = text.indexOf(FRAME_CLOSES, at);
  return closes < 0 ? text.length : closes + FRAME_CLOSES.length;
}

/** Where the first frame of `seq` or later begins; the length of `text` when there is none. */
function positionOf(text: string, seq: number): number {
  let at = 0;
  while (at < text.length && seqAt(text, at) < seq) at = frameAfter(text, at);
  return at;
}

/** The frames of a slice from `seq` on, at least one and then no more than `maxChars`; the usual reader gets the whole slice. */
function cut(slice: RemoteSlice, seq: number, maxChars: number): ReadFrames {
  const { text } = slice;
  const from = seq <= slice.seq ? 0 : positionOf(text, seq);
  if (text.length - from <= maxChars) return { text: from === 0 ? text : text.slice(from), nextSeq: slice.nextSeq };
  let to = frameAfter(text, from);
  for (let next = to; next < text.length && next - from <= maxChars; next = frameAfter(text, next)) to = next;
  return { text: text.slice(from, to), nextSeq: to === text.length ? slice.nextSeq : seqAt(text, to) };
}

export class RemoteFrames {
  readonly #committed: FrameSource;
  #slices: RemoteSlice[] = [];
  #nextSeq: number;
  #chars = 0;

  /** Everything before `fromSeq` is committed and read from `committed`, which tells the turn from its rows. */
  constructor(committed: FrameSource, fromSeq: number) {
    this.#committed = committed;
    this.#nextSeq = fromSeq;
  }

  /** The first seq that is not here. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Text in memory. */
  get chars(): number {
    return this.#chars;
  }

  /** Keeps what is new of the slice. False when something before it is missing: then nothing of it is kept. */
  add(slice: RemoteSlice): boolean {
    const { seq, nextSeq, text } = slice;
    if (seq > this.#nextSeq) return false;
    if (nextSeq <= this.#nextSeq) return true;
    const kept = seq === this.#nextSeq ? text : text.slice(positionOf(text, this.#nextSeq));
    this.#slices.push({ seq: this.#nextSeq, nextSeq, text: kept });
    this.#nextSeq = nextSeq;
    this.#chars += kept.length;
    return true;
  }

  /** Everything before `seq` is committed: what is not here of it will be read from the rows. */
  skipTo(seq: number): void {
    if (seq > this.#nextSeq) this.#nextSeq = seq;
  }

  /** Lets what lies before `seq`, and is committed, leave memory. */
  forget(seq: number): void {
    const keep = this.#slices.findIndex((slice) => slice.nextSeq > seq);
    this.#slices = keep < 0 ? [] : this.#slices.slice(keep);
    this.#chars = this.#slices.reduce((sum, slice) => sum + slice.text.length, 0);
  }

  /** Frames from `seq` on, about `maxChars` of them; '' when there are none yet. @throws what reading rows throws. */
  read(seq: number, maxChars: number): ReadFrames {
    let text = '';
    let next = seq;
    let at = this.#find(seq);
    while (next < this.#nextSeq && text.length < maxChars) {
      const slice = this.#slices[at];
      if (slice === undefined || next < slice.seq) {
        if (text !== '') break;
        ({ text, nextSeq: next } = this.#readCommitted(next, slice?.seq ?? this.#nextSeq, maxChars));
        continue;
      }
      const piece = cut(slice, next, maxChars - text.length);
      text += piece.text;
      next = piece.nextSeq;
      at += 1;
    }
    return { text, nextSeq: next };
  }

  /** Frames from the rows, before `upTo`. Where the rows have none (pings are not kept) the reader goes on there. */
  #readCommitted(seq: number, upTo: number, maxChars: number): ReadFrames {
    let next = seq;
    for (;;) {
      const slice = this.#committed.read(next, maxChars);
      if (slice.nextSeq === next) return { text: '', nextSeq: upTo };
      const text = slice.nextSeq <= upTo ? slice.text : slice.text.slice(0, positionOf(slice.text, upTo));
      next = Math.min(slice.nextSeq, upTo);
      if (text !== '' || next === upTo) return { text, nextSeq: next };
    }
  }

  /** Position of the first slice that holds `seq` or anything after it; readers are nearly always at the last one. */
  #find(seq: number): number {
    const slices = this.#slices;
    let high = slices.length;
    let low = high > 0 && (slices[high - 1] as RemoteSlice).seq <= seq ? high - 1 : 0;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((slices[middle] as RemoteSlice).nextSeq <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The same frames as far as `endSeq`, where they end; everything before it is committed. */
export function endingAt(source: FrameSource, endSeq: number): FrameSource {
  const frames = new RemoteFrames(source, endSeq);
  return {
    read(seq, maxChars) {
      const { text, nextSeq } = frames.read(seq, maxChars);
      return { text, nextSeq, ended: nextSeq >= endSeq };
    },
    subscribe: (wake) => source.subscribe(wake),
  };
}
