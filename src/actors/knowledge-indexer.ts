/**
 * Takes a knowledge source from `pending` to `indexed` or `failed` (decisions §3). Owns no rows: every step is a
 * transaction that names the content it is about, so two indexers of one source, or a crash between steps, do no harm.
 */
import { chunkText } from '../assistant/knowledge/chunk.ts';
import { readSource, readSourceContent, type SourceState, sourcesToIndex } from '../storage/knowledge.ts';
import type { Storage } from '../storage/storage.ts';

/** Sources read at once when indexing is resumed; the next ones are read when these are done. */
const RESUME_BATCH = 50;

export interface IndexOutcome {
  /** Undefined: there is no such source any more. */
  readonly status: SourceState | undefined;
  readonly chunks: number;
}

function outcomeOf(storage: Storage, organisationId: string, sourceId: string): IndexOutcome {
  const source = readSource(storage.organisation(organisationId), sourceId);
  return { status: source?.state, chunks: source?.chunks ?? 0 };
}

/**
 * Indexes the source's text, and answers where it stands afterwards. Does nothing for a source that is indexed, failed,
 * archived or gone, or whose content changed on the way (whoever changed it indexes it). A text that cannot be cut up
 * fails the source, not the caller. @throws StorageError when a write fails.
 */
export async function indexSource(storage: Storage, organisationId: string, sourceId: string, nowMs: number): Promise<IndexOutcome> {
  const db = storage.organisation(organisationId);
  const source = readSource(db, sourceId);
  const content = readSourceContent(db, sourceId);
  if (source === undefined || typeof content !== 'string') return outcomeOf(storage, organisationId, sourceId);
  const about = { sourceId, contentHash: source.contentHash, nowMs };
  if (await storage.write(organisationId, 'beginIndexing', about)) {
    let chunks: ReturnType<typeof chunkText>;
    try {
      chunks = chunkText(content);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      await storage.write(organisationId, 'failSource', { ...about, error: `The text could not be indexed: ${reason}` });
      return outcomeOf(storage, organisationId, sourceId);
    }
    await storage.write(organisationId, 'replaceChunks', { ...about, chunks });
  }
  return outcomeOf(storage, organisationId, sourceId);
}

/** Indexes what a crash left waiting, one source after the other; answers how many were taken up. For the start of a node. */
export async function resumeIndexing(storage: Storage, organisationId: string, nowMs: () => number): Promise<number> {
  const seen = new Set<string>();
  for (;;) {
    const waiting = sourcesToIndex(storage.organisation(organisationId), RESUME_BATCH + seen.size).filter((id) => !seen.has(id));
    if (waiting.length === 0) return seen.size;
    for (const sourceId of waiting) {
      // A source that cannot leave `pending` here (a link without text) must not be tried for ever.
      seen.add(sourceId);
      await indexSource(storage, organisationId, sourceId, nowMs());
    }
  }
}
