/** The `chat-turn` machine of a turn, fresh or as its row holds it. */
import { chatTurn } from '../../machines/chat-turn.ts';
import type { TurnState } from '../../protocol/runtime/states.ts';
import { type Stepper, stepper } from '../step.ts';

/** A machine for a turn that begins, or one as it was stored. */
export function turnMachine(stored?: { readonly state: TurnState; readonly snapshot: string }): Stepper<typeof chatTurn> {
  return stored === undefined
    ? stepper(chatTurn)
    : stepper(chatTurn, { stored: { state: stored.state, context: JSON.parse(stored.snapshot) } });
}
