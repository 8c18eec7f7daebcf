/** Version 3 of an organisation's file: vectors of chunks, and indexes for sources that wait. */
import type { Migration } from './migrate.ts';

export const retrievalMigration: Migration = {
  version: 3,
  name: 'vectors of chunks, sources by state',
  sql: `
      -- Segments of the full-text index are merged in pairs: a search opens each of them for each of its words.
      INSERT INTO knowledge_index (knowledge_index, rank) VALUES ('usermerge', 2);

    -- Filled only while EMBEDDING_MODEL is set. A plain table: it leaves with its chunk, and needs no extension to be opened.
    CREATE TABLE knowledge_vectors (
      chunk_id INTEGER PRIMARY KEY REFERENCES knowledge_chunks (id) ON DELETE CASCADE,
      app_id TEXT NOT NULL,
      -- Who made it: rows of another model are passed over and replaced.
      model TEXT NOT NULL,
      -- A bit for each number of the vector, and the numbers as little-endian 32-bit floats.
      signature BLOB NOT NULL,
      vector BLOB NOT NULL
    ) STRICT;
    -- Holds all that the first pass of a search compares, so that it reads no vector.
    CREATE INDEX knowledge_vectors_by_app ON knowledge_vectors (app_id, model, signature);

    -- Words of a text that is replaced, archived or deleted leave the index with it, not when its segments are merged one day.
    INSERT INTO knowledge_index (knowledge_index, rank) VALUES ('secure-delete', 1);

    -- Indexings that were begun, and of which nobody has said that they ended: what ended the process stands here at the next start.
    ALTER TABLE knowledge_sources ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;

    -- A source's row holds its whole text, and most columns lie behind it: these hold all that is asked of many rows.
    CREATE INDEX knowledge_sources_waiting ON knowledge_sources (attempts, updated_at_ms, id, kind, state, archived_at_ms)
      WHERE state IN ('pending', 'indexing') AND archived_at_ms IS NULL;
    CREATE INDEX knowledge_sources_by_state ON knowledge_sources (app_id, state, archived_at_ms) WHERE archived_at_ms IS NULL;
  `,
};
