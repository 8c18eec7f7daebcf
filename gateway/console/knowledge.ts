/** Console: what an app's assistant knows (KNOWLEDGE-3). */
import { timestamp } from '../../protocol/timestamp.ts';
import type { KnowledgeSource } from '../../storage/knowledge/knowledge.ts';
import { countKnowledge, listSources } from '../../storage/knowledge/knowledge-overview.ts';
import { appRead } from './app-read.ts';
import { pageOf } from './pages.ts';

function sourceToWire(source: KnowledgeSource) {
  return {
    id: source.id,
    external_key: source.externalKey,
    kind: source.kind,
    title: source.title,
    uri: source.uri,
    status: source.archivedAtMs === null ? source.state : 'archived',
    error: source.error,
    chunks: source.chunks,
    origin: source.origin,
    reason: source.reason,
    archived_at: timestamp(source.archivedAtMs),
    created_at: timestamp(source.createdAtMs),
    updated_at: timestamp(source.updatedAtMs),
  };
}

export const listKnowledgeRoute = appRead('/knowledge', ({ app, db }, query) => {
  const { items, next } = pageOf(query, 'id', (after, limit) => listSources(db, app.id, after, limit));
  return { facts: countKnowledge(db, app.id), sources: items.map(sourceToWire), next };
});
