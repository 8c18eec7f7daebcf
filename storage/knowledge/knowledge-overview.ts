/** What an app knows, at a glance: lists of its sources, how many there are in which state, what they are called. Reads only. */
import type { Origin } from '../../protocol/setup/writes.ts';
import type { Connection } from '../sqlite/connection.ts';
import { type KnowledgeSource, SOURCE_COLUMNS, type SourceKind, sourceOf } from './knowledge.ts';

export interface KnowledgeCounts {
  readonly sources: number;
  readonly indexed: number;
  readonly pending: number;
  readonly indexing: number;
  readonly failed: number;
  readonly chunks: number;
}

/** Up to `limit` sources after the id `after` ('' for the first ones), oldest first, archived ones included. */
export function listSources(db: Connection, appId: string, after: string, limit: number): KnowledgeSource[] {
  return db
    .statement(`SELECT ${SOURCE_COLUMNS} FROM knowledge_sources s WHERE s.app_id = :appId AND s.id > :after ORDER BY s.id LIMIT :limit`)
    .all({ appId, after, limit })
    .map(sourceOf);
}

/** Up to `limit` sources in service after the id `after` ('' for the first ones), oldest first: those of this origin, or all of them. */
export function listSourcesInService(
  db: Connection,
  appId: string,
  limit: number,
  origin: Origin | null = null,
  after = '',
): KnowledgeSource[] {
  return db
    .statement(
      `SELECT ${SOURCE_COLUMNS} FROM knowledge_sources s
       WHERE s.app_id = :appId AND s.archived_at_ms IS NULL AND s.id > :after AND (:origin IS NULL OR s.origin = :origin) ORDER BY s.id LIMIT :limit`,
    )
    .all({ appId, origin, after, limit })
    .map(sourceOf);
}

/** When a source in service was last indexed; null: none is. */
export function lastIndexedAtMs(db: Connection, appId: string): number | null {
  const row = db
    .statement(
      `SELECT max(updated_at_ms) AS at FROM knowledge_sources WHERE app_id = :appId AND state = 'indexed' AND archived_at_ms IS NULL`,
    )
    .get({ appId });
  return (row?.at as number | null | undefined) ?? null;
}

/** Sources (of one kind) that wait for indexing, or whose indexing a crash cut off; those last, oldest change first. */
export function sourcesToIndex(db: Connection, limit: number, kind: SourceKind | null = null): string[] {
  return db
    .statement(
      `SELECT id FROM knowledge_sources WHERE state IN ('pending', 'indexing') AND archived_at_ms IS NULL AND (:kind IS NULL OR kind = :kind)
       ORDER BY attempts, updated_at_ms, id LIMIT :limit`,
    )
    .all({ limit, kind })
    .map((row) => row.id as string);
}

/** Titles of indexed sources in service, each once, oldest first, at most `limit`. */
export function readIndexedTitles(db: Connection, appId: string, limit: number): string[] {
  const indexed = `app_id = :appId AND state = 'indexed' AND archived_at_ms IS NULL`;
  const oldestFirst = `SELECT title FROM knowledge_sources WHERE ${indexed} GROUP BY title ORDER BY min(id) LIMIT :limit`;
  const rows = db.statement(oldestFirst).all({ appId, limit });
  return rows.map((row) => row.title as string);
}

/** Sources in service by state, and their chunks (facts.knowledge). */
export function countKnowledge(db: Connection, appId: string): KnowledgeCounts {
  const row = db
    .statement(
      `SELECT count(*) AS sources, count(*) FILTER (WHERE state = 'indexed') AS indexed, count(*) FILTER (WHERE state = 'pending') AS pending,
         count(*) FILTER (WHERE state = 'indexing') AS indexing, count(*) FILTER (WHERE state = 'failed') AS failed,
         (SELECT count(*) FROM knowledge_chunks c JOIN knowledge_sources o ON o.id = c.source_id WHERE o.app_id = :appId) AS chunks
       FROM knowledge_sources WHERE app_id = :appId AND archived_at_ms IS NULL`,
    )
    .get({ appId });
  return row as unknown as KnowledgeCounts;
}
