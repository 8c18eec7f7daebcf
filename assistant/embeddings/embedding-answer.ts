/** Owns the reading of an embeddings answer: untrusted JSON → one vector for each text, or a sentence why not. */
import { EmbeddingError } from './embedding-error.ts';

/** No model in use has more; it bounds what a vector costs to keep and to compare. */
export const DIMENSIONS_MAX = 4_096;

function malformed(what: string): EmbeddingError {
  return new EmbeddingError('server', `The embeddings server's answer cannot be used: ${what}.`);
}

/** Numbers as they are, or in base64 as little-endian 32-bit floats (OpenAI's `encoding_format`). */
function vectorOf(embedding: unknown): Float32Array {
  if (Array.isArray(embedding)) return Float32Array.from(embedding, (value) => (typeof value === 'number' ? value : Number.NaN));
  if (typeof embedding !== 'string') throw malformed('a vector is neither a list of numbers nor base64');
  const bytes = Buffer.from(embedding, 'base64');
  if (bytes.length % 4 !== 0) throw malformed('a vector in base64 is cut off');
  const vector = new Float32Array(bytes.length / 4);
  for (let index = 0; index < vector.length; index++) vector[index] = bytes.readFloatLE(index * 4);
  return vector;
}

function checked(vector: Float32Array): Float32Array {
  if (vector.length === 0 || vector.length > DIMENSIONS_MAX) {
    throw malformed(`a vector has ${vector.length} numbers, and it may have 1 to ${DIMENSIONS_MAX}`);
  }
  if (!vector.every(Number.isFinite)) throw malformed('a vector holds something that is no number');
  return vector;
}

/** The vectors of `{ data: [{ index, embedding }] }` by their index. @throws EmbeddingError unless there are exactly `count`. */
export function readVectors(text: string, count: number): Float32Array[] {
  let answer: { data?: unknown } | null;
  try {
    answer = JSON.parse(text);
  } catch {
    throw malformed('it is not JSON');
  }
  const data = answer?.data;
  if (!Array.isArray(data) || data.length !== count) throw malformed(`it should hold ${count} vectors`);
  const vectors = new Map<number, Float32Array>();
  for (const [position, item] of data.entries()) {
    const { index, embedding } = (item ?? {}) as { index?: unknown; embedding?: unknown };
    vectors.set(typeof index === 'number' ? index : position, checked(vectorOf(embedding)));
  }
  return Array.from({ length: count }, (_, index) => {
    const vector = vectors.get(index);
    if (vector === undefined) throw malformed(`the vector of text ${index} is missing`);
    return vector;
  });
}
