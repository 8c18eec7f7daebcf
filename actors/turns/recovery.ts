/** The commits that a turn gets beside its run: the end of one that a crash left open, and the start of a new attempt. */
import type { Logger } from 'pino';
import type { chatTurn } from '../../machines/chat-turn.ts';
import type { TurnState } from '../../protocol/runtime/states.ts';
import type { StreamEvent } from '../../protocol/runtime/stream-events.ts';
import type { TurnRow } from '../../storage/conversations/turns.ts';
import type { Stepper } from '../step.ts';
import type { Ownership } from './epoch.ts';
import { failureEvents, GIVEN_UP, INTERRUPTED } from './failures.ts';
import { journalEvent } from './log.ts';
import { turnMachine } from './machine.ts';
import type { TurnCommit } from './scope.ts';

/**
 * After a crash nobody knows how many deltas were sent beyond the last commit. What follows takes seqs from the next
 * multiple of this, which no attempt reaches (a turn's events are bounded by its rounds and blocks), so seq only rises.
 */
const RECOVERY_SEQ_STRIDE = 1_000_000;

/** What every such commit has: the machine as it is now, and events that are told from `firstSeq` on. */
function telling(
  machine: Stepper<typeof chatTurn>,
  firstSeq: number,
  events: readonly StreamEvent[],
): Pick<TurnCommit, 'state' | 'attempt' | 'snapshot' | 'nextSeq' | 'journal' | 'blocks' | 'invocations' | 'charge'> {
  return {
    state: machine.state as TurnState,
    attempt: machine.snapshot.context.attempt,
    snapshot: JSON.stringify(machine.snapshot.context),
    nextSeq: firstSeq + events.length,
    journal: { firstSeq, entries: JSON.stringify(events.map((event, offset) => journalEvent(firstSeq + offset, event))) },
    blocks: [],
    invocations: [],
    charge: null,
  };
}

export interface Recoverer {
  readonly ownership: Pick<Ownership, 'process' | 'isLost'>;
  /** A turn whose process was lost so often is not tried again: it may be what ends them, and would end the next one. */
  readonly turnLossesMax: number;
  readonly log: Pick<Logger, 'error'>;
}

/**
 * Ends a turn that nobody answers any more: so that it can be retried, or for good when its process was lost too often.
 * An attempt that its own process could not end (the disk was full) was not cut off.
 */
export function interruption(row: TurnRow, { ownership, turnLossesMax, log }: Recoverer): TurnCommit {
  const machine = turnMachine({ state: row.state, snapshot: row.snapshot });
  const cutOff = row.runBy !== ownership.process && ownership.isLost(row.runBy);
  const lost = row.cutOff + (cutOff ? 1 : 0);
  const isGivenUp = lost >= turnLossesMax;
  if (isGivenUp && cutOff) {
    const about = { lost, conversation_id: row.conversationId, turn_id: row.turnId, app_id: row.appId };
    log.error(about, 'processes were lost while they answered this turn: it is not tried again');
  }
  const { effects } = machine.send({ type: 'turn.interrupted', failure: isGivenUp ? GIVEN_UP : INTERRUPTED });
  const firstSeq = (Math.floor(row.nextSeq / RECOVERY_SEQ_STRIDE) + 1) * RECOVERY_SEQ_STRIDE;
  return { ...telling(machine, firstSeq, failureEvents(effects)), attemptSeq: row.attemptSeq, replacesAttempt: false, cutOff, ended: true };
}

/** Begins a new attempt: what the failed one said is forgotten, and `seq` goes on. */
export function newAttempt(machine: Stepper<typeof chatTurn>, attemptSeq: number, events: readonly StreamEvent[]): TurnCommit {
  return { ...telling(machine, attemptSeq, events), attemptSeq, replacesAttempt: true, ended: false };
}
