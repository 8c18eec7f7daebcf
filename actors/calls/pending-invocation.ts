/** Invocations that wait, as clients see them: at the end of a turn, and when an app that was restarted asks. */
import type { OpenReply } from '../../protocol/runtime/messages.ts';
import type { PendingInvocation } from '../../protocol/runtime/stream-events.ts';
import { type InvocationRow, readWaitingCalls } from '../../storage/conversations/invocations.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { expireChange } from './invocation-step.ts';

/** Twelve rounds of eight calls: more cards than a person leaves open. */
const WAITING_CALLS_MAX = 96;

export function pendingInvocation(row: InvocationRow): PendingInvocation {
  return {
    invocation_id: row.id,
    name: row.name,
    params: row.params,
    risk: row.risk,
    timeout_ms: row.timeoutMs,
    executor: row.executor,
    ...(row.blockId === null ? {} : { block_id: row.blockId }),
  };
}

type WaitingCall = OpenReply['pending'][number];

function waitingStatus(state: InvocationRow['state']): WaitingCall['status'] {
  if (state === 'dispatched' || state === 'confirmed') return state;
  return 'pending';
}

/** The calls of a conversation that can still be answered at `nowMs`, oldest first. */
export function waitingInvocations(db: Connection, conversationId: string, nowMs: number): WaitingCall[] {
  return readWaitingCalls(db, conversationId, WAITING_CALLS_MAX)
    .filter((row) => expireChange(row, nowMs) === null)
    .map((row) => ({ ...pendingInvocation(row), status: waitingStatus(row.state) }));
}
