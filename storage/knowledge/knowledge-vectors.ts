/**
 * Vectors of chunks: which chunks still need one, writing them, and finding the chunks nearest to a question.
 *
 * A search has two passes: it compares one bit for each number of every vector of the app, then the numbers of the few best candidates.
 * For 10,000 chunks of 768 numbers this takes some 5 ms; comparing all numbers takes some 40 ms.
 * Needs sqlite-vec on the connection that searches, and only there.
 */
import { columns, integer, json, orNull, type RowOf, real, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';

export interface Meaning {
  readonly model: string;
  readonly vector: Float32Array;
}

const embeddableChunk = columns({
  id: integer.from('c.id'),
  appId: text.from('c.app_id'),
  sourceId: text,
  title: text.from('s.title'),
  headings: text.from('c.headings'),
  text: text.from('c.text'),
});

/** A chunk to embed, with what must still be unchanged when its vector is saved. */
export type EmbeddableChunk = RowOf<typeof embeddableChunk>;

const chunkBounds = columns({ first: orNull(integer).from('min(id)'), last: orNull(integer).from('max(id)') });

const passage = {
  id: integer.from('c.id'),
  sourceId: text,
  externalKey: text,
  title: text.from('s.title'),
  headings: json<string[]>().from('c.headings'),
  text: text.from('c.text'),
};

/** A passage with its source, and how well its words fit: smaller is better. */
export const scoredPassage = columns({ ...passage, score: real.from('best.score') });
const nearPassage = columns(passage);

export type Passage = RowOf<typeof nearPassage>;

/** Signatures compared in one search: 25 ms. An app's chunks beyond these are found by words only. */
const COMPARED_MAX = 50_000;
/** Chunks whose numbers are compared, reading 3 KB each. An app with no more than these is searched exactly. */
const CANDIDATES_MAX = 128;
/** A right angle: anything farther is unrelated to the question, and so is a zero vector. */
const DISTANCE_MAX = 1;

/** Little-endian, as SQLite's extension reads it on every supported machine. */
function bytesOf(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** One bit for each number, set where it is above their mean: some models' numbers are nearly all positive. */
export function signatureOf(vector: Float32Array): Buffer {
  const mean = vector.reduce((sum, value) => sum + value, 0) / vector.length;
  const signature = Buffer.alloc(Math.ceil(vector.length / 8));
  for (let index = 0; index < vector.length; index++) {
    if ((vector[index] ?? 0) > mean) signature[index >> 3] = (signature[index >> 3] ?? 0) | (1 << (index & 7));
  }
  return signature;
}

export function firstChunkOf(db: Connection, sourceId: string): number | undefined {
  return chunkBounds.get(db, 'FROM knowledge_chunks WHERE source_id = :sourceId', { sourceId })?.first ?? undefined;
}

/** Those of the next `count` chunks that have no vector of `model`, and the last id looked at (undefined after the last chunk). */
export function chunksToEmbed(db: Connection, model: string, after: number, count: number) {
  const page = 'FROM (SELECT id FROM knowledge_chunks WHERE id > :after ORDER BY id LIMIT :count)';
  const last = chunkBounds.get(db, page, { after, count })?.last ?? undefined;
  if (last === undefined) return { chunks: [], last };
  const from = `FROM knowledge_chunks c JOIN knowledge_sources s ON s.id = c.source_id
    LEFT JOIN knowledge_vectors v ON v.chunk_id = c.id AND v.model = :model
    WHERE c.id > :after AND c.id <= :last AND v.chunk_id IS NULL ORDER BY c.id`;
  const chunks = embeddableChunk.all(db, from, { model, after, last });
  return { chunks, last };
}

interface SaveVectorsInput {
  readonly model: string;
  readonly vectors: readonly { readonly chunk: EmbeddableChunk; readonly vector: Float32Array }[];
}

/** Deletes vectors of other dimensions: a model that changed its dimensions under the same name makes the old ones incomparable. */
function dropOtherDimensions(db: Connection, appId: string, model: string, bytes: number): number {
  const known = db
    .statement('SELECT length(vector) AS bytes FROM knowledge_vectors WHERE app_id = :appId AND model = :model LIMIT 1')
    .get({ appId, model });
  if (known === undefined || known.bytes === bytes) return 0;
  return db.statement('DELETE FROM knowledge_vectors WHERE app_id = :appId AND model = :model').run({ appId, model }).changes;
}

/** A chunk that changed since it was read gets none: its id may be another's by now. Returns how many of other dimensions were deleted. */
function saveVectors(db: Connection, { model, vectors }: SaveVectorsInput): number {
  let dropped = 0;
  for (const { chunk, vector } of vectors) {
    dropped += dropOtherDimensions(db, chunk.appId, model, vector.byteLength);
    const insert = `INSERT OR REPLACE INTO knowledge_vectors (chunk_id, app_id, model, signature, vector)
      SELECT c.id, c.app_id, :model, :signature, :vector FROM knowledge_chunks c JOIN knowledge_sources s ON s.id = c.source_id
      WHERE c.id = :id AND c.source_id = :sourceId AND c.headings = :headings AND c.text = :text AND s.title = :title`;
    db.statement(insert).run({ ...chunk, model, signature: signatureOf(vector), vector: bytesOf(vector) });
  }
  return dropped;
}

/**
 * The app's chunks nearest in meaning, nearest first, at most `limit`. Vectors of another model or dimension are ignored. Sources are not
 * checked again, which would read the text of each: knowledge.ts ensures that only searchable sources have chunks.
 */
export function nearestChunks(db: Connection, appId: string, { model, vector }: Meaning, limit: number): Passage[] {
  const signature = signatureOf(vector);
  const from = `FROM (SELECT v.chunk_id, vec_distance_cosine(v.vector, :vector) AS distance
          FROM (SELECT chunk_id FROM (SELECT chunk_id, signature FROM knowledge_vectors
                  WHERE app_id = :appId AND model = :model AND length(signature) = :signatureBytes LIMIT :compared)
                ORDER BY vec_distance_hamming(vec_bit(signature), vec_bit(:signature)) LIMIT :candidates) AS alike
          JOIN knowledge_vectors v ON v.chunk_id = alike.chunk_id AND length(v.vector) = :vectorBytes
          ORDER BY distance LIMIT :limit) AS near
    JOIN knowledge_chunks c ON c.id = near.chunk_id
    JOIN knowledge_sources s ON s.id = c.source_id
    WHERE near.distance < :farthest
    ORDER BY near.distance, c.id`;
  const lengths = { signatureBytes: signature.length, vectorBytes: vector.byteLength };
  const bounds = { compared: COMPARED_MAX, candidates: CANDIDATES_MAX, farthest: DISTANCE_MAX, limit };
  return nearPassage.all(db, from, { appId, model, signature, vector: bytesOf(vector), ...lengths, ...bounds });
}

export const transactions = { saveVectors };
