/**
 * How a turn lies in rows: its `chat-turn` machine, there and back, its blocks, and what each commit of it writes. Does not own what a step
 * is: the turn that runs decides that. `Held` commits it.
 */
import type { Logger } from 'pino';
import { type ChatTurnContext, chatTurn } from '../../machines/chat-turn.ts';
import { type Stepper, stepper } from '../../machines/step.ts';
import { keptEffects, keptEvent, type TraceStep } from '../../machines/trace.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import { replacedBy } from '../../protocol/catalog/selection.ts';
import type { TurnState } from '../../protocol/runtime/states.ts';
import type { StreamEvent } from '../../protocol/runtime/stream-events.ts';
import type { NewBlock } from '../../storage/conversations/blocks.ts';
import type { TurnMove } from '../../storage/conversations/turn-openings.ts';
import { type CommitTurnInput, readWaitingTurns, type TurnRow, type TurnRows } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { NewTrace } from '../../storage/traces/traces.ts';
import { takenTrace } from '../taken-trace.ts';
import type { Ownership } from './epoch.ts';
import { FAILED_END, GIVEN_UP, INTERRUPTED, stepEvents } from './events.ts';
import { packEntries } from './journal.ts';
import { fittedEntries } from './kept-answer.ts';
import { type JournalEntry, journalEvent, type TurnLog } from './log.ts';

/** What a turn begins with; most turns end with most of it, which their rows leave out. */
const FRESH: ChatTurnContext = stepper(chatTurn).snapshot.context;
const FRESH_JSON = new Map(Object.entries(FRESH).map(([name, value]) => [name, JSON.stringify(value)]));

/** A machine for a turn that begins, or one as it was stored. */
export function turnMachine(stored?: { readonly state: TurnState; readonly snapshot: string }): Stepper<typeof chatTurn> {
  if (stored === undefined) return stepper(chatTurn);
  const context = { ...FRESH, ...(JSON.parse(stored.snapshot) as Partial<ChatTurnContext>) };
  return stepper(chatTurn, { stored: { state: stored.state, context } });
}

/** JSON of what differs from a turn that begins. */
function keptContext(context: ChatTurnContext): string {
  const kept: Record<string, unknown> = {};
  for (const each in context) {
    const name = each as keyof ChatTurnContext;
    // Most of it is the same value still.
    if (context[name] !== FRESH[name] && JSON.stringify(context[name]) !== FRESH_JSON.get(name)) kept[name] = context[name];
  }
  return JSON.stringify(kept);
}

/** What `Held` adds to each commit of a conversation's turns. */
export type HeldRows = 'appId' | 'channel' | 'conversationId' | 'runBy';

export type TurnStep = Omit<CommitTurnInput, HeldRows | 'fence' | 'nowMs'>;

type MachineRow = Pick<TurnRows, 'state' | 'attempt' | 'snapshot' | 'trace'>;

function rowOf({ snapshot, state }: Stepper<typeof chatTurn>, trace: NewTrace | null): MachineRow {
  return { state: state as TurnState, attempt: snapshot.context.attempt, snapshot: keptContext(snapshot.context), trace };
}

/** The machine as a commit writes it; its steps are taken. */
export function machineRow(machine: Stepper<typeof chatTurn>): MachineRow {
  return rowOf(machine, takenTrace(chatTurn, machine));
}

/** What was said since the last commit: `entries` of the journal, which take up `events` from `firstSeq` on. */
function saidRows(firstSeq: number, events: readonly StreamEvent[], entries: JournalEntry[] = []) {
  events.forEach((event, offset) => {
    entries.push(journalEvent(firstSeq + offset, event));
  });
  return { nextSeq: firstSeq + events.length, journal: { firstSeq: entries[0]?.seq ?? firstSeq, entries: packEntries(entries) } };
}

/**
 * The machine and the events of a turn that is opened. `isPlain`: it takes over no calls and leaves none, as most. Then its first step waits
 * for the next commit, so that most turns write their steps once; after a crash before that commit it is told from the row (`openingStep`).
 */
