/**
 * What a commit of a turn writes: a step of an attempt, the start of a new one, the end of one that a crash left open. Does not own what a
 * step is: whoever runs the turn decides that. `Held` commits it.
 */
import type { Logger } from 'pino';
import type { chatTurn } from '../../machines/chat-turn.ts';
import type { Stepper } from '../../machines/step.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import type { StreamEvent } from '../../protocol/runtime/stream-events.ts';
import type { TurnRow } from '../../storage/conversations/turns.ts';
import type { Ownership } from './epoch.ts';
import { stepEvents } from './events.ts';
import { FAILED_END, GIVEN_UP, INTERRUPTED } from './failures.ts';
import { packEntries } from './journal-entries.ts';
import { fittedEntries } from './kept-answer.ts';
import { type JournalEntry, journalEvent, type TurnLog } from './log.ts';
import type { TurnCommit } from './scope.ts';
import { machineRow, newBlock, turnMachine } from './turn-rows.ts';

/**
 * After a crash it is unknown how many deltas were sent beyond the last commit. What follows takes seqs from the next
 * multiple of this, which no attempt reaches (a turn's events are bounded by its rounds and blocks), so seq only rises.
 */
const RECOVERY_SEQ_STRIDE = 1_000_000;

/** What a step of an attempt brings. */
interface AttemptStep extends Pick<TurnCommit, 'attemptSeq' | 'invocations' | 'ended' | 'charge'> {
  /** In placeholder form. */
  readonly blocks: readonly Block[];
  readonly events: readonly StreamEvent[];
}

/** A step of an attempt: what was said since the last commit, then `events`, which are said once it is made. */
export function attemptStep(log: TurnLog, machine: Stepper<typeof chatTurn>, { blocks, events, ...rest }: AttemptStep): TurnCommit {
  const unjournalled = fittedEntries(log.unjournalled(), blocks);
  const firstSeq = log.nextSeq;
  const entries: JournalEntry[] = [...unjournalled, ...events.map((event, offset) => journalEvent(firstSeq + offset, event))];
  return {
    ...machineRow(machine),
    ...rest,
    nextSeq: firstSeq + events.length,
    journal: { firstSeq: entries[0]?.seq ?? firstSeq, entries: packEntries(entries) },
    replacesAttempt: false,
    blocks: blocks.map(newBlock),
  };
}

/** A step that only says something, from `firstSeq` on. */
function telling(
  machine: Stepper<typeof chatTurn>,
  firstSeq: number,
  events: readonly StreamEvent[],
): Omit<TurnCommit, 'attemptSeq' | 'replacesAttempt' | 'ended'> {
  return {
    ...machineRow(machine),
    nextSeq: firstSeq + events.length,
    journal: { firstSeq, entries: packEntries(events.map((event, offset) => journalEvent(firstSeq + offset, event))) },
    blocks: [],
    invocations: [],
    charge: null,
  };
}

interface Recoverer {
  readonly ownership: Pick<Ownership, 'process' | 'isLost'>;
  readonly turnLossesMax: number;
  readonly log: Pick<Logger, 'error'>;
}

/**
 * The step that ends a turn whose attempt was lost: so that it can be retried, or for good when its process was lost too often.
 * An attempt that its own process could not end (the disk was full) was not cut off.
 */
export function interruption(row: TurnRow, { ownership, turnLossesMax, log }: Recoverer): TurnCommit {
  const machine = turnMachine(row);
  const cutOff = row.runBy !== ownership.process && ownership.isLost(row.runBy);
  const lost = row.cutOff + (cutOff ? 1 : 0);
  const isGivenUp = lost >= turnLossesMax;
  if (isGivenUp && cutOff) {
    const about = { lost, conversation_id: row.conversationId, turn_id: row.turnId, app_id: row.appId };
    log.error(about, 'processes died while they answered this turn: it is not retried');
  }
  const { effects } = machine.send({ type: 'turn.interrupted', failure: isGivenUp ? GIVEN_UP : INTERRUPTED });
  const firstSeq = (Math.floor(row.nextSeq / RECOVERY_SEQ_STRIDE) + 1) * RECOVERY_SEQ_STRIDE;
  const events = stepEvents(effects, { end: () => FAILED_END });
  return { ...telling(machine, firstSeq, events), attemptSeq: row.attemptSeq, replacesAttempt: false, cutOff, ended: true };
}

/** Begins a new attempt: what the failed one said is forgotten, and `seq` goes on. */
export function newAttempt(machine: Stepper<typeof chatTurn>, attemptSeq: number, events: readonly StreamEvent[]): TurnCommit {
  return { ...telling(machine, attemptSeq, events), attemptSeq, replacesAttempt: true, ended: false };
}
