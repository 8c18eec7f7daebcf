/**
 * Reads a request's body: bounded while it arrives, strict UTF-8, bounded in shape, no keys that reach for a prototype, then the route's
 * schema. Each interface has its own codes (HTTP-2).
 */

import { isUtf8 } from 'node:buffer';
import { MIMEType } from 'node:util';
import secureJson from 'secure-json-parse';
import type * as v from 'valibot';
import { type ErrorCode, Refusal } from '../../protocol/errors.ts';
import { JSON_BODY_MAX_BYTES, JSON_DEPTH_MAX, JSON_KEYS_MAX, JSON_MEMBERS_MAX, RUNTIME_BODY_MAX_BYTES } from '../../protocol/limits.ts';
import { type ShapeBounds, shapeFault } from '../../protocol/schema/json-shape.ts';
import { parseOrRefuse } from '../../protocol/schema/parse.ts';
import type { Interface } from './interface.ts';

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

export function codesOf(face: Interface): BodyCodes {
  return face === 'runtime' ? RUNTIME_CODES : CONSOLE_CODES;
}

/** What a body may weigh on a route that does not say so itself. */
export function defaultBodyMaxBytes(face: Interface): number {
  return face === 'runtime' ? RUNTIME_BODY_MAX_BYTES : JSON_BODY_MAX_BYTES;
}

/** Longer than any media type that a client sends by mistake. */
const TYPE_SHOWN_CHARS = 60;

export function checkContentType(header: string, face: Interface): void {
  if (header === 'application/json') return;
  const fault = (what: string) => new Refusal(codesOf(face).notJson, `Content-Type must be application/json, ${what}.`);
  if (header === '') throw fault('it is missing');
  const type = mediaType(header);
  if (type === undefined) throw fault('it is no media type');
  // Parsed, so that it holds only what a media type may.
  if (type.essence !== 'application/json') throw fault(`not ${type.essence.slice(0, TYPE_SHOWN_CHARS)}`);
  const charset = type.params.get('charset')?.toLowerCase() ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8') throw fault('in UTF-8');
}

export function mediaType(header: string): MIMEType | undefined {
  try {
    return new MIMEType(header);
  } catch {
    return undefined;
  }
}

/** What any body may hold. */
const BODY_BOUNDS: ShapeBounds = { depth: JSON_DEPTH_MAX, keys: JSON_KEYS_MAX, members: JSON_MEMBERS_MAX };

function shapeRefused(fault: keyof ShapeBounds, bounds: ShapeBounds, face: Interface): Refusal {
  const { notJson, tooLarge: tooMuch } = codesOf(face);
  if (fault === 'depth') return new Refusal(notJson, `The body nests deeper than ${bounds.depth} levels.`);
  const said = fault === 'keys' ? `${bounds.keys} keys` : `${bounds.members} members of lists and objects`;
  return new Refusal(tooMuch, `The body has more than ${said}. Send less per request.`);
}

/** The escaped half of a surrogate pair, which UTF-8 cannot encode. Only escapes can bring one in. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
/** By code points, of which a whole pair is one. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether a key or a text in it is no well-formed Unicode. As deep as bodies nest. */
function holdsIllFormed(value: unknown): boolean {
  if (typeof value === 'string') return LONE_SURROGATE.test(value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsIllFormed);
  return Object.entries(value).some(([key, member]) => LONE_SURROGATE.test(key) || holdsIllFormed(member));
}

function holdsLoneSurrogate(text: string, value: unknown): boolean {
  return SURROGATE_ESCAPE.test(text) && holdsIllFormed(value);
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

/** A JSON value from a body's bytes; `more`: bounds of its route, where they are others. @throws Refusal that says what is wrong with them. */
export function parseJson(bytes: Uint8Array, face: Interface, more: Partial<ShapeBounds> = {}): unknown {
  const bounds = { ...BODY_BOUNDS, ...more };
  const { notJson } = codesOf(face);
  if (bytes.length === 0) throw new Refusal(notJson, 'A JSON body is required.');
  if (!isUtf8(bytes)) throw new Refusal(notJson, 'The body is not valid UTF-8.');
  const fault = shapeFault(bytes, bounds);
  if (fault !== null) throw shapeRefused(fault, bounds, face);
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

/** The value as the schema gives it. @throws Refusal with details, twelve at most (HTTP-2). */
export function checkBody(schema: v.GenericSchema, value: unknown, face: Interface): unknown {
  return parseOrRefuse(schema, value, codesOf(face).mismatch);
}

/** Ignores unknown parameters and takes the last of repeated ones. @throws Refusal 400 `invalid_request` naming the parameter. */
export function checkQuery<Schema extends v.GenericSchema>(schema: Schema, query: URLSearchParams): v.InferOutput<Schema> {
  return parseOrRefuse(schema, Object.fromEntries(query), 'invalid_request');
}
