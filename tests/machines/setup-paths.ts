/**
 * What the machines of the setup interface are sent, every payload that a guard tells apart, and the ways through them,
 * generated from their definitions with `xstate/graph`.
 */

import { getSimplePaths } from 'xstate/graph';
import type { AppLifecycleEvent } from '../../machines/app-lifecycle.ts';
import { type KnowledgeSourceEvent, knowledgeSource } from '../../machines/knowledge-source.ts';
import { type AgentIdentity, type SetupSessionContext, type SetupSessionEvent, setupSession } from '../../machines/setup-session.ts';
import type { SessionKind } from '../../protocol/console/sessions.ts';

type ByType<Event extends { readonly type: string }> = {
  readonly [Type in Event['type']]: readonly Extract<Event, { readonly type: Type }>[];
};

/** When the time of a session runs out, in every test of this folder. */
export const EXPIRES_AT_MS = 1_000;
const TIMES_MS = [EXPIRES_AT_MS - 1, EXPIRES_AT_MS, EXPIRES_AT_MS + 1];

export const CLAUDE: AgentIdentity = { tool: 'claude_code', model: 'opus', os: 'linux' };
/** Each differs from the first in one thing. */
export const OTHER_AGENTS: readonly AgentIdentity[] = [
  { ...CLAUDE, tool: 'cursor' },
  { ...CLAUDE, model: null },
  { ...CLAUDE, os: 'darwin' },
];
export const AGENTS: readonly AgentIdentity[] = [CLAUDE, ...OTHER_AGENTS];

export const SESSION_EVENTS: ByType<SetupSessionEvent> = {
  'session.claim': AGENTS.flatMap((agent) =>
    TIMES_MS.flatMap((nowMs) => [false, true].map((appLive) => ({ type: 'session.claim', agent, nowMs, appLive }) as const)),
  ),
  'session.call': TIMES_MS.flatMap((nowMs) => [false, true].map((appLive) => ({ type: 'session.call', nowMs, appLive }) as const)),
  'session.complete': [{ type: 'session.complete' }],
  'session.fail': [{ type: 'session.fail' }],
  'session.stop': [{ type: 'session.stop' }],
  'session.replaced': [{ type: 'session.replaced' }],
  'session.expire': TIMES_MS.map((nowMs) => ({ type: 'session.expire', nowMs })),
  'app.live': [{ type: 'app.live' }],
};

export const SESSION_KINDS: readonly SessionKind[] = ['setup', 'sync'];

/** What a session has in mind; only one that was claimed has an agent. */
export function sessionContext(kind: SessionKind, agent: AgentIdentity | null): SetupSessionContext {
  return { kind, expiresAtMs: EXPIRES_AT_MS, agent };
}

export const APP_EVENTS: ByType<AppLifecycleEvent> = {
  'checks.evaluated': [false, true].flatMap((passed) =>
    [false, true].flatMap((autoGoLive) =>
      [false, true].map((setupSessionOpen) => ({ type: 'checks.evaluated', passed, autoGoLive, setupSessionOpen }) as const),
    ),
  ),
  'golive.requested': [{ type: 'golive.requested' }],
};

export const SOURCE_EVENTS: ByType<KnowledgeSourceEvent> = {
  'source.updated': [{ type: 'source.updated' }],
  'source.restored': [{ type: 'source.restored' }],
  'source.archived': [{ type: 'source.archived' }],
  'indexing.began': [{ type: 'indexing.began' }],
  'indexing.finished': [{ type: 'indexing.finished' }],
  'indexing.failed': [{ type: 'indexing.failed', error: 'The text could not be read.' }],
  'indexing.stopped': [{ type: 'indexing.stopped' }],
  'process.lost': [{ type: 'process.lost' }],
};

function eventsOf<Event>(path: { readonly steps: readonly { readonly event: Event }[] }): Event[] {
  return path.steps.map((step) => step.event).filter((event) => (event as { readonly type: string }).type !== 'xstate.init');
}

/** Every way through a session that visits nothing twice, the empty one included. */
export function sessionSimplePaths(kind: SessionKind): SetupSessionEvent[][] {
  const paths = getSimplePaths(setupSession, {
    input: { kind, expiresAtMs: EXPIRES_AT_MS },
    events: Object.values(SESSION_EVENTS).flat(),
  });
  return paths.map(eventsOf);
}

/** Every way through a knowledge source that visits nothing twice, the empty one included. */
export function sourceSimplePaths(): KnowledgeSourceEvent[][] {
  return getSimplePaths(knowledgeSource, { events: Object.values(SOURCE_EVENTS).flat() }).map(eventsOf);
}
