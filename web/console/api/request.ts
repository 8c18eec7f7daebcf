/** One request to the interface of the console, and what went wrong with it. Knows nothing of who is signed in. */

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

/** What the service answered instead (HTTP-12), or `unreachable` when nothing came. */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: readonly ErrorDetail[];
  readonly requestId: string | undefined;

  constructor(code: string, message: string, status: number, more: { details?: readonly ErrorDetail[]; requestId?: string | null } = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = more.details ?? [];
    this.requestId = more.requestId ?? undefined;
  }
}

export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError
    ? error
    : new ApiError('unknown', error instanceof Error ? error.message : 'Something went wrong here.', 0);
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly form?: FormData;
  /** Empty: none is sent. */
  readonly csrfToken?: string;
  readonly signal?: AbortSignal;
}

const BASE = '/console/api';

/** Where the page finds what is at `path` of the interface: for a picture. */
export function apiAddress(path: string): string {
  return BASE + path;
}

interface ErrorBody {
  /** A batch of which nothing was saved says of each item why (SETUP-30). */
  readonly results?: readonly { readonly external_key?: unknown; readonly error?: unknown }[];
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly details?: unknown };
}

function itemError(status: number, results: NonNullable<ErrorBody['results']>, requestId: string | null): ApiError {
  const details = results.flatMap(({ external_key: key, error }) =>
    typeof error === 'string' ? [{ path: String(key ?? ''), message: error }] : [],
  );
  const [first] = details;
  const more = details.length > 1 ? { details } : {};
  return new ApiError('refused_items', first?.message ?? 'Nothing was saved.', status, { requestId, ...more });
}

function errorOf(status: number, body: ErrorBody | undefined, requestId: string | null): ApiError {
  if (Array.isArray(body?.results)) return itemError(status, body.results, requestId);
  const code = body?.error?.code;
  const message = body?.error?.message;
  const details = body?.error?.details;
  if (typeof code !== 'string' || typeof message !== 'string') {
    return new ApiError('unknown', `The service answered ${status}, and not in a form that this page knows. Load the page again.`, status, {
      requestId,
    });
  }
  return new ApiError(code, message, status, { requestId, ...(Array.isArray(details) ? { details: details as ErrorDetail[] } : {}) });
}

export async function errorFrom(answer: Response): Promise<ApiError> {
  const json: unknown = await answer.json().catch(() => undefined);
  return errorOf(answer.status, json as ErrorBody | undefined, answer.headers.get('X-Request-Id'));
}

/** The answer's JSON. @throws ApiError; the signal's reason when that aborts it. */
export async function request(method: Method, path: string, { body, form, csrfToken = '', signal }: RequestOptions = {}): Promise<unknown> {
  const headers = new Headers({ Accept: 'application/json' });
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  if (csrfToken !== '') headers.set('X-CSRF-Token', csrfToken);
  let answer: Response;
  try {
    answer = await fetch(BASE + path, {
      method,
      headers,
      body: form ?? (body === undefined ? null : JSON.stringify(body)),
      signal: signal ?? null,
      cache: 'no-store',
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError('unreachable', 'The service does not answer. See whether it runs, then try again.', 0);
  }
  if (!answer.ok) throw await errorFrom(answer);
  try {
    return await answer.json();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError('cut_off', 'The answer of the service was cut off. Try again.', answer.status);
  }
}
