/** Console: moving an organisation to another cell (CONSOLE-24). */
import * as v from 'valibot';

const CELL = /^[0-9A-Za-z._-]{1,64}$/;

/** `POST /console/api/orgs/:org/move`. */
export const moveBody = v.strictObject({
  /** CELL_ID of the cell that it is to live on. */
  cell: v.pipe(v.string(), v.regex(CELL, 'must be the id of a cell: 1 to 64 letters, digits, dots, underscores or hyphens')),
});

/** A move as it is shown, on whichever cell. Times are ISO 8601. */
export interface MoveReply {
  readonly organisation_id: string;
  readonly move_id: string;
  readonly source_cell: string;
  readonly target_cell: string;
  /** The last step that is done. The cell that it goes to knows of `begun`, `sealed`, `done` and `aborted` only. */
  readonly step: 'begun' | 'sealed' | 'switched' | 'done' | 'aborted';
  /** Why it makes no progress, or was aborted. */
  readonly error: string | null;
  /** What was sent, once it is; the cell that it goes to does not say. */
  readonly copy: { readonly bytes: number; readonly rows: number; readonly uploads: number; readonly upload_bytes: number } | null;
  readonly started_at: string;
  readonly updated_at: string;
}
