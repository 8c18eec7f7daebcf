/** A move of an organisation in its reply form, from the source cell or from the target cell. */
import type { MoveReply } from '../../protocol/console/organisations.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import type { ArrivalRow, ArrivalStep } from '../../storage/moving/arrivals.ts';
import type { MoveRow } from '../../storage/moving/moves.ts';
import type { Services } from '../services.ts';

export type Moves = NonNullable<Services['moves']>;

/** Which step of the whole move each step of the arriving side stands for. */
const STEP_OF: Readonly<Record<ArrivalStep, MoveReply['step']>> = {
  receiving: 'begun',
  adopted: 'sealed',
  unsealed: 'done',
  discarded: 'aborted',
};

export function leavingToWire(move: MoveRow, { leaving }: Moves): MoveReply {
  const { copy } = move;
  return {
    organisation_id: move.organisationId,
    move_id: move.moveId,
    source_cell: leaving.cell,
    target_cell: move.targetCell,
    step: move.step,
    error: move.error,
    copy: copy === null ? null : { bytes: copy.bytes, rows: copy.rows, uploads: copy.uploads, upload_bytes: copy.uploadBytes },
    started_at: timestamp(move.startedAtMs),
    updated_at: timestamp(move.updatedAtMs),
  };
}

function arrivingToWire(arrival: ArrivalRow, { leaving }: Moves): MoveReply {
  return {
    organisation_id: arrival.organisationId,
    move_id: arrival.moveId,
    source_cell: arrival.sourceCell,
    target_cell: leaving.cell,
    step: STEP_OF[arrival.step],
    error: null,
    copy: null,
    started_at: timestamp(arrival.startedAtMs),
    updated_at: timestamp(arrival.updatedAtMs),
  };
}

/** The later one of the organisation's last moves from and to this cell; null when there was none. */
export function lastMove(organisationId: string, moves: Moves): MoveReply | null {
  const left = moves.leaving.read(organisationId);
  const came = moves.arriving.read(organisationId);
  // Their ids sort as they began.
  if (left !== undefined && left.moveId >= (came?.moveId ?? '')) return leavingToWire(left, moves);
  return came === undefined ? null : arrivingToWire(came, moves);
}
