/** Knowledge sources of a file as the service writes them: the machine decides each step, and the real transactions make it, at once. */
import { archiveSource, type IndexedContent, moveSource, type SourceStorage, saveSource } from '../../../actors/knowledge/sources.ts';
import type { KnowledgeSourceEvent } from '../../../machines/knowledge-source.ts';
import {
  type FetchedContent,
  type NewChunk,
  readSource,
  type SourceInput,
  type SourceMove,
  transactions,
} from '../../../storage/knowledge/knowledge.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';

export class StoredSources {
  readonly #db: Connection;
  readonly #storage: SourceStorage;
  readonly #nowMs: number;

  constructor(db: Connection, nowMs: number) {
    this.#db = db;
    this.#nowMs = nowMs;
    const write = async (_: string, name: keyof typeof transactions, input: never) => transactions[name](db, input);
    this.#storage = { organisation: () => db, write } as unknown as SourceStorage;
  }

  save(input: Omit<SourceInput, 'nowMs'>) {
    return saveSource(this.#storage, '', { ...input, nowMs: this.#nowMs });
  }

  archive(appId: string, externalKey: string, options: { reason?: string; nowMs?: number } = {}) {
    const { reason = null, nowMs = this.#nowMs } = options;
    return archiveSource(this.#storage, '', { appId, externalKey, reason, nowMs });
  }

  /** The source with the content that it has now. */
  content(sourceId: string): IndexedContent {
    return { sourceId, contentHash: readSource(this.#db, sourceId)?.contentHash ?? '' };
  }

  /** Each returns where the source is then; null: the event came too late. */
  begin(content: IndexedContent) {
    return this.#move(content, { type: 'indexing.began' }, (move) =>
      transactions.moveSource(this.#db, { ...move, error: move.to.state === 'failed' ? 'Given up.' : null }),
    );
  }

  fail(content: IndexedContent, error: string) {
    return this.#move(content, { type: 'indexing.failed', error }, (move) => transactions.moveSource(this.#db, { ...move, error }));
  }

  stop(content: IndexedContent) {
    return this.#move(content, { type: 'indexing.stopped' }, (move) => transactions.moveSource(this.#db, move));
  }

  finish(content: IndexedContent, chunks: readonly NewChunk[], fetched: FetchedContent | null = null) {
    return this.#move(content, { type: 'indexing.finished' }, (move) => transactions.indexSource(this.#db, { move, chunks, fetched }));
  }

  /** Begins and finishes. */
  async index(sourceId: string, chunks: readonly NewChunk[]) {
    await this.begin(this.content(sourceId));
    return this.finish(this.content(sourceId), chunks);
  }

  #move(content: IndexedContent, event: KnowledgeSourceEvent, write: (move: SourceMove) => boolean) {
    return moveSource(this.#storage, '', content, event, this.#nowMs, async (move) => write(move));
  }
}
