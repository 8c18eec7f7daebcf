/**
 * The frames that left at each step of a turn. A trace does not keep them: the journal of the turn has them, and the effects of a step say up to
 * which frame they reach.
 */
import type { FrameRun, KeptEvent, TraceStep } from '../../machines/trace.ts';
import { readJournal, readTurnStart } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { unpackEntries } from '../turns/journal.ts';
import type { JournalEntry } from '../turns/log.ts';

/** Commits whose frames are read: a turn has at most 256 blocks and some rounds. */
const PIECES_MAX = 400;

interface Told extends FrameRun {
  /** The block that is ready with it. */
  readonly block?: string;
}

function toldIn(entry: JournalEntry): Told {
  if ('event' in entry) return { type: entry.event.type, seq: entry.seq, count: 1 };
  if ('ready' in entry) return { type: 'block.ready', seq: entry.seq, count: 1, block: entry.ready };
  return { type: 'block.delta', seq: entry.seq, count: entry.ends.length };
}

/** What a turn has said, in its order, as far as it is committed. */
function toldOf(db: Connection, turn: number): readonly Told[] {
  const told = readJournal(db, turn, 0, PIECES_MAX).flatMap(({ entries }) => unpackEntries(entries).map(toldIn));
  if (told[0]?.seq === 0 || readTurnStart(db, turn) === undefined) return told;
  // The opening said that the turn starts, and nothing else.
  return [{ type: 'turn.start', seq: 0, count: 1 }, ...told];
}

/** Whether the effect sends this frame. */
function sends({ type, blockId }: KeptEvent, frame: Told): boolean {
  if (type === 'sendBlock') return frame.block === blockId;
  if (type === 'sendStart') return frame.type === 'turn.start';
  if (type === 'sendError') return frame.type === 'error';
  return type === 'endTurn' && frame.type === 'turn.end';
}

/** Frames of each step: those up to the last one that its effects send. The journal tells of the last attempt only. */
export function framesOfSteps(db: Connection, turn: number, steps: readonly TraceStep[]): readonly (readonly FrameRun[])[] {
  const told = toldOf(db, turn);
  const first = steps.findLastIndex(({ event }) => event.type === 'turn.retry');
  let next = 0;
  return steps.map(({ effects }, index) => {
    if (index < first) return [];
    const last = told.findLastIndex((frame) => effects.some((effect) => sends(effect, frame)));
    const own = told.slice(next, Math.max(last + 1, next));
    next += own.length;
    return own.map(({ type, seq, count }) => ({ type, seq, count }));
  });
}
