/** Console: what an app's assistant knows (KNOWLEDGE-3). */
import { timestamp } from '../../protocol/timestamp.ts';
import type { KnowledgeSource } from '../../storage/knowledge/knowledge.ts';
import { countKnowledge, listSources } from '../../storage/knowledge/knowledge-overview.ts';
import { defineRoute, json } from '../route.ts';
import { requireApp } from './lookup.ts';
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

export const listKnowledgeRoute = defineRoute({
  method: 'GET',
  path: '/console/api/apps/:app/knowledge',
  caller: 'operator',
  limits: [],
  body: null,
  handle({ params, query }, services) {
    const { app, db } = requireApp(services, params.app);
    const { items, next } = pageOf(
      query,
      (after, limit) => listSources(db, app.id, after, limit),
      ({ id }) => id,
    );
    return json({ facts: countKnowledge(db, app.id), sources: items.map(sourceToWire), next });
  },
});
