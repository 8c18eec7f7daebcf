/** Moves stored action calls through the invocation machine: rows in, compare-and-set changes out. */
import { type InvocationEvent, invocation } from '../../machines/invocation.ts';
import { stepper } from '../../machines/step.ts';
import { CONFIRMATION_TTL_DEFAULT_S, CONFIRMED_VALID_HOURS } from '../../protocol/limits.ts';
import type { ToolResult } from '../../protocol/runtime/chat.ts';
import { type InvocationState, isUnsettled } from '../../protocol/runtime/states.ts';
import type { Executor, Risk } from '../../protocol/runtime/stream-events.ts';
import type { InvocationChange, InvocationEdit, InvocationRow } from '../../storage/conversations/invocations.ts';
import type { NewTrace } from '../../storage/traces/traces.ts';
import { takenTrace } from '../taken-trace.ts';
import type { ActionOutcome } from './action-runner.ts';

/** A read is given its own time plus this: the result has to travel. */
const RESULT_GRACE_MS = 30_000;
const HOUR_MS = 3_600_000;

export interface Dispatched {
  readonly state: InvocationState;
  readonly expiresAtMs: number;
  readonly trace: NewTrace | null;
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
  const machine = stepper(invocation, { input: { risk, executor } });
  const { state } = machine.send({ type: 'dispatch', expiresAtMs });
  return { state: state as InvocationState, expiresAtMs, trace: takenTrace(invocation, machine) };
}

function after(row: InvocationRow, events: readonly InvocationEvent[]) {
  const { risk, executor, revision, expiresAtMs } = row;
  const machine = stepper(invocation, { stored: { state: row.state, context: { risk, executor, revision, expiresAtMs } } });
  for (const event of events) machine.send(event);
  const { expiresAtMs: dueAtMs, revision: left } = machine.snapshot.context;
  return {
    state: machine.state as InvocationState,
    expiresAtMs: dueAtMs,
    revision: left,
    /** Packed where a change is made of it: most changes are asked for and not made. */
    trace: () => takenTrace(invocation, machine),
  };
}

const NOTHING_SAID = { result: null, error: null };

type Said = Pick<InvocationChange, 'result' | 'error'>;

function changeBy(row: InvocationRow, events: readonly InvocationEvent[], said: Said): InvocationChange | null {
  const next = after(row, events);
  if (next.state === row.state) return null;
  const { state: to, expiresAtMs } = next;
  return { id: row.id, from: row.state, to, revision: row.revision, expiresAtMs, ...said, trace: next.trace() };
}

function change(row: InvocationRow, event: InvocationEvent, said: Said): InvocationChange | null {
  return changeBy(row, [event], said);
}

/** The row once `change` is made, for a second step in the same write. */
export function changed(row: InvocationRow, made: InvocationChange): InvocationRow {
  return {
    ...row,
    state: made.to,
    expiresAtMs: made.expiresAtMs,
    result: made.result ?? row.result,
    error: made.error ?? row.error,
    confirmedAtMs: row.confirmedAtMs ?? made.confirmedAtMs ?? null,
    confirmedOnTrust: row.confirmedAtMs === null ? made.confirmedOnTrust === true : row.confirmedOnTrust,
    executedBy: made.executedBy ?? row.executedBy,
  };
}

export type Answer = 'pending' | 'confirmed' | 'declined' | 'expired';

export function answerOf({ state, confirmedAtMs }: Pick<InvocationRow, 'state' | 'confirmedAtMs'>): Answer {
  if (state === 'requested' || state.startsWith('pending.')) return 'pending';
  // Also when the client reported something else afterwards: a decline cannot overwrite a confirmation.
  if (confirmedAtMs !== null) return 'confirmed';
  switch (state) {
    case 'confirmed':
    case 'executing':
    case 'succeeded':
      return 'confirmed';
    // Its rows are restored, and lack whether anybody has: nobody can any more.
    case 'unknown':
    case 'expired':
      return 'expired';
    default:
      return 'declined';
  }
}

export function expireChange(row: InvocationRow, nowMs: number): InvocationChange | null {
  return change(row, { type: 'expire', nowMs }, NOTHING_SAID);
}

