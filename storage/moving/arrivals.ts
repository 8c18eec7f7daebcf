/**
 * Organisations that move to this cell (CELL-13), in the control file. What the old cell sends is received, then adopted (in place under
 * its seal, still owned by the old cell), then unsealed. Until it is unsealed it may be discarded.
 *
 * Invariants: anything of an earlier move than the known one is refused; nothing here removes a seal by itself.
 */
import { Refusal } from '../../protocol/errors.ts';
import { beginUse, NOBODY } from '../organisations/organisation-uses.ts';
import { noteOrganisationFile } from '../organisations/organisations.ts';
import { columns, integer, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { type ControlRows, replaceControlRows } from './control-rows.ts';
import { placementVersionOf, readMove } from './moves.ts';
import { cellOf, transactions as placing } from './placements.ts';

export const ARRIVAL_STEPS = ['receiving', 'adopted', 'unsealed', 'discarded'] as const;
export type ArrivalStep = (typeof ARRIVAL_STEPS)[number];

const arrival = columns({
  organisationId: text,
  moveId: text,
  sourceCell: text,
  step: text.as<ArrivalStep>(),
  startedAtMs: integer,
  updatedAtMs: integer,
});

export type ArrivalRow = RowOf<typeof arrival>;

export function readArrival(control: Connection, organisationId: string): ArrivalRow | undefined {
  return arrival.get(control, 'FROM arrivals WHERE organisation_id = :organisationId', { organisationId });
}

/** Arrivals that were called off: files of their organisations may still be here. */
export function discardedArrivals(control: Connection): ArrivalRow[] {
  return arrival.all(control, "FROM arrivals WHERE step = 'discarded' ORDER BY organisation_id");
}

interface ArrivalRef {
  readonly organisationId: string;
  readonly moveId: string;
  readonly nowMs: number;
}

/** @throws Refusal conflict while the organisation lives here, or its move away from here has not ended. */
function requireAway(db: Connection, organisationId: string, cell: string): void {
  const move = readMove(db, organisationId);
  if (move !== undefined && move.step !== 'aborted' && move.step !== 'done') {
    const message = `Cell ${cell} has not put the organisation away yet since it moved to ${move.targetCell}. Send the request again.`;
    throw new Refusal('internal', message, { status: 503, retryAfterS: 1 });
  }
  if (cellOf(db, cell, organisationId) === cell || move?.step === 'aborted') {
    throw new Refusal('conflict', `The organisation ${organisationId} lives on cell ${cell} already.`);
  }
}

function setStep(db: Connection, { organisationId, moveId, nowMs }: ArrivalRef, from: readonly ArrivalStep[], to: ArrivalStep): boolean {
  const { changes } = db
    .statement(
      `UPDATE arrivals SET step = :to, updated_at_ms = :nowMs
       WHERE organisation_id = :organisationId AND move_id = :moveId AND step IN (SELECT value FROM json_each(:from))`,
    )
    .run({ organisationId, moveId, nowMs, to, from: JSON.stringify(from) });
  return changes === 1;
}

/**
 * Admits a move to this cell, or returns the step that it has reached.
 * @throws Refusal conflict when it is not possible; internal (503) when it may be possible soon.
 */
function offerArrival(db: Connection, input: ArrivalRef & { sourceCell: string; cell: string }): ArrivalStep {
  const { organisationId, moveId, sourceCell, cell, nowMs } = input;
  const known = readArrival(db, organisationId);
  if (known?.moveId === moveId && known.step !== 'discarded') return known.step;
  if (known !== undefined && known.moveId >= moveId) {
    throw new Refusal('conflict', `Cell ${cell} has given this move of ${organisationId} up, or knows a newer one.`);
  }
  requireAway(db, organisationId, cell);
  db.statement(
    `INSERT INTO arrivals (organisation_id, move_id, source_cell, step, started_at_ms, updated_at_ms)
     VALUES (:organisationId, :moveId, :sourceCell, 'receiving', :nowMs, :nowMs)
     ON CONFLICT (organisation_id) DO UPDATE SET move_id = excluded.move_id, source_cell = excluded.source_cell,
       step = excluded.step, started_at_ms = excluded.started_at_ms, updated_at_ms = excluded.updated_at_ms`,
  ).run({ organisationId, moveId, sourceCell, nowMs });
  return 'receiving';
}

/** Inserts the organisation's rows once its file is in place. The other cell still owns it. False when the arrival was called off. */
function adoptArrival(db: Connection, input: ArrivalRef & { rows: ControlRows }): boolean {
  const { organisationId, moveId, rows, nowMs } = input;
  const arrival = readArrival(db, organisationId);
  if (arrival?.moveId !== moveId) return false;
  if (arrival.step !== 'receiving') return arrival.step !== 'discarded';
  // The row of an earlier move away would block changes to the organisation's rows.
  db.statement("DELETE FROM moves WHERE organisation_id = :organisationId AND step = 'done'").run({ organisationId });
  replaceControlRows(db, organisationId, rows);
  // The file is in place, under its seal.
  noteOrganisationFile(db, { organisationId, nowMs });
  // What is due in it, this control file does not know.
  beginUse(db, { organisationId, usedBy: NOBODY });
  // Without a placement, the rows would mean that the organisation lives here.
  placing.placeOrganisation(db, { organisationId, cell: arrival.sourceCell, version: placementVersionOf(moveId), nowMs });
  return setStep(db, input, ['receiving'], 'adopted');
}

/** Makes the organisation this cell's: its file takes writes. True also when that was noted before. */
function settleArrival(db: Connection, input: ArrivalRef): boolean {
  const { organisationId, moveId } = input;
  if (readArrival(db, organisationId)?.moveId === moveId) {
    // The row of an earlier move away would block changes to the organisation's rows for ever.
    db.statement("DELETE FROM moves WHERE organisation_id = :organisationId AND step = 'done'").run({ organisationId });
  }
  return setStep(db, input, ['adopted', 'unsealed'], 'unsealed');
}

/** Calls an arrival off. Returns its step afterwards; undefined when there is no such arrival. */
function discardArrival(db: Connection, input: ArrivalRef): ArrivalStep | undefined {
  setStep(db, input, ['receiving', 'adopted'], 'discarded');
  const arrival = readArrival(db, input.organisationId);
  return arrival?.moveId === input.moveId ? arrival.step : undefined;
}

export const transactions = { offerArrival, adoptArrival, settleArrival, discardArrival };
