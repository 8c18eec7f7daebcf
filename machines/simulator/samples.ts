/**
 * What each machine may begin with and be sent: every payload that a guard tells apart, for the simulator and for tests. Times are small
 * numbers of milliseconds, so that what is before and after a deadline can be read.
 */
import type { Executor, Risk } from '../../protocol/runtime/stream-events.ts';
import { AGENT_STEPS, EVENT_STATUSES, STEP_IDS } from '../../protocol/setup/steps.ts';
import type { AppLifecycleEvent } from '../app-lifecycle.ts';
import type { ChatTurnEvent, TurnFailure } from '../chat-turn.ts';
import type { InvocationEvent, ResultStatus } from '../invocation.ts';
import type { KnowledgeSourceEvent } from '../knowledge-source.ts';
import type { OrganisationMoveEvent } from '../organisation-move.ts';
import type { PairingEvent } from '../pairing.ts';
import type { AgentIdentity, SetupSessionEvent } from '../setup-session.ts';
import type { StepPanelEvent } from '../step-panel.ts';

export type ByType<Event extends { readonly type: string }> = {
  readonly [Type in Event['type']]: readonly Extract<Event, { readonly type: Type }>[];
};

/** An event of any machine; its other fields are its payload, plain JSON. */
export interface SampleEvent {
  readonly type: string;
}

export interface MachineSamples {
  /** What the machine may begin with; empty: it takes nothing. */
  readonly inputs: readonly object[];
  /** By type, in the order in which events usually come. At least one of each. */
  readonly events: Readonly<Record<string, readonly SampleEvent[]>>;
}

const BOTH = [false, true] as const;

export const BUSY: TurnFailure = { code: 'model_busy', message: 'Busy.', retryable: true };
export const BROKEN: TurnFailure = { code: 'internal', message: 'Broken.', retryable: false };
const WAITINGS = [
  { reads: 0, confirmations: 0 },
  { reads: 1, confirmations: 0 },
  { reads: 0, confirmations: 1 },
  { reads: 1, confirmations: 1 },
];

export const CHAT_TURN_EVENTS: ByType<ChatTurnEvent> = {
  'turn.open': [0, 1].flatMap((serverCalls) => WAITINGS.map((waiting) => ({ type: 'turn.open', serverCalls, waiting }) as const)),
  'block.completed': [{ type: 'block.completed', blockId: 'blk_1' }],
  'round.finished': [0, 1].flatMap((serverCalls) => WAITINGS.map((waiting) => ({ type: 'round.finished', serverCalls, waiting }) as const)),
  'round.failed': [BUSY, BROKEN].map((failure) => ({ type: 'round.failed', failure })),
  'calls.settled': [{ type: 'calls.settled' }],
  'turn.stop': [{ type: 'turn.stop' }],
  'turn.interrupted': [BUSY, BROKEN].map((failure) => ({ type: 'turn.interrupted', failure })),
  'turn.retry': [{ type: 'turn.retry' }],
  'turn.resumed': [{ type: 'turn.resumed' }],
};

/** What a call is: who runs it and what it may do. */
export interface Profile {
  readonly risk: Risk;
  readonly executor: Executor;
}

export const PROFILES: readonly Profile[] = (['read', 'write', 'destructive'] as const).flatMap((risk) =>
  (['client', 'server'] as const).map((executor) => ({ risk, executor })),
);

export const RESULT_STATUSES: readonly ResultStatus[] = ['ok', 'error', 'declined', 'timeout', 'unavailable'];
/** When the time of a call, a session or a code runs out. */
export const DUE_AT_MS = 1_000;
const TIMES_MS = [DUE_AT_MS - 1, DUE_AT_MS, DUE_AT_MS + 1];