export function openedRows(
  machine: Stepper<typeof chatTurn>,
  events: readonly StreamEvent[],
  isPlain: boolean,
): MachineRow & Pick<TurnRows, 'nextSeq' | 'journal'> {
  const [start] = events;
  const isStart = events.length === 1 && start?.type === 'turn.start' && start.receipts === undefined;
  const { state, attempt, snapshot, trace = null } = isPlain ? rowOf(machine, null) : machineRow(machine);
  return { state, attempt, snapshot, trace, nextSeq: events.length, journal: isStart ? null : saidRows(0, events).journal };
}

/** The first step of a turn whose opening was plain. */
export function openingStep(openedAtMs: number): TraceStep {
  const machine = stepper(chatTurn);
  const from = machine.state;
  const event = { type: 'turn.open', serverCalls: 0, waiting: { reads: 0, confirmations: 0 } } as const;
  const { effects, state } = machine.send(event);
  return { atMs: openedAtMs, event: keptEvent(event), from, to: state, effects: keptEffects(effects) };
}

/** What a continuation that leaves no call of `turns` open makes of them, and of those that wait for the same. */
export function resumedTurns(db: Connection, conversationId: string, turns: readonly number[]): TurnMove[] {
  return readWaitingTurns(db, conversationId, turns).map((row) => {
    const machine = turnMachine(row);
    const { state } = machine.send({ type: 'turn.resumed' });
    return { turn: row.turn, from: row.state, to: state as TurnState, trace: takenTrace(chatTurn, machine) };
  });
}

export function newBlock(block: Block): NewBlock {
  const replaces = replacedBy(block);
  return {
    id: block.id,
    position: block.index,
    blockType: block.block_type,
    revision: block.revision,
    body: JSON.stringify(block.body),
    fallbackText: block.fallback_text ?? null,
    ...(replaces === undefined ? {} : { replaces }),
  };
}

/**
 * After a crash it is unknown how many deltas were sent beyond the last commit. What follows takes seqs from the next
 * multiple of this, which no attempt reaches (a turn's events are bounded by its rounds and blocks), so seq only rises.
 */
const RECOVERY_SEQ_STRIDE = 1_000_000;

interface AttemptStep extends Pick<TurnStep, 'turn' | 'messageId' | 'attemptSeq' | 'invocations' | 'ended' | 'charge'> {
  /** In placeholder form. */
  readonly blocks: readonly Block[];
  readonly events: readonly StreamEvent[];
}

/** A step of an attempt: what was said since the last commit, then `events`, which are said once it is made. */
export function attemptStep(log: TurnLog, machine: Stepper<typeof chatTurn>, step: AttemptStep): TurnStep {
  const { state, attempt, snapshot, trace = null } = machineRow(machine);
  const { nextSeq, journal } = saidRows(log.nextSeq, step.events, fittedEntries(log.unjournalled(), step.blocks));
  // Every turn makes one. Field by field, because objects put together of others leave four times as much garbage.
  return {
    state,
    attempt,
    snapshot,
    trace,
    nextSeq,
    journal,
    turn: step.turn,
    messageId: step.messageId,
    attemptSeq: step.attemptSeq,
    invocations: step.invocations,
    ended: step.ended,
    charge: step.charge,
    replacesAttempt: false,
    blocks: step.blocks.map(newBlock),
  };
}

type WhoseTurn = Pick<TurnRow, 'turn' | 'messageId'>;

/** A step that only says something, from `firstSeq` on. */
function telling({ turn, messageId }: WhoseTurn, machine: Stepper<typeof chatTurn>, firstSeq: number, events: readonly StreamEvent[]) {
  return { turn, messageId, ...machineRow(machine), ...saidRows(firstSeq, events), blocks: [], invocations: [], charge: null };
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
export function interruption(row: TurnRow, { ownership, turnLossesMax, log }: Recoverer): TurnStep {
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
  return { ...telling(row, machine, firstSeq, events), attemptSeq: row.attemptSeq, replacesAttempt: false, cutOff, ended: true };
}

/** Begins a new attempt: what the failed one said is forgotten, and `seq` goes on. */
export function newAttempt(
  row: WhoseTurn & Pick<TurnRow, 'nextSeq'>,
  machine: Stepper<typeof chatTurn>,
  events: readonly StreamEvent[],
): TurnStep {
  return { ...telling(row, machine, row.nextSeq, events), attemptSeq: row.nextSeq, replacesAttempt: true, ended: false };
}
