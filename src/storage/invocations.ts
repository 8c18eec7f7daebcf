/** Action calls of the model: one row per call, moved from state to state by compare-and-set. */
import type { InvocationState } from '../protocol/runtime/states.ts';
import type { Executor, Risk } from '../protocol/runtime/stream-events.ts';
import type { Connection, Row } from './connection.ts';
import { type PickChange, setPicks } from './conversations.ts';

export interface InvocationRow {
  readonly id: string;
  readonly appId: string;
  readonly conversationId: string;
  readonly turn: number;
  /** The assistant's message that made the call. */
  readonly messageId: string;
  /** The id the model gave the call. */
  readonly callId: string;
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly risk: Risk;
  readonly executor: Executor;
  readonly timeoutMs: number;
  readonly state: InvocationState;
  /** JSON of what the action answered, null before that. */
  readonly result: string | null;
  readonly error: string | null;
  readonly blockId: string | null;
  readonly revision: number;
  readonly requestedAtMs: number;
  readonly expiresAtMs: number | null;
}

function readInvocation(row: Row): InvocationRow {
  return {
    id: row.id as string,
    appId: row.app_id as string,
    conversationId: row.conversation_id as string,
    turn: row.turn as number,
    messageId: row.message_id as string,
    callId: row.call_id as string,
    name: row.name as string,
    params: JSON.parse(row.params as string),
    risk: row.risk as Risk,
    executor: row.executor as Executor,
    timeoutMs: row.timeout_ms as number,
    state: row.state as InvocationState,
    result: row.result as string | null,
    error: row.error as string | null,
    blockId: row.block_id as string | null,
    revision: row.revision as number,
    requestedAtMs: row.requested_at_ms as number,
    expiresAtMs: row.expires_at_ms as number | null,
  };
}

export function readInvocationById(db: Connection, id: string): InvocationRow | undefined {
  const row = db.statement('SELECT * FROM invocations WHERE id = :id').get({ id });
  return row === undefined ? undefined : readInvocation(row);
}

/** Calls of one turn, in the order the model made them. */
export function readTurnInvocations(db: Connection, turn: number): InvocationRow[] {
  return db.statement('SELECT * FROM invocations WHERE turn = :turn ORDER BY ordinal').all({ turn }).map(readInvocation);
}

/** The newest `limit` calls of a conversation, oldest first. */
export function readConversationInvocations(db: Connection, conversationId: string, limit: number): InvocationRow[] {
  return db
    .statement('SELECT * FROM invocations WHERE conversation_id = :conversationId ORDER BY requested_at_ms DESC, ordinal DESC LIMIT :limit')
    .all({ conversationId, limit })
    .map(readInvocation)
    .reverse();
}

/** Calls whose time is up at `nowMs`, at most `limit`. */
export function readDueInvocations(db: Connection, nowMs: number, limit: number): InvocationRow[] {
  return db
    .statement('SELECT * FROM invocations WHERE expires_at_ms <= :nowMs ORDER BY expires_at_ms LIMIT :limit')
    .all({ nowMs, limit })
    .map(readInvocation);
}

/** When the next call runs out, null when none does. */
export function nextInvocationDeadline(db: Connection): number | null {
  const row = db.statement('SELECT min(expires_at_ms) AS at FROM invocations WHERE expires_at_ms IS NOT NULL').get();
  return (row?.at as number | null | undefined) ?? null;
}

export interface NewInvocation {
  readonly id: string;
  readonly callId: string;
  readonly name: string;
  /** JSON. */
  readonly params: string;
  readonly risk: Risk;
  readonly executor: Executor;
  readonly timeoutMs: number;
  readonly state: InvocationState;
  readonly blockId: string | null;
  readonly expiresAtMs: number | null;
}

export function insertInvocations(
  db: Connection,
  owner: { appId: string; conversationId: string; turn: number; messageId: string; nowMs: number },
  invocations: readonly NewInvocation[],
): void {
  const insert = db.statement(
    `INSERT INTO invocations (id, app_id, conversation_id, turn, message_id, ordinal, call_id, name, params, risk, executor,
       timeout_ms, state, block_id, requested_at_ms, expires_at_ms)
     VALUES (:id, :appId, :conversationId, :turn, :messageId, :ordinal, :callId, :name, :params, :risk, :executor,
       :timeoutMs, :state, :blockId, :nowMs, :expiresAtMs)`,
  );
  invocations.forEach((invocation, ordinal) => {
    insert.run({ ...owner, ...invocation, ordinal });
  });
}

export interface InvocationChange {
  readonly id: string;
  readonly from: InvocationState;
  readonly to: InvocationState;
  readonly result: string | null;
  readonly error: string | null;
  readonly expiresAtMs: number | null;
}

/** Moves each call from the state it was read in; answers the ids that were not there any more. */
export function changeInvocations(db: Connection, changes: readonly InvocationChange[], nowMs: number): string[] {
  const update = db.statement(
    `UPDATE invocations SET state = :to, result = coalesce(:result, result), error = coalesce(:error, error),
       expires_at_ms = :expiresAtMs, settled_at_ms = CASE WHEN :expiresAtMs IS NULL THEN :nowMs ELSE settled_at_ms END
     WHERE id = :id AND state = :from`,
  );
  return changes.filter((change) => update.run({ ...change, nowMs }).changes === 0).map((change) => change.id);
}

export interface Settlement {
  readonly change: InvocationChange;
  readonly card: PickChange | null;
}

export const transactions = {
  /** Compare-and-set of several calls, each with the card it is shown on; what had moved on meanwhile stays as it is. */
  settleInvocations(db: Connection, input: { settlements: readonly Settlement[]; nowMs: number }): void {
    for (const { change, card } of input.settlements) {
      const movedOn = changeInvocations(db, [change], input.nowMs).length > 0;
      if (!movedOn && card !== null) setPicks(db, [card]);
    }
  },
};
