/** The steps of a move's machine, in the control file: written by the commits that they led to, gone with the move's row. */
import type { Connection } from '../sqlite/connection.ts';
import { packedSteps } from '../traces/packed-steps.ts';
import { type NewTrace, transactions as tracing } from '../traces/traces.ts';

export interface MoveTrace extends NewTrace {
  /** JSON of the definition that made the steps. */
  readonly definition: string;
}

export function insertMoveTrace(
  db: Connection,
  { moveId, nowMs }: { readonly moveId: string; readonly nowMs: number },
  trace: MoveTrace,
): void {
  const { version, steps, definition } = trace;
  tracing.keepMachineDefinitions(db, { definitions: [{ version, machine: 'organisation-move', definition }] });
  db.statement(
    `INSERT INTO move_traces (move_id, piece, version, at_ms, steps)
     VALUES (:moveId, (SELECT coalesce(max(piece), -1) + 1 FROM move_traces WHERE move_id = :moveId), :version, :nowMs, :steps)`,
  ).run({ moveId, version, nowMs, steps: packedSteps(steps) });
}
