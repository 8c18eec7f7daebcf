/** Invocations that wait, as clients see them: at the end of a turn, and when an app that was restarted asks. */
import type { OpenReply } from '../../protocol/runtime/messages.ts';
import type { PendingInvocation } from '../../protocol/runtime/stream-events.ts';
import { type InvocationRow, type NewInvocation, readWaitingCalls } from '../../storage/conversations/invocations.ts';
import { readTurnSender } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Caller } from '../caller.ts';
import { actedConversation } from '../people/ownership.ts';
import { type CallDefinition, definitionOf, originalCall } from './call-definition.ts';
import { answerOf, expireChange } from './invocation-step.ts';

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

type Params = InvocationRow['params'];

/** Whether both have the same values, in whatever order. */
function sameValues(one: Params, other: Params): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && JSON.stringify(one[name]) === JSON.stringify(other[name]))
  );
}

interface Asking {
  readonly db: Connection;
  readonly conversationId: string;
  readonly caller: Caller;
  readonly nowMs: number;
}

/**
 * Whether a person is being asked about just this call at `nowMs`: a card with these values waits, or was called with them and has been
 * changed since, its action is declared as it was then, and the caller can answer it. `unstored`: calls that are no rows yet.
 */
export function isAskedAlready(
  { db, conversationId, caller, nowMs }: Asking,
  { action, http, params }: Pick<CallDefinition, 'action' | 'http'> & { readonly params: Params },
  unstored: readonly NewInvocation[],
): boolean {
  const { name } = action;
  const declared = JSON.stringify([action, http]);
  const isDeclared = (row: InvocationRow) => {
    const then = definitionOf(row);
    return then !== null && JSON.stringify([then.action, then.http]) === declared;
  };
  const waits = (row: InvocationRow) => row.name === name && answerOf(row) === 'pending' && expireChange(row, nowMs) === null;
  return (
    unstored.some((call) => call.name === name && sameValues(JSON.parse(call.params) as Params, params)) ||
    readWaitingCalls(db, conversationId, WAITING_CALLS_MAX)
      .filter(waits)
      .filter((row) => sameValues(row.params, params) || sameValues(originalCall(row).params, params))
      .filter(isDeclared)
      .some((row) => actedConversation(db, conversationId, readTurnSender(db, row.turn), caller) !== undefined)
  );
}
