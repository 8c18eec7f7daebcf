/**
 * Tells a turn again from its rows: the same events with the same seqs, as text at the reader's pace. Its entries are lists in rows, because
 * the names of fields would be most of what a short turn keeps.
 */
import { PLACEHOLDER_OPENS } from '../../protocol/placeholder.ts';
import { renderDelta, renderEvent, type StreamEvent, type TurnEndStatus } from '../../protocol/runtime/stream-events.ts';
import { readBlockById } from '../../storage/conversations/blocks.ts';
import { readJournal, readTurnStart } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { FrameSlice, FrameSource } from '../frame-source.ts';
import { startEvent } from './events.ts';
import type { JournalEntry } from './log.ts';

/** The end of a turn that says nothing but how much may still be asked: nearly every turn's. */
type PlainEnd = readonly [status: TurnEndStatus, billable: 0 | 1, minuteLeft: number, dayLeft: number];

/** Told apart by their lengths: an event; a finished block; a text block from its start to its end; a run of deltas. */
type Packed =
  | readonly [seq: number, event: StreamEvent | PlainEnd]
  | readonly [seq: number, ready: string, index: number]
  | readonly [seq: number, block: string, index: number, ends: readonly number[]]
  | readonly [seq: number, deltas: string, index: number, from: number, ends: readonly number[]];

/** Fields of the end of a turn, and of its usage, that a `PlainEnd` has. */
const PLAIN_FIELDS = { end: 4, usage: 2 } as const;

function plainEnd(event: StreamEvent): PlainEnd | undefined {
  if (event.type !== 'turn.end' || event.billable === undefined || event.usage === undefined) return undefined;
  const { status, billable, usage } = event;
  if (Object.keys(event).length !== PLAIN_FIELDS.end || Object.keys(usage).length !== PLAIN_FIELDS.usage) return undefined;
  return [status, billable ? 1 : 0, usage.minute_left, usage.day_left];
}

function packed(entry: JournalEntry): Packed {
  if ('event' in entry) return [entry.seq, plainEnd(entry.event) ?? entry.event];
  if ('ready' in entry) return [entry.seq, entry.ready, entry.index];
  return [entry.seq, entry.deltas, entry.index, entry.from, entry.ends];
}

/** The three entries as one, if they are all that was said of one text block. */
function wholeBlock(start: JournalEntry | undefined, run: JournalEntry | undefined, end: JournalEntry | undefined): Packed | undefined {
  if (start === undefined || !('event' in start) || start.event.type !== 'block.start' || start.event.block_type !== 'text')
    return undefined;
  if (run === undefined || !('deltas' in run) || end === undefined || !('ready' in end)) return undefined;
  const { id, index } = start.event;
  const isOneBlock = run.deltas === id && end.ready === id && run.index === index && end.index === index;
  const isWhole = run.from === 0 && run.seq === start.seq + 1 && end.seq === run.seq + run.ends.length;
  return isOneBlock && isWhole ? [start.seq, id, index, run.ends] : undefined;
}

export function packEntries(entries: readonly JournalEntry[]): string {
  const list: Packed[] = [];
  for (let at = 0; at < entries.length; ) {
    const whole = wholeBlock(entries[at], entries[at + 1], entries[at + 2]);
    list.push(whole ?? packed(entries[at] as JournalEntry));
    at += whole === undefined ? 1 : 3;
  }
  return JSON.stringify(list);
}

function unpackedEvent(event: StreamEvent | PlainEnd): StreamEvent {
  if (!isPlainEnd(event)) return event;
  const [status, billable, minuteLeft, dayLeft] = event;
  return { type: 'turn.end', status, billable: billable === 1, usage: { minute_left: minuteLeft, day_left: dayLeft } };
}

function isPlainEnd(event: StreamEvent | PlainEnd): event is PlainEnd {
  return Array.isArray(event);
}

function unpacked(entry: Packed): JournalEntry[] {
  switch (entry.length) {
    case 2:
      return [{ seq: entry[0], event: unpackedEvent(entry[1]) }];
    case 3:
      return [{ seq: entry[0], ready: entry[1], index: entry[2] }];
    case 4: {
      const [seq, id, index, ends] = entry;
      return [
        { seq, event: { type: 'block.start', index, id, block_type: 'text' } },
        { seq: seq + 1, deltas: id, index, from: 0, ends },
        { seq: seq + 1 + ends.length, ready: id, index },
      ];
    }
    case 5:
      return [{ seq: entry[0], deltas: entry[1], index: entry[2], from: entry[3], ends: entry[4] }];
  }
}

