/** The list of state machines: what the console shows and what docs/machines.md explains. */
import type { AnyStateMachine } from 'xstate';
import { chatTurn } from './chat-turn.ts';
import { invocation } from './invocation.ts';

export interface ListedMachine {
  /** The file in this folder, and the machine's own id. */
  readonly name: string;
  readonly title: string;
  /** Where its rules are written. */
  readonly source: string;
  readonly machine: AnyStateMachine;
}

export const MACHINES: readonly ListedMachine[] = [
  { name: 'chat-turn', title: 'Chat turn', source: 'service.md "Chat turn", decisions §7', machine: chatTurn },
  { name: 'invocation', title: 'Action call', source: 'service.md "Invocation confirmation", decisions §8', machine: invocation },
];
