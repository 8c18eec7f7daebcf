/**
 * Knowledge sources and their chunks (KNOWLEDGE-3).
 *
 * Invariant: a source has chunks and full-text rows exactly while it is `indexed` and not archived, so a search has nothing to skip.
 * The machine `knowledge-source` decides each step (`actors/knowledge/sources.ts`); a transaction here makes the step only while the
 * source still has the state and the content on which it was decided.
 */
import { createHash } from 'node:crypto';
import { Refusal } from '../../protocol/errors.ts';
import { KNOWLEDGE_TITLE_MAX_CHARS } from '../../protocol/limits.ts';
import { clip } from '../../protocol/schema/text.ts';
import type { Origin } from '../../protocol/setup/writes.ts';
import { columns, countRows, insert, integer, orNull, type RowOf, readValue, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { insertTrace, type NewTrace } from '../traces/traces.ts';
import { appToken } from './knowledge-query.ts';

export type SourceState = 'pending' | 'indexing' | 'indexed' | 'failed';
export type SourceKind = 'text' | 'url';

export const knowledgeSource = columns({
  id: text.from('s.id'),
  appId: text.from('s.app_id'),
  externalKey: text,
  kind: text.as<SourceKind>(),
  title: text,
  uri: orNull(text),
  contentHash: text,
  state: text.as<SourceState>(),
  error: orNull(text),
  archivedAtMs: orNull(integer),
  attempts: integer,
  origin: text.as<Origin>(),
  reason: orNull(text),
  createdAtMs: integer,
  updatedAtMs: integer,
  chunks: integer.from('(SELECT count(*) FROM knowledge_chunks c WHERE c.source_id = s.id)'),
});

export type KnowledgeSource = RowOf<typeof knowledgeSource>;

export interface NewChunk {
  readonly ordinal: number;
  readonly headings: readonly string[];
  readonly text: string;
}

/** Pages of the full-text index merged with each source: 256 KB of writes, some milliseconds of the writer's time. */
const MERGED_PAGES = 64;

/** Sources of one app, archived ones included; a help centre has some hundreds of articles. */
export const SOURCES_PER_APP_MAX = 10_000;

export function readSource(db: Connection, sourceId: string): KnowledgeSource | undefined {
  return knowledgeSource.get(db, 'FROM knowledge_sources s WHERE s.id = :sourceId', { sourceId });
}

/** The text of a source; null for a link that was not fetched, undefined when there is no such source. */
export function readSourceContent(db: Connection, sourceId: string): string | null | undefined {
  return readValue(db, orNull(text), 'SELECT content FROM knowledge_sources WHERE id = :sourceId', { sourceId });
}

export interface SourceInput extends Pick<KnowledgeSource, 'appId' | 'externalKey' | 'kind' | 'uri' | 'origin' | 'reason'> {
  /** Used when the key is new. */
  readonly sourceId: string;
  /** Null for a link without a title of its own: it has its page's title, or its address until that is known. */
  readonly title: string | null;
  readonly content: string | null;
  readonly nowMs: number;
}

/** Hash of the item as sent, not of the page behind a link: the same item sent again is the same source. */
export function contentHashOf(input: Pick<SourceInput, 'kind' | 'title' | 'uri' | 'content'>): string {
  return createHash('sha256')
    .update(JSON.stringify([input.kind, input.title, input.uri, input.content]))
    .digest('hex');
}

function titleOf({ title, uri, externalKey }: Pick<SourceInput, 'title' | 'uri' | 'externalKey'>): string {
  return title ?? clip(uri ?? externalKey, KNOWLEDGE_TITLE_MAX_CHARS);
}

function dropChunks(db: Connection, sourceId: string): void {
  db.statement('DELETE FROM knowledge_index WHERE rowid IN (SELECT id FROM knowledge_chunks WHERE source_id = :sourceId)').run({
    sourceId,
  });
  db.statement('DELETE FROM knowledge_chunks WHERE source_id = :sourceId').run({ sourceId });
}

export function readSourceByKey(db: Connection, appId: string, externalKey: string): KnowledgeSource | undefined {
  const from = 'FROM knowledge_sources s WHERE s.app_id = :appId AND s.external_key = :externalKey';
  return knowledgeSource.get(db, from, { appId, externalKey });
}

export function requireSource(db: Connection, { appId, externalKey }: Pick<KnowledgeSource, 'appId' | 'externalKey'>): KnowledgeSource {
  const source = readSourceByKey(db, appId, externalKey);
  if (source === undefined) throw new Refusal('not_found', 'external_key names no source of this app');
  return source;
}

/** The machine's state of a source; `archived` is stored as `archived_at_ms`. */
export interface SourcePlace {
  readonly state: SourceState | 'archived';
  readonly attempts: number;
}

/** A step of a source's machine, decided for one content. */
export interface SourceMove {
  readonly sourceId: string;
  readonly contentHash: string;
  readonly from: SourcePlace;
  readonly to: SourcePlace;
  readonly nowMs: number;
  readonly trace?: NewTrace | null;
}

function columnsOf({ state, attempts }: SourcePlace): { state: SourceState; attempts: number; archived: 0 | 1 } {
  return state === 'archived' ? { state: 'pending', attempts, archived: 1 } : { state, attempts, archived: 0 };
}

/** Makes the step; `error` is the sentence for `failed`. False when the source's state or content changed meanwhile. */
function moveSource(db: Connection, move: SourceMove & { readonly error?: string | null }): boolean {
  const { sourceId, contentHash, nowMs, error = null } = move;
  const from = columnsOf(move.from);
  const update = `UPDATE knowledge_sources SET state = :state, attempts = :attempts, error = :error, updated_at_ms = :nowMs,
      archived_at_ms = CASE WHEN :archived THEN :nowMs END
    WHERE id = :sourceId AND content_hash = :contentHash
      AND state = :fromState AND attempts = :fromAttempts AND (archived_at_ms IS NOT NULL) = :fromArchived`;
  const { changes } = db.statement(update).run({
    ...{ sourceId, contentHash, nowMs, error, ...columnsOf(move.to) },
    ...{ fromState: from.state, fromAttempts: from.attempts, fromArchived: from.archived },
  });
  if (changes === 0) return false;
  if (move.from.state === 'indexed') dropChunks(db, sourceId);
  if (move.trace != null) keepStep(db, sourceId, move.trace, nowMs);
  return true;
}

function keepStep(db: Connection, instance: string, trace: NewTrace, nowMs: number): void {
  const appId = readValue(db, text, 'SELECT app_id FROM knowledge_sources WHERE id = :instance', { instance });
  if (appId !== undefined) insertTrace(db, { appId, machine: 'knowledge-source', instance, nowMs }, trace);
}

function refuseWithoutRoom(db: Connection, appId: string): void {
  if (countRows(db, 'FROM knowledge_sources WHERE app_id = :appId', { appId }) < SOURCES_PER_APP_MAX) return;
  throw new Refusal('conflict', `An app has at most ${SOURCES_PER_APP_MAX} knowledge sources.`);
}

/** Adds a source; false when the app has one of this key by now. @throws Refusal conflict when it has as many as it may. */
function addSource(db: Connection, input: SourceInput & { readonly state: SourceState }): boolean {
  const { appId, externalKey } = input;
  if (readSourceByKey(db, appId, externalKey) !== undefined) return false;
  refuseWithoutRoom(db, appId);
  const { sourceId: id, nowMs, ...row } = input;
  const made = { title: titleOf(input), contentHash: contentHashOf(input), createdAtMs: nowMs, updatedAtMs: nowMs };
  insert(db, 'knowledge_sources', { id, ...row, ...made });
  return true;
}

function changeSource(db: Connection, { move, input }: { readonly move: SourceMove; readonly input: SourceInput }): boolean {
  if (!moveSource(db, move)) return false;
  const row = { ...input, id: move.sourceId, title: titleOf(input), contentHash: contentHashOf(input) };
  const update = `UPDATE knowledge_sources SET kind = :kind, title = :title, uri = :uri, content = :content, content_hash = :contentHash,
      origin = :origin, reason = :reason
    WHERE id = :id`;
  db.statement(update).run(row);
  return true;
}

function noteSourceReason(db: Connection, input: { readonly sourceId: string; readonly reason: string }): void {
  db.statement('UPDATE knowledge_sources SET reason = :reason WHERE id = :sourceId').run({ ...input });
}

/** Takes a source out of every search, with another reason if one is given; its text stays. False as moveSource. */
function archiveSource(db: Connection, { move, reason }: { readonly move: SourceMove; readonly reason: string | null }): boolean {
  if (!moveSource(db, move)) return false;
  if (reason !== null) noteSourceReason(db, { sourceId: move.sourceId, reason });
  return true;
}

export interface FetchedContent {
  readonly title: string;
  readonly content: string;
}

/** Stores the fetched document. A title that was sent with the link stays. */
function keepFetched(db: Connection, { id, kind, uri, contentHash, title }: KnowledgeSource, fetched: FetchedContent): string {
  const wasTitled = contentHashOf({ kind, title: null, uri, content: null }) !== contentHash;
  const kept = wasTitled || fetched.title === '' ? title : fetched.title;
  const { content } = fetched;
  db.statement('UPDATE knowledge_sources SET title = :title, content = :content WHERE id = :id').run({ id, content, title: kept });
  return kept;
}

/** Moves to `indexed`, with chunks, full-text rows and, for a link, the fetched document, in one transaction; false as moveSource. */
function indexSource(
  db: Connection,
  { move, chunks, fetched }: { readonly move: SourceMove; readonly chunks: readonly NewChunk[]; readonly fetched: FetchedContent | null },
): boolean {
  if (!moveSource(db, move)) return false;
  const { sourceId } = move;
  const source = readSource(db, sourceId) as KnowledgeSource;
  const title = fetched === null ? source.title : keepFetched(db, source, fetched);
  for (const chunk of chunks) {
    const rowid = insert(db, 'knowledge_chunks', { sourceId, appId: source.appId, ...chunk }).lastInsertRowid;
    const { headings, text } = chunk;
    insert(db, 'knowledge_index', { rowid, appId: appToken(source.appId), title, headings: headings.join('\n'), text });
  }
  // Every write adds a segment that every search has to open, so two segments of one size are merged at once.
  db.statement(`INSERT INTO knowledge_index (knowledge_index, rank) VALUES ('merge', :pages)`).run({ pages: MERGED_PAGES });
  return true;
}

export const transactions = { addSource, changeSource, noteSourceReason, archiveSource, moveSource, indexSource };
