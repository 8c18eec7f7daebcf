/** The journal's entries as text in rows: as lists, because the names of fields would be most of what a short turn keeps. */
import type { StreamEvent, TurnEndStatus } from '../../protocol/runtime/stream-events.ts';
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

/** The entries as a row holds them. */
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

/** The entries of a row. */
export function unpackEntries(text: string): JournalEntry[] {
  return (JSON.parse(text) as Packed[]).flatMap(unpacked);
}
