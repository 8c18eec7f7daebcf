/** The list of state machines: what the console shows and what docs/machines.md explains. */
import type { AnyStateMachine } from 'xstate';
import { appLifecycle } from './app-lifecycle.ts';
import { chatTurn } from './chat-turn.ts';
import { invocation } from './invocation.ts';
import { knowledgeSource } from './knowledge-source.ts';
import { organisationMove } from './organisation-move.ts';
import { pairing } from './pairing.ts';
import { setupSession } from './setup-session.ts';
import { stepPanel } from './step-panel.ts';

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
  { name: 'setup-session', title: 'Setup session', source: 'service.md "Setup session", "Authentication"', machine: setupSession },
  { name: 'step-panel', title: 'Step panel', source: 'service.md "Steps", "Step rules", decisions §3', machine: stepPanel },
  { name: 'knowledge-source', title: 'Knowledge source', source: 'service.md "Knowledge item", decisions §3', machine: knowledgeSource },
  { name: 'pairing', title: 'Pairing', source: 'service.md "POST /v1/pairings/claim", decisions §4', machine: pairing },
  { name: 'organisation-move', title: 'Move of an organisation', source: 'decisions §10', machine: organisationMove },
  { name: 'app-lifecycle', title: 'App', source: 'service.md "Other states", decisions §2', machine: appLifecycle },
];
