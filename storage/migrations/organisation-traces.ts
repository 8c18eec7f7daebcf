/** Schema of an organisation's file, continued: the steps that machines made. */
import type { Migration } from './migrate.ts';

export const tracesMigration: Migration = {
  version: 6,
  name: 'traces of machines',
  sql: `
    -- What a commit kept of the steps of a turn, or of one of its action calls: one row a commit, at the end of the table while turns are
    -- answered. Ordered by the turn's number, so that it needs no index, and the oldest lie together when they are deleted.
    CREATE TABLE turn_traces (
      turn INTEGER NOT NULL,
      piece INTEGER NOT NULL,
      -- The action call; '' for the turn itself.
      invocation TEXT NOT NULL,
      -- Of the machine's definition.
      version TEXT NOT NULL,
      -- The process that wrote it; '' where that is not known.
      node TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      -- Packed, see storage/traces/packed-steps.ts.
      steps BLOB NOT NULL,
      PRIMARY KEY (turn, piece)
    ) STRICT, WITHOUT ROWID;

    -- What a foreign key would do, without looking the turn up for each row.
    CREATE TRIGGER traces_go_with_their_turn AFTER DELETE ON turns BEGIN
      DELETE FROM turn_traces WHERE turn = old.id;
    END;

    -- The same of everything else that is an app's: setup sessions and their panels, knowledge sources.
    CREATE TABLE traces (
      id INTEGER PRIMARY KEY,
      app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
      machine TEXT NOT NULL,
      instance TEXT NOT NULL,
      version TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      steps BLOB NOT NULL
    ) STRICT;
    CREATE INDEX traces_by_instance ON traces (instance, machine, id);
    CREATE INDEX traces_by_app ON traces (app_id, id);

    -- Each definition that a trace was made with, as JSON: an old trace is read with its own, also after an update.
    CREATE TABLE machine_definitions (
      version TEXT PRIMARY KEY,
      machine TEXT NOT NULL,
      definition TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
};
