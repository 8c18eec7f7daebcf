/**
 * One size of K1, a program of its own so that it has a core and a heap to itself: fills the file of an organization with
 * `--chunks` chunks by the service's own transactions, asks `--questions` generated questions `--rounds` times and prints
 * a SearchResult as JSON.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { moveSource, saveSource } from '../../../actors/knowledge/sources.ts';
import { chunkText } from '../../../assistant/knowledge/chunk.ts';
import { mintId } from '../../../protocol/ids.ts';
import { readSource } from '../../../storage/knowledge/knowledge.ts';
import { searchKnowledge } from '../../../storage/knowledge/knowledge-search.ts';
import { openStorage, type Storage } from '../../../storage/storage.ts';
import { type Document, textSource } from '../../model/text.ts';
import { percentile } from '../../report/report.ts';

/** Characters of one source: an article of some 25 chunks; 10⁵ chunks stay below the sources that an app may have. */
const ARTICLE_CHARS = 20_000;
/** As many passages as a turn asks for. */
const PASSAGES = 6;
/** Other words than the documents' seed would bring. */
const QUESTIONS_SEED = 7;
const DOCUMENTS_SEED = 11;

/** Times of one pass over all questions, in milliseconds. */
export interface SearchRound {
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly max_ms: number;
}

export interface SearchResult {
  readonly chunks: number;
  readonly questions: number;
  readonly rounds: readonly SearchRound[];
  /** Part of the questions that found a passage. */
  readonly answered: number;
  readonly fill_s: number;
  readonly file_bytes: number;
}

interface Filled {
  readonly storage: Storage;
  readonly organisationId: string;
  readonly appId: string;
}

/** Writes one article as the indexer does: kept, taken up, indexed. At most `limit` chunks; returns how many. */
async function addArticle({ storage, organisationId, appId }: Filled, key: number, article: Document, limit: number): Promise<number> {
  const { title, text } = article;
  const nowMs = Date.now();
  const chunks = chunkText(text).slice(0, limit);
  const { id: sourceId } = await saveSource(storage, organisationId, {
    sourceId: mintId('kno', nowMs),
    appId,
    externalKey: `article-${key}`,
    kind: 'text',
    title,
    uri: null,
    content: text,
    origin: 'console',
    reason: null,
    nowMs,
  });
  const content = { sourceId, contentHash: readSource(storage.organisation(organisationId), sourceId)?.contentHash ?? '' };
  await moveSource(storage, organisationId, content, { type: 'indexing.began' }, nowMs, (move) =>
    storage.write(organisationId, 'moveSource', move),
  );
  const indexed = await moveSource(storage, organisationId, content, { type: 'indexing.finished' }, nowMs, (move) =>
    storage.write(organisationId, 'indexSource', { move, chunks, fetched: null }),
  );
  if (indexed !== null) return chunks.length;
  throw new Error(`article ${key} was not indexed`);
}

async function fill(to: Filled, chunks: number): Promise<void> {
  const { storage, organisationId, appId } = to;
  await storage.write(organisationId, 'createApp', {
    appId,
    organisationId,
    name: 'Bench',
    platformHint: '',
    settings: {},
    sealedIdentitySecret: Buffer.alloc(0),
    nowMs: Date.now(),
  });
  const source = textSource(DOCUMENTS_SEED);
  let missing = chunks;
  for (let key = 0; missing > 0; key++) missing -= await addArticle(to, key, source.document(ARTICLE_CHARS), missing);
}

/** Asks every question once, in order. */
function ask({ storage, organisationId, appId }: Filled, questions: readonly string[]): { round: SearchRound; answered: number } {
  const db = storage.organisation(organisationId);
  let answered = 0;
  const times = questions.map((question) => {
    const startedMs = performance.now();
    const found = searchKnowledge(db, appId, question, PASSAGES);
    const tookMs = performance.now() - startedMs;
    if (found.length > 0) answered++;
    return tookMs;
  });
  return { round: { p50_ms: percentile(times, 0.5), p99_ms: percentile(times, 0.99), max_ms: Math.max(...times) }, answered };
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { chunks: { type: 'string' }, questions: { type: 'string' }, rounds: { type: 'string' } } });
  const [chunks, count, rounds] = [Number(values.chunks), Number(values.questions), Number(values.rounds)];
  const dataDir = mkdtempSync(join(tmpdir(), 'assistant-bench-'));
  const onFatal = (error: Error): void => {
    throw error;
  };
  const storage = openStorage({ dataDir, masterKey: undefined, onFatal });
  try {
    const filled = { storage, organisationId: mintId('org', Date.now()), appId: mintId('app', Date.now()) };
    const startedMs = performance.now();
    await fill(filled, chunks);
    const fillMs = performance.now() - startedMs;
    const source = textSource(QUESTIONS_SEED);
    const questions = Array.from({ length: count }, () => source.question());
    // Warm: statements prepared, code compiled, pages in the cache as far as it holds them.
    const { answered } = ask(filled, questions);
    const result: SearchResult = {
      chunks,
      questions: count,
      rounds: Array.from({ length: rounds }, () => ask(filled, questions).round),
      answered: answered / count,
      fill_s: fillMs / 1_000,
      file_bytes: statSync(storage.layout.organisation(filled.organisationId)).size,
    };
    process.stdout.write(JSON.stringify(result));
  } finally {
    await storage.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

await main();
