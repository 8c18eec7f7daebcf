/** What the knowledge of an app would bring to a turn for a question, and why: for a person who looks, while no model is asked. */
import { passagesWords } from '../../assistant/fence.ts';
import { queryTerms } from '../../storage/knowledge/knowledge-query.ts';
import { type RankedPassage, rankKnowledge } from '../../storage/knowledge/knowledge-search.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { QueryEmbeddings } from './query-embeddings.ts';

/** Enough to answer from, few enough not to drown the question. */
export const PASSAGES_PER_SEARCH = 6;

export interface ExplainedSearch {
  readonly byMeaning: boolean;
  readonly terms: readonly string[];
  readonly passages: readonly RankedPassage[];
  /** What a model would be given of them; '' when there are none. */
  readonly prompt: string;
}

/** The same search as a turn makes for `question`. */
export async function explainSearch(
  db: Connection,
  appId: string,
  question: string,
  meanings: QueryEmbeddings | undefined,
): Promise<ExplainedSearch> {
  await meanings?.prepare(question);
  const meaning = meanings?.get(question);
  const passages = rankKnowledge(db, appId, question, PASSAGES_PER_SEARCH, meaning);
  return {
    byMeaning: meaning !== undefined,
    terms: queryTerms(question),
    passages,
    prompt: passages.length === 0 ? '' : passagesWords(passages),
  };
}
