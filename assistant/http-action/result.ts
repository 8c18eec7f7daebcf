/** What the model sees of an endpoint's answer (CALL-8). A credential that an endpoint sends back is not shown. */
import secureJson from 'secure-json-parse';
import { ACTION_RESULT_MAX_BYTES, JSON_DEPTH_MAX, TOOL_ERROR_MAX_CHARS } from '../../protocol/limits.ts';
import { clip } from '../../protocol/schema/text.ts';
import type { ActionDefinition } from '../../protocol/setup/action-rules.ts';
import { excerpt } from './excerpt.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export type Shown = Pick<ActionDefinition, 'result_path' | 'result_fields' | 'result_limit'>;

export type Hide = (text: string) => string;

const HIDDEN = '[hidden]';
/** Shorter strings are not secrets, and replacing them would damage ordinary text. */
const SECRET_MIN_CHARS = 4;

/** Hides these credentials as they are, as a URL spells them and as JSON inside of a string does. */
export function hiderOf(secrets: readonly (string | undefined)[]): Hide {
  const spellings = secrets
    .filter((secret) => secret !== undefined)
    .filter((secret) => secret.length >= SECRET_MIN_CHARS)
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
    // A longer one may hold a shorter one.
    .sort((one, other) => other.length - one.length);
  return (text) => spellings.reduce((shown, spelling) => shown.replaceAll(spelling, HIDDEN), text);
}

/** The value without credentials, and cut below a certain depth. */
function hidden(value: unknown, hide: Hide, depth = 0): unknown {
  if (typeof value === 'string') return hide(value);
  if (typeof value === 'number') return hide(String(value)) === String(value) ? value : HIDDEN;
  if (typeof value !== 'object' || value === null) return value;
  if (depth > JSON_DEPTH_MAX) return null;
  if (Array.isArray(value)) return value.map((item) => hidden(item, hide, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [hide(key), hidden(member, hide, depth + 1)]));
}

function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => {
    if (typeof inner !== 'object' || inner === null) return undefined;
    if (Array.isArray(inner)) return /^\d+$/.test(name) ? inner[Number(name)] : undefined;
    return Object.hasOwn(inner, name) ? (inner as Record<string, unknown>)[name] : undefined;
  }, value);
}

/** The given fields of an object, named as in result_fields; other values stay as they are. */
function fieldsOf(value: unknown, fields: readonly string[]): unknown {
  if (fields.length === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const found = fields.map((field) => [field, at(value, field)] as const).filter(([, member]) => member !== undefined);
  return Object.fromEntries(found);
}

function selected(value: unknown, { result_path: path, result_fields: fields, result_limit: limit }: Shown): unknown {
  const part = path === undefined ? value : at(value, path);
  if (part === undefined) return { note: `The answer holds nothing at ${path}.` };
  if (!Array.isArray(part)) return fieldsOf(part, fields);
  const items = part.slice(0, limit).map((item) => fieldsOf(item, fields));
  return part.length > limit ? { total: part.length, shown: limit, items } : items;
}

function parsed(body: string): { readonly json: unknown } | undefined {
  try {
    return { json: secureJson.parse(body, null, { protoAction: 'remove', constructorAction: 'remove' }) };
  } catch {
    return undefined;
  }
}

/** Bytes that are no text were decoded to these. */
const NOT_TEXT = /[\0\u{fffd}]/u;

function words(body: string): string {
  return NOT_TEXT.test(body) ? '[an answer that is not text]' : body;
}

/** At most 16 KB of JSON: the part at result_path, its result_fields, of a list the first items with how many there were. */
export function shownResult(definition: Shown, { status, body }: Answer, hide: Hide): string {
  if (body.trim() === '') return JSON.stringify({ status });
  const answer = parsed(body);
  const value = answer === undefined ? hide(words(body)) : hidden(selected(answer.json, definition), hide);
  return excerpt(value, ACTION_RESULT_MAX_BYTES);
}

/** More of an error than this is not shown, however long the reason is: 500 characters, of which none has more than two units. */
const SAID_MAX_UNITS = 2 * TOOL_ERROR_MAX_CHARS;
/** An error page may be a megabyte of spaces: behind these nothing is looked for. */
const SAID_LOOKED_AT_UNITS = 32 * 1024;

/** Why a call failed, with what the endpoint said of it, in at most 500 characters. */
export function shownError(reason: string, answer: Answer | undefined, hide: Hide): string {
  const said =
    answer === undefined
      ? ''
      : hide(words(answer.body)).slice(0, SAID_LOOKED_AT_UNITS).replaceAll(/\s+/g, ' ').trim().slice(0, SAID_MAX_UNITS);
  return clip(said === '' ? reason : `${reason} It said: ${said}`, TOOL_ERROR_MAX_CHARS);
}
