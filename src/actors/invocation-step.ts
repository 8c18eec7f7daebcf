/** Moves stored action calls through the invocation machine: rows in, compare-and-set changes out. */
import { type InvocationEvent, invocation } from '../machines/invocation.ts';
import { CONFIRMATION_TTL_DEFAULT_S } from '../protocol/limits.ts';
import type { ToolResult } from '../protocol/runtime/chat.ts';
import { type InvocationState, isUnsettled } from '../protocol/runtime/states.ts';
import type { Executor, Risk } from '../protocol/runtime/stream-events.ts';
import type { InvocationChange, InvocationRow } from '../storage/invocations.ts';
import { stepper } from './step.ts';

/**
 * A read is given its own time plus this: the result has to travel, and a client that answers a moment late has still
 * answered.
 */
const RESULT_GRACE_MS = 30_000;

export interface Dispatched {
  readonly state: InvocationState;
  readonly expiresAtMs: number;
}

/** A new call's first step: a read goes to the client, anything else waits for a person. */
export function dispatch(
  risk: Risk,
  executor: Executor,
  timeoutMs: number,
  confirmationTtlS: number | undefined,
  nowMs: number,
): Dispatched {
  const waitMs = risk === 'read' ? timeoutMs + RESULT_GRACE_MS : (confirmationTtlS ?? CONFIRMATION_TTL_DEFAULT_S) * 1_000;
  const expiresAtMs = nowMs + waitMs;
  const { state } = stepper(invocation, { input: { risk, executor } }).send({ type: 'dispatch', expiresAtMs });
  return { state: state as InvocationState, expiresAtMs };
}

/** The row's state after this event; `expiresAtMs` as the machine left it. */
function after(row: InvocationRow, event: InvocationEvent): { state: InvocationState; expiresAtMs: number | null } {
  const { risk, executor, revision, expiresAtMs } = row;
  const machine = stepper(invocation, { stored: { state: row.state, context: { risk, executor, revision, expiresAtMs } } });
  machine.send(event);
  return { state: machine.state as InvocationState, expiresAtMs: machine.snapshot.context.expiresAtMs };
}

function change(row: InvocationRow, event: InvocationEvent, said: Pick<InvocationChange, 'result' | 'error'>): InvocationChange | null {
  const next = after(row, event);
  if (next.state === row.state) return null;
  return { id: row.id, from: row.state, to: next.state, expiresAtMs: next.expiresAtMs, ...said };
}

/** The change that the passing of time makes to a call, or null. */
export function expireChange(row: InvocationRow, nowMs: number): InvocationChange | null {
  return change(row, { type: 'expire', nowMs }, { result: null, error: null });
}

/** The change that a client's result makes, or null when the recorded answer stands (service.md POST /v1/chat rule 3). */
export function resultChange(row: InvocationRow, result: ToolResult, recordRequired: boolean, nowMs: number): InvocationChange | null {
  const received: InvocationEvent = {
    type: 'result.received',
    status: result.status,
    confirmed: result.confirmed === true,
    recordRequired,
  };
  // What comes too late is not kept either: it would stand beside a state that says nobody answered.
  const expired = expireChange(row, nowMs);
  if (expired !== null) return expired;
  return change(row, received, {
    result: result.result === undefined ? null : JSON.stringify(result.result),
    error: result.error ?? null,
  });
}

/** How many of these calls still wait, once `changes` are made: for the client, and for a person. */
export function waitingAfter(
  rows: readonly InvocationRow[],
  changes: readonly InvocationChange[],
): { reads: number; confirmations: number } {
  const changed = new Map(changes.map((each) => [each.id, each.to]));
  const open = rows.filter((row) => isUnsettled(changed.get(row.id) ?? row.state));
  const reads = open.filter((row) => row.risk === 'read').length;
  return { reads, confirmations: open.length - reads };
}
