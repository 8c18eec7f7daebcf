/** Owns how the offline model reads a tool message: how the call ended, and the data inside its fence. */
import { isObject } from '../../../protocol/schema/bounded.ts';
import { fencesOf, withoutFences } from './fence.ts';

export type Outcome =
  | { readonly kind: 'ok'; readonly value: unknown }
  | { readonly kind: 'error'; readonly reason: string }
  | { readonly kind: 'declined' | 'expired' | 'timeout' | 'unavailable' | 'unknown' | 'waiting' };

/** A place that looks like JSON and is none costs a scan to the end; a message with more of them is no result of ours. */
const JSON_STARTS_MAX = 32;
/** The shape of `tool_results[]` (ACTION-3): anything beside these keys is the action's own data. */
const ENVELOPE_KEYS = new Set(['invocation_id', 'name', 'status', 'result', 'error', 'confirmed']);

/** Where the object or array that begins at `start` ends, or -1. Brackets inside strings do not count. */
function closingBracket(text: string, start: number): number {
  let depth = 0;
  let inString = false;
  for (let i = start; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === '\\') i++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') {
      depth--;
      if (depth === 0) return i;
    }
  }
  return -1;
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function valueAt(text: string, start: number): { value: unknown } | undefined {
  const end = closingBracket(text, start);
  return end === -1 ? undefined : parse(text.slice(start, end + 1));
}

/** The first JSON value: all of `text`, else one that begins a line (labels may stand before it), else one anywhere. */
export function firstJson(text: string): { value: unknown } | undefined {
  const whole = parse(text);
  if (whole !== undefined) return whole;
  let tries = 0;
  for (const match of text.matchAll(/^[ \t]*(?:([[{])|("|-?\d|true\b|false\b|null\b)[^\n]*$)/gm)) {
    if (++tries > JSON_STARTS_MAX) break;
    const found = match[1] === undefined ? parse(match[0].trim()) : valueAt(text, match.index + match[0].length - 1);
    if (found !== undefined) return found;
  }
  tries = 0;
  for (const match of text.matchAll(/[[{]/g)) {
    if (++tries > JSON_STARTS_MAX) break;
    const found = valueAt(text, match.index);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The kind that a status word or a sentence about a call names; undefined when it names none. */
function kindOf(words: string): Exclude<Outcome['kind'], 'ok'> | undefined {
  if (/\bdeclined\b/i.test(words)) return 'declined';
  if (/\bexpired\b|nobody confirmed/i.test(words)) return 'expired';
  if (/not known whether|\bunknown\b/i.test(words)) return 'unknown';
  if (/\btime(?:d[ _]?)?[ _]?out\b|did not answer in time/i.test(words)) return 'timeout';
  if (/\bunavailable\b|not available/i.test(words)) return 'unavailable';
  if (/\bwaits\b|\bwaiting\b|\bpending\b|no result yet|has not answered/i.test(words)) return 'waiting';
  return /\b(?:failed|error)\b/i.test(words) ? 'error' : undefined;
}

function reasonOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (isObject(value)) return typeof value.message === 'string' ? value.message : reasonOf(value.error);
  return '';
}

function outcomeOf(kind: Exclude<Outcome['kind'], 'ok'>, reason: string): Outcome {
  return kind === 'error' ? { kind, reason } : { kind };
}

/** How a call ended, from the content of its tool message: words of the service around a fence, an envelope, or bare data. */
export function readOutcome(content: string): Outcome {
  // Where the person changed values of the call, those stand fenced before what came of it.
  const fenced = fencesOf(content).at(-1);
  const body = fenced?.body ?? content;
  const found = firstJson(body);
  // Words are the service's own only outside the fence and before the data.
  const label =
    fenced === undefined ? (found === undefined ? content : content.slice(0, Math.max(0, content.search(/[[{]/)))) : withoutFences(content);
  const labelled = fenced === undefined && found === undefined ? kindOf(label) : kindOf(label.replace(/^.*result of.*$/gim, ''));
  if (labelled !== undefined) return outcomeOf(labelled, found === undefined ? (fenced === undefined ? '' : body) : reasonOf(found.value));
  if (found === undefined) return body.trim() === '' ? { kind: 'ok', value: {} } : { kind: 'ok', value: body.trim() };
  const { value } = found;
  if (!isObject(value)) return { kind: 'ok', value };
  const isEnvelope = Object.keys(value).every((key) => ENVELOPE_KEYS.has(key));
  if (isEnvelope && typeof value.status === 'string') {
    const kind = kindOf(value.status);
    if (kind !== undefined) return outcomeOf(kind, reasonOf(value.error));
    if (value.status === 'ok') return { kind: 'ok', value: value.result ?? {} };
  }
  if (isEnvelope && value.error !== undefined) return { kind: 'error', reason: reasonOf(value.error) };
  return { kind: 'ok', value };
}
