/**
 * Search in one app's knowledge, by words and, where vectors exist, by meaning. Owns the cost of a search by words: the time of BM25 grows
 * with the number of scored chunks, so common words are dropped in favour of rarer ones, and the number of scored chunks is bounded.
 */
import { countRows, type RowOf } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { matchExpression, queryTerms } from './knowledge-query.ts';
import { type Meaning, nearestChunks, type Passage, scoredPassage } from './knowledge-vectors.ts';

type ScoredPassage = RowOf<typeof scoredPassage>;

/** One passage found, best first; the same shape that a model is given. */
export interface FoundPassage extends Omit<Passage, 'id'> {
  /** BM25, or the score of the fused rankings. Larger is better; comparable within one search only. */
  readonly score: number;
}

/** Each ranking contributes this many times the wanted passages to the fusion, because a passage in the middle of both may win. */
const FUSED_DEPTH = 4;

/** Chunks to score: about 3 ms. Reached only when every word of the question is common, and then ranks mean little. */
const SCORED_CHUNKS_MAX = 1_500;
/** A word in more chunks than this is common; counting stops there. */
const COMMON_CHUNKS = 400;

/** In how many of the app's chunks the term occurs, at most COMMON_CHUNKS. */
function chunksWith(db: Connection, appId: string, term: string): number {
  const from = 'FROM (SELECT 1 FROM knowledge_index WHERE knowledge_index MATCH :query LIMIT :limit)';
  return countRows(db, from, { query: matchExpression(appId, [term]), limit: COMMON_CHUNKS });
}

/** How many words are searched for together when the question has only common ones. */
const COMMON_TERMS_MAX = 4;

/** The queries to try, best first: the rarer terms that may be scored together; of common ones alone, all of them before any of them. */
function plan(db: Connection, appId: string, terms: readonly string[]): string[] {
  const counts = terms.map((term) => ({ term, chunks: chunksWith(db, appId, term) })).filter(({ chunks }) => chunks > 0);
  if (counts.length === 0) return [];
  const rare = counts.filter(({ chunks }) => chunks < COMMON_CHUNKS).sort((a, b) => a.chunks - b.chunks);
  if (rare.length === 0) {
    const common = counts.slice(0, COMMON_TERMS_MAX).map(({ term }) => term);
    return [matchExpression(appId, common, 'AND'), matchExpression(appId, common)];
  }
  let scored = 0;
  const affordable = rare.filter(({ chunks }) => {
    scored += chunks;
    return scored <= SCORED_CHUNKS_MAX;
  });
  const affordableTerms = affordable.map(({ term }) => term);
  return [matchExpression(appId, affordableTerms)];
}

function find(db: Connection, appId: string, query: string, limit: number): ScoredPassage[] {
  // Weights of app_id, title, headings, text. The inner LIMIT bounds scoring, the middle one joining.
  const from = `FROM (SELECT id, score FROM (
            SELECT rowid AS id, bm25(knowledge_index, 0.0, 8.0, 4.0, 1.0) AS score FROM knowledge_index
            WHERE knowledge_index MATCH :query LIMIT :scored)
          ORDER BY score LIMIT :limit) AS best
    JOIN knowledge_chunks c ON c.id = best.id
    JOIN knowledge_sources s ON s.id = c.source_id
    WHERE c.app_id = :appId AND s.state = 'indexed' AND s.archived_at_ms IS NULL
    ORDER BY best.score, c.id`;
  return scoredPassage.all(db, from, { query, appId, limit, scored: SCORED_CHUNKS_MAX });
}

function foundOf({ sourceId, externalKey, title, headings, text }: Passage, score: number): FoundPassage {
  return { sourceId, externalKey, title, headings, text, score };
}

function findByWords(db: Connection, appId: string, text: string, limit: number): ScoredPassage[] {
  for (const query of plan(db, appId, queryTerms(text))) {
    const found = find(db, appId, query, limit);
    if (found.length > 0) return found;
  }
  return [];
}

/**
 * Dampens the weight of the first ranks. The standard value, from Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms
 * Condorcet and individual Rank Learning Methods", SIGIR 2009.
 */
const K = 60;

interface Fused {
  readonly id: number;
  /** The sum of 1 / (60 + rank) over the rankings that hold it, ranks from 1. */
  readonly score: number;
}

/**
 * Reciprocal rank fusion: one ranking of several whose scores cannot be compared. All ids of `rankings` (each best first, without repetition),
 * best first. Ties go to the id that an earlier ranking names first.
 */
export function fuseRankings(rankings: readonly (readonly number[])[]): Fused[] {
  const scores = new Map<number, number>();
  for (const ranking of rankings) {
    for (const [index, id] of ranking.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (K + index + 1));
  }
  return [...scores].map(([id, score]) => ({ id, score })).sort((one, other) => other.score - one.score);
}

/** A passage with why it was found: its place, from 1, in each ranking that has it. */
export interface RankedPassage extends FoundPassage {
  readonly wordsRank: number | null;
  readonly meaningRank: number | null;
}

export function rankKnowledge(db: Connection, appId: string, text: string, limit: number, meaning?: Meaning): RankedPassage[] {
  if (meaning === undefined) {
    const found = findByWords(db, appId, text, limit);
    return found.map((passage, at) => ({ ...foundOf(passage, -passage.score), wordsRank: at + 1, meaningRank: null }));
  }
  const rankings = [findByWords(db, appId, text, limit * FUSED_DEPTH), nearestChunks(db, appId, meaning, limit * FUSED_DEPTH)];
  const passages = new Map(rankings.flat().map((passage) => [passage.id, passage]));
  const [words = [], meanings = []] = rankings.map((ranking) => ranking.map(({ id }) => id));
  const placeOf = (ids: readonly number[], id: number) => (ids.includes(id) ? ids.indexOf(id) + 1 : null);
  return fuseRankings([words, meanings])
    .slice(0, limit)
    .flatMap(({ id, score }) => {
      const passage = passages.get(id);
      const why = { wordsRank: placeOf(words, id), meaningRank: placeOf(meanings, id) };
      return passage === undefined ? [] : [{ ...foundOf(passage, score), ...why }];
    });
}

/** By words, and by `meaning` when given (`db` must then be open for vectors), best first. Never throws for the content of `text`. */
export function searchKnowledge(db: Connection, appId: string, text: string, limit: number, meaning?: Meaning): FoundPassage[] {
  return rankKnowledge(db, appId, text, limit, meaning).map(({ wordsRank: _, meaningRank: __, ...found }) => found);
}