export function unpackEntries(text: string): JournalEntry[] {
  return (JSON.parse(text) as Packed[]).flatMap(unpacked);
}

/** What a placeholder may be cut to. */
const CUT = new RegExp(`^${PLACEHOLDER_OPENS}[a-z]{0,8}(?:_\\d{0,9})?$`);
const CUT_MAX_CHARS = 20;
/** Rows read at a time: one row is one commit, about one block. */
const ROWS_PER_READ = 8;

function lastSeq(entry: JournalEntry): number {
  return 'deltas' in entry ? entry.seq + entry.ends.length - 1 : entry.seq;
}

/** `at`, or where the placeholder begins that a cut there would go through: half of one could not be restored. */
function whole(markdown: string, at: number): number {
  const from = Math.max(0, at - CUT_MAX_CHARS);
  const before = markdown.slice(from, at);
  const opens = before.lastIndexOf(PLACEHOLDER_OPENS);
  return opens >= 0 && CUT.test(before.slice(opens)) ? from + opens : at;
}

/** Text of one entry's events from `seq` on; '' when the block it tells of is gone (replaced by a later attempt). */
function renderEntry(db: Connection, entry: JournalEntry, seq: number): string {
  if ('event' in entry) return renderEvent(entry.seq, entry.event);
  if ('ready' in entry) {
    const block = readBlockById(db, entry.ready);
    return block === undefined ? '' : renderEvent(entry.seq, { type: 'block.ready', index: entry.index, block });
  }
  const markdown = readBlockById(db, entry.deltas)?.body.md;
  if (typeof markdown !== 'string') return '';
  let text = '';
  for (let k = Math.max(0, seq - entry.seq); k < entry.ends.length; k++) {
    const start = k === 0 ? entry.from : (entry.ends[k - 1] ?? 0);
    text += renderDelta(entry.seq + k, entry.index, markdown.slice(whole(markdown, start), whole(markdown, entry.ends[k] ?? 0)));
  }
  return text;
}

/** The entries of the next commits from `seq` on, each commit's together. */
function committedEntries(db: Connection, turn: number, seq: number): JournalEntry[][] {
  const pieces = readJournal(db, turn, seq, ROWS_PER_READ);
  const commits = pieces.map(({ entries }) => unpackEntries(entries));
  if (seq > 0 || pieces[0]?.firstSeq === 0) return commits;
  // The opening said that the turn starts, and nothing else.
  const start = readTurnStart(db, turn);
  return start === undefined ? commits : [[{ seq: 0, event: startEvent(start) }], ...commits];
}

/**
 * The committed events of one attempt of a turn: it ends with the first `turn.end`, whatever later attempts say (STREAM-16), and no later than
 * `endSeq`. Without that it serves what a running turn has dropped from memory. `turn` may be a function while its row is not there yet.
 */
export function journalSource(db: Connection, turn: number | (() => number), endSeq: number | null): FrameSource {
  return {
    read(seq, maxChars): FrameSlice {
      let text = '';
      let next = seq;
      let ended = false;
      // Rows that all tell of blocks which are gone say nothing, and more may follow them.
      for (let before = -1; text === '' && next > before; ) {
        before = next;
        for (const entry of committedEntries(db, typeof turn === 'number' ? turn : turn(), next).flat()) {
          if (ended || text.length >= maxChars || (endSeq !== null && entry.seq >= endSeq)) break;
          if (lastSeq(entry) < next) continue;
          text += renderEntry(db, entry, next);
          next = lastSeq(entry) + 1;
          ended = 'event' in entry && entry.event.type === 'turn.end';
        }
      }
      // Nothing more is stored: a gap at the end (an event that was never committed) must not keep the reader waiting.
      return { text, nextSeq: next, ended: ended || (endSeq !== null && (next >= endSeq || text === '')) };
    },
    // What is stored does not change while it is read.
    subscribe: () => () => {},
  };
}
