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
  readonly source: string;
  readonly machine: AnyStateMachine;
}

export const MACHINES: readonly ListedMachine[] = [
  { name: 'chat-turn', title: 'Chat turn', source: 'docs/specification/chat.md: CHAT-17', machine: chatTurn },
  { name: 'invocation', title: 'Action call', source: 'docs/specification/actions.md: CONFIRM-18', machine: invocation },
  { name: 'setup-session', title: 'Setup session', source: 'docs/specification/setup.md: SETUP-3', machine: setupSession },
  { name: 'step-panel', title: 'Step panel', source: 'docs/specification/setup.md: STEP-3', machine: stepPanel },
  { name: 'knowledge-source', title: 'Knowledge source', source: 'docs/specification/knowledge.md: KNOWLEDGE-3', machine: knowledgeSource },
  { name: 'pairing', title: 'Pairing', source: 'docs/specification/pairing.md: PAIRING-7', machine: pairing },
  {
    name: 'organisation-move',
    title: 'Move of an organisation',
    source: 'docs/specification/cluster.md: CELL-11',
    machine: organisationMove,
  },
  { name: 'app-lifecycle', title: 'App', source: 'docs/specification/configuration.md: LIVE-4', machine: appLifecycle },
];
