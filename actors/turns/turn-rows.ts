/** How a turn lies in rows: its `chat-turn` machine, there and back, and its blocks. */
import { type ChatTurnContext, chatTurn } from '../../machines/chat-turn.ts';
import { type Stepper, stepper } from '../../machines/step.ts';
import { keptEffects, keptEvent, type TraceStep } from '../../machines/trace.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import { replacedBy } from '../../protocol/catalog/selection.ts';
import type { TurnState } from '../../protocol/runtime/states.ts';
import type { NewBlock } from '../../storage/conversations/blocks.ts';
import type { TurnMove } from '../../storage/conversations/turn-openings.ts';
import { readWaitingTurns } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { NewTrace } from '../../storage/traces/traces.ts';
import { takenTrace } from '../taken-trace.ts';

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
  return JSON.stringify(
    Object.fromEntries(Object.entries(context).filter(([name, value]) => JSON.stringify(value) !== FRESH_JSON.get(name))),
  );
}

/** A turn's machine as rows hold it. */
export interface MachineRow {
  readonly state: TurnState;
  readonly attempt: number;
  readonly snapshot: string;
  /** The steps since the last commit. */
  readonly trace: NewTrace | null;
}

function rowOf({ snapshot, state }: Stepper<typeof chatTurn>, trace: NewTrace | null): MachineRow {
  return { state: state as TurnState, attempt: snapshot.context.attempt, snapshot: keptContext(snapshot.context), trace };
}

/** The machine as a commit writes it; its steps are taken. */
export function machineRow(machine: Stepper<typeof chatTurn>): MachineRow {
  return rowOf(machine, takenTrace(chatTurn, machine));
}

/**
 * The machine as the opening of its turn writes it. `isPlain`: the turn takes over no calls and leaves none, as most. Then its first step waits
 * for the next commit, so that most turns write their steps once; after a crash before that commit it is told from the row (`openingStep`).
 */
export function openedMachineRow(machine: Stepper<typeof chatTurn>, isPlain: boolean): MachineRow {
  return isPlain ? rowOf(machine, null) : machineRow(machine);
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

/** The row of a block. */
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
