/**
 * What questions mean, ready before they are looked up: asked of the embeddings server when a turn begins, remembered for
 * a while. A server that fails or takes too long costs a question its meaning, never its answer: its words are left.
 */
import { LRUCache } from 'lru-cache';
import type { Embedder } from '../../assistant/embeddings/embeddings.ts';
import type { Meaning } from '../../storage/knowledge/knowledge-vectors.ts';

/** A question waits this long for its meaning before the model is asked without. */
export const QUESTION_WAIT_MS = 1_500;
/** After a failure no question waits for this long: with a server that hangs, each would lose QUESTION_WAIT_MS. */
export const REST_MS = 10_000;
/** Greetings, suggestions and retries repeat; 16 MB at the longest vectors. */
const MEANINGS_KEPT = 1_000;
/** What is read of a question: a message has at most 4,000 characters, a model's own query can be longer. */
const QUESTION_MAX_CHARS = 4_000;

export interface QuestionMeanings {
  /** The meaning of `text` as far as it is known now. */
  get(text: string): Meaning | undefined;
  /** Settles when `get` knows it or will not; undefined when there is nothing to wait for. Never rejects. */
  prepare(text: string): Promise<void> | undefined;
}

export interface QuestionMeaningsOptions {
  readonly embedder: Embedder;
  readonly log: { warn(fields: object, message: string): void };
  nowMs(): number;
  readonly waitMs?: number;
}

export function createQuestionMeanings({ embedder, log, nowMs, waitMs = QUESTION_WAIT_MS }: QuestionMeaningsOptions): QuestionMeanings {
  const known = new LRUCache<string, Float32Array>({ max: MEANINGS_KEPT });
  /** Asked for now: two that ask the same share the answer. */
  const asked = new Map<string, Promise<void>>();
  let restsUntilMs = Number.NEGATIVE_INFINITY;

  const ask = async (question: string) => {
    try {
      const [vector] = await embedder.embed([question], AbortSignal.timeout(waitMs));
      if (vector !== undefined) known.set(question, vector);
    } catch (error) {
      if (nowMs() >= restsUntilMs) {
        const reason = error instanceof Error ? error.message : String(error);
        log.warn({ reason, rest_ms: REST_MS }, 'embedding a question failed: search uses words only for some seconds');
      }
      restsUntilMs = nowMs() + REST_MS;
    } finally {
      asked.delete(question);
    }
  };

  return {
    get(text) {
      const vector = known.get(text.slice(0, QUESTION_MAX_CHARS));
      return vector === undefined ? undefined : { model: embedder.name, vector };
    },
    prepare(text) {
      const question = text.slice(0, QUESTION_MAX_CHARS);
      if (question.trim() === '' || known.has(question)) return undefined;
      const running = asked.get(question);
      if (running !== undefined) return running;
      if (nowMs() < restsUntilMs) return undefined;
      const promise = ask(question);
      asked.set(question, promise);
      return promise;
    },
  };
}