/** The change that a person's answer makes, or null where the machine takes none: to a card that is being changed, was changed badly, or is answered. */
export function decisionChange(row: InvocationRow, decision: 'confirm' | 'decline', nowMs: number): InvocationChange | null {
  const event: InvocationEvent =
    decision === 'confirm' ? { type: 'confirm', expiresAtMs: nowMs + CONFIRMED_VALID_HOURS * HOUR_MS } : { type: 'decline' };
  const made = change(row, event, NOTHING_SAID);
  return made === null || made.to !== 'confirmed' ? made : { ...made, confirmedAtMs: nowMs };
}

/** A person starts to change a card's values, which keeps everybody else from confirming. */
export function beginEdit(row: InvocationRow): InvocationChange | null {
  return change(row, { type: 'edit.begin' }, NOTHING_SAID);
}

export function acceptEdit(row: InvocationRow, edit: Omit<InvocationEdit, 'revision'>): InvocationChange {
  const { trace: _, ...begun } = after(row, [{ type: 'edit.begin' }]);
  const next = after({ ...row, ...begun }, [{ type: 'edit.accept' }]);
  const { id, revision } = row;
  return {
    id,
    from: begun.state,
    to: next.state,
    revision,
    expiresAtMs: next.expiresAtMs,
    edit: { ...edit, revision: next.revision },
    ...NOTHING_SAID,
    trace: next.trace(),
  };
}

/** A change of values that is not: the card waits for a better one, or a decline. A card that waits like this already stays so. */
export function rejectEdit(row: InvocationRow): InvocationChange {
  const next = after(row, [{ type: 'edit.begin' }, { type: 'edit.reject' }]);
  const { state: to, expiresAtMs } = next;
  return { id: row.id, from: row.state, to, revision: row.revision, expiresAtMs, ...NOTHING_SAID, trace: next.trace() };
}

/** It becomes `unknown`, or its card can be answered again. Null for others. */
export function lostChange(row: InvocationRow): InvocationChange | null {
  return change(row, { type: 'process.lost' }, NOTHING_SAID);
}

/** Nobody is asked again, and nothing is sent again. Null for others, and for a recorded confirmation that is the client's to run. */
export function answerLostChange(row: InvocationRow): InvocationChange | null {
  return changeBy(row, [{ type: 'answer.lost' }, { type: 'execution.started' }, { type: 'process.lost' }], NOTHING_SAID);
}

export function settleExecution(row: InvocationRow, end: ActionOutcome): InvocationChange | null {
  const said = end.outcome === 'succeeded' ? { result: end.result, error: null } : { result: null, error: end.error };
  return change(row, { type: 'execution.settled', outcome: end.outcome }, said);
}

/** The change that a client's result makes (ACTION-4, CONFIRM-8). The person's agreement starts a call that the server runs. */
export function answerChange(row: InvocationRow, result: ToolResult, recordRequired: boolean, nowMs: number) {
  const confirmed = result.confirmed === true;
  const received: InvocationEvent = { type: 'result.received', status: result.status, confirmed, recordRequired };
  // A result that comes too late is not kept: it would contradict the state, which says that there was no answer.
  const expired = expireChange(row, nowMs);
  if (expired !== null) return { change: expired, executes: false };
  const next = after(row, [received]);
  const executes = next.state === 'confirmed' && row.executor === 'server' && row.risk !== 'read';
  const said = executes
    ? NOTHING_SAID
    : { result: result.result === undefined ? null : JSON.stringify(result.result), error: result.error ?? null };
  const made = executes ? changeBy(row, [received, { type: 'execution.started' }], said) : changeBy(row, [received], said);
  const onTrust = made !== null && made.to !== 'declined' && row.state === 'pending.clean' && confirmed && !recordRequired;
  return { change: onTrust ? { ...made, confirmedAtMs: nowMs, confirmedOnTrust: true } : made, executes };
}

export function waitingAfter(
  rows: readonly InvocationRow[],
  changes: readonly InvocationChange[],
): { reads: number; confirmations: number } {
  const changed = new Map(changes.map((each) => [each.id, each.to]));
  const open = rows.filter((row) => isUnsettled(changed.get(row.id) ?? row.state));
  const reads = open.filter((row) => row.risk === 'read').length;
  return { reads, confirmations: open.length - reads };
}
