/** Schema of `control.sqlite`, continued: the other cells, which organisations live there, and those on their way. */
import type { Migration } from './migrate.ts';

export const cellsMigration: Migration = {
  version: 4,
  name: 'cells, placements of organisations, moves',
  sql: `
    -- Every cell that was ever seen, this one too.
    CREATE TABLE cells (
      cell TEXT PRIMARY KEY,
      url TEXT NOT NULL,
      seen_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- Where an organisation lives; none: where its file is. The higher version is the newer one.
    CREATE TABLE placements (
      organisation_id TEXT PRIMARY KEY,
      cell TEXT NOT NULL,
      version INTEGER NOT NULL,
      placed_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- What requests name an organisation of another cell by: a digest of a key, a token, a code or an id.
    CREATE TABLE foreign_names (
      digest TEXT PRIMARY KEY,
      organisation_id TEXT NOT NULL,
      noted_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- Organisations that leave this cell.
    CREATE TABLE moves (
      organisation_id TEXT PRIMARY KEY,
      move_id TEXT NOT NULL UNIQUE,
      target_cell TEXT NOT NULL,
      -- The last step that is done.
      step TEXT NOT NULL CHECK (step IN ('begun', 'sealed', 'copied', 'shipped', 'switched', 'unsealed', 'done', 'aborted')),
      -- What the copy holds, as JSON, once it is made.
      manifest TEXT,
      error TEXT,
      started_at_ms INTEGER NOT NULL,
      updated_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- Organisations that come to this cell.
    CREATE TABLE arrivals (
      organisation_id TEXT PRIMARY KEY,
      move_id TEXT NOT NULL UNIQUE,
      source_cell TEXT NOT NULL,
      step TEXT NOT NULL CHECK (step IN ('receiving', 'adopted', 'unsealed', 'discarded')),
      started_at_ms INTEGER NOT NULL,
      updated_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
};

export const cellTermMigration: Migration = {
  version: 6,
  name: 'terms of cells',
  sql: `
    -- A cell that another host took over is reached where its newest term is.
    ALTER TABLE cells ADD COLUMN term INTEGER NOT NULL DEFAULT 1;

    -- Which cell this directory is of, and its term: it rises when another host takes the cell over.
    CREATE TABLE cell_term (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      cell TEXT NOT NULL,
      term INTEGER NOT NULL,
      since_ms INTEGER NOT NULL,
      -- The address of the replica that says so too, as a digest: it may hold a password.
      replica TEXT NOT NULL DEFAULT ''
    ) STRICT;
  `,
};
