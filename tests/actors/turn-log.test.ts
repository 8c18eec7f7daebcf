import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import fc from 'fast-check';
import type { FrameSlice, FrameSource } from '../../src/actors/frame-source.ts';
import { type JournalEntry, journalEvent, TurnLog } from '../../src/actors/turn-log.ts';
import { type Block, renderDelta, renderEvent, type StreamEvent } from '../../src/protocol/runtime/stream-events.ts';

const EVERYTHING = Number.MAX_SAFE_INTEGER;
/** More text than a log keeps in memory once it is committed. */
const MUCH_TEXT = 'x'.repeat(140_000);

interface Frame {
  readonly seq: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The frames of a slice, checked for the one way in which they are written. */
function framesOf(text: string): Frame[] {
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
function readOn(source: FrameSource, seq: number, maxChars: number): { frames: Frame[]; nextSeq: number; ended: boolean } {
  const frames: Frame[] = [];
  let slice: FrameSlice = { text: '', nextSeq: seq, ended: false };
  do {
    slice = source.read(slice.nextSeq, maxChars);
    frames.push(...framesOf(slice.text));
  } while (slice.text !== '' && !slice.ended);
  return { frames, nextSeq: slice.nextSeq, ended: slice.ended };
}

/** Rows of a turn, as whoever commits keeps them, told again as a source. */
class Rows implements FrameSource {
  readonly entries: JournalEntry[] = [];
  readonly texts = new Map<string, string>();
  readonly blocks = new Map<string, Block>();
  reads = 0;

  read(seq: number, maxChars: number): FrameSlice {
    this.reads += 1;
    let text = '';
    let next = seq;
    for (const frame of this.entries.flatMap((entry) => this.#frames(entry))) {
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

  #frames(entry: JournalEntry): { seq: number; text: string }[] {
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

const START: StreamEvent = { type: 'turn.start', conversation_id: 'cnv_1', message_id: 'msg_1', model: 'offline', request_id: 'r' };
const END: StreamEvent = { type: 'turn.end', status: 'completed' };
const PING: StreamEvent = { type: 'ping' };

test('Stream events: seq starts where it is told and rises by one with every event', () => {
  const log = new TurnLog(7, null);
  log.say(START);
  log.sayText(0, 'blk_1', 'Hello');
  log.say(PING);
  log.sayText(0, 'blk_1', ' there');
  log.say(END);
  const { frames, nextSeq } = readOn(log, 7, EVERYTHING);
  assert.deepEqual(
    frames.map((frame) => [frame.seq, frame.type]),
    [
      [7, 'turn.start'],
      [8, 'block.delta'],
      [9, 'ping'],
      [10, 'block.delta'],
      [11, 'turn.end'],
    ],
  );
  assert.equal(nextSeq, 12);
  assert.equal(log.nextSeq, 12);
});

test('block.delta: text of one loop tick is one event, text of the next is another', async () => {
  const log = new TurnLog(0, null);
  for (const word of ['one ', 'and ', 'the same']) log.sayText(3, 'blk_1', word);
  await nextTick();
  log.sayText(3, 'blk_1', ', next');
  await nextTick();
  const deltas = readOn(log, 0, EVERYTHING).frames.map(({ seq, type, data }) => [seq, type, data.index, data.text_delta]);
  assert.deepEqual(deltas, [
    [0, 'block.delta', 3, 'one and the same'],
    [1, 'block.delta', 3, ', next'],
  ]);
});

test('block.delta: another block or another event in the same tick ends the delta', () => {
  const log = new TurnLog(0, null);
  log.sayText(0, 'blk_1', 'first');
  log.sayText(1, 'blk_2', 'second');
  log.say(PING);
  log.sayText(1, 'blk_2', 'third');
  assert.deepEqual(
    readOn(log, 0, EVERYTHING).frames.map(({ type, data }) => [type, data.index, data.text_delta]),
    [
      ['block.delta', 0, 'first'],
      ['block.delta', 1, 'second'],
      ['ping', undefined, undefined],
      ['block.delta', 1, 'third'],
    ],
  );
});

test('FrameSource: a reader is woken once a tick however much was said, and never after it unsubscribed', async () => {
  const log = new TurnLog(0, null);
  const woken = { first: 0, second: 0 };
  const stopFirst = log.subscribe(() => {
    woken.first += 1;
  });
  log.subscribe(() => {
    woken.second += 1;
  });
  assert.equal(log.readers, 2);
  log.say(START);
  log.sayText(0, 'blk_1', 'a');
  log.sayText(0, 'blk_1', 'b');
  assert.deepEqual(woken, { first: 0, second: 0 });
  await nextTick();
  assert.deepEqual(woken, { first: 1, second: 1 });
  stopFirst();
  stopFirst();
  assert.equal(log.readers, 1);
  log.end();
  await nextTick();
  assert.deepEqual(woken, { first: 1, second: 2 });
});

test('FrameSource: a reader that leaves while others are being woken is not woken itself', async () => {
  const log = new TurnLog(0, null);
  const woken: string[] = [];
  log.subscribe(() => {
    woken.push('first');
    leave();
  });
  const leave = log.subscribe(() => woken.push('second'));
  log.say(PING);
  await nextTick();
  assert.deepEqual(woken, ['first']);
});

test('FrameSource: what a woken reader says wakes everyone again in the next tick', async () => {
  const log = new TurnLog(0, null);
  let wakes = 0;
  log.subscribe(() => {
    wakes += 1;
    if (wakes === 1) log.say(PING);
  });
  log.say(PING);
  await nextTick();
  await nextTick();
  assert.equal(wakes, 2);
  assert.equal(readOn(log, 0, EVERYTHING).frames.length, 2);
});

test('FrameSource: a slice holds at least one frame and stops once it has maxChars', () => {
  const log = new TurnLog(0, null);
  for (let k = 0; k < 5; k++) log.say(START);
  const frame = renderEvent(0, START).length;
  assert.equal(framesOf(log.read(0, 1).text).length, 1);
  assert.equal(framesOf(log.read(0, frame).text).length, 1);
  assert.equal(framesOf(log.read(0, frame + 1).text).length, 2);
  assert.equal(log.read(0, frame + 1).nextSeq, 2);
});

test('FrameSource: ended is told with the last frame and not before, also when the last frame is a delta', () => {
  for (const last of ['event', 'delta'] as const) {
    const log = new TurnLog(0, null);
    log.say(START);
    if (last === 'event') log.say(END);
    else log.sayText(0, 'blk_1', 'bye');
    assert.equal(log.read(0, EVERYTHING).ended, false, 'not ended yet');
    log.end();
    assert.equal(log.read(0, 1).ended, false, 'a frame is left');
    assert.deepEqual({ ...log.read(1, 1), text: '' }, { text: '', nextSeq: 2, ended: true });
    assert.deepEqual(log.read(2, EVERYTHING), { text: '', nextSeq: 2, ended: true });
    assert.deepEqual(log.read(99, EVERYTHING), { text: '', nextSeq: 99, ended: true }, 'Last-Event-ID past the end');
  }
});

test('FrameSource: text that is not an event yet when the turn ends is still told', () => {
  const log = new TurnLog(0, null);
  log.sayText(0, 'blk_1', 'last words');
  log.end();
  const { frames, ended } = readOn(log, 0, EVERYTHING);
  assert.equal(frames[0]?.data.text_delta, 'last words');
  assert.equal(ended, true);
});

test('FrameSource: a log without older events starts a reader at its first', () => {
  const log = new TurnLog(5, null);
  log.say(START);
  assert.deepEqual(
    readOn(log, 0, EVERYTHING).frames.map((frame) => frame.seq),
    [5],
  );
});

test('turn_journal: a commit takes what was said since the last one, deltas as their ends, without pings', () => {
  const log = new TurnLog(0, null);
  log.say(START);
  log.sayText(0, 'blk_1', 'Hello');
  log.flush();
  log.sayText(0, 'blk_1', ', you');
  assert.deepEqual(log.unjournalled(), [
    { seq: 0, event: START },
    { seq: 1, deltas: 'blk_1', index: 0, from: 0, ends: [5, 10] },
  ]);
  log.journalledUpTo(3);
  log.say(PING);
  log.sayText(0, 'blk_1', '!');
  assert.deepEqual(log.unjournalled(), [{ seq: 4, deltas: 'blk_1', index: 0, from: 10, ends: [11] }]);
  log.journalledUpTo(log.nextSeq);
  assert.deepEqual(log.unjournalled(), []);
});

test('turn_journal: a commit in the middle of a run of deltas divides it where it was committed', () => {
  const log = new TurnLog(0, null);
  for (const word of ['ab', 'cd', 'ef']) {
    log.sayText(2, 'blk_1', word);
    log.flush();
  }
  log.journalledUpTo(2);
  assert.deepEqual(log.unjournalled(), [{ seq: 2, deltas: 'blk_1', index: 2, from: 4, ends: [6] }]);
});

test('turn_journal: a finished block is kept by its id', () => {
  const block: Block = { index: 4, id: 'blk_9', block_type: 'text', revision: 1, body: { md: 'Hello' } };
  assert.deepEqual(journalEvent(3, { type: 'block.ready', index: 4, block }), { seq: 3, ready: 'blk_9', index: 4 });
  assert.deepEqual(journalEvent(3, END), { seq: 3, event: END });
});

test('turn_journal: committed text beyond what is retained is served by the older source, and uncommitted text never is', () => {
  const rows = new Rows();
  const log = new TurnLog(0, rows);
  const desk = new Desk(log, rows);
  desk.text(MUCH_TEXT);
  assert.equal(readOn(log, 0, EVERYTHING).frames.length, 1);
  assert.equal(rows.reads, 0, 'not committed: read from memory');
  desk.beginCommit();
  desk.finishCommit();
  desk.text('more');
  assert.deepEqual(
    readOn(log, 0, EVERYTHING).frames.map((frame) => (frame.data.text_delta as string).length),
    [MUCH_TEXT.length, 4],
  );
  assert.ok(rows.reads > 0, 'committed: read from the rows');
});

test('turn_journal: a log without older events keeps everything', () => {
  const log = new TurnLog(0, null);
  log.sayText(0, 'blk_1', MUCH_TEXT);
  log.journalledUpTo(log.nextSeq);
  assert.equal(readOn(log, 0, EVERYTHING).frames.length, 1);
});

/** Speaks like a turn does, commits like one, and remembers what was said. */
class Desk {
  readonly log: TurnLog;
  readonly rows: Rows;
  /** What was said: events as they are, text that follows text of the same block together. */
  readonly said: { readonly type: string; readonly index?: unknown; text?: string }[] = [];
  #block = 0;
  readonly #texts = new Map<string, string>();
  #commit: { readonly entries: JournalEntry[]; readonly nextSeq: number; readonly texts: ReadonlyMap<string, string> } | null = null;

  constructor(log: TurnLog, rows: Rows) {
    this.log = log;
    this.rows = rows;
  }

  text(delta: string): void {
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
class Reader {
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

type Act =
  | { readonly do: 'text'; readonly delta: string; readonly times: number }
  | { readonly do: 'event'; readonly event: StreamEvent }
  | { readonly do: 'closeBlock' | 'tick' | 'beginCommit' | 'finishCommit' }
  | { readonly do: 'join'; readonly at: number }
  | { readonly do: 'read'; readonly reader: number; readonly maxChars: number };

const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    // Text in any units, halves of surrogate pairs too; now and then so much that a commit lets it leave memory.
    arbitrary: fc.record({
      do: fc.constant('text' as const),
      delta: fc.string({
        unit: fc.oneof(fc.constantFrom('a', '"', '\n', '\ud83d', '\ude00', '⟦email_1⟧'), fc.string({ unit: 'grapheme', maxLength: 1 })),
        minLength: 1,
        maxLength: 12,
      }),
      times: fc.constantFrom(1, 1, 1, 1, 1, 1, 1, 12_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('event' as const),
      event: fc.constantFrom<StreamEvent>(PING, START, { type: 'block.start', index: 1, id: 'blk_1', block_type: 'text' }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('closeBlock' as const, 'tick' as const, 'beginCommit' as const, 'finishCommit' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('join' as const), at: fc.nat({ max: 20 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('read' as const),
      reader: fc.nat({ max: 5 }),
      maxChars: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.constant(100_000)),
    }),
  },
);

function perform(act: Act, desk: Desk, readers: Reader[]): void {
  switch (act.do) {
    case 'text':
      return desk.text(act.delta.repeat(act.times));
    case 'event':
      return desk.event(act.event);
    case 'tick':
      return desk.log.flush();
    case 'join':
      readers.push(new Reader(act.at));
      return;
    case 'read':
      readers[act.reader % readers.length]?.read(desk.log, act.maxChars);
      return;
    default:
      return desk[act.do]();
  }
}

/** Pings are not kept, so only readers that were there have them. */
function withoutPings(frames: readonly Frame[]): Frame[] {
  return frames.filter((frame) => frame.type !== 'ping');
}

/** Deltas that follow one another in the same block are one text, however they were cut. */
function flattened(frames: readonly Frame[]): { type: string; index?: unknown; text?: string }[] {
  const flat: { type: string; index?: unknown; text?: string }[] = [];
  for (const { type, data } of withoutPings(frames)) {
    const last = flat.at(-1);
    if (type !== 'block.delta') flat.push({ type, index: data.index });
    else if (last?.type === type && last.index === data.index) last.text += data.text_delta as string;
    else flat.push({ type, index: data.index, text: data.text_delta as string });
  }
  return flat;
}

test('decisions §4: a reader from any seq, at any pace, gets what a reader from 0 gets, from memory or from the journal', () => {
  fc.assert(
    fc.property(fc.nat({ max: 4 }), fc.array(acts, { maxLength: 60 }), fc.integer({ min: 1, max: 2_000 }), (firstSeq, script, pace) => {
      const rows = new Rows();
      const desk = new Desk(new TurnLog(firstSeq, rows), rows);
      // What an attempt before this one had said.
      for (let seq = 0; seq < firstSeq; seq++) {
        rows.entries.push({ seq, event: START });
        desk.said.push({ type: START.type, index: undefined });
      }
      const readers = [new Reader(0)];
      for (const act of script) perform(act, desk, readers);
      desk.event(END);
      desk.log.end();
      const all = readOn(desk.log, 0, EVERYTHING);
      assert.equal(all.ended, true);
      assert.equal(all.nextSeq, desk.log.nextSeq);
      assert.deepEqual(flattened(all.frames), desk.said);
      const seqs = all.frames.map((frame) => frame.seq);
      assert.ok(
        seqs.every((seq, at) => at === 0 || seq > (seqs[at - 1] as number)),
        'seq rises',
      );
      for (const reader of readers) {
        while (reader.read(desk.log, pace));
        assert.equal(reader.ended, true);
        const expected = withoutPings(all.frames).filter((frame) => frame.seq >= reader.from);
        assert.deepEqual(withoutPings(reader.frames), expected, `from ${reader.from}`);
      }
    }),
    { numRuns: 400 },
  );
});
