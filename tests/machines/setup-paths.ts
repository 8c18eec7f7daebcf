/** The ways through the machines of the setup interface, generated from their definitions with `xstate/graph`. */
import { getSimplePaths } from 'xstate/graph';
import { type KnowledgeSourceEvent, knowledgeSource } from '../../machines/knowledge-source.ts';
import { type AgentIdentity, type SetupSessionContext, type SetupSessionEvent, setupSession } from '../../machines/setup-session.ts';
import { DUE_AT_MS, SESSION_EVENTS, SOURCE_EVENTS } from '../../machines/simulator/samples.ts';
import type { SessionKind } from '../../protocol/console/sessions.ts';

export const SESSION_KINDS: readonly SessionKind[] = ['setup', 'sync'];

/** What a session has in mind; only one that was claimed has an agent. */
export function sessionContext(kind: SessionKind, agent: AgentIdentity | null): SetupSessionContext {
  return { kind, expiresAtMs: DUE_AT_MS, agent };
}

function eventsOf<Event>(path: { readonly steps: readonly { readonly event: Event }[] }): Event[] {
  return path.steps.map((step) => step.event).filter((event) => (event as { readonly type: string }).type !== 'xstate.init');
}

/** Every way through a session that visits nothing twice, the empty one included. */
export function sessionSimplePaths(kind: SessionKind): SetupSessionEvent[][] {
  const paths = getSimplePaths(setupSession, {
    input: { kind, expiresAtMs: DUE_AT_MS },
    events: Object.values(SESSION_EVENTS).flat(),
  });
  return paths.map(eventsOf);
}

/** Every way through a knowledge source that visits nothing twice, the empty one included. */
export function sourceSimplePaths(): KnowledgeSourceEvent[][] {
  return getSimplePaths(knowledgeSource, { events: Object.values(SOURCE_EVENTS).flat() }).map(eventsOf);
}
