/** Overview of an app's knowledge: lists of sources, counts by state, titles. Read only. */
import type { Origin } from '../../protocol/setup/writes.ts';
import { columns, integer, orNull, type RowOf, readIds, readValue, readValues, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { type KnowledgeSource, knowledgeSource, type SourceKind, type SourceState } from './knowledge.ts';

const inState = (state: SourceState) => integer.from(`count(*) FILTER (WHERE state = '${state}')`);

const knowledgeCounts = columns({
  sources: integer.from('count(*)'),
  indexed: inState('indexed'),
  pending: inState('pending'),
  indexing: inState('indexing'),
  failed: inState('failed'),
  chunks: integer.from('(SELECT count(*) FROM knowledge_chunks c JOIN knowledge_sources o ON o.id = c.source_id WHERE o.app_id = :appId)'),
});

export type KnowledgeCounts = RowOf<typeof knowledgeCounts>;

export function listSources(db: Connection, appId: string, after: string, limit: number): KnowledgeSource[] {
  const from = 'FROM knowledge_sources s WHERE s.app_id = :appId AND s.id > :after ORDER BY s.id LIMIT :limit';
  return knowledgeSource.all(db, from, { appId, after, limit });
}

/** Up to `limit` sources in service after the id `after` ('' for the first ones), oldest first: those of this origin, or all of them. */
export function listSourcesInService(
  db: Connection,
  appId: string,
  limit: number,
  origin: Origin | null = null,
  after = '',
): KnowledgeSource[] {
  const from = `FROM knowledge_sources s
    WHERE s.app_id = :appId AND s.archived_at_ms IS NULL AND s.id > :after AND (:origin IS NULL OR s.origin = :origin) ORDER BY s.id LIMIT :limit`;
  return knowledgeSource.all(db, from, { appId, origin, after, limit });
}

export function lastIndexedAtMs(db: Connection, appId: string): number | null {
  const select = `SELECT max(updated_at_ms) FROM knowledge_sources WHERE app_id = :appId AND state = 'indexed' AND archived_at_ms IS NULL`;
  return readValue(db, orNull(integer), select, { appId }) ?? null;
}

/** Sources (of one kind) to index: first those that wait, then those whose indexing a crash interrupted; oldest change first. */
export function sourcesToIndex(db: Connection, limit: number, kind: SourceKind | null = null): string[] {
  const from = `FROM knowledge_sources WHERE state IN ('pending', 'indexing') AND archived_at_ms IS NULL AND (:kind IS NULL OR kind = :kind)
    ORDER BY attempts, updated_at_ms, id LIMIT :limit`;
  return readIds(db, from, { limit, kind });
}

/** So many sources of the beginning, the middle and the end of the list tell what an app's knowledge is like. */
const SAMPLED_SOURCES = 20;
const SAMPLED_CHARS = 600;

/** Beginnings of sources that can be found: the oldest, the newest, and those from the middle on. */
export function sampleOfKnowledge(db: Connection, appId: string): string[] {
  const found = `FROM knowledge_sources WHERE app_id = :appId AND state = 'indexed' AND archived_at_ms IS NULL`;
  const end = (order: 'ASC' | 'DESC') => `(SELECT rowid ${found} ORDER BY rowid ${order} LIMIT 1)`;
  const select = (order: 'ASC' | 'DESC', from = '') => `SELECT substr(c.text, 1, ${SAMPLED_CHARS}) AS text FROM (
      SELECT id ${found} ${from} ORDER BY rowid ${order} LIMIT ${SAMPLED_SOURCES}
    ) s JOIN knowledge_chunks c ON c.source_id = s.id AND c.ordinal = 0`;
  const middle = select('ASC', `AND rowid >= (${end('ASC')} + ${end('DESC')}) / 2`);
  return readValues(db, text, `${select('ASC')} UNION ${middle} UNION ${select('DESC')}`, { appId });
}

const namedSource = columns({ externalKey: text, title: text, uri: orNull(text) });

/** Sources in service whose key or title is among `names`: one look through the app's, as titles have no index. */
export function sourcesNamed(db: Connection, appId: string, names: readonly string[]): RowOf<typeof namedSource>[] {
  const from = `FROM knowledge_sources WHERE app_id = :appId AND archived_at_ms IS NULL
     AND (external_key IN (SELECT value FROM json_each(:names)) OR title IN (SELECT value FROM json_each(:names))) ORDER BY id`;
  return namedSource.all(db, from, { appId, names: JSON.stringify(names) });
}

export function readIndexedTitles(db: Connection, appId: string, limit: number): string[] {
  const select = `SELECT title FROM knowledge_sources WHERE app_id = :appId AND state = 'indexed' AND archived_at_ms IS NULL
    GROUP BY title ORDER BY min(id) LIMIT :limit`;
  return readValues(db, text, select, { appId, limit });
}

export function countKnowledge(db: Connection, appId: string): KnowledgeCounts {
  const none: KnowledgeCounts = { sources: 0, indexed: 0, pending: 0, indexing: 0, failed: 0, chunks: 0 };
  return knowledgeCounts.get(db, 'FROM knowledge_sources WHERE app_id = :appId AND archived_at_ms IS NULL', { appId }) ?? none;
}
