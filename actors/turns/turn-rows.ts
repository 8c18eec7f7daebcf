/** How a turn lies in rows: its `chat-turn` machine, there and back, and its blocks. */
import { type ChatTurnContext, chatTurn } from '../../machines/chat-turn.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import { replacedBy } from '../../protocol/catalog/selection.ts';
import type { TurnState } from '../../protocol/runtime/states.ts';
import type { NewBlock } from '../../storage/conversations/blocks.ts';
import type { TurnMove } from '../../storage/conversations/turn-openings.ts';
import { readWaitingTurns } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { type Stepper, stepper } from '../step.ts';

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

/** The machine as its row holds it. */
export function machineRow({ snapshot, state }: Stepper<typeof chatTurn>): { state: TurnState; attempt: number; snapshot: string } {
  return { state: state as TurnState, attempt: snapshot.context.attempt, snapshot: keptContext(snapshot.context) };
}

/** What a continuation that leaves no call of `turns` open makes of them, and of those that wait for the same. */
export function resumedTurns(db: Connection, conversationId: string, turns: readonly number[]): TurnMove[] {
  return readWaitingTurns(db, conversationId, turns).map((row) => {
    const { state } = turnMachine(row).send({ type: 'turn.resumed' });
    return { turn: row.turn, from: row.state, to: state as TurnState };
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
