/**
 * A turn that speaks, its rows and its readers, as small as a test of the turn's log needs them. The rows are told again
 * by code of their own, so that a mistake in the log is not repeated here.
 */
import assert from 'node:assert/strict';
import type { FrameSlice, FrameSource } from '../../../actors/frame-source.ts';
import type { JournalEntry, TurnLog } from '../../../actors/turns/log.ts';
import type { Block } from '../../../protocol/catalog/block.ts';
import { renderDelta, renderEvent, type StreamEvent } from '../../../protocol/runtime/stream-events.ts';

/** An event as its listener remembers it, with the whole text where it was text. */
export interface Told {
  readonly type: string;
  readonly index?: unknown;
  text?: string;
}

export interface Frame {
  readonly seq: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The frames of a slice, checked for the one way in which they are written. */
export function framesOf(text: string): Frame[] {
  const parts = text.split('\n\n');
  assert.equal(parts.pop(), '', 'only whole frames');
  return parts.map((part) => {
    const match = /^id: (\d+)\nevent: ([a-z.]+)\ndata: (.*)$/.exec(part);
    assert.ok(match, part);
    const data = JSON.parse(match[3] as string) as Record<string, unknown>;
    assert.deepEqual([data.seq, data.type, data.v], [Number(match[1]), match[2], 1]);
    return { seq: Number(match[1]), type: match[2] as string, data };
  });
}

/** Reads on until there is nothing more, `maxChars` at a time. */
export function readOn(source: FrameSource, seq: number, maxChars: number): { frames: Frame[]; nextSeq: number; ended: boolean } {
  const frames: Frame[] = [];
  let slice: FrameSlice = { text: '', nextSeq: seq, ended: false };
  do {
    slice = source.read(slice.nextSeq, maxChars);
    frames.push(...framesOf(slice.text));
  } while (slice.text !== '' && !slice.ended);
  return { frames, nextSeq: slice.nextSeq, ended: slice.ended };
}

/** Rows of a turn, as whoever commits keeps them, told again as a source. */
export class Rows implements FrameSource {
  readonly entries: JournalEntry[] = [];
  readonly texts = new Map<string, string>();
  readonly blocks = new Map<string, Block>();
  reads = 0;
  #rendered = 0;
  readonly #frames: { readonly seq: number; readonly text: string }[] = [];

  read(seq: number, maxChars: number): FrameSlice {
    this.reads += 1;
    let text = '';
    let next = seq;
    // Each entry is rendered once: a row that is written stays as it is.
    while (this.#rendered < this.entries.length) {
      this.#frames.push(...this.#render(this.entries[this.#rendered] as JournalEntry));
      this.#rendered += 1;
    }
    for (const frame of this.#frames) {
      if (frame.seq < seq) continue;
      if (text.length >= maxChars) break;
      text += frame.text;
      next = frame.seq + 1;
    }
    return { text, nextSeq: next, ended: false };
  }

  subscribe(): () => void {
    return () => {};
  }

  #render(entry: JournalEntry): { seq: number; text: string }[] {
    if ('event' in entry) return [{ seq: entry.seq, text: renderEvent(entry.seq, entry.event) }];
    if ('ready' in entry) {
      const block = this.blocks.get(entry.ready) as Block;
      return [{ seq: entry.seq, text: renderEvent(entry.seq, { type: 'block.ready', index: entry.index, block }) }];
    }
    const text = this.texts.get(entry.deltas) as string;
    return entry.ends.map((end, k) => {
      const delta = text.slice(k === 0 ? entry.from : entry.ends[k - 1], end);
      return { seq: entry.seq + k, text: renderDelta(entry.seq + k, entry.index, delta) };
    });
  }
}

/** Speaks like a turn does, commits like one, and remembers what was said. */
export class Fixture {
  readonly log: TurnLog;
  readonly rows: Rows;
  /** What was said: events as they are, text that follows text of the same block together. */
  readonly said: Told[] = [];
  #block = 0;
  readonly #texts = new Map<string, string>();
  #commit: { readonly entries: JournalEntry[]; readonly nextSeq: number; readonly texts: ReadonlyMap<string, string> } | null = null;

  constructor(log: TurnLog, rows: Rows) {
    this.log = log;
    this.rows = rows;
  }

  text(delta: string): void {
    if (delta === '') {
      this.log.sayText(this.#block, `blk_${this.#block}`, delta);
      return;
    }
    const id = `blk_${this.#block}`;
    this.log.sayText(this.#block, id, delta);
    this.#texts.set(id, (this.#texts.get(id) ?? '') + delta);
    const last = this.said.at(-1);
    if (last?.type === 'block.delta' && last.index === this.#block) last.text += delta;
    else this.said.push({ type: 'block.delta', index: this.#block, text: delta });
  }

  event(event: StreamEvent): void {
    this.log.say(event);
    if (event.type !== 'ping') this.said.push({ type: event.type, index: 'index' in event ? event.index : undefined });
  }

  /** The present block is whole; text from now on belongs to the next. */
  closeBlock(): void {
    const id = `blk_${this.#block}`;
    const block: Block = { index: this.#block, id, block_type: 'text', revision: 1, body: { md: this.#texts.get(id) ?? '' } };
    this.rows.blocks.set(id, block);
    this.event({ type: 'block.ready', index: this.#block, block });
    this.#block += 1;
  }

  beginCommit(): void {
    if (this.#commit !== null) return;
    // As rows do, the entries go through JSON.
    const entries = JSON.parse(JSON.stringify(this.log.unjournalled())) as JournalEntry[];
    this.#commit = { entries, nextSeq: this.log.nextSeq, texts: new Map(this.#texts) };
  }

  finishCommit(): void {
    if (this.#commit === null) return;
    this.rows.entries.push(...this.#commit.entries);
    for (const [id, text] of this.#commit.texts) this.rows.texts.set(id, text);
    this.log.journalledUpTo(this.#commit.nextSeq);
    this.#commit = null;
  }
}

/** A reader at its own pace, from its own place. */
export class Reader {
  readonly from: number;
  readonly frames: Frame[] = [];
  #next: number;
  ended = false;

  constructor(from: number) {
    this.from = from;
    this.#next = from;
  }

  read(log: TurnLog, maxChars: number): boolean {
    const slice = log.read(this.#next, maxChars);
    assert.ok(slice.nextSeq >= this.#next, 'a cursor only rises');
    assert.equal(slice.text === '', slice.nextSeq === this.#next, 'a cursor rises with what was read');
    this.#next = slice.nextSeq;
    this.frames.push(...framesOf(slice.text));
    this.ended = slice.ended;
    return slice.text !== '' && !slice.ended;
  }
}

/** Pings are not kept, so only readers that were there have them. */
export function withoutPings(frames: readonly Frame[]): Frame[] {
  return frames.filter((frame) => frame.type !== 'ping');
}

/** Deltas that follow one another in the same block are one text, however they were cut. */
export function flattened(frames: readonly Frame[]): Told[] {
  const flat: Told[] = [];
  for (const { type, data } of withoutPings(frames)) {
    const last = flat.at(-1);
    if (type !== 'block.delta') flat.push({ type, index: data.index });
    else if (last?.type === type && last.index === data.index) last.text += data.text_delta as string;
    else flat.push({ type, index: data.index, text: data.text_delta as string });
  }
  return flat;
}
