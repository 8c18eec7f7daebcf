/** Owns the judgement of what went wrong upstream: which kind of failure, and the few words about it that may be logged. */
import type { ModelFailure, ModelFailureKind } from './model.ts';

/** Enough for a status, a code and a type; an upstream must not fill the log. */
const DETAIL_MAX_CHARS = 200;

const OVERLOAD_STATUSES = new Set([429, 503, 529]);
/** Codes and types by which upstreams say "later" (OpenAI, Azure, vLLM, OpenRouter, Groq, Gemini's compatible endpoint). */
const OVERLOAD_WORDS = /rate.?limit|overload|too.?many.?requests|quota|resource.?exhausted|unavailable|capacity|server.?busy|slow.?down/i;

/** What an upstream's error object says about itself, in the words that programs use; its message is left alone. */
interface UpstreamError {
  readonly status: number | undefined;
  readonly words: readonly string[];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The error in a parsed body or data line: `{ error: {…} }`, `{ error: "…" }` or vLLM's `{ object: "error", … }`; else undefined. */
export function errorIn(value: unknown): unknown {
  if (!isRecord(value)) return undefined;
  if (value.object === 'error') return value;
  return value.error ?? undefined;
}

function readError(error: unknown): UpstreamError {
  if (!isRecord(error)) return { status: undefined, words: [] };
  const words: string[] = [];
  let status: number | undefined;
  for (const name of ['code', 'type', 'status']) {
    const value = error[name];
    const number = typeof value === 'number' ? value : typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : undefined;
    if (number !== undefined && number >= 400 && number <= 599) status ??= number;
    else if (typeof value === 'string' && value !== '' && value !== 'error' && !words.includes(value)) words.push(value);
  }
  return { status, words };
}

function isOverload(status: number | undefined, words: readonly string[]): boolean {
  if (status !== undefined) return OVERLOAD_STATUSES.has(status);
  return words.some((word) => OVERLOAD_WORDS.test(word));
}

/** `text` fit for one line of the log, without the key even if the upstream sends it back. */
function tidy(text: string, apiKey: string | undefined): string {
  const open = apiKey === undefined || apiKey === '' ? text : text.replaceAll(apiKey, '[key]');
  return open.replace(/[^\x20-\x7e]+/g, ' ').slice(0, DETAIL_MAX_CHARS);
}

function failure(kind: ModelFailureKind, parts: readonly string[], apiKey: string | undefined): ModelFailure {
  return { kind, detail: tidy(parts.join(' '), apiKey) };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** An answer that is no event stream: any other status than 2xx, or a 2xx with another content type. `body` may be cut off. */
export function answerFailure(status: number, contentType: string, body: string, apiKey: string | undefined): ModelFailure {
  const found = errorIn(parsed(body));
  const said = readError(found);
  if (status >= 300) {
    const kind = OVERLOAD_STATUSES.has(status) ? 'busy' : status >= 500 ? 'broken' : 'refused';
    return failure(kind, [`status ${status}`, ...said.words], apiKey);
  }
  const what = `status ${status} with ${contentType} instead of an event stream`;
  if (found === undefined) return failure('refused', [what], apiKey);
  const code = said.status === undefined ? [] : [`error ${said.status}`];
  const refused = said.status !== undefined && said.status < 500;
  return failure(isOverload(said.status, said.words) ? 'busy' : refused ? 'refused' : 'broken', [what, ...code, ...said.words], apiKey);
}

/** An error that came as a line of the stream. `hasOutput`: something of the answer came before it. */
export function streamedFailure(error: unknown, hasOutput: boolean, apiKey: string | undefined): ModelFailure {
  const { status, words } = readError(error);
  const code = status === undefined ? [] : [String(status)];
  return failure(!hasOutput && isOverload(status, words) ? 'busy' : 'broken', ['error in the stream', ...code, ...words], apiKey);
}

/** The connection failed, before or in the answer. Only the code of `error` is told: its message may quote what was sent. */
export function connectionFailure(error: unknown, answering: boolean): ModelFailure {
  const code = isRecord(error) && typeof error.code === 'string' ? error.code : error instanceof Error ? error.name : 'unknown';
  // A header or a path that cannot be written (a key with a line break in it) comes from the configuration.
  if (code === 'UND_ERR_INVALID_ARG') return failure('refused', ['the request cannot be written:', code], undefined);
  return failure('broken', [answering ? 'the stream broke off:' : 'the connection failed:', code], undefined);
}
