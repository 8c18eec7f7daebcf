/**
 * Which cell each organisation lives on, for those that were ever placed (CELL-6). The placement with the highest version holds, in
 * whatever order placements arrive. An organisation without a placement lives where its file is.
 */
import { columns, integer, type RowOf, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

const placement = columns({
  cell: text,
  /** Rises with every move of the organisation, from 1. */
  version: integer,
  placedAtMs: integer,
});

export type Placement = RowOf<typeof placement>;

export const knownPlacement = columns({ organisationId: text, cell: text, version: integer });

/** A placement as cells exchange it. */
export type KnownPlacement = RowOf<typeof knownPlacement>;

const placedOn = columns({ cell: text, organisations: integer.from('count(*)') });

/** Placements per transaction when a map is received: more would delay other writes. */
export const PLACEMENTS_PER_WRITE_MAX = 500;

export function readPlacement(control: Connection, organisationId: string): Placement | undefined {
  return placement.get(control, 'FROM placements WHERE organisation_id = :organisationId', { organisationId });
}

/** Whether the control file has the organisation's own row: it lives here, or did before it moved. */
export function isOrganisationKnown(control: Connection, organisationId: string): boolean {
  return control.statement('SELECT 1 FROM organisations WHERE id = :organisationId').get({ organisationId }) !== undefined;
}

/** The cell on which the organisation lives, as far as the control file of cell `self` knows; undefined when unknown. */
export function cellOf(control: Connection, self: string, organisationId: string): string | undefined {
  return readPlacement(control, organisationId)?.cell ?? (isOrganisationKnown(control, organisationId) ? self : undefined);
}

/** Up to `limit` placements on the cell, of organisations after the id `after` ('' for the first ones). */
export function listPlacementsOn(control: Connection, cell: string, after: string, limit: number): KnownPlacement[] {
  const from = 'FROM placements WHERE cell = :cell AND organisation_id > :after ORDER BY organisation_id LIMIT :limit';
  return knownPlacement.all(control, from, { cell, after, limit });
}

export function countPlacements(control: Connection): ReadonlyMap<string, number> {
  return new Map(placedOn.all(control, 'FROM placements GROUP BY cell').map(({ cell, organisations }) => [cell, organisations]));
}

function place(db: Connection, { organisationId, cell, version }: KnownPlacement, nowMs: number): boolean {
  const { changes } = db
    .statement(
      `INSERT INTO placements (organisation_id, cell, version, placed_at_ms) VALUES (:organisationId, :cell, :version, :nowMs)
       ON CONFLICT (organisation_id) DO UPDATE SET cell = excluded.cell, version = excluded.version, placed_at_ms = excluded.placed_at_ms
       WHERE excluded.version > placements.version`,
    )
    .run({ organisationId, cell, version, nowMs });
  return changes === 1;
}

export const transactions = {
  /** True when it took effect: the organisation had no placement, or one with a lower version. */
  placeOrganisation(db: Connection, input: KnownPlacement & { nowMs: number }): boolean {
    return place(db, input, input.nowMs);
  },

  /** The same for many, PLACEMENTS_PER_WRITE_MAX at most. Returns the organisations whose placement changed. */
  takeOverPlacements(db: Connection, input: { placements: readonly KnownPlacement[]; nowMs: number }): string[] {
    return input.placements.filter((known) => place(db, known, input.nowMs)).map(({ organisationId }) => organisationId);
  },
};
