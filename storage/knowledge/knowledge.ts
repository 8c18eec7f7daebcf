/**
 * Knowledge sources and their chunks (KNOWLEDGE-3).
 *
 * Invariant: a source has chunks and full-text rows exactly while it is `indexed` and not archived, so a search never
 * has to skip what must not be found. Every change goes back to `pending`; `content_hash` tells a late indexer that the
 * content it read is no longer the source's.
 */
import { createHash } from 'node:crypto';
import { Refusal } from '../../protocol/errors.ts';
import { KNOWLEDGE_TITLE_MAX_CHARS } from '../../protocol/limits.ts';
import { clip } from '../../protocol/schema/text.ts';
import type { Origin } from '../../protocol/setup/writes.ts';
import type { Connection, Row } from '../sqlite/connection.ts';
import { appToken } from './knowledge-query.ts';

export type SourceState = 'pending' | 'indexing' | 'indexed' | 'failed';
export type SourceKind = 'text' | 'url';

export interface KnowledgeSource {
  readonly id: string;
  readonly appId: string;
  readonly externalKey: string;
  readonly kind: SourceKind;
  readonly title: string;
  readonly uri: string | null;
  readonly contentHash: string;
  readonly state: SourceState;
  /** A sentence, when the state is `failed`. */
  readonly error: string | null;
  readonly archivedAtMs: number | null;
  /** Indexings that were begun and whose end nobody told: above 0 it waits because a process ended in one. */
  readonly attempts: number;
  readonly origin: Origin;
  readonly reason: string | null;
  readonly chunks: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface NewChunk {
  readonly ordinal: number;
  /** Outermost first. */
  readonly headings: readonly string[];
  readonly text: string;
}

/** Of the full-text index, with each source: 256 KB of writing, some milliseconds of the writer's time. */
const MERGED_PAGES = 64;

/** Sources of one app, archived ones included; a help centre has some hundreds of articles. */
export const SOURCES_PER_APP_MAX = 10_000;

export const NO_ROOM_FOR_SOURCES = `An app has at most ${SOURCES_PER_APP_MAX} knowledge sources.`;

/** Of `knowledge_sources s`, what `sourceOf` takes. */
export const SOURCE_COLUMNS = `s.id, s.app_id, s.external_key, s.kind, s.title, s.uri, s.content_hash, s.state, s.error, s.archived_at_ms, s.attempts, s.origin,
  s.reason, s.created_at_ms, s.updated_at_ms, (SELECT count(*) FROM knowledge_chunks c WHERE c.source_id = s.id) AS chunks`;

/** A row of `SOURCE_COLUMNS`. */
export function sourceOf(row: Row): KnowledgeSource {
  return {
    id: row.id as string,
    appId: row.app_id as string,
    externalKey: row.external_key as string,
    kind: row.kind as SourceKind,
    title: row.title as string,
    uri: row.uri as string | null,
    contentHash: row.content_hash as string,
    state: row.state as SourceState,
    error: row.error as string | null,
    archivedAtMs: row.archived_at_ms as number | null,
    attempts: row.attempts as number,
    origin: row.origin as Origin,
    reason: row.reason as string | null,
    chunks: row.chunks as number,
    createdAtMs: row.created_at_ms as number,
    updatedAtMs: row.updated_at_ms as number,
  };
}

export function readSource(db: Connection, sourceId: string): KnowledgeSource | undefined {
  const row = db.statement(`SELECT ${SOURCE_COLUMNS} FROM knowledge_sources s WHERE s.id = :sourceId`).get({ sourceId });
  return row === undefined ? undefined : sourceOf(row);
}

/** The text of a source; null for a link that was not fetched, undefined when there is no such source. */
export function readSourceContent(db: Connection, sourceId: string): string | null | undefined {
  return db.statement('SELECT content FROM knowledge_sources WHERE id = :sourceId').get({ sourceId })?.content as string | null | undefined;
}

export interface SourceInput {
  /** Used when the key is new. */
  readonly sourceId: string;
  readonly appId: string;
  readonly externalKey: string;
  readonly kind: SourceKind;
  /** Null for a link that goes by the title of its page; until that is known, by its address. */
  readonly title: string | null;
  readonly uri: string | null;
  /** Null for a link. */
  readonly content: string | null;
  readonly origin: Origin;
  readonly reason: string | null;
  readonly nowMs: number;
}

/** Of what was sent, not of what a link led to: the same item sent again is the same source. */
export function contentHashOf(input: Pick<SourceInput, 'kind' | 'title' | 'uri' | 'content'>): string {
  return createHash('sha256')
    .update(JSON.stringify([input.kind, input.title, input.uri, input.content]))
    .digest('hex');
}

function dropChunks(db: Connection, sourceId: string): void {
  db.statement('DELETE FROM knowledge_index WHERE rowid IN (SELECT id FROM knowledge_chunks WHERE source_id = :sourceId)').run({
    sourceId,
  });
  db.statement('DELETE FROM knowledge_chunks WHERE source_id = :sourceId').run({ sourceId });
}

/** The app's source of this key, archived or not. */
export function readSourceByKey(db: Connection, appId: string, externalKey: string): KnowledgeSource | undefined {
  const row = db
    .statement(`SELECT ${SOURCE_COLUMNS} FROM knowledge_sources s WHERE s.app_id = :appId AND s.external_key = :externalKey`)
    .get({ appId, externalKey });
  return row === undefined ? undefined : sourceOf(row);
}

/** Archived ones included, as the bound counts them. */
export function countSources(db: Connection, appId: string): number {
  return db.statement('SELECT count(*) AS n FROM knowledge_sources WHERE app_id = :appId').get({ appId })?.n as number;
}

/** Whether the same item sent again has nothing to bring. A link that was read may lead to something else by now. */
function isUpToDate({ archivedAtMs, state, kind }: KnowledgeSource): boolean {
  if (archivedAtMs !== null || state === 'failed') return false;
  return kind === 'text' || state !== 'indexed';
}

/** Keeps what somebody says now of why it is there; whoever says nothing takes nothing back. */
function noteReason(db: Connection, source: KnowledgeSource, reason: string | null): void {
  if (reason === null || reason === source.reason) return;
  db.statement('UPDATE knowledge_sources SET reason = :reason WHERE id = :id').run({ id: source.id, reason });
}

/**
 * Adds or updates the source of this key. The same text is `unchanged` but for its reason, unless it was archived or had failed:
 * sending it again brings it back. A link is read again. @throws Refusal conflict when the app has as many sources as it may.
 */
function upsertSource(db: Connection, input: SourceInput): { op: 'created' | 'updated' | 'unchanged'; id: string } {
  const contentHash = contentHashOf(input);
  const title = input.title ?? clip(input.uri ?? input.externalKey, KNOWLEDGE_TITLE_MAX_CHARS);
  const before = readSourceByKey(db, input.appId, input.externalKey);
  if (before === undefined) {
    if (countSources(db, input.appId) >= SOURCES_PER_APP_MAX) throw new Refusal('conflict', NO_ROOM_FOR_SOURCES);
    db.statement(
      `INSERT INTO knowledge_sources (id, app_id, external_key, kind, title, uri, content, content_hash, state, origin, reason, created_at_ms, updated_at_ms)
       VALUES (:sourceId, :appId, :externalKey, :kind, :title, :uri, :content, :contentHash, 'pending', :origin, :reason, :nowMs, :nowMs)`,
    ).run({ ...input, title, contentHash });
    return { op: 'created', id: input.sourceId };
  }
  if (before.contentHash === contentHash && isUpToDate(before)) {
    noteReason(db, before, input.reason);
    return { op: 'unchanged', id: before.id };
  }
  dropChunks(db, before.id);
  db.statement(
    `UPDATE knowledge_sources SET kind = :kind, title = :title, uri = :uri, content = :content, content_hash = :contentHash,
       state = 'pending', error = NULL, attempts = 0, archived_at_ms = NULL, origin = :origin, reason = :reason, updated_at_ms = :nowMs
     WHERE id = :id`,
  ).run({ ...input, title, contentHash, id: before.id });
  return { op: 'updated', id: before.id };
}

/**
 * Takes the source out of every search; its text stays, and so does the reason it was written with unless another is
 * given. Undefined when the app has no source of this key. Idempotent.
 */
function archiveSource(
  db: Connection,
  input: { appId: string; externalKey: string; reason?: string | undefined; nowMs: number },
): { id: string } | undefined {
  const source = readSourceByKey(db, input.appId, input.externalKey);
  if (source === undefined) return undefined;
  if (source.archivedAtMs !== null) noteReason(db, source, input.reason ?? null);
  else {
    dropChunks(db, source.id);
    // Brought back, it has to be indexed again.
    db.statement(
      `UPDATE knowledge_sources SET state = 'pending', error = NULL, attempts = 0, archived_at_ms = :nowMs, reason = coalesce(:reason, reason),
         updated_at_ms = :nowMs
       WHERE id = :id`,
    ).run({ id: source.id, reason: input.reason ?? null, nowMs: input.nowMs });
  }
  return { id: source.id };
}

interface IndexingInput {
  readonly sourceId: string;
  /** Of the content that is being indexed; a write about older content changes nothing. */
  readonly contentHash: string;
  readonly nowMs: number;
}

/** What ended a process may have been another document, or somebody who killed it: it is tried once more, and then no longer. */
const ATTEMPTS_MAX = 2;
const ENDED_THE_SERVICE =
  'Reading this ended the service twice, so it is not tried again by itself. Send it again to have it tried once more, or send its text.';

/** `begun`; `failed` when processes ended in it too often; `settled` when there is nothing to index any more. */
export type Beginning = 'begun' | 'failed' | 'settled';

/** pending → indexing (and indexing again after a crash): counted before anything is read, so that a process that ends in it has counted. */
function beginIndexing(db: Connection, input: IndexingInput): Beginning {
  const { changes } = db
    .statement(
      `UPDATE knowledge_sources SET state = 'indexing', attempts = attempts + 1, updated_at_ms = :nowMs
       WHERE id = :sourceId AND content_hash = :contentHash AND archived_at_ms IS NULL AND state IN ('pending', 'indexing')
         AND attempts < :attemptsMax`,
    )
    .run({ ...input, attemptsMax: ATTEMPTS_MAX });
  if (changes === 1) return 'begun';
  return failSource(db, { ...input, error: ENDED_THE_SERVICE }) ? 'failed' : 'settled';
}

/** It was cut off by a process that lives, so that this attempt does not count. The row stays `indexing`: another node may have begun. */
function stopIndexing(db: Connection, { sourceId, contentHash }: Omit<IndexingInput, 'nowMs'>): void {
  db.statement(
    `UPDATE knowledge_sources SET attempts = attempts - 1
     WHERE id = :sourceId AND content_hash = :contentHash AND archived_at_ms IS NULL AND state = 'indexing' AND attempts > 0`,
  ).run({ sourceId, contentHash });
}

/** Chunks, full-text rows and `indexed`, all at once; false when the content has changed or was archived meanwhile. */
function replaceChunks(db: Connection, input: IndexingInput & { chunks: readonly NewChunk[] }): boolean {
  const { sourceId, contentHash, nowMs } = input;
  const { changes } = db
    .statement(
      `UPDATE knowledge_sources SET state = 'indexed', error = NULL, attempts = 0, updated_at_ms = :nowMs
       WHERE id = :sourceId AND content_hash = :contentHash AND archived_at_ms IS NULL AND state = 'indexing'`,
    )
    .run({ sourceId, contentHash, nowMs });
  const source = changes === 1 ? readSource(db, sourceId) : undefined;
  if (source === undefined) return false;
  dropChunks(db, sourceId);
  for (const chunk of input.chunks) {
    const { lastInsertRowid } = db
      .statement(
        'INSERT INTO knowledge_chunks (source_id, app_id, ordinal, headings, text) VALUES (:sourceId, :appId, :ordinal, :headings, :text)',
      )
      .run({ sourceId, appId: source.appId, ordinal: chunk.ordinal, headings: JSON.stringify(chunk.headings), text: chunk.text });
    db.statement('INSERT INTO knowledge_index (rowid, app_id, title, headings, text) VALUES (:id, :app, :title, :headings, :text)').run({
      id: lastInsertRowid,
      app: appToken(source.appId),
      title: source.title,
      headings: chunk.headings.join('\n'),
      text: chunk.text,
    });
  }
  // Every write leaves a segment that every search has to open; two of one size are merged as soon as there are two.
  db.statement(`INSERT INTO knowledge_index (knowledge_index, rank) VALUES ('merge', :pages)`).run({ pages: MERGED_PAGES });
  return true;
}

export interface FetchedContent {
  /** Of the document; '' when it has none. */
  readonly title: string;
  readonly content: string;
  readonly chunks: readonly NewChunk[];
}

/** What a link led to, with its chunks, all at once; false as replaceChunks. A title that was sent with the link stays. */
function indexFetched(db: Connection, input: IndexingInput & FetchedContent): boolean {
  const { sourceId, contentHash, title, content, nowMs, chunks } = input;
  const source = readSource(db, sourceId);
  if (source === undefined) return false;
  const wasTitled = contentHashOf({ kind: source.kind, title: null, uri: source.uri, content: null }) !== contentHash;
  const { changes } = db
    .statement(
      `UPDATE knowledge_sources SET title = :title, content = :content
       WHERE id = :sourceId AND content_hash = :contentHash AND archived_at_ms IS NULL AND state = 'indexing'`,
    )
    .run({ sourceId, contentHash, content, title: wasTitled || title === '' ? source.title : title });
  return changes === 1 && replaceChunks(db, { sourceId, contentHash, nowMs, chunks });
}

/** indexing → failed, with a sentence that says why; false when the content has changed meanwhile. */
function failSource(db: Connection, input: IndexingInput & { error: string }): boolean {
  const { changes } = db
    .statement(
      `UPDATE knowledge_sources SET state = 'failed', error = :error, attempts = 0, updated_at_ms = :nowMs
       WHERE id = :sourceId AND content_hash = :contentHash AND archived_at_ms IS NULL AND state IN ('pending', 'indexing')`,
    )
    .run({ ...input });
  return changes === 1;
}

export const transactions = { upsertSource, archiveSource, beginIndexing, stopIndexing, replaceChunks, indexFetched, failSource };
