/** Takes sources to `indexed` or `failed` (KNOWLEDGE-3). Steps name their content, so two indexers or a crash do no harm. */
import { Chunker } from '../../assistant/knowledge/chunker.ts';
import type { LinkReader } from '../../assistant/knowledge/extraction.ts';
import { LinkError } from '../../assistant/knowledge/link-error.ts';
import type { KnowledgeSourceEvent } from '../../machines/knowledge-source.ts';
import {
  type FetchedContent,
  type KnowledgeSource,
  type NewChunk,
  readSource,
  readSourceContent,
  type SourceMove,
  type SourceState,
} from '../../storage/knowledge/knowledge.ts';
import { sourcesToIndex } from '../../storage/knowledge/knowledge-overview.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Lease, Leases } from '../leases.ts';
import type { KnowledgeEmbedding } from './embedding.ts';
import { LinkQueue, type NextLink } from './link-queue.ts';
import { type IndexedContent, moveSource } from './sources.ts';

/** Texts read at once when indexing is resumed; the next ones are read when these are done. */
const RESUME_BATCH = 50;

export interface IndexOutcome {
  /** Undefined: there is no such source any more. */
  readonly status: SourceState | 'archived' | undefined;
  readonly chunks: number;
  /** Why it failed, in a sentence; there exactly when `status` is `failed`. */
  readonly error?: string;
}

export interface IndexerServices {
  readonly storage: Storage;
  readonly links: LinkReader;
  /** Woken by every indexed source; present where search also uses embeddings. */
  readonly embedding?: Pick<KnowledgeEmbedding, 'wake' | 'isAwake'> | undefined;
  readonly log: { error(fields: object, message: string): void; info(fields: object, message: string): void };
  nowMs(): number;
  readonly leases: Pick<Leases, 'take'>;
  /** A source of this app came to rest: it is indexed, or it failed. Called after the commit; what it throws is logged. */
  onSettled?(organisationId: string, appId: string): void;
}

/** What a source holds, by its indexer: chunks, and of a link the document; or a sentence why it could not be read. */
type Read = { readonly chunks: readonly NewChunk[]; readonly fetched: FetchedContent | null } | { readonly error: string };

const ENDED_THE_SERVICE =
  'Reading this ended the service twice, so it is not tried again by itself. Send it again to have it tried once more, or send its text.';

