/**
 * Takes knowledge sources from `pending` to `indexed` or `failed` (decisions §3): text at once, links in the background.
 * Owns no rows: every step is a transaction that names the content it is about, so two indexers of one source, or a crash
 * between steps, do no harm.
 */
import { chunkText } from '../assistant/knowledge/chunk.ts';
import { LinkError } from '../assistant/knowledge/link-error.ts';
import type { LinkReader } from '../assistant/knowledge/link-reader.ts';
import {
  type FetchedContent,
  type KnowledgeSource,
  readSource,
  readSourceContent,
  type SourceState,
  sourcesToIndex,
} from '../storage/knowledge.ts';
import type { Storage } from '../storage/storage.ts';
import type { KnowledgeEmbedding } from './knowledge-embedding.ts';
import { createLinkQueue } from './link-queue.ts';

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
  /** Woken by every source that is indexed, where passages are found by meaning, too. */
  readonly embedding?: Pick<KnowledgeEmbedding, 'wake'> | undefined;
  readonly log: { error(fields: object, message: string): void; info(fields: object, message: string): void };
  nowMs(): number;
  /** A source of this app came to rest: it is indexed, or it failed. Called after the commit; what it throws is logged. */
  onSettled?(organisationId: string, appId: string): void;
}

export interface KnowledgeIndexer {
  /**
   * Indexes a source: a text before it resolves, a link when its turn comes or `waitMs` are over. Answers where the source
   * stands then; one that is at rest already stays as it is. @throws StorageError when a write fails.
   */
  index(organisationId: string, sourceId: string, waitMs: number): Promise<IndexOutcome>;
  /** Takes up what a crash left waiting: texts before it resolves, with their number; links in the background. */
  resume(organisationId: string): Promise<number>;
  /** Ends what runs; it is taken up at the next start. Idempotent. */
  close(): Promise<void>;
}

function isWaiting(source: KnowledgeSource | undefined): source is KnowledgeSource {
  return source !== undefined && source.archivedAtMs === null && (source.state === 'pending' || source.state === 'indexing');
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function createKnowledgeIndexer(services: IndexerServices): KnowledgeIndexer {
  const { storage, links, embedding, log, nowMs } = services;

  const noteSettled = (organisationId: string, source: KnowledgeSource) => {
    try {
      embedding?.wake(organisationId, source.id);
      services.onSettled?.(organisationId, source.appId);
    } catch (error) {
      log.error({ err: error, organisation_id: organisationId, app_id: source.appId }, 'nobody learns that a source is indexed');
    }
  };

  /** Takes the waiting source to its end; `work` makes the last write and says whether the source was still its own. */
  const settle = async (
    organisationId: string,
    source: KnowledgeSource,
    work: (about: { sourceId: string; contentHash: string }) => Promise<boolean>,
  ) => {
    const about = { sourceId: source.id, contentHash: source.contentHash };
    if (!(await storage.write(organisationId, 'beginIndexing', { ...about, nowMs: nowMs() }))) return;
    if (await work(about)) noteSettled(organisationId, source);
  };

  const indexText = async (organisationId: string, source: KnowledgeSource) => {
    const content = readSourceContent(storage.organisation(organisationId), source.id) ?? '';
    await settle(organisationId, source, (about) => {
      let chunks: ReturnType<typeof chunkText>;
      try {
        chunks = chunkText(content);
      } catch (error) {
        const reason = `The text could not be indexed: ${reasonOf(error)}`;
        return storage.write(organisationId, 'failSource', { ...about, nowMs: nowMs(), error: reason });
      }
      return storage.write(organisationId, 'replaceChunks', { ...about, nowMs: nowMs(), chunks });
    });
  };

  /** What the link leads to, or a sentence why it could not be read. @throws what ended it, when `signal` did. */
  const readLink = async (organisationId: string, source: KnowledgeSource, signal: AbortSignal): Promise<FetchedContent | string> => {
    try {
      const { title, text } = await links.read(source.uri ?? '', signal);
      return { title, content: text, chunks: chunkText(text) };
    } catch (error) {
      // Cut off by the end of this process: the next one reads it again.
      signal.throwIfAborted();
      const about = { organisation_id: organisationId, source_id: source.id };
      if (error instanceof LinkError) {
        log.info({ ...about, reason: error.message }, 'a link could not be read');
        return error.message;
      }
      log.error({ ...about, err: error }, 'reading a link failed');
      return 'The document could not be read.';
    }
  };

  const indexLink = (organisationId: string, source: KnowledgeSource, signal: AbortSignal) =>
    settle(organisationId, source, async (about) => {
      const read = await readLink(organisationId, source, signal);
      return typeof read === 'string'
        ? storage.write(organisationId, 'failSource', { ...about, nowMs: nowMs(), error: read })
        : storage.write(organisationId, 'indexFetched', { ...about, ...read, nowMs: nowMs() });
    });

  const waiting = (organisationId: string, sourceId: string): KnowledgeSource | undefined => {
    const source = readSource(storage.organisation(organisationId), sourceId);
    return isWaiting(source) ? source : undefined;
  };

  const queue = createLinkQueue({
    log,
    next: (organisationId, running) =>
      sourcesToIndex(storage.organisation(organisationId), running.size + 1, 'url').find((id) => !running.has(id)),
    async work(organisationId, sourceId, signal) {
      const source = waiting(organisationId, sourceId);
      if (source !== undefined) await indexLink(organisationId, source, signal);
      return waiting(organisationId, sourceId) === undefined;
    },
  });

  return {
    async index(organisationId, sourceId, waitMs) {
      const source = waiting(organisationId, sourceId);
      if (source?.kind === 'text') await indexText(organisationId, source);
      if (source?.kind === 'url') await queue.settled(organisationId, sourceId, waitMs);
      const after = readSource(storage.organisation(organisationId), sourceId);
      const status = after !== undefined && after.archivedAtMs !== null ? 'archived' : after?.state;
      const outcome: IndexOutcome = { status, chunks: after?.chunks ?? 0 };
      return status === 'failed' && after !== undefined && after.error !== null ? { ...outcome, error: after.error } : outcome;
    },
    async resume(organisationId) {
      const db = storage.organisation(organisationId);
      const seen = new Set<string>();
      for (;;) {
        const texts = sourcesToIndex(db, RESUME_BATCH + seen.size, 'text').filter((id) => !seen.has(id));
        if (texts.length === 0) break;
        for (const sourceId of texts) {
          // One that cannot leave `pending` must not be tried for ever.
          seen.add(sourceId);
          const source = waiting(organisationId, sourceId);
          if (source !== undefined) await indexText(organisationId, source);
        }
      }
      queue.wake(organisationId);
      embedding?.wake(organisationId);
      return seen.size;
    },
    close: () => queue.close(),
  };
}
