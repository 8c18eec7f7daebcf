/**
 * Reads a request's body and makes a checked value of it: bounded while it arrives, strict UTF-8, bounded depth, no keys
 * that reach for a prototype, then the route's schema. Each interface has its own codes for the same faults (service.md "Errors").
 */
import { isUtf8 } from 'node:buffer';
import { MIMEType } from 'node:util';
import secureJson from 'secure-json-parse';
import type * as v from 'valibot';
import { type ErrorCode, Refusal } from '../protocol/errors.ts';
import { JSON_BODY_MAX_BYTES, JSON_DEPTH_MAX, RUNTIME_BODY_MAX_BYTES } from '../protocol/limits.ts';
import { parseOrRefuse } from '../protocol/parse.ts';
import type { Exchange, Interface } from './exchange.ts';

interface BodyCodes {
  readonly notJson: ErrorCode;
  readonly mismatch: ErrorCode;
  readonly tooLarge: ErrorCode;
  /** An upload of no bytes. */
  readonly emptyFile: ErrorCode;
}

const RUNTIME_CODES: BodyCodes = {
  notJson: 'invalid_request',
  mismatch: 'invalid_request',
  tooLarge: 'payload_too_large',
  emptyFile: 'invalid_request',
};
const CONSOLE_CODES: BodyCodes = { notJson: 'invalid_json', mismatch: 'invalid_body', tooLarge: 'too_large', emptyFile: 'empty_file' };

/** What the interface calls each fault of a body. */
export function codesOf(face: Interface): BodyCodes {
  return face === 'runtime' ? RUNTIME_CODES : CONSOLE_CODES;
}

/** What a body may weigh on a route that does not say so itself. */
export function defaultBodyMaxBytes(face: Interface): number {
  return face === 'runtime' ? RUNTIME_BODY_MAX_BYTES : JSON_BODY_MAX_BYTES;
}

function tooLarge(face: Interface, maxBytes: number): Refusal {
  return new Refusal(codesOf(face).tooLarge, `The body may have ${maxBytes} bytes at most. Send less per request.`);
}

/**
 * Collects the body and hands it over once, whole. Refuses by Content-Length before a byte of it is kept, then counts:
 * no length is declared when it comes in chunks. `done` may look at the bytes during its call only.
 */
export function collectBody(
  exchange: Exchange,
  maxBytes: number,
  done: (bytes: Uint8Array) => void,
  refuse: (refusal: Refusal) => void,
): void {
  if (Number(exchange.header('content-length')) > maxBytes) {
    refuse(tooLarge(exchange.interface, maxBytes));
    return;
  }
  let earlier: Buffer[] = [];
  let received = 0;
  exchange.receive((chunk, isLast) => {
    received += chunk.byteLength;
    if (received > maxBytes) {
      earlier = [];
      refuse(tooLarge(exchange.interface, maxBytes));
      return;
    }
    const bytes = new Uint8Array(chunk);
    // uWebSockets takes the chunk back after this call.
    if (!isLast) earlier.push(Buffer.from(bytes));
    else done(earlier.length === 0 ? bytes : Buffer.concat([...earlier, bytes]));
  });
}

/** @throws Refusal unless the header announces JSON in UTF-8. */
export function checkContentType(header: string, face: Interface): void {
  if (header === 'application/json') return;
  const fault = (what: string) => new Refusal(codesOf(face).notJson, `Content-Type must be application/json, ${what}.`);
  if (header === '') throw fault('it is missing');
  const type = mediaType(header);
  if (type?.essence !== 'application/json') throw fault('it is something else');
  const charset = type.params.get('charset')?.toLowerCase() ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8') throw fault('in UTF-8');
}

/** The header's media type; undefined when it is none. */
export function mediaType(header: string): MIMEType | undefined {
  try {
    return new MIMEType(header);
  } catch {
    return undefined;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{` differ from `]` and `}` by 2, and both from each other by 0x20. */
const OPENING = 0x5b;
const CLOSING = 0x5d;
const CASE_BIT = 0x20;

/** Whether brackets nest deeper than `max`, told without parsing. Exact for JSON; for anything else JSON.parse has the word. */
export function nestsDeeper(bytes: Uint8Array, max: number): boolean {
  if (bytes.length <= max) return false;
  let depth = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (inString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) {
      inString = true;
    } else if ((byte & ~CASE_BIT) === OPENING) {
      if (++depth > max) return true;
    } else if ((byte & ~CASE_BIT) === CLOSING) {
      depth--;
    }
  }
  return false;
}

/** The escaped half of a surrogate pair, which no UTF-8 can carry on. Only escapes can smuggle one in. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
const LONE_SURROGATE = /(?:^|[^\\])(?:\\\\)*\\ud[89a-f]/;

function holdsLoneSurrogate(text: string, value: unknown): boolean {
  // Well-formed JSON.stringify writes whole pairs as characters and leaves only lone halves escaped.
  return SURROGATE_ESCAPE.test(text) && LONE_SURROGATE.test(JSON.stringify(value));
}

/** The key that secure-json-parse objected to; it does not say. */
function forbiddenKey(text: string): string {
  try {
    secureJson.parse(text, null, { constructorAction: 'ignore' });
    return 'constructor.prototype';
  } catch {
    return '__proto__';
  }
}

/** A JSON value from a body's bytes. @throws Refusal that says what is wrong with them. */
export function parseJson(bytes: Uint8Array, face: Interface): unknown {
  const { notJson } = codesOf(face);
  if (bytes.length === 0) throw new Refusal(notJson, 'A JSON body is required.');
  if (!isUtf8(bytes)) throw new Refusal(notJson, 'The body is not valid UTF-8.');
  if (nestsDeeper(bytes, JSON_DEPTH_MAX)) throw new Refusal(notJson, `The body nests deeper than ${JSON_DEPTH_MAX} levels.`);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  let value: unknown;
  try {
    value = secureJson.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    if (reason.includes('forbidden prototype')) throw new Refusal(notJson, `The key ${forbiddenKey(text)} is not allowed in the body.`);
    const position = /at position (\d+)/.exec(reason)?.[1];
    throw new Refusal(
      notJson,
      position === undefined ? 'The body is not valid JSON.' : `The body is not valid JSON at position ${position}.`,
    );
  }
  if (holdsLoneSurrogate(text, value)) throw new Refusal(notJson, 'The body holds half of a surrogate pair, which is not a character.');
  return value;
}

/** The value as the schema gives it. @throws Refusal with details, twelve at most (decisions §4). */
export function checkBody(schema: v.GenericSchema, value: unknown, face: Interface): unknown {
  return parseOrRefuse(schema, value, codesOf(face).mismatch);
}
