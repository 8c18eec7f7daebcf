/** Embeddings of search queries, cached: asked when a turn begins, so that a search finds them ready. Without them it uses words only. */
import { LRUCache } from 'lru-cache';
import type { Embedder } from '../../assistant/embeddings/embeddings.ts';
import type { Meaning } from '../../storage/knowledge/knowledge-vectors.ts';

/** How long a query waits for its embedding; then it is searched by words only. */
export const QUERY_WAIT_MS = 1_500;
/** After a failure no query waits for this long: with a server that hangs, each would lose QUERY_WAIT_MS. */
export const REST_MS = 10_000;
/** Greetings, suggestions and retries repeat; 16 MB at the longest vectors. */
const EMBEDDINGS_KEPT = 1_000;
/** How much of a query is embedded: a message has at most 4,000 characters, a model's own query can be longer. */
const QUERY_MAX_CHARS = 4_000;

interface QueryEmbeddingsOptions {
  readonly embedder: Embedder;
  readonly log: { warn(fields: object, message: string): void };
  nowMs(): number;
  readonly waitMs?: number;
}

export type QueryEmbeddings = ReturnType<typeof createQueryEmbeddings>;

export function createQueryEmbeddings({ embedder, log, nowMs, waitMs = QUERY_WAIT_MS }: QueryEmbeddingsOptions) {
  const known = new LRUCache<string, Float32Array>({ max: EMBEDDINGS_KEPT });
  /** Requests under way: the same query is asked once. */
  const asked = new Map<string, Promise<void>>();
  let restsUntilMs = Number.NEGATIVE_INFINITY;

  const ask = async (questions: readonly string[]) => {
    try {
      const vectors = await embedder.embed(questions, AbortSignal.timeout(waitMs));
      for (const [at, vector] of vectors.entries()) known.set(questions[at] ?? '', vector);
    } catch (error) {
      if (nowMs() >= restsUntilMs) {
        const reason = error instanceof Error ? error.message : String(error);
        log.warn({ reason, rest_ms: REST_MS }, 'embedding a question failed: search uses words only for some seconds');
      }
      restsUntilMs = nowMs() + REST_MS;
    } finally {
      for (const question of questions) asked.delete(question);
    }
  };

  return {
    get(text: string): Meaning | undefined {
      const vector = known.get(text.slice(0, QUERY_MAX_CHARS));
      return vector === undefined ? undefined : { model: embedder.name, vector };
    },
    /** Those that nobody asks for yet in one request. Settles when all have ended; undefined when there is nothing to wait for. Never rejects. */
    prepare(...texts: readonly string[]): Promise<unknown> | undefined {
      const questions = new Set(
        texts.map((text) => text.slice(0, QUERY_MAX_CHARS)).filter((text) => text.trim() !== '' && !known.has(text)),
      );
      const unasked = nowMs() < restsUntilMs ? [] : [...questions].filter((question) => !asked.has(question));
      if (unasked.length > 0) {
        const promise = ask(unasked);
        for (const question of unasked) asked.set(question, promise);
      }
      const waits = new Set([...questions].flatMap((question) => asked.get(question) ?? []));
      if (waits.size > 1) return Promise.all(waits);
      return waits.values().next().value;
    },
  };
}
