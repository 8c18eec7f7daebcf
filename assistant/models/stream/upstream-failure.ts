/** Classifies failures of the upstream, and decides what of its message may be logged. */
import { isObject } from '../../../protocol/schema/bounded.ts';
import type { ModelFailure, ModelFailureKind } from '../model.ts';

/** Enough for a status, a code, a type and a sentence or two; an upstream must not fill the log. */
const DETAIL_MAX_CHARS = 400;
/** The part of a sentence that is searched for secrets; the rest is dropped. */
const SENTENCE_MAX_CHARS = 2_000;
/** Names of models and fields are shorter; what is longer and quoted may be what a person wrote. */
const QUOTED_MAX_CHARS = 80;
const QUOTED = /"[^"]*(?:"|$)|`[^`]*`|'[^']*'|“[^“”]*”/g;
/** Keys, whole or with stars in them as upstreams show them, and whatever is as long and as dense as one. */
const KEY_LIKE = /\bBearer\s+[^\s"'`]+|\b(?:sk|pk|rk|gsk|key|xai|hf|nvapi)[-_][\w*-]{4,}|\bAIza[\w-]{4,}|[\w*-]{40,}/g;

/** Printable characters of ASCII as an address may hold them. */
const PERCENT_ENCODED = /%([2-7][0-9a-f])/gi;

const OVERLOAD_STATUSES = new Set([429, 503, 529]);
/** The key, the right to use it, the address and the name of the model: only the operator can mend these. */
const CONFIGURATION_STATUSES = new Set([401, 403, 404, 405]);
/** "Not now" in other words: the request itself is as it should be. */
const PASSING_STATUSES = new Set([408, 409, 425]);
/** Longer values are ignored; nobody waits for hours. */
const RETRY_AFTER_MAX_S = 3_600;
/** Codes and types by which upstreams say "later" (OpenAI, Azure, vLLM, OpenRouter, Groq, Gemini's compatible endpoint). */
const OVERLOAD_WORDS = /rate.?limit|overload|too.?many.?requests|quota|resource.?exhausted|unavailable|capacity|server.?busy|slow.?down/i;

/** Codes and types of an account that has to be paid or raised first: no wait helps (OpenAI, DeepSeek, OpenRouter, Anthropic). */
const EXHAUSTED_WORDS =
  /insufficient.?(?:user.?)?(?:quota|credits?|balance|funds)|billing.?(?:hard.?limit|not.?active|error)|payment.?required|credits?.?exhausted/i;
const PAYMENT_REQUIRED = 402;
/** Anthropic says it in a sentence alone, under the type of a malformed request. */
const UNPAID = /^your credit balance is too low\b/i;
/** Codes are words; what is longer, or holds other characters, is a sentence. */
const CODE = /^[\w.:-]{1,64}$/;

interface UpstreamError {
  readonly status: number | undefined;
  readonly words: readonly string[];
  /** The one for people; '' when there is none. */
  readonly sentence: string;
}

/** The error in a parsed body or data line: `{ error: {…} }`, `{ error: "…" }` or vLLM's `{ object: "error", … }`; else undefined. */
export function errorIn(value: unknown): unknown {
  if (!isObject(value)) return undefined;
  if (value.object === 'error') return value;
  return value.error ?? undefined;
}

/** `error`, or FastAPI's `detail`, as a sentence. */
function sentenceOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (!isObject(error)) return '';
  return [error.message, error.detail].find((text): text is string => typeof text === 'string') ?? '';
}

function readError(error: unknown): UpstreamError {
  const sentence = sentenceOf(error);
  if (!isObject(error)) return { status: undefined, words: [], sentence };
  const words: string[] = UNPAID.test(sentence) ? ['insufficient_credits'] : [];
  let status: number | undefined;
  for (const name of ['code', 'type', 'status']) {
    const value = error[name];
    const number = typeof value === 'number' ? value : typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : undefined;
    if (number !== undefined && number >= 400 && number <= 599) status ??= number;
    else if (typeof value === 'string' && value !== '' && value !== 'error' && !words.includes(value)) words.push(value);
  }
  return { status, words, sentence };
}

function isExhausted(status: number | undefined, words: readonly string[]): boolean {
  return status === PAYMENT_REQUIRED || words.some((word) => EXHAUSTED_WORDS.test(word));
}

function isOverload(status: number | undefined, words: readonly string[]): boolean {
  if (status !== undefined) return OVERLOAD_STATUSES.has(status);
  return words.some((word) => OVERLOAD_WORDS.test(word));
}

/** `text` fit for one line of the log, without keys even if the upstream sends them back. */
function tidy(text: string, apiKey: string | undefined): string {
  // Addresses show a key percent-encoded.
  const decoded = text.replace(PERCENT_ENCODED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const open = apiKey === undefined || apiKey === '' ? decoded : decoded.replaceAll(apiKey, '[key]');
  return open
    .replace(/[^\x20-\x7e]+/g, ' ')
    .replace(KEY_LIKE, '[key]')
    .trim();
}

/** An upstream's sentence without what it may repeat of the request: what people wrote stands in quotes there, and is long. */
function unquoted(sentence: string): string {
  // The last word goes as well: it may be the beginning of a key, by which nobody would know it.
  const short = sentence.length <= SENTENCE_MAX_CHARS ? sentence : sentence.slice(0, SENTENCE_MAX_CHARS).split(/\s/).slice(0, -1).join(' ');
  return short.replace(QUOTED, (quoted) => (quoted.length > QUOTED_MAX_CHARS ? '[…]' : quoted)).replaceAll('…', '...');
}

function failure(kind: ModelFailureKind, parts: readonly string[], said: Partial<UpstreamError>, apiKey: string | undefined): ModelFailure {
  const sentence = unquoted(said.sentence ?? '');
  const what = tidy(parts.join(' '), apiKey).slice(0, DETAIL_MAX_CHARS / 2);
  const detail = (sentence === '' ? what : `${what}: ${tidy(sentence, apiKey)}`).slice(0, DETAIL_MAX_CHARS);
  const code = said.words?.map((word) => tidy(word, apiKey)).find((word) => CODE.test(word));
  return { kind, detail, ...(said.status !== undefined && { status: said.status }), ...(code !== undefined && { code }) };
}

/** What becomes of a request that was answered with `status`, from 300 on, and these codes. */
function kindOf(status: number, words: readonly string[]): ModelFailureKind {
  if (isExhausted(status, words)) return 'exhausted';
  if (OVERLOAD_STATUSES.has(status)) return 'busy';
  if (status >= 500 || PASSING_STATUSES.has(status)) return 'broken';
  return status < 400 || CONFIGURATION_STATUSES.has(status) ? 'misconfigured' : 'refused';
}

/** Whole seconds of a `Retry-After` (a number, or a date), at least one; undefined when it says nothing that can be believed. */
export function retryAfterOf(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  const isDate = /^[A-Z][a-z]{2}, /.test(header);
  const seconds = isDate ? (Date.parse(header) - nowMs) / 1_000 : /^\d+(?:\.\d+)?$/.test(header.trim()) ? Number(header) : Number.NaN;
  if (!(seconds <= RETRY_AFTER_MAX_S)) return undefined;
  return Math.max(1, Math.ceil(seconds));
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

export interface OddAnswer {
  readonly status: number;
  /** Without parameters; '' when none was said. */
  readonly contentType: string;
  /** It may be cut off. */
  readonly body: string;
  readonly retryAfterS?: number | undefined;
}

/** An answer with another status than 2xx, or a 2xx with another content type. */
export function answerFailure({ status, contentType, body, retryAfterS }: OddAnswer, apiKey: string | undefined): ModelFailure {
  const json = parsed(body);
  const found = errorIn(json);
  const said = readError(found ?? (isObject(json) ? { detail: json.detail } : undefined));
  if (status >= 300) {
    const sentence = said.sentence === '' && contentType === 'text/plain' ? body : said.sentence;
    const failed = failure(kindOf(status, said.words), [`status ${status}`, ...said.words], { ...said, status, sentence }, apiKey);
    return failed.kind === 'busy' && retryAfterS !== undefined ? { ...failed, retryAfterS } : failed;
  }
  const what = `status ${status} with ${contentType === '' ? 'no content type' : contentType} instead of an event stream`;
  if (found === undefined) return failure('misconfigured', [what], { status }, apiKey);
  const code = said.status === undefined ? [] : [`error ${said.status}`];
  return failure(streamedKind(said, false), [what, ...code, ...said.words], said, apiKey);
}

/** The kind of an error in an answer that began well. */
function streamedKind({ status, words }: UpstreamError, hasOutput: boolean): ModelFailureKind {
  if (isExhausted(status, words)) return 'exhausted';
  if (hasOutput) return 'broken';
  if (isOverload(status, words)) return 'busy';
  return status === undefined ? 'broken' : kindOf(status, words);
}

/** An error that came as a line of the stream. `hasOutput`: something of the answer came before it. */
export function streamedFailure(error: unknown, hasOutput: boolean, apiKey: string | undefined): ModelFailure {
  const said = readError(error);
  const code = said.status === undefined ? [] : [String(said.status)];
  return failure(streamedKind(said, hasOutput), ['error in the stream', ...code, ...said.words], said, apiKey);
}

/** The connection failed, before or in the answer. Only the code of `error` is told: its message may quote what was sent. */
export function connectionFailure(error: unknown, answering: boolean): ModelFailure {
  const code = isObject(error) && typeof error.code === 'string' ? error.code : error instanceof Error ? error.name : 'unknown';
  // A header or a path that cannot be written (a key with a line break in it) comes from the configuration.
  if (code === 'UND_ERR_INVALID_ARG')
    return failure('misconfigured', ['the request cannot be written:', code], { words: [code] }, undefined);
  return failure('broken', [answering ? 'the stream broke off:' : 'the connection failed:', code], { words: [code] }, undefined);
}
