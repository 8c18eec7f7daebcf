/** Gives chunks vectors after they can be found by words: a server that is down fails no source. Chunks without one are the queue. */

import { type Embedder, EmbeddingError } from '../../assistant/embeddings/embeddings.ts';
import { chunksToEmbed, type EmbeddableChunk, firstChunkOf } from '../../storage/knowledge/knowledge-vectors.ts';
import type { Storage } from '../../storage/storage.ts';

/** Chunks checked in one step: as many as one request may hold, and one write. */
const STEP_CHUNKS = 32;
/** Requests under way for indexing: questions, which people wait for, share the server. */
const STEPS_AT_ONCE = 2;
/** While the server fails: a short time at first, for a server that restarts, then longer up to the second. */
const BACKOFF = { firstMs: 1_000, maxMs: 60_000 } as const;

export interface EmbeddingServices {
  readonly storage: Storage;
  readonly embedder: Embedder;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  readonly backoff?: { readonly firstMs: number; readonly maxMs: number };
}

/** How far an organisation's chunks have been checked. One entry each, kept while the process lives. */
interface Progress {
  /** Chunks up to this id have vectors. */
  upTo: number;
  /** Lowered by a source that came while a step was under way: ids are used again, so it may lie below. */
  reopenedFrom: number;
}

/** What of a chunk is embedded: a passage means little without the headings above it. */
function textOf({ title, headings, text }: EmbeddableChunk): string {
  return [title, ...(JSON.parse(headings) as string[]), text].join('\n');
}

export class KnowledgeEmbedding {
  readonly #services: EmbeddingServices;
  readonly #ended = new AbortController();
  readonly #progress = new Map<string, Progress>();
  readonly #awake = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  #failures = 0;
  #rest: NodeJS.Timeout | null = null;

  constructor(services: EmbeddingServices) {
    this.#services = services;
  }

  /** The organisation has chunks without vectors: those of this source, or any. */
  wake(organisationId: string, sourceId?: string): void {
    if (this.#ended.signal.aborted) return;
    const first = sourceId === undefined ? 0 : firstChunkOf(this.#services.storage.organisation(organisationId), sourceId);
    if (first === undefined) return;
    const progress = this.#progress.get(organisationId) ?? { upTo: 0, reopenedFrom: Number.POSITIVE_INFINITY };
    progress.reopenedFrom = Math.min(progress.reopenedFrom, Math.max(first - 1, 0));
    this.#progress.set(organisationId, progress);
    this.#awake.add(organisationId);
    this.#pump();
  }

  isAwake(organisationId: string): boolean {
    return this.#awake.has(organisationId);
  }

  #pump(): void {
    for (const organisationId of this.#awake) {
      if (this.#ended.signal.aborted || this.#rest !== null || this.#running.size >= STEPS_AT_ONCE) return;
      if (!this.#running.has(organisationId)) this.#running.set(organisationId, this.#run(organisationId));
    }
  }

  async #run(organisationId: string): Promise<void> {
    try {
      // After the caller, which has an answer to send first.
      await new Promise((resolve) => setImmediate(resolve));
      const goesOn = await this.#step(organisationId);
      // Deleted and added again it comes last: organisations are served round robin.
      this.#awake.delete(organisationId);
      if (goesOn) this.#awake.add(organisationId);
    } catch (error) {
      if (!this.#ended.signal.aborted) this.#restAfter(error);
    } finally {
      this.#running.delete(organisationId);
      this.#pump();
    }
  }

  /** Embeds what is missing among the next chunks; false when there are no more. */
  async #step(organisationId: string): Promise<boolean> {
    const { storage, embedder } = this.#services;
    const progress = this.#progress.get(organisationId);
    if (progress === undefined || this.#ended.signal.aborted) return false;
    progress.upTo = Math.min(progress.upTo, progress.reopenedFrom);
    progress.reopenedFrom = Number.POSITIVE_INFINITY;
    const { chunks, last } = chunksToEmbed(storage.organisation(organisationId), embedder.name, progress.upTo, STEP_CHUNKS);
    if (chunks.length > 0) {
      const vectors = (await this.#embed(chunks)).flatMap((vector, index) => {
        const chunk = chunks[index];
        return vector === undefined || chunk === undefined ? [] : [{ chunk, vector }];
      });
      const dropped = await storage.write(organisationId, 'saveVectors', { model: embedder.name, vectors });
      if (dropped > 0) {
        progress.upTo = 0;
        throw new Error(`The vectors of ${embedder.name} have other dimensions than before: all are made again.`);
      }
      this.#recovered();
    }
    if (last !== undefined) progress.upTo = last;
    return last !== undefined || Number.isFinite(progress.reopenedFrom);
  }

  /** A vector for each chunk; undefined for one that the server does not take. @throws when it takes none. */
  async #embed(chunks: readonly EmbeddableChunk[]): Promise<(Float32Array | undefined)[]> {
    try {
      return await this.#services.embedder.embed(chunks.map(textOf), this.#ended.signal);
    } catch (error) {
      if (!(error instanceof EmbeddingError) || error.about !== 'texts') throw error;
      if (chunks.length > 1) return this.#embedParts(chunks, error);
      const about = { source_id: chunks[0]?.sourceId, reason: error.message };
      this.#services.log.warn(about, 'the embeddings server refused a passage: search finds it by its words only');
      return [undefined];
    }
  }

  async #embedParts(chunks: readonly EmbeddableChunk[], refusal: EmbeddingError): Promise<(Float32Array | undefined)[]> {
    const half = Math.ceil(chunks.length / 2);
    const vectors = [...(await this.#embed(chunks.slice(0, half))), ...(await this.#embed(chunks.slice(half)))];
    // Every one of several: it is not the texts that the server dislikes.
    if (vectors.every((vector) => vector === undefined)) throw new EmbeddingError('server', refusal.message);
    return vectors;
  }

  /** Logged once for each outage. */
  #restAfter(error: unknown): void {
    const { firstMs, maxMs } = this.#services.backoff ?? BACKOFF;
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#failures === 0) {
      this.#services.log.warn({ reason }, 'embedding passages failed: search finds them by their words only until a retry succeeds');
    }
    // Two steps that fail together are one failure.
    if (this.#rest !== null) return;
    this.#noteOutcome(`The embeddings server takes nothing: ${reason}`);
    const restMs = Math.min(firstMs * 2 ** this.#failures, maxMs);
    this.#failures += 1;
    this.#rest = setTimeout(() => {
      this.#rest = null;
      this.#pump();
    }, restMs);
    this.#rest.unref();
  }

  #noteOutcome(failing?: string): void {
    const { embedder, storage } = this.#services;
    storage.conditions.tried('knowledge_failing', embedder.name, failing);
  }

  #recovered(): void {
    this.#noteOutcome();
    if (this.#failures > 0) this.#services.log.info({ failures: this.#failures }, 'embedding passages works again');
    this.#failures = 0;
  }

  async close(): Promise<void> {
    this.#ended.abort(new Error('the service stops'));
    if (this.#rest !== null) clearTimeout(this.#rest);
    await Promise.all(this.#running.values());
  }
}
