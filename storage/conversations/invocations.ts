/** Action calls of the model: one row per call, moved from state to state by compare-and-set. */
import type { InvocationState } from '../../protocol/runtime/states.ts';
import type { Executor, Risk } from '../../protocol/runtime/stream-events.ts';
import { columns, flag, integer, json, orNull, type RowOf, readValue, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { insertTurnTrace, type NewTrace } from '../traces/traces.ts';
import { type PickChange, setPicks } from './blocks.ts';

const invocation = columns({
  id: text,
  appId: text,
  conversationId: text,
  turn: integer,
  messageId: text,
  callId: text,
  name: text,
  params: json<Readonly<Record<string, unknown>>>(),
  risk: text.as<Risk>(),
  executor: text.as<Executor>(),
  timeoutMs: integer,
  state: text.as<InvocationState>(),
  result: orNull(text),
  error: orNull(text),
  blockId: orNull(text),
  revision: integer,
  requestedAtMs: integer,
  expiresAtMs: orNull(integer),
  confirmedAtMs: orNull(integer),
  confirmedOnTrust: flag,
  decisionId: orNull(text),
  executedBy: orNull(integer),
  definition: orNull(text),
});

export type InvocationRow = RowOf<typeof invocation>;

export function readInvocationById(db: Connection, id: string): InvocationRow | undefined {
  return invocation.get(db, 'FROM invocations WHERE id = :id', { id });
}

export function readTurnInvocations(db: Connection, turn: number): InvocationRow[] {
  return invocation.all(db, 'FROM invocations WHERE turn = :turn ORDER BY ordinal', { turn });
}

export function readConversationInvocations(db: Connection, conversationId: string, limit: number): InvocationRow[] {
  const newest = 'FROM invocations WHERE conversation_id = :conversationId ORDER BY requested_at_ms DESC, ordinal DESC LIMIT :limit';
  return invocation.all(db, newest, { conversationId, limit }).reverse();
}

export function readDueInvocations(db: Connection, nowMs: number, limit: number): InvocationRow[] {
  return invocation.all(db, 'FROM invocations WHERE expires_at_ms <= :nowMs ORDER BY expires_at_ms LIMIT :limit', { nowMs, limit });
}

/** Calls of a conversation that the server is running, or was when its process ended; oldest first. */
export function readExecuting(db: Connection, conversationId: string): InvocationRow[] {
  const from = `FROM invocations WHERE conversation_id = :conversationId AND state = 'executing' ORDER BY requested_at_ms, ordinal`;
  return invocation.all(db, from, { conversationId });
}

export function readExecutedBy(db: Connection, turn: number): InvocationRow[] {
  return invocation.all(db, 'FROM invocations WHERE executed_by = :turn ORDER BY requested_at_ms, ordinal', { turn });
}

/** Calls with an unknown outcome, run by failed turns and not followed by an answered turn: the person has not heard of them yet. */
export function readUntold(db: Connection, conversationId: string): InvocationRow[] {
  const from = `FROM invocations WHERE state = 'unknown' AND executed_by IN
      (SELECT id FROM turns WHERE conversation_id = :conversationId AND state = 'failed' AND id >
        coalesce((SELECT id FROM turns WHERE conversation_id = :conversationId AND state <> 'failed' ORDER BY id DESC LIMIT 1), 0))
    ORDER BY requested_at_ms, ordinal`;
  return invocation.all(db, from, { conversationId });
}

/** The newest `limit` calls of a conversation that the client or a person may still answer, oldest first; some may have expired. */
export function readWaitingCalls(db: Connection, conversationId: string, limit: number): InvocationRow[] {
  const from = `FROM invocations
    WHERE conversation_id = :conversationId
      AND state IN ('dispatched', 'pending.clean', 'pending.editing', 'pending.rejected', 'confirmed')
    ORDER BY requested_at_ms DESC, ordinal DESC LIMIT :limit`;
  return invocation.all(db, from, { conversationId, limit }).reverse();
}

/** Calls that a person may still confirm, or that the server runs once it is asked to, in all conversations, at most `limit`. */
export function readConfirmable(db: Connection, limit: number): InvocationRow[] {
  const from = `FROM invocations WHERE expires_at_ms IS NOT NULL AND (state = 'confirmed' AND executor = 'server'
       OR state IN ('pending.clean', 'pending.editing', 'pending.rejected')) LIMIT :limit`;
  return invocation.all(db, from, { limit });
}

/** Calls whose card is being changed, at most `limit`. Found by their deadline, because all of them have one. */
export function readEditing(db: Connection, limit: number): InvocationRow[] {
  return invocation.all(db, `FROM invocations WHERE expires_at_ms IS NOT NULL AND state = 'pending.editing' LIMIT :limit`, { limit });
}

export function nextInvocationDeadline(db: Connection): number | null {
  return readValue(db, orNull(integer), 'SELECT min(expires_at_ms) FROM invocations WHERE expires_at_ms IS NOT NULL') ?? null;
}

type NewFields = 'id' | 'callId' | 'name' | 'risk' | 'executor' | 'timeoutMs' | 'state' | 'blockId' | 'expiresAtMs';

export interface NewInvocation extends Pick<InvocationRow, NewFields> {
  /** JSON. */
  readonly params: string;
  readonly definition?: string | null;
  readonly result?: string | null;
  readonly error?: string | null;
  readonly settledAtMs?: number | null;
  readonly executedBy?: number | null;
  readonly trace?: NewTrace | null;
}

export function insertInvocations(
  db: Connection,
  owner: { appId: string; conversationId: string; turn: number; messageId: string; nowMs: number },
  invocations: readonly NewInvocation[],
): void {
  const insert = db.statement(
    `INSERT INTO invocations (id, app_id, conversation_id, turn, message_id, ordinal, call_id, name, params, risk, executor,
       timeout_ms, state, block_id, requested_at_ms, expires_at_ms, definition, result, error, settled_at_ms, executed_by)
     VALUES (:id, :appId, :conversationId, :turn, :messageId, :ordinal, :callId, :name, :params, :risk, :executor,
       :timeoutMs, :state, :blockId, :nowMs, :expiresAtMs, :definition, :result, :error, :settledAtMs, :executedBy)`,
  );
  const unsettled = { definition: null, result: null, error: null, settledAtMs: null, executedBy: null };
  invocations.forEach(({ trace, ...invocation }, ordinal) => {
    insert.run({ ...owner, ...unsettled, ...invocation, ordinal });
    if (trace != null) insertTurnTrace(db, { turn: owner.turn, invocation: invocation.id, node: '', nowMs: owner.nowMs }, trace);
  });
}

export interface InvocationEdit {
  /** JSON. */
  readonly params: string;
  readonly definition: string;
  readonly revision: number;
}

export interface InvocationChange extends Pick<InvocationRow, 'id' | 'result' | 'error' | 'expiresAtMs'> {
  readonly from: InvocationState;
  readonly to: InvocationState;
  /** The revision that the change was decided on; absent: any. */
  readonly revision?: number;
  /** When a person agreed; absent: as it is. The first one stays. */
  readonly confirmedAtMs?: number | null;
  readonly confirmedOnTrust?: boolean;
  /** The client's name for the answer that this records; absent: none. */
  readonly decisionId?: string | undefined;
  readonly executedBy?: number | null;
  readonly edit?: InvocationEdit;
  readonly trace?: NewTrace | null;
}

/** Moves each call from the state (and revision) in which it was read. Returns the ids that had changed meanwhile. */
export function changeInvocations(db: Connection, changes: readonly InvocationChange[], nowMs: number): string[] {
  return changes.filter((change) => !changeInvocation(db, change, nowMs)).map((change) => change.id);
}

function changeInvocation(db: Connection, change: InvocationChange, nowMs: number): boolean {
  const { id, from, to, result, error, expiresAtMs, edit } = change;
  const { revision = null, confirmedAtMs = null, decisionId = null, executedBy = null } = change;
  const update = `UPDATE invocations SET state = :to, result = coalesce(:result, result), error = coalesce(:error, error),
      expires_at_ms = :expiresAtMs, -- A person's word settles the call, although it is good for a time only.
      settled_at_ms = CASE WHEN :expiresAtMs IS NULL OR :to = 'confirmed' THEN :nowMs ELSE settled_at_ms END,
      confirmed_on_trust = CASE WHEN confirmed_at_ms IS NULL THEN :confirmedOnTrust ELSE confirmed_on_trust END,
      confirmed_at_ms = coalesce(confirmed_at_ms, :confirmedAtMs), decision_id = coalesce(decision_id, :decisionId),
      executed_by = coalesce(:executedBy, executed_by)
    WHERE id = :id AND state = :from AND (:revision IS NULL OR revision = :revision)`;
  const { changes } = db.statement(update).run({
    ...{ id, from, to, result, error, expiresAtMs, nowMs, revision, confirmedAtMs, decisionId, executedBy },
    confirmedOnTrust: change.confirmedOnTrust === true ? 1 : 0,
  });
  if (changes === 0) return false;
  if (edit !== undefined) keepEdit(db, id, edit);
  if (change.trace != null) keepTrace(db, id, change.trace, nowMs);
  return true;
}

function keepTrace(db: Connection, id: string, trace: NewTrace, nowMs: number): void {
  const turn = readValue(db, integer, 'SELECT turn FROM invocations WHERE id = :id', { id });
  if (turn !== undefined) insertTurnTrace(db, { turn, invocation: id, node: '', nowMs }, trace);
}

/** A block has the revision of the call that it shows. */
function keepEdit(db: Connection, id: string, { params, definition, revision }: InvocationEdit): void {
  const update = 'UPDATE invocations SET params = :params, definition = :definition, revision = :revision WHERE id = :id';
  db.statement(update).run({ id, params, definition, revision });
  db.statement('UPDATE blocks SET revision = :revision WHERE id = (SELECT block_id FROM invocations WHERE id = :id)').run({ id, revision });
}

export interface Settlement {
  readonly change: InvocationChange;
  readonly card: PickChange | null;
}

function isAsRead(db: Connection, { id, from, revision }: InvocationChange): boolean {
  const row = db.statement('SELECT state, revision FROM invocations WHERE id = :id').get({ id });
  return row?.state === from && (revision === undefined || row.revision === revision);
}

/** Closes the card. If it was changed since it was read, only the outcome of its call is taken over. */
function closeCard(db: Connection, { id, after, fallbackText }: PickChange): void {
  const update = `UPDATE blocks SET fallback_text = :fallbackText,
      body = json_set(body, '$.status', json_extract(:after, '$.status'), '$.edit_state', 'idle')
    WHERE id = :id`;
  db.statement(update).run({ id, after, fallbackText });
}

export const transactions = {
  /** Compare-and-set of several calls, each with its card; calls that changed meanwhile stay as they are. */
  settleInvocations(db: Connection, input: { settlements: readonly Settlement[]; nowMs: number }): void {
    for (const { change, card } of input.settlements) {
      const movedOn = !changeInvocation(db, change, input.nowMs);
      if (!movedOn && card !== null && !setPicks(db, [card])) closeCard(db, card);
    }
  },

  /** Compare-and-set of one call together with its card; false, and nothing is written, when either changed meanwhile. */
  answerInvocation(db: Connection, { settlement, nowMs }: { settlement: Settlement; nowMs: number }): boolean {
    const { change, card } = settlement;
    if (!isAsRead(db, change)) return false;
    if (card !== null && !setPicks(db, [card])) return false;
    return changeInvocation(db, change, nowMs);
  },
};
