/** The steps that machines made, in the pieces in which their commits kept them: written inside those commits, read by instance. */
import { placeIn } from '../conversations/blocks.ts';
import { columns, integer, orNull, type RowOf, readValue, readValues, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { packedSteps, stepsText } from './packed-steps.ts';

export interface NewTrace {
  readonly version: string;
  /** As `packSteps` of the machines makes it. */
  readonly steps: string;
}

/** Whose steps they are: a turn's own, or those of one of its action calls. */
interface TurnTracePlace {
  readonly turn: number;
  readonly invocation: string;
  readonly node: string;
  readonly nowMs: number;
}

export function insertTurnTrace(db: Connection, { turn, invocation, node, nowMs }: TurnTracePlace, { version, steps }: NewTrace): void {
  const insertion = `INSERT INTO turn_traces (turn, piece, invocation, version, node, at_ms, steps)
    VALUES (:turn, (SELECT coalesce(max(piece), -1) + 1 FROM turn_traces WHERE turn = :turn), :invocation, :version, :node, :nowMs, :steps)`;
  db.statement(insertion).run({ turn, invocation, node, nowMs, version, steps: packedSteps(steps) });
}

export const APP_MACHINES = ['setup-session', 'step-panel', 'knowledge-source', 'pairing', 'app-lifecycle'] as const;
export type AppMachine = (typeof APP_MACHINES)[number];

interface TracePlace {
  readonly appId: string;
  readonly machine: AppMachine;
  readonly instance: string;
  readonly nowMs: number;
}

export function insertTrace(db: Connection, { appId, machine, instance, nowMs }: TracePlace, { version, steps }: NewTrace): void {
  const insert = `INSERT INTO traces (app_id, machine, instance, version, at_ms, steps) VALUES (:appId, :machine, :instance, :version, :nowMs, :steps)`;
  db.statement(insert).run({ appId, machine, instance, nowMs, version, steps: packedSteps(steps) });
}

const turnPiece = columns({ invocation: text, version: text, node: text, atMs: integer, steps: stepsText });

/** The oldest `limit` pieces of a turn and its calls, in the order in which they were committed. */
export function readTurnTrace(db: Connection, turn: number, limit: number): RowOf<typeof turnPiece>[] {
  return turnPiece.all(db, 'FROM turn_traces WHERE turn = :turn ORDER BY piece LIMIT :limit', { turn, limit });
}

const piece = columns({ version: text, atMs: integer, steps: stepsText });

type TraceRow = RowOf<typeof piece>;

export function readTrace(db: Connection, of: Omit<TracePlace, 'nowMs'>, limit: number): TraceRow[] {
  const { appId, machine, instance } = of;
  const from = 'FROM traces WHERE instance = :instance AND machine = :machine AND app_id = :appId ORDER BY id LIMIT :limit';
  return piece.all(db, from, { appId, machine, instance, limit });
}

export function readMoveTrace(control: Connection, moveId: string, limit: number): TraceRow[] {
  return piece.all(control, 'FROM move_traces WHERE move_id = :moveId ORDER BY piece LIMIT :limit', { moveId, limit });
}

const newestPiece = columns({ machine: text, steps: stepsText, at: integer });

/** The newest pieces of an app, of all machines; as many turns are looked at, of any app, so busier neighbours hide some. */
export function readNewestPieces(db: Connection, appId: string, sinceMs: number, limit: number): RowOf<typeof newestPiece>[] {
  const from = `FROM (
      SELECT CASE turn_traces.invocation WHEN '' THEN 'chat-turn' ELSE 'invocation' END AS machine, steps, at_ms AS at
        FROM turn_traces JOIN turns ON turns.id = turn_traces.turn
        WHERE turn > (SELECT coalesce(max(id), 0) FROM turns) - :limit AND app_id = :appId AND at_ms >= :sinceMs
      UNION ALL
      SELECT machine, steps, at_ms AS at FROM
        (SELECT machine, steps, at_ms FROM traces WHERE app_id = :appId ORDER BY id DESC LIMIT :limit) WHERE at_ms >= :sinceMs
    ) ORDER BY at DESC LIMIT :limit`;
  return newestPiece.all(db, from, { appId, sinceMs, limit });
}

/** JSON of a failed turn's failure, as its machine keeps it; null of all others. Here, because what reads turns imports this file. */
export const FAILURE = "CASE WHEN state = 'failed' THEN snapshot -> '$.failure' END";

/** What a person said to open a turn: the first words of its message. */
const TURN_WORDS = `(SELECT b.body ->> '$.md' FROM blocks b WHERE b.${placeIn('(turns.id * 2)')} ORDER BY b.place LIMIT 1)`;

const newestTrace = columns({
  machine: text,
  instance: text,
  state: orNull(text),
  atMs: integer.from('at'),
  /** Number of a turn; null of other machines, as all down to `failure`. */
  turn: orNull(integer),
  endedAtMs: orNull(integer),
  words: orNull(text),
  /** JSON of why it failed. */
  failure: orNull(text),
  /** The last steps of what is no turn. */
  steps: orNull(stepsText),
});

/** An instance of an app, by the id that people know it by. */
export type NewestTrace = RowOf<typeof newestTrace>;

/** The newest instances of an app among the newest `within` turns and pieces. A turn counts from its opening, the rest from their last step. */
export function readNewestTraces(db: Connection, appId: string, within: number, limit: number): NewestTrace[] {
  const from = `FROM (
      SELECT * FROM (SELECT 'chat-turn' AS machine, turn_id AS instance, state, opened_at_ms AS at, id AS turn, ended_at_ms, ${TURN_WORDS} AS words,
        ${FAILURE} AS failure, NULL AS steps FROM turns
        WHERE id > (SELECT coalesce(max(id), 0) FROM turns) - :within AND app_id = :appId ORDER BY id DESC LIMIT :limit)
      UNION ALL
      SELECT machine, instance, NULL AS state, max(at_ms) AS at, NULL AS turn, NULL AS ended_at_ms, NULL AS words, NULL AS failure, steps FROM
        (SELECT machine, instance, at_ms, steps FROM traces WHERE app_id = :appId ORDER BY id DESC LIMIT :within) GROUP BY machine, instance
    ) ORDER BY at DESC LIMIT :limit`;
  return newestTrace.all(db, from, { appId, within, limit });
}

const tracedTurn = columns({ turn: integer.from('id'), state: text, requestId: text, openedAtMs: integer, runBy: text });

export type TracedTurn = RowOf<typeof tracedTurn>;

/** The turn that answered a request, of the newest `within` turns of the organisation: a request id has no index of its own. */
export function readTurnOfRequest(db: Connection, appId: string, requestId: string, within: number): TracedTurn | undefined {
  const from = `FROM turns WHERE id > (SELECT coalesce(max(id), 0) FROM turns) - :within AND request_id = :requestId
      AND app_id = :appId ORDER BY id DESC LIMIT 1`;
  return tracedTurn.get(db, from, { appId, requestId, within });
}

/** The turn whose calls a continuation goes on with; undefined for any other turn. */
export function readContinuedTurn(db: Connection, turn: number): number | undefined {
  const select = `SELECT id FROM turns WHERE conversation_id = (SELECT conversation_id FROM turns WHERE id = :turn AND kind = 'continuation') AND id < :turn
    AND EXISTS (SELECT 1 FROM invocations WHERE invocations.turn = turns.id) ORDER BY id DESC LIMIT 1`;
  return readValue(db, integer, select, { turn });
}

export function readTurnOfCall(db: Connection, appId: string, invocationId: string): number | undefined {
  return readValue(db, integer, 'SELECT turn FROM invocations WHERE id = :invocationId AND app_id = :appId', { invocationId, appId });
}

export function readTurnsOfConversation(db: Connection, appId: string, conversationId: string, limit: number): number[] {
  const select = 'SELECT id FROM turns WHERE conversation_id = :conversationId AND app_id = :appId ORDER BY id DESC LIMIT :limit';
  return readValues(db, integer, select, { conversationId, appId, limit }).reverse();
}

export function readTracedTurn(db: Connection, turn: number): TracedTurn | undefined {
  return tracedTurn.get(db, 'FROM turns WHERE id = :turn', { turn });
}

/** JSON of the definition that has this version; undefined when it was never kept here. */
export function readMachineDefinition(db: Connection, version: string): string | undefined {
  return readValue(db, text, 'SELECT definition FROM machine_definitions WHERE version = :version', { version });
}

export interface MachineDefinition {
  readonly version: string;
  readonly machine: string;
  readonly definition: string;
}

export function missingDefinitions(db: Connection, definitions: readonly MachineDefinition[]): MachineDefinition[] {
  const kept = new Set(readValues(db, text, 'SELECT version FROM machine_definitions', {}));
  return definitions.filter(({ version }) => !kept.has(version));
}

/** What a piece takes in the file beside its steps: ids, version, times and the row itself. */
const PIECE_BYTES = 96;

const turnSize = columns({
  key: integer.from('turn'),
  bytes: integer.from(`sum(octet_length(steps) + ${PIECE_BYTES})`),
  atMs: integer.from('max(at_ms)'),
});
const pieceSize = columns({ key: integer.from('id'), bytes: integer.from(`octet_length(steps) + ${PIECE_BYTES}`), atMs: integer });

/** Traces of turns, or everything else: each has a table and bounds of its own. */
export type TraceTable = 'turn_traces' | 'traces';

export function readTraceSizes(db: Connection, table: TraceTable, before: number, limit: number): RowOf<typeof turnSize>[] {
  if (table === 'traces') return pieceSize.all(db, 'FROM traces WHERE id < :before ORDER BY id DESC LIMIT :limit', { before, limit });
  return turnSize.all(db, 'FROM turn_traces WHERE turn < :before GROUP BY turn ORDER BY turn DESC LIMIT :limit', { before, limit });
}

/** When the oldest trace that is kept was written last; null when there is none. */
export function oldestTraceAt(db: Connection): number | null {
  const turn = turnSize.get(db, 'FROM turn_traces WHERE turn = (SELECT min(turn) FROM turn_traces) GROUP BY turn', {});
  const piece = pieceSize.get(db, 'FROM traces WHERE id = (SELECT min(id) FROM traces)', {});
  const times = [turn?.atMs, piece?.atMs].filter((atMs) => atMs !== undefined);
  return times.length === 0 ? null : Math.min(...times);
}

export const transactions = {
  /** Deletes the traces numbered `upTo` and below, the oldest first, at most `limit` pieces. Returns how many: fewer than `limit` when that was all. */
  trimTraces(
    db: Connection,
    { table, upTo, limit }: { readonly table: TraceTable; readonly upTo: number; readonly limit: number },
  ): number {
    const sql =
      table === 'traces'
        ? 'DELETE FROM traces WHERE id IN (SELECT id FROM traces WHERE id <= :upTo ORDER BY id LIMIT :limit)'
        : `DELETE FROM turn_traces WHERE (turn, piece) IN
             (SELECT turn, piece FROM turn_traces WHERE turn <= :upTo ORDER BY turn, piece LIMIT :limit)`;
    return db.statement(sql).run({ upTo, limit }).changes;
  },

  keepMachineDefinitions(db: Connection, input: { readonly definitions: readonly MachineDefinition[] }): void {
    const insert = db.statement(
      `INSERT INTO machine_definitions (version, machine, definition) VALUES (:version, :machine, :definition) ON CONFLICT DO NOTHING`,
    );
    for (const { version, machine, definition: json } of input.definitions) insert.run({ version, machine, definition: json });
  },
};
