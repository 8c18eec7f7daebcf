/** Schema of `control.sqlite`, continued: the steps of moves of organisations. */
import type { Migration } from './migrate.ts';

export const moveTracesMigration: Migration = {
  version: 5,
  name: 'traces of moves',
  sql: `
    -- What each commit of a move kept of its machine's steps. A move has some ten commits, and a cell keeps the last move of an organisation.
    CREATE TABLE move_traces (
      move_id TEXT NOT NULL,
      piece INTEGER NOT NULL,
      -- Of the machine's definition.
      version TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      -- Packed, see storage/traces/packed-steps.ts.
      steps BLOB NOT NULL,
      PRIMARY KEY (move_id, piece)
    ) STRICT, WITHOUT ROWID;

    CREATE TRIGGER traces_go_with_their_move AFTER DELETE ON moves BEGIN
      DELETE FROM move_traces WHERE move_id = old.move_id;
    END;

    -- As in the files of organisations.
    CREATE TABLE machine_definitions (
      version TEXT PRIMARY KEY,
      machine TEXT NOT NULL,
      definition TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
};
