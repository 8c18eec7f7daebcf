/** Reads the one file of a multipart/form-data body, bounded while it arrives (HTTP-10). */
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import type { UploadSlot } from '../../actors/uploads/upload-slots.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { UploadedFile, UploadRule } from '../route.ts';
import { codesOf, mediaType } from './body.ts';
import type { Exchange } from './exchange.ts';
import type { Interface } from './interface.ts';

/** Boundaries, part headers and a few small fields around the file. */
const FRAMING_MAX_BYTES = 64 * 1024;
/** The file, and fields of which no interface has more than a few. */
const PARTS_MAX = 16;
/** Well within the eight seconds after which uWebSockets ends slow bodies. */
const SLOW_BODY_ALLOWED_EVERY_MS = 2_000;
/** Room for a name or a flag; longer values belong into a JSON body. */
const FIELD_MAX_BYTES = 8 * 1024;
/** Disposition, type, encoding and some a proxy may add. */
const PART_HEADERS_MAX = 16;
const PART_HEADERS_MAX_BYTES = 8 * 1024;
/** The limit of most file systems. */
const FILE_NAME_MAX_CHARS = 255;

type Outcome = UploadedFile | Refusal;

export interface UploadForm {
  write(bytes: Uint8Array): void;
  end(): void;
  /** Refuses what has come so far, unless all has. */
  refuse(refusal: Refusal): void;
}

function tooLarge(face: Interface, { field, maxBytes }: UploadRule): Refusal {
  return new Refusal(codesOf(face).tooLarge, `${field} may have ${maxBytes} bytes at most. Send a smaller file.`);
}

function mismatch(face: Interface, field: string, message: string): Refusal {
  return new Refusal(codesOf(face).mismatch, `${field} ${message}`, { details: [{ path: field, message }] });
}

function fileNameOf(given: string | undefined): string {
  // Control characters would garble lists and headers that the name is shown in.
  const shown = (given ?? '').replaceAll(/\p{Cc}/gu, '');
  return [...shown].slice(0, FILE_NAME_MAX_CHARS).join('');
}

class FilePart {
  readonly fileName: string;
  readonly #chunks: Buffer[] = [];

  constructor(fileName: string) {
    this.fileName = fileName;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  /** Frees the chunks: a client may keep sending for long after it was refused. */
  drop(): void {
    this.#chunks.length = 0;
  }

  get bytes(): Uint8Array {
    return this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
  }
}

function openParser(contentType: string, rule: UploadRule, face: Interface): BusboyInstance {
  const form = `must be sent as multipart/form-data, e.g. with curl -F ${rule.field}=@path`;
  if (mediaType(contentType)?.essence !== 'multipart/form-data') throw mismatch(face, rule.field, form);
  const limits = {
    files: 1,
    fileSize: rule.maxBytes,
    fields: PARTS_MAX,
    fieldSize: FIELD_MAX_BYTES,
    parts: PARTS_MAX,
    headerPairs: PART_HEADERS_MAX,
    headerSize: PART_HEADERS_MAX_BYTES,
  };
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits });
  } catch {
    throw mismatch(face, rule.field, `${form}; the boundary is missing from Content-Type`);
  }
}

/** Calls `settle` once, with the file or a Refusal. @throws Refusal when `contentType` announces no multipart/form-data. */
export function openUploadForm(contentType: string, rule: UploadRule, face: Interface, settle: (outcome: Outcome) => void): UploadForm {
  const parser = openParser(contentType, rule, face);
  let file: FilePart | undefined;
  let settled = false;
  const end = (outcome: Outcome) => {
    if (settled) return;
    settled = true;
    if (outcome instanceof Refusal) file?.drop();
    settle(outcome);
  };
  const refuse = (field: string, message: string) => end(mismatch(face, field, message));
  const cutOff = () => refuse(rule.field, 'is cut off or not well-formed multipart/form-data');

  parser.on('file', (field: string | undefined, stream: BusboyFileStream, name: string | undefined) => {
    // Set before anything else: a stream without a listener for errors would end the process.
    stream.on('error', cutOff);
    if (field !== rule.field) {
      refuse(
        field ?? rule.field,
        field === undefined
          ? 'is missing: the part has no name'
          : `is not a field of this request: send the file in the field ${rule.field}`,
      );
      stream.resume();
      return;
    }
    const part = new FilePart(fileNameOf(name));
    file = part;
    stream.on('limit', () => end(tooLarge(face, rule)));
    stream.on('data', (chunk: Buffer) => {
      if (!settled) part.add(chunk);
    });
  });
  parser.on('field', (field: string | undefined) => {
    if (field === rule.field) refuse(rule.field, `must be a file, e.g. with curl -F ${rule.field}=@path`);
    else if (face !== 'runtime') refuse(field ?? rule.field, 'is not a field of this request');
  });
  parser.on('filesLimit', () => refuse(rule.field, 'must be one file'));
  parser.on('partsLimit', () => refuse(rule.field, `must not be among more than ${PARTS_MAX} parts`));
  parser.on('error', cutOff);
  parser.on('finish', () => {
    if (file === undefined) {
      refuse(rule.field, 'is required');
      return;
    }
    const { fileName, bytes } = file;
    if (bytes.length === 0) end(new Refusal(codesOf(face).emptyFile, `${rule.field} is empty. Send the file's content.`));
    else end({ bytes, fileName });
  });

  return {
    write: (bytes) => {
      if (!settled) parser.write(bytes);
    },
    end: () => {
      if (!settled) parser.end();
    },
    refuse: end,
  };
}

export interface UploadReceiver {
  /** Is told how much has arrived, and may end the upload. */
  readonly place: UploadSlot | undefined;
  done(upload: UploadedFile): void;
  refuse(refusal: Refusal): void;
}

/** Collects the exchange's body and hands over its file, or the Refusal that says why there is none; one of them, once. */
export function collectUpload(exchange: Exchange, rule: UploadRule, { place, done, refuse }: UploadReceiver): void {
  const face = exchange.interface;
  const bodyMaxBytes = rule.maxBytes + FRAMING_MAX_BYTES;
  const settle = (outcome: Outcome) => {
    if (outcome instanceof Refusal) refuse(outcome);
    else done(outcome);
  };
  const form = openUploadForm(exchange.header('content-type'), rule, face, settle);
  if (Number(exchange.header('content-length')) > bodyMaxBytes) {
    form.refuse(tooLarge(face, rule));
    return;
  }
  place?.whenEnded((refusal) => form.refuse(refusal));
  // The client does not get this refusal, but it frees what has arrived.
  exchange.whenAborted(() => form.refuse(mismatch(face, rule.field, 'is cut off: the client has left')));
  let received = 0;
  let allowedAtMs = performance.now();
  exchange.receive((chunk, isLast) => {
    received += chunk.byteLength;
    place?.arrived(received, isLast);
    if (place !== undefined && performance.now() - allowedAtMs >= SLOW_BODY_ALLOWED_EVERY_MS) {
      allowedAtMs = performance.now();
      exchange.allowSlowBody();
    }
    if (received > bodyMaxBytes) {
      form.refuse(tooLarge(face, rule));
      return;
    }
    // uWebSockets takes the chunk back after this call, and the parser works on beyond it.
    if (chunk.byteLength > 0) form.write(Buffer.from(new Uint8Array(chunk)));
    if (isLast) form.end();
  });
}
