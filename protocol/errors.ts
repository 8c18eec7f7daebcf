/**
 * One table of error codes for all interfaces (HTTP-18, HTTP-19): the HTTP status each travels with, and whether
 * a client may send the same request again. A Refusal is an expected answer; anything else thrown is a bug.
 */
import type { Block } from './catalog/block.ts';
import type { Notice } from './runtime/notice.ts';
import type { Detail } from './schema/issues.ts';

interface ErrorRow {
  readonly status: number;
  readonly retryable: boolean;
}

export const ERROR_TABLE = {
  // Runtime: in the stream, and as JSON before it opens
  invalid_key: { status: 401, retryable: false },
  quota_exceeded: { status: 403, retryable: false },
  rate_limited: { status: 429, retryable: true },
  model_busy: { status: 503, retryable: true },
  manifest_unknown: { status: 400, retryable: false },
  upgrade_required: { status: 403, retryable: false },
  invalid_request: { status: 400, retryable: false },
  internal: { status: 500, retryable: true },
  // Runtime: HTTP only
  app_not_live: { status: 403, retryable: false },
  app_suspended: { status: 403, retryable: false },
  origin_not_allowed: { status: 403, retryable: false },
  unsupported_media_type: { status: 415, retryable: false },
  payload_too_large: { status: 413, retryable: false },
  upload_failed: { status: 502, retryable: true },
  uploads_unavailable: { status: 503, retryable: true },
  upload_too_slow: { status: 408, retryable: true },
  no_logo: { status: 404, retryable: false },
  logo_unavailable: { status: 503, retryable: true },
  pairing_test_only: { status: 403, retryable: false },
  pairing_not_found: { status: 404, retryable: false },
  // Setup
  unknown_code: { status: 404, retryable: false },
  code_used: { status: 410, retryable: false },
  code_expired: { status: 410, retryable: false },
  app_not_found: { status: 404, retryable: false },
  not_started: { status: 409, retryable: false },
  already_claimed: { status: 409, retryable: false },
  app_live: { status: 409, retryable: false },
  draft_invalid: { status: 409, retryable: false },
  session_closed: { status: 410, retryable: false },
  empty_file: { status: 400, retryable: false },
  unsupported_type: { status: 415, retryable: false },
  // Console and setup, in the same words
  invalid_json: { status: 400, retryable: false },
  invalid_body: { status: 400, retryable: false },
  missing_token: { status: 401, retryable: false },
  invalid_token: { status: 401, retryable: false },
  invalid_csrf: { status: 403, retryable: false },
  not_found: { status: 404, retryable: false },
  conflict: { status: 409, retryable: false },
  too_large: { status: 413, retryable: false },
  invalid_appearance: { status: 422, retryable: false },
  invalid_experience: { status: 422, retryable: false },
  method_not_allowed: { status: 405, retryable: false },
  // Every interface: what the service stands on fails it
  organisation_unavailable: { status: 503, retryable: true },
  storage_unavailable: { status: 503, retryable: true },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERROR_TABLE;

export interface RefusalOptions {
  readonly details?: readonly Detail[];
  /** Overrides the table's status: one code may travel with several (identity refusals are 403 `invalid_request`). */
  readonly status?: number;
  /** Overrides the table's: the same request again would be refused again, for a long time. */
  readonly retryable?: boolean;
  /** Seconds until another try makes sense; sent as `Retry-After`. */
  readonly retryAfterS?: number;
  /** What the caller acted on, as it is now: values of the person's own, so only for its device. */
  readonly block?: Block;
  /** In a stream it is told as this notice instead of as an error: the build can show one. */
  readonly notice?: Notice;
  /** In a stream it is told as the end of a turn that somebody stopped, and as no error. */
  readonly stopped?: boolean;
}

/** An expected "no": `code` is for the program, `message` is a sentence to act on. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly details: readonly Detail[] | undefined;
  readonly retryAfterS: number | undefined;
  readonly notice: Notice | undefined;
  readonly block: Block | undefined;
  readonly stopped: boolean;

  constructor(code: ErrorCode, message: string, options: RefusalOptions = {}) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.status = options.status ?? ERROR_TABLE[code].status;
    this.retryable = options.retryable ?? ERROR_TABLE[code].retryable;
    this.details = options.details;
    this.retryAfterS = options.retryAfterS;
    this.notice = options.notice;
    this.block = options.block;
    this.stopped = options.stopped === true;
  }
}

/** A refusal as plain data, for where classes do not survive: threads, other nodes. */
export type PlainRefusal = { readonly code: ErrorCode; readonly message: string } & Omit<RefusalOptions, 'status' | 'retryable'> &
  Required<Pick<RefusalOptions, 'status' | 'retryable'>>;

export function plainRefusal({ code, message, status, retryable, details, retryAfterS, notice, block, stopped }: Refusal): PlainRefusal {
  return {
    code,
    message,
    status,
    retryable,
    ...(details !== undefined && { details }),
    ...(retryAfterS !== undefined && { retryAfterS }),
    ...(notice !== undefined && { notice }),
    ...(block !== undefined && { block }),
    ...(stopped && { stopped }),
  };
}

export function refusalFrom({ code, message, ...options }: PlainRefusal): Refusal {
  return new Refusal(code, message, options);
}

interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: readonly Detail[];
  readonly block?: Block;
}

/** Body of every error answer: `{ error: { code, message, details?, block? } }`. */
export function errorBody({ code, message, details, block }: Refusal): { error: ErrorBody } {
  return { error: { code, message, ...(details === undefined ? {} : { details }), ...(block === undefined ? {} : { block }) } };
}
