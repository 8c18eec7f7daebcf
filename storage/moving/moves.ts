/**
 * Organisations that leave this cell (CELL-11): the progress of each move, in the control file. A step is stored when it is done. Every
 * change names the step that it starts from, so when two nodes drive one move, only one succeeds.
 *
 * Invariant: a move is switched or aborted, never both; the map names the other cell exactly when it is switched.
 */
import { Refusal } from '../../protocol/errors.ts';
import { columns, integer, json, orNull, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { packedSteps } from '../traces/packed-steps.ts';
import { type NewTrace, transactions as tracing } from '../traces/traces.ts';
import { cellOf, isOrganisationKnown, type KnownPlacement, knownPlacement, transactions as placing, readPlacement } from './placements.ts';

/** In order, except `aborted`. What each means: machines/organisation-move.ts. */
export const MOVE_STEPS = ['begun', 'sealed', 'switched', 'done', 'aborted'] as const;
export type MoveStep = (typeof MOVE_STEPS)[number];

export interface CopyRecord {
  /** Size and rows of the organisation's file. */
  readonly bytes: number;
  readonly rows: number;
  readonly uploads: number;
  readonly uploadBytes: number;
}

const moveRow = columns({
  organisationId: text,
  moveId: text,
  targetCell: text,
  step: text.as<MoveStep>(),
  /** Null until it is made. */
  copy: orNull(json<CopyRecord>()).from('manifest'),
  /** Why the move is stuck or was given up; null when nothing is wrong. */
  error: orNull(text),
  startedAtMs: integer,
  /** Also updated as the driver's heartbeat. */
  updatedAtMs: integer,
});

export type MoveRow = RowOf<typeof moveRow>;

const MOVE_ID = /^mov_([0-9]{10})_([0-9]{14})_[0-9a-f]{16}$/;

export function isMoveId(text: string): boolean {
  return MOVE_ID.test(text);
}

/** Move ids of one organisation sort in the order in which the moves began, on any cell: by placement version, then by time. */
function moveIdOf(version: number, startedAtMs: number, nonce: string): string {
  return `mov_${String(version).padStart(10, '0')}_${String(startedAtMs).padStart(14, '0')}_${nonce}`;
}

/** The version of the placement that the move starts from; it ends with the next. @throws Error when it is not a move id. */
export function placementVersionOf(moveId: string): number {
  const version = MOVE_ID.exec(moveId)?.[1];
  if (version === undefined) throw new Error(`not the id of a move: ${moveId}`);
  return Number(version);
}

export function readMove(control: Connection, organisationId: string): MoveRow | undefined {
  return moveRow.get(control, 'FROM moves WHERE organisation_id = :organisationId', { organisationId });
}

/** How long an aborted move is checked for a seal that it left behind. Beginning another move checks, too. */
const ABORTED_LOOKED_AT_MS = 3_600_000;

/** Moves that may need work, including recently aborted ones, whose seal may have to be removed. */
export function listUnfinishedMoves(control: Connection, nowMs: number): MoveRow[] {
  return moveRow.all(
    control,
    `FROM moves WHERE step <> 'done' AND (step <> 'aborted' OR updated_at_ms > :sinceMs) ORDER BY started_at_ms`,
    { sinceMs: nowMs - ABORTED_LOOKED_AT_MS },
  );
}

/** Organisations that have rows here but live elsewhere, without a move from here. */
export function listStranded(control: Connection, cell: string): KnownPlacement[] {
  return knownPlacement.all(
    control,
    `FROM placements WHERE cell <> :cell
       AND EXISTS (SELECT 1 FROM organisations WHERE id = organisation_id)
       AND NOT EXISTS (SELECT 1 FROM moves WHERE moves.organisation_id = placements.organisation_id AND step IN ('switched', 'done'))
       AND NOT EXISTS (SELECT 1 FROM arrivals WHERE arrivals.organisation_id = placements.organisation_id AND step IN ('receiving', 'adopted'))`,
    { cell },
  );
}

interface MoveRef {
  readonly organisationId: string;
  readonly moveId: string;
  readonly nowMs: number;
}

interface BeginInput {
  readonly organisationId: string;
  readonly cell: string;
  readonly targetCell: string;
  readonly nonce: string;
  readonly nowMs: number;
}

function requireHere(db: Connection, { organisationId, cell }: BeginInput): void {
  if (!isOrganisationKnown(db, organisationId)) throw new Refusal('not_found', `There is no organisation ${organisationId}.`);
  const placed = cellOf(db, cell, organisationId);
  if (placed !== cell) throw new Refusal('conflict', `The organisation ${organisationId} lives on cell ${placed}. Move it from there.`);
}

/**
 * Begins a move, or returns the one that is under way to the same cell.
 * @throws Refusal not_found; conflict when the organisation does not live here, or is on its way to another cell.
 */
function beginMove(db: Connection, input: BeginInput): MoveRow {
  const { organisationId, targetCell, nonce, nowMs } = input;
  requireHere(db, input);
  const before = readMove(db, organisationId);
  if (before !== undefined && before.step !== 'done' && before.step !== 'aborted') {
    if (before.targetCell === targetCell) return before;
    throw new Refusal('conflict', `The organisation ${organisationId} is on its way to cell ${before.targetCell}. Abort that move first.`);
  }
  const startedAtMs = Math.max(nowMs, (before?.startedAtMs ?? 0) + 1);
  const moveId = moveIdOf(readPlacement(db, organisationId)?.version ?? 0, startedAtMs, nonce);
  db.statement('DELETE FROM moves WHERE organisation_id = :organisationId').run({ organisationId });
  db.statement(
    `INSERT INTO moves (organisation_id, move_id, target_cell, step, started_at_ms, updated_at_ms)
     VALUES (:organisationId, :moveId, :targetCell, 'begun', :startedAtMs, :startedAtMs)`,
  ).run({ organisationId, moveId, targetCell, startedAtMs });
  return readMove(db, organisationId) as MoveRow;
}

/** Claims a move for its driver. True for the first caller that read the row in its present state; others leave the move alone. */
function claimMove(db: Connection, { organisationId, moveId, nowMs, seenAtMs }: MoveRef & { seenAtMs: number }): boolean {
  const { changes } = db
    .statement(
      `UPDATE moves SET updated_at_ms = max(:nowMs, :seenAtMs + 1)
       WHERE organisation_id = :organisationId AND move_id = :moveId AND updated_at_ms = :seenAtMs`,
    )
    .run({ organisationId, moveId, nowMs, seenAtMs });
  return changes === 1;
}

interface NoteInput extends MoveRef {
  readonly step: MoveStep;
  /** What went wrong since the step, and what is sent; null or absent: unchanged. */
  readonly error?: string | null;
  readonly copy?: CopyRecord | null;
}

/** The driver's heartbeat. */
function noteMove(db: Connection, { organisationId, moveId, nowMs, step, error, copy }: NoteInput): void {
  db.statement(
    `UPDATE moves SET updated_at_ms = max(updated_at_ms, :nowMs), error = coalesce(:error, error), manifest = coalesce(:copy, manifest)
     WHERE organisation_id = :organisationId AND move_id = :moveId AND step = :step`,
  ).run({ organisationId, moveId, nowMs, step, error: error ?? null, copy: copy == null ? null : JSON.stringify(copy) });
}

/** The steps of the machine that a commit keeps; they go with the move's row. */
export interface MoveTrace extends NewTrace {
  readonly definition: string;
}

function insertMoveTrace(db: Connection, { moveId, nowMs }: MoveRef, { version, steps, definition }: MoveTrace): void {
  tracing.keepMachineDefinitions(db, { definitions: [{ version, machine: 'organisation-move', definition }] });
  db.statement(
    `INSERT INTO move_traces (move_id, piece, version, at_ms, steps)
     VALUES (:moveId, (SELECT coalesce(max(piece), -1) + 1 FROM move_traces WHERE move_id = :moveId), :version, :nowMs, :steps)`,
  ).run({ moveId, version, nowMs, steps: packedSteps(steps) });
}

interface AdvanceInput extends MoveRef {
  readonly from: MoveStep;
  readonly to: MoveStep;
  readonly trace?: MoveTrace | null;
}

/** Advances the move by a step. False when it was no longer at `from`. */
function advanceMove(db: Connection, { organisationId, moveId, nowMs, from, to, trace }: AdvanceInput): boolean {
  const { changes } = db
    .statement(
      `UPDATE moves SET step = :to, error = NULL, updated_at_ms = max(updated_at_ms, :nowMs)
       WHERE organisation_id = :organisationId AND move_id = :moveId AND step = :from`,
    )
    .run({ organisationId, moveId, nowMs, from, to });
  if (changes === 1 && trace != null) insertMoveTrace(db, { organisationId, moveId, nowMs }, trace);
  return changes === 1;
}

/**
 * The point of no return: the step and the placement change together. False when the move was no longer at `sealed`.
 * @throws Error when the organisation was placed elsewhere meanwhile, which only its own cell may do.
 */
function switchMove(db: Connection, input: MoveRef & Pick<AdvanceInput, 'trace'> & { cell: string }): boolean {
  const { cell, ...step } = input;
  const { organisationId, moveId, nowMs } = step;
  const targetCell = readMove(db, organisationId)?.targetCell;
  if (targetCell === undefined || !advanceMove(db, { ...step, from: 'sealed', to: 'switched' })) return false;
  const version = placementVersionOf(moveId) + 1;
  const placed = readPlacement(db, organisationId);
  if (placed !== undefined && (placed.cell !== cell || placed.version >= version)) {
    throw new Error(`${organisationId} was placed on cell ${placed.cell} at version ${placed.version} while it was being moved`);
  }
  placing.placeOrganisation(db, { organisationId, cell: targetCell, version, nowMs });
  return true;
}

interface AbortInput extends MoveRef {
  readonly error: string | null;
  /** The step to `aborted` from each of those that it is made from: which of them counts is known here. */
  readonly traces?: Readonly<Partial<Record<MoveStep, MoveTrace>>>;
}

/** Aborts the move unless the placement was switched. Returns its step afterwards; undefined when there is no such move. */
function abortMove(db: Connection, { organisationId, moveId, nowMs, error, traces }: AbortInput): MoveStep | undefined {
  const before = readMove(db, organisationId)?.step;
  const { changes } = db
    .statement(
      `UPDATE moves SET step = 'aborted', error = coalesce(:error, error), updated_at_ms = max(updated_at_ms, :nowMs)
     WHERE organisation_id = :organisationId AND move_id = :moveId AND step IN ('begun', 'sealed')`,
    )
    .run({ organisationId, moveId, nowMs, error });
  const trace = before === undefined ? undefined : traces?.[before];
  if (changes === 1 && trace !== undefined) insertMoveTrace(db, { organisationId, moveId, nowMs }, trace);
  const move = readMove(db, organisationId);
  return move?.moveId === moveId ? move.step : undefined;
}

/** The move id that seals the file of a stranded organisation; `version`: that of its placement. */
export function goneMoveId(version: number, nowMs: number): string {
  return moveIdOf(Math.max(0, version - 1), nowMs, '0'.repeat(16));
}

/** Marks a stranded organisation as moved: this cell was restored from a backup made before its move. */
function noteGone(db: Connection, input: { organisationId: string; moveId: string; cell: string; nowMs: number }): void {
  db.statement('DELETE FROM moves WHERE organisation_id = :organisationId').run({ organisationId: input.organisationId });
  db.statement(
    `INSERT INTO moves (organisation_id, move_id, target_cell, step, started_at_ms, updated_at_ms)
     VALUES (:organisationId, :moveId, :cell, 'done', :nowMs, :nowMs)`,
  ).run(input);
}

export const transactions = { beginMove, claimMove, noteMove, advanceMove, switchMove, abortMove, noteGone };
