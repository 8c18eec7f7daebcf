/** Console: what an app's assistant knows (service.md "Knowledge item"). */
import { countKnowledge, type KnowledgeSource, listSources } from '../../storage/knowledge.ts';
import { defineRoute, json } from '../route.ts';
import { pageLimit, requireApp, timestamp } from './lookup.ts';

/** One page of sources, without their text. */
const PAGE_DEFAULT = 100;
const PAGE_MAX = 200;

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
    const limit = pageLimit(query, PAGE_DEFAULT, PAGE_MAX);
    const page = listSources(db, app.id, query.get('after') ?? '', limit);
    return json({
      facts: countKnowledge(db, app.id),
      sources: page.map(sourceToWire),
      next: page.length === limit ? (page.at(-1)?.id ?? null) : null,
    });
  },
});
