/**
 * The commits of one conversation's turns, each behind its fence: what opens a turn, every step of it, the start of a new attempt, and
 * the end of what a crash left open.
 *
 * Owns what a commit writes, and what the actor knows of its epoch after each write. Does not own what a step is: whoever runs the turn
 * decides that.
 */
import type { Logger } from 'pino';
import type { chatTurn } from '../../machines/chat-turn.ts';
import type { Stepper } from '../../machines/step.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import type { StreamEvent } from '../../protocol/runtime/stream-events.ts';
import { readExecuting } from '../../storage/conversations/invocations.ts';
import type { OpenTurnInput, OpenTurnOutput } from '../../storage/conversations/turn-openings.ts';
import { readOpenTurns, type TurnRow } from '../../storage/conversations/turns.ts';
import type { ChannelRef } from '../caller.ts';
import { settledCard } from '../calls/card.ts';
import { lostChange } from '../calls/invocation-step.ts';
import type { HeldEpoch, Ownership } from './epoch.ts';
import { stepEvents } from './events.ts';
import { FAILED_END, GIVEN_UP, INTERRUPTED } from './failures.ts';
import { packEntries } from './journal-entries.ts';
import { fittedEntries } from './kept-answer.ts';
import { type JournalEntry, journalEvent, type TurnLog } from './log.ts';
import type { TurnCommit, TurnServices } from './scope.ts';
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

export class TurnCommits {
  readonly #services: TurnServices;
  readonly #conversationId: string;
  readonly #home: ChannelRef;
  readonly #epoch: HeldEpoch;

  constructor(services: TurnServices, conversationId: string, home: ChannelRef, epoch: HeldEpoch) {
    this.#services = services;
    this.#conversationId = conversationId;
    this.#home = home;
    this.#epoch = epoch;
  }

  /** Opens a turn. What it answers leaves the epoch known, or, when it is `stale`, to be read again. */
  async open(input: OpenTurnInput): Promise<OpenTurnOutput> {
    const output = await this.#services.storage.write(this.#home.organisationId, 'openTurn', input);
    if (output.outcome === 'opened') this.#epoch.wrote(input.conversation.epoch);
    if (output.outcome === 'stale') this.#epoch.overtaken();
    return output;
  }

  /** Commits a step of a turn. False when the fence refused. @throws StorageError, OwnedElsewhere */
  async step({ turn, assistantMessageId }: Pick<TurnRow, 'turn' | 'assistantMessageId'>, step: TurnCommit): Promise<boolean> {
    const { billing, noteDeadline, ownership, storage } = this.#services;
    const { organisationId, appId, channel } = this.#home;
    const fence = this.#epoch.fence();
    // Until the write has answered, the rows are unknown: a failure makes the next turn read them again.
    this.#epoch.lose();
    const nowMs = this.#services.nowMs();
    const whose = { turn, messageId: assistantMessageId, appId, channel, conversationId: this.#conversationId };
    const committed = await storage.write(organisationId, 'commitTurn', { ...step, ...whose, fence, nowMs, runBy: ownership.process });
    if (!committed) return false;
    this.#epoch.wrote(fence.epoch);
    if (step.charge !== null) {
      const { costMicroUsd, billed } = step.charge;
      billing.charged(organisationId, { channel, costMicroUsd, atMs: nowMs, billed });
    }
    for (const { expiresAtMs } of step.invocations) if (expiresAtMs !== null) noteDeadline(organisationId, expiresAtMs);
    return true;
  }

  /**
   * Ends what a crash left open: writes that were executing become `unknown`, and turns end so that they can be retried.
   */
  async recover(): Promise<void> {
    if (this.#epoch.isClean) return;
    if (!(await this.#loseExecutions())) return;
    const db = this.#services.storage.organisation(this.#home.organisationId);
    for (const row of readOpenTurns(db, this.#conversationId)) {
      if (!(await this.step(row, interruption(row, this.#services)))) return;
    }
  }

  /** False when the fence refused. */
  async #loseExecutions(): Promise<boolean> {
    const { storage, nowMs } = this.#services;
    const { organisationId } = this.#home;
    const db = storage.organisation(organisationId);
    const changes = readExecuting(db, this.#conversationId).flatMap((row) => lostChange(row) ?? []);
    if (changes.length === 0) return true;
    const fence = this.#epoch.fence();
    const settlements = changes.map((change) => ({ change, card: settledCard(db, change) }));
    const input = { conversationId: this.#conversationId, fence, settlements, nowMs: nowMs() };
    this.#epoch.lose();
    if (!(await storage.write(organisationId, 'loseExecutions', input))) return false;
    this.#epoch.wrote(fence.epoch);
    return true;
  }
}