function isWaiting(source: KnowledgeSource | undefined): source is KnowledgeSource {
  return source !== undefined && source.archivedAtMs === null && (source.state === 'pending' || source.state === 'indexing');
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Brings sources to rest: those just sent, and those that a crash left waiting (KNOWLEDGE-7). */
export class KnowledgeIndexer {
  readonly #services: IndexerServices;
  readonly #queue: LinkQueue;
  readonly #chunker = new Chunker();

  constructor(services: IndexerServices) {
    this.#services = services;
    this.#queue = new LinkQueue({
      log: services.log,
      next: (organisationId, running) => this.#nextLink(organisationId, running),
      work: (organisationId, sourceId, signal) => this.#work(organisationId, sourceId, signal),
      atRest: (...link) => this.#waiting(...link) === undefined,
    });
  }

  /** A process ended while it was read, perhaps because of another link beside it: to tell which, it is read alone. */
  #nextLink(organisationId: string, running: ReadonlySet<string>): NextLink | undefined {
    const db = this.#services.storage.organisation(organisationId);
    const id = sourcesToIndex(db, running.size + 1, 'url').find((each) => !running.has(each));
    return id === undefined ? undefined : { id, alone: (readSource(db, id)?.attempts ?? 0) > 0 };
  }

  async #work(organisationId: string, sourceId: string, signal: AbortSignal): Promise<boolean | 'elsewhere'> {
    const lease = await this.#services.leases.take(organisationId, `link ${sourceId}`);
    if (lease === null) return 'elsewhere';
    try {
      const source = this.#waiting(organisationId, sourceId);
      if (source !== undefined) await this.#indexLink(organisationId, source, signal, lease);
      return this.#waiting(organisationId, sourceId) === undefined;
    } finally {
      lease.release();
    }
  }

  /** A text before it resolves, a link once the queue has read it or after `waitMs`. @throws StorageError when a write fails. */
  async index(organisationId: string, sourceId: string, waitMs: number): Promise<IndexOutcome> {
    const source = this.#waiting(organisationId, sourceId);
    if (source?.kind === 'text') await this.#indexText(organisationId, source);
    if (source?.kind === 'url') await this.#queue.settled(organisationId, sourceId, waitMs);
    const after = readSource(this.#services.storage.organisation(organisationId), sourceId);
    const status = after !== undefined && after.archivedAtMs !== null ? 'archived' : after?.state;
    const outcome: IndexOutcome = { status, chunks: after?.chunks ?? 0 };
    return status === 'failed' && after !== undefined && after.error !== null ? { ...outcome, error: after.error } : outcome;
  }

  /** Takes up what a crash left waiting. A text that another node is indexing right now is indexed twice and saved once. */
  async resume(organisationId: string): Promise<number> {
    const db = this.#services.storage.organisation(organisationId);
    const seen = new Set<string>();
    for (;;) {
      const texts = sourcesToIndex(db, RESUME_BATCH + seen.size, 'text').filter((id) => !seen.has(id));
      if (texts.length === 0) break;
      for (const sourceId of texts) {
        // A source that cannot leave `pending` must not be retried for ever.
        seen.add(sourceId);
        const source = this.#waiting(organisationId, sourceId);
        if (source !== undefined) await this.#indexText(organisationId, source);
      }
    }
    this.#queue.wake(organisationId);
    this.#services.embedding?.wake(organisationId);
    return seen.size;
  }

  isUnfinished(organisationId: string): boolean {
    const { embedding, storage } = this.#services;
    return embedding?.isAwake(organisationId) === true || sourcesToIndex(storage.organisation(organisationId), 1).length > 0;
  }

  async close(): Promise<void> {
    await this.#queue.close();
    await this.#chunker.close();
  }

  #waiting(organisationId: string, sourceId: string): KnowledgeSource | undefined {
    const source = readSource(this.#services.storage.organisation(organisationId), sourceId);
    return isWaiting(source) ? source : undefined;
  }

  #noteSettled(organisationId: string, source: KnowledgeSource): void {
    const { embedding, log } = this.#services;
    try {
      embedding?.wake(organisationId, source.id);
      this.#services.onSettled?.(organisationId, source.appId);
    } catch (error) {
      log.error(
        { err: error, organisation_id: organisationId, app_id: source.appId },
        'a knowledge source is indexed, but announcing it failed: the panel shows it with the next change',
      );
    }
  }

  #move(organisationId: string, content: IndexedContent, event: KnowledgeSourceEvent, write: (move: SourceMove) => Promise<boolean>) {
    const { storage, nowMs } = this.#services;
    return moveSource(storage, organisationId, content, event, nowMs(), write);
  }

  /** Takes the waiting source to its end: `read` says what its chunks are, or why it has none; null: another node knows better. */
  async #settle(organisationId: string, source: KnowledgeSource, read: () => Promise<Read | null>): Promise<void> {
    const { storage } = this.#services;
    const content = { sourceId: source.id, contentHash: source.contentHash };
    const begun = await this.#move(organisationId, content, { type: 'indexing.began' }, (move) =>
      storage.write(organisationId, 'moveSource', { ...move, error: move.to.state === 'failed' ? ENDED_THE_SERVICE : null }),
    );
    if (begun === null) return;
    if (begun.state === 'failed') this.#noteGivenUp(organisationId, source);
    if (begun.state === 'failed' || (await this.#finish(organisationId, { ...content, appId: source.appId }, read)))
      this.#noteSettled(organisationId, source);
  }

  /** Whether the source came to rest by this. After an error the attempt does not count, because the process did not end: a disk that stays full must not use up the attempts. */
  async #finish(
    organisationId: string,
    { appId, ...content }: IndexedContent & { appId: string },
    read: () => Promise<Read | null>,
  ): Promise<boolean> {
    const { storage } = this.#services;
    try {
      const found = await read();
      if (found === null) return false;
      const failing = 'error' in found ? `The last sources could all not be read: ${found.error}` : undefined;
      storage.conditions.tried('knowledge_failing', appId, failing);
      const settled =
        'error' in found
          ? await this.#move(organisationId, content, { type: 'indexing.failed', error: found.error }, (move) =>
              storage.write(organisationId, 'moveSource', { ...move, error: found.error }),
            )
          : await this.#move(organisationId, content, { type: 'indexing.finished' }, (move) =>
              storage.write(organisationId, 'indexSource', { move, ...found }),
            );
      return settled !== null;
    } catch (error) {
      const stop = (move: SourceMove) => storage.write(organisationId, 'moveSource', move);
      await this.#move(organisationId, content, { type: 'indexing.stopped' }, stop).catch(() => {});
      throw error;
    }
  }

  #noteGivenUp(organisationId: string, source: KnowledgeSource): void {
    const about = { organisation_id: organisationId, source_id: source.id };
    this.#services.log.error(about, 'a knowledge source crashed the service twice: it is not indexed again until it is sent again');
  }

  #indexText(organisationId: string, source: KnowledgeSource): Promise<void> {
    const content = readSourceContent(this.#services.storage.organisation(organisationId), source.id) ?? '';
    return this.#settle(organisationId, source, async () => {
      try {
        return { chunks: await this.#chunker.chunk(content), fetched: null };
      } catch (error) {
        return { error: `The text could not be indexed: ${reasonOf(error)}` };
      }
    });
  }

  #indexLink(organisationId: string, source: KnowledgeSource, signal: AbortSignal, lease: Lease): Promise<void> {
    return this.#settle(organisationId, source, async () => {
      const read = await this.#readLink(organisationId, source, signal);
      // This node was suspended, and another one reads the link: its result is newer.
      return lease.held() ? read : null;
    });
  }

  /** @throws what ended the reading, when `signal` did. */
  async #readLink(organisationId: string, source: KnowledgeSource, signal: AbortSignal): Promise<Read> {
    const { links, log } = this.#services;
    try {
      const { title, text } = await links.read(source.uri ?? '', organisationId, signal);
      return { chunks: await this.#chunker.chunk(text), fetched: { title, content: text } };
    } catch (error) {
      // Cut off by the end of this process: the next one reads it again.
      signal.throwIfAborted();
      const about = { organisation_id: organisationId, source_id: source.id };
      if (error instanceof LinkError) {
        log.info({ ...about, reason: error.message }, 'a knowledge link could not be read');
        return { error: error.message };
      }
      log.error({ ...about, err: error }, 'reading a knowledge link failed because of a bug: its source is marked as failed');
      return { error: 'The document could not be read.' };
    }
  }
}