export const INVOCATION_EVENTS: ByType<InvocationEvent> = {
  dispatch: [{ type: 'dispatch', expiresAtMs: DUE_AT_MS }],
  confirm: [{ type: 'confirm', expiresAtMs: DUE_AT_MS }],
  decline: [{ type: 'decline' }],
  expire: TIMES_MS.map((nowMs) => ({ type: 'expire', nowMs })),
  'edit.begin': [{ type: 'edit.begin' }],
  'edit.accept': [{ type: 'edit.accept' }],
  'edit.reject': [{ type: 'edit.reject' }],
  'result.received': RESULT_STATUSES.flatMap((status) =>
    BOTH.flatMap((confirmed) => BOTH.map((recordRequired) => ({ type: 'result.received', status, confirmed, recordRequired }) as const)),
  ),
  'execution.started': [{ type: 'execution.started' }],
  'execution.settled': (['succeeded', 'failed', 'unknown'] as const).map((outcome) => ({ type: 'execution.settled', outcome })),
  'process.lost': [{ type: 'process.lost' }],
  'answer.lost': [{ type: 'answer.lost' }],
};

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
    TIMES_MS.flatMap((nowMs) => BOTH.map((appLive) => ({ type: 'session.claim', agent, nowMs, appLive }) as const)),
  ),
  'session.call': TIMES_MS.flatMap((nowMs) => BOTH.map((appLive) => ({ type: 'session.call', nowMs, appLive }) as const)),
  'session.complete': [{ type: 'session.complete' }],
  'session.fail': [{ type: 'session.fail' }],
  'session.stop': [{ type: 'session.stop' }],
  'session.replaced': [{ type: 'session.replaced' }],
  'session.expire': TIMES_MS.map((nowMs) => ({ type: 'session.expire', nowMs })),
  'app.live': [{ type: 'app.live' }],
};

export const APP_EVENTS: ByType<AppLifecycleEvent> = {
  'checks.evaluated': BOTH.flatMap((passed) =>
    BOTH.flatMap((autoGoLive) =>
      BOTH.map((setupSessionOpen) => ({ type: 'checks.evaluated', passed, autoGoLive, setupSessionOpen }) as const),
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

/** When the watching of a test build ends in the samples. */
const WATCHED_UNTIL_MS = 2_000;

export const PAIRING_EVENTS: ByType<PairingEvent> = {
  'pairing.claim': [DUE_AT_MS - 1, DUE_AT_MS].map((nowMs) => ({ type: 'pairing.claim', nowMs, watchedUntilMs: WATCHED_UNTIL_MS })),
  'pairing.replaced': [{ type: 'pairing.replaced' }],
  'pairing.expire': [DUE_AT_MS - 1, DUE_AT_MS, WATCHED_UNTIL_MS].map((nowMs) => ({ type: 'pairing.expire', nowMs })),
};

export const MOVE_EVENTS: ByType<OrganisationMoveEvent> = {
  'source.sealed': [{ type: 'source.sealed' }],
  'target.adopted': [{ type: 'target.adopted' }],
  'source.emptied': [{ type: 'source.emptied' }],
  'move.resumed': [{ type: 'move.resumed' }],
  'move.aborted': [{ type: 'move.aborted' }],
};

export const PANEL_EVENTS: ByType<StepPanelEvent> = {
  'session.claimed': [{ type: 'session.claimed' }],
  'step.reported': AGENT_STEPS.flatMap((step) => EVENT_STATUSES.map((status) => ({ type: 'step.reported', step, status }) as const)),
  'step.written': AGENT_STEPS.map((step) => ({ type: 'step.written', step })),
  'step.observed': STEP_IDS.map((step) => ({ type: 'step.observed', step })),
  'session.completed': [{ type: 'session.completed' }],
  'session.failed': [null, ...AGENT_STEPS].map((step) => ({ type: 'session.failed', step })),
};

export const SAMPLES: Readonly<Record<string, MachineSamples>> = {
  'chat-turn': { inputs: [], events: CHAT_TURN_EVENTS },
  invocation: { inputs: PROFILES, events: INVOCATION_EVENTS },
  'setup-session': { inputs: ['setup', 'sync'].map((kind) => ({ kind, expiresAtMs: DUE_AT_MS })), events: SESSION_EVENTS },
  'step-panel': { inputs: [], events: PANEL_EVENTS },
  'knowledge-source': { inputs: [], events: SOURCE_EVENTS },
  pairing: { inputs: [{ dueAtMs: DUE_AT_MS }], events: PAIRING_EVENTS },
  'organisation-move': { inputs: [], events: MOVE_EVENTS },
  'app-lifecycle': { inputs: [], events: APP_EVENTS },
};
