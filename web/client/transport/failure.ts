/** Why something could not be done, in one shape for the whole client: refusals of the service, and what never reached it. */
import type { Block } from '../../../protocol/catalog/block.ts';
import type { Detail } from '../../../protocol/schema/issues.ts';
import { isRecord, parsedJson } from '../json.ts';
import type { Log, LogCode, LogRecord } from '../log.ts';
import type { FetchAnswer } from '../surroundings.ts';

/** Codes of this side. All others are the service's own (`protocol/errors.ts`), and more of them may come. */
export type ClientCode =
  /** No answer: no network, or the service is not there. */
  | 'unreachable'
  | 'timeout'
  /** What came is nothing that the service says: a proxy's page, or half of an answer. */
  | 'unreadable'
  /** A turn that completed without a word. */
  | 'no_answer'
  /** The client is off, or what was asked for cannot be done now. */
  | 'unusable';

export interface Failure {
  readonly code: string;
  /** A sentence for people, unless `isForDevelopers`. */
  readonly message: string;
  readonly retryable: boolean;
  /** From when on, counted from now. */
  readonly retryAfterMs?: number;
  /** HTTP status; absent in a stream and where there was no answer. */
  readonly status?: number;
  readonly details?: readonly Detail[];
  /** For whoever builds with it, where the service did not answer: which address was asked, what came, and what to look at. */
  readonly hint?: string;
  /** The card as it is, where another revision of it was answered. */
  readonly block?: Block;
}

const RETRYABLE_STATUS: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
const SECONDS = /^\d{1,9}$/;
/** Whatever a header asks for. */
const RETRY_AFTER_MAX_MS = 24 * 60 * 60_000;

/** What these say concerns whoever built the page: keys, origins, fields of a request. */
const FOR_DEVELOPERS: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_key',
  'manifest_unknown',
  'app_not_live',
  'app_suspended',
  'origin_not_allowed',
]);

/** Whether nobody but a developer can do anything with the message: people are told in calm words that it did not work. */
export function isForDevelopers({ code }: Failure): boolean {
  return FOR_DEVELOPERS.has(code);
}

export function logged({ code, status, message, details, hint }: Failure): Readonly<Record<string, unknown>> {
  return { code, status, message, ...(details === undefined ? {} : { details }), ...(hint === undefined ? {} : { hint }) };
}

type Head = Pick<FetchAnswer, 'status' | 'headers'>;

/** What to look at where something answered `asked`, a method and an address, that is not the service. */
export function strangerHint(asked: string, { status, headers }: Head): string {
  return `${asked} answered ${status} ${headers.get('Content-Type')}, as the service does not: address must be its origin, and a proxy has to pass /v1/ on`;
}

/** The same where nothing answered that a page may read. */
export function silenceHint(asked: string, error: unknown): string {
  return `${asked} brought no answer (${error}): see that the service runs there, that connect-src names it, and that no other server is there, which lets no page read it (CORS)`;
}

/** A failure of this side. `message` is for people: it is shown as it is. */
export function ownFailure(code: ClientCode, message: string, retryable: boolean): Failure {
  return { code, message, retryable };
}

export const UNREACHABLE = ownFailure('unreachable', 'The assistant cannot be reached. Check the connection.', true);

/** `Retry-After` in milliseconds from now, as seconds or as a date; undefined when there is none. */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const text = header.trim();
  const ms = SECONDS.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS) : undefined;
}

function isDetail(value: unknown): value is Detail {
  return isRecord(value) && typeof value.path === 'string' && typeof value.message === 'string';
}

function isBlock(value: unknown): value is Block {
  return isRecord(value) && typeof value.id === 'string' && typeof value.block_type === 'string' && isRecord(value.body);
}

/** What a refusal of `asked` says, whoever wrote it. `answer` is its head, `text` its body. */
export function refusalFrom(asked: string, answer: Head, text: string, nowMs: number): Failure {
  const body = parsedJson(text);
  const said: Readonly<Record<string, unknown>> = isRecord(body) && isRecord(body.error) ? body.error : {};
  const after = retryAfterMs(answer.headers.get('Retry-After'), nowMs);
  const retryable = RETRYABLE_STATUS.has(answer.status);
  const own =
    answer.status >= 500
      ? // The page of a proxy that does not reach the service either.
        UNREACHABLE
      : ownFailure('unreadable', 'The assistant did not answer as it should.', retryable);
  return {
    status: answer.status,
    retryable,
    ...(typeof said.code === 'string' ? { code: said.code } : { code: own.code, hint: strangerHint(asked, answer) }),
    message: typeof said.message === 'string' ? said.message : own.message,
    ...(after === undefined ? {} : { retryAfterMs: after }),
    ...(Array.isArray(said.details) ? { details: said.details.filter(isDetail) } : {}),
    ...(isBlock(said.block) ? { block: said.block } : {}),
  };
}

export class ClientError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = 'ClientError';
    this.failure = failure;
  }
}

/** The failure that was thrown; anything else was no answer. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ClientError) return error.failure;
  return UNREACHABLE;
}

/** What `work` comes to; where it fails, the log says so first. */
export async function orLogged<Value>(
  log: Log,
  level: LogRecord['level'],
  code: LogCode,
  work: () => Promise<Value>,
  more?: object,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    log.say(level, code, { ...more, ...logged(failureOf(error)) });
    throw error;
  }
}
