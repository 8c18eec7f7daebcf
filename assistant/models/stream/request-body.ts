/** The body of a request, in the words of a wire. Nothing of a picture is in memory but the piece that is on its way. */
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ImagePart, ModelRequest, ToolDefinition } from '../model.ts';

const BASE64_GROUP_BYTES = 3;
const BASE64_GROUP_CHARS = 4;

export interface StreamedBody {
  readonly bytes: number;
  readonly pictureBytes: number;
  /** The body from its beginning. @throws what a picture's file could not be read with. */
  stream(): AsyncGenerator<Buffer, void, undefined>;
}

function base64Bytes(bytes: number): number {
  return Math.ceil(bytes / BASE64_GROUP_BYTES) * BASE64_GROUP_CHARS;
}

/** The pieces in base64, whole groups at a time, so that the pieces of text join to that of the whole. */
async function* inBase64(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    const joined = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    const whole = joined.length - (joined.length % BASE64_GROUP_BYTES);
    rest = Buffer.from(joined.subarray(whole));
    if (whole > 0) yield Buffer.from(joined.toString('base64', 0, whole), 'latin1');
  }
  if (rest.length > 0) yield Buffer.from(rest.toString('base64'), 'latin1');
}

/** `texts` are what stands around the pictures: one more than there are pictures. */
export function streamedBody(texts: readonly string[], pictures: readonly ImagePart[]): StreamedBody {
  const parts = texts.map((text) => Buffer.from(text));
  const base64 = pictures.reduce((sum, { bytes }) => sum + base64Bytes(bytes), 0);
  return {
    bytes: parts.reduce((sum, { length }) => sum + length, base64),
    pictureBytes: pictures.reduce((sum, { bytes }) => sum + bytes, 0),
    async *stream() {
      for (const [at, part] of parts.entries()) {
        yield part;
        const picture = pictures[at];
        if (picture !== undefined) yield* inBase64(picture.pieces());
      }
    },
  };
}

export class PassingBody implements Iterable<Buffer> {
  readonly bytes: number;
  #pieces: readonly Buffer[];

  constructor(pieces: readonly Buffer[]) {
    this.bytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
    this.#pieces = pieces;
  }

  /** All pieces, the first time. undici sends no POST a second time. */
  *[Symbol.iterator](): Generator<Buffer, void, undefined> {
    const pieces = this.#pieces;
    this.#pieces = [];
    yield* pieces;
  }
}

/** What stands in a picture's address where its base64 goes. */
export type Base64Of = (image: ImagePart) => string;

/** Less is copied behind what is said and written with it; more is written as it is, in a piece of its own. */
const COPIED_MAX_BYTES = 4 * 1024;

/** The end of a body, which offers `tools`; the same bytes for the same list. */
export type EndOf = (tools: readonly ToolDefinition[]) => Buffer;

/** `offered`: the fields that offer some tools. They are kept by the list that a toolset holds: most of a request is its tools, and to write them takes most of the time. */
export function endOffering(offered: (tools: readonly ToolDefinition[]) => object): EndOf {
  const written = new WeakMap<readonly ToolDefinition[], Buffer>();
  return (tools) => {
    let end = written.get(tools);
    if (end === undefined) {
      end = Buffer.from(tools.length === 0 ? '}' : `,${JSON.stringify(offered(tools)).slice(1)}`);
      written.set(tools, end);
    }
    return end;
  };
}

/** Stands where the instructions go. Nobody who writes a message knows it, as it is with the one of pictures. */
const INSTRUCTIONS = randomUUID();

/** Apps and languages that are asked for at a time, some 5 KB each. */
const INSTRUCTIONS_KEPT = 100;
/** Instructions as bytes of a JSON string. */
const written = new LRUCache<string, Buffer>({ max: INSTRUCTIONS_KEPT });

function instructionBytes(system: string): Buffer {
  let bytes = written.get(system);
  if (bytes === undefined) {
    bytes = Buffer.from(JSON.stringify(system).slice(1, -1));
    written.set(system, bytes);
  }
  return bytes;
}

/** `pieces` behind each other, in memory of their own. */
function joined(pieces: readonly (string | Buffer)[]): Buffer {
  let bytes = 0;
  for (const piece of pieces) bytes += Buffer.byteLength(piece);
  const whole = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const piece of pieces) at += typeof piece === 'string' ? whole.write(piece, at) : piece.copy(whole, at);
  return whole;
}

/**
 * The object that `write` makes of a request, with `end` behind it. With pictures, a body that they are written into while it is sent; `write`
 * asks for them in their order. Throws when something cannot be written as JSON. Instructions are the longest part, and the same for most
 * requests: `write` is given a stand-in, and what is kept goes in its place.
 */
export function writtenBody(
  request: ModelRequest,
  write: (request: ModelRequest, base64: Base64Of) => object,
  end: Buffer,
): PassingBody | StreamedBody {
  const pictures: ImagePart[] = [];
  // It stands where pictures go, and nowhere else.
  let gap = '';
  const { system } = request;
  const body = write(system.trim() === '' ? request : { ...request, system: INSTRUCTIONS }, (picture) => {
    pictures.push(picture);
    gap ||= randomUUID();
    return gap;
  });
  const said = JSON.stringify(body).slice(0, -1);
  const at = said.indexOf(INSTRUCTIONS);
  const pieces = at < 0 ? [said] : [said.slice(0, at), instructionBytes(system), said.slice(at + INSTRUCTIONS.length)];
  if (pictures.length > 0) return streamedBody(`${pieces.join('')}${end}`.split(gap), pictures);
  if (end.byteLength > COPIED_MAX_BYTES) return new PassingBody([joined(pieces), end]);
  return new PassingBody([joined([...pieces, end])]);
}
