/** Console: what an app's assistant knows (KNOWLEDGE-3). */
import * as v from 'valibot';
import { explainSearch } from '../../actors/knowledge/explained-search.ts';
import type { Source } from '../../protocol/console/setup-answers.ts';
import { filledText } from '../../protocol/schema/text.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import type { KnowledgeSource } from '../../storage/knowledge/knowledge.ts';
import { countKnowledge, listSources } from '../../storage/knowledge/knowledge-overview.ts';
import { json } from '../route.ts';
import { appRead, appRoute } from './app-read.ts';
import { pageOf } from './pages.ts';

function sourceToWire(source: KnowledgeSource): Source {
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

/** As long as a message may be. */
const QUESTION_MAX_CHARS = 4_000;
const searchBody = v.strictObject({ question: filledText(QUESTION_MAX_CHARS) });

export const searchKnowledgeRoute = appRoute('POST', '/knowledge/search', searchBody, async ({ app, db }, { body }, services) => {
  const { byMeaning, terms, passages, prompt } = await explainSearch(db, app.id, body.question, services.meanings);
  const shown = passages.map(({ sourceId, externalKey, title, headings, text, score, wordsRank, meaningRank }) => ({
    ...{ source_id: sourceId, external_key: externalKey, title, headings, text },
    ...{ score, words_rank: wordsRank, meaning_rank: meaningRank },
  }));
  return json({ by_meaning: byMeaning, terms, passages: shown, prompt });
});
