/** Tells a turn again from its rows: the same events with the same seqs, as text at the reader's pace. */
import { PLACEHOLDER_OPENS } from '../../protocol/placeholder.ts';
import { renderDelta, renderEvent } from '../../protocol/runtime/stream-events.ts';
import { readBlockById } from '../../storage/conversations/blocks.ts';
import { readJournal, readTurnStart } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { FrameSlice, FrameSource } from '../frame-source.ts';
import { startEvent } from './events.ts';
import { unpackEntries } from './journal-entries.ts';
import type { JournalEntry } from './log.ts';

/** What a placeholder may be cut to. */
const CUT = new RegExp(`^${PLACEHOLDER_OPENS}[a-z]{0,8}(?:_\\d{0,9})?$`);
const CUT_MAX_CHARS = 20;
/** Rows read at a time: one row is one commit, about one block. */
const ROWS_PER_READ = 8;

/** The last seq of an entry. */
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
  const told = pieces.map(({ entries }) => unpackEntries(entries));
  if (seq > 0 || pieces[0]?.firstSeq === 0) return told;
  // The opening said that the turn starts, and nothing else.
  const start = readTurnStart(db, turn);
  return start === undefined ? told : [[{ seq: 0, event: startEvent(start) }], ...told];
}

/**
 * The committed events of a turn. With `endSeq` the source ends there; without, it serves what a running turn has
 * dropped from memory and never says that it ended. `turn` may be a function while its row is not there yet.
 */
export function journalSource(db: Connection, turn: number | (() => number), endSeq: number | null): FrameSource {
  return {
    read(seq, maxChars): FrameSlice {
      let text = '';
      let next = seq;
      // Rows that all tell of blocks which are gone say nothing, and more may follow them.
      for (let before = -1; text === '' && next > before; ) {
        before = next;
        for (const entries of committedEntries(db, typeof turn === 'number' ? turn : turn(), next)) {
          for (const entry of entries) {
            // What a later attempt says is another answer.
            if (lastSeq(entry) < next || text.length >= maxChars || (endSeq !== null && entry.seq >= endSeq)) continue;
            text += renderEntry(db, entry, next);
            next = lastSeq(entry) + 1;
          }
          if (text.length >= maxChars) break;
        }
      }
      // Nothing more is stored: a gap at the end (an event that was never committed) must not keep the reader waiting.
      return { text, nextSeq: next, ended: endSeq !== null && (next >= endSeq || text === '') };
    },
    // What is stored does not change while it is read.
    subscribe: () => () => {},
  };
}
