/** Which browsers may call an app (HTTP-22, HTTP-23): allowed domains, and localhost for test keys. */
import { coversHost } from '../../protocol/console/app-settings.ts';
import { Refusal } from '../../protocol/errors.ts';
import { USER_TOKEN_HEADER, WARNING_HEADER } from '../../protocol/headers.ts';
import type { Channel } from '../../storage/organisations/organisations.ts';

const LOCAL_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** What a browser's script may send across origins … */
const CORS_REQUEST_HEADERS = [
  'Content-Type',
  'If-None-Match',
  'Last-Event-ID',
  'X-Request-Id',
  'X-Service-Key',
  'X-Service-Device',
  'X-Service-User',
  USER_TOKEN_HEADER,
  'X-Service-SDK',
  'X-Service-Platform',
  'X-RD-Key',
  'X-RD-Device',
  'X-RD-User-Token',
  'X-RD-SDK',
  'X-RD-Platform',
].join(', ');

/** … and what it may read of an answer. */
export const CORS_EXPOSED_HEADERS = `X-Request-Id, ETag, Retry-After, ${WARNING_HEADER}`;

/** Browsers ask again after two hours at most, whatever is said here. */
const PREFLIGHT_MAX_AGE_S = 7_200;

function parseOrigin(origin: string): URL | undefined {
  if (!URL.canParse(origin)) return undefined;
  const url = new URL(origin);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
}

export function isOriginAllowed(origin: string, allowedDomains: readonly string[], channel: Channel): boolean {
  // A sandboxed frame has no origin of its own: who names that serves all of them.
  if (origin === 'null') return allowedDomains.includes(origin);
  const url = parseOrigin(origin);
  if (url === undefined) return false;
  if (channel === 'sandbox' && LOCAL_HOSTS.has(url.hostname)) return true;
  return allowedDomains.some((domain) => coversHost(domain, url));
}

/** Whether a page of this origin was served by this service: its host is the one that was asked, or the one of `publicUrl` behind a proxy. */
export function isOwnPage(origin: string, host: string, publicUrl: string | undefined): boolean {
  const page = parseOrigin(origin)?.host;
  return page !== undefined && (page === host || (publicUrl !== undefined && page === parseOrigin(publicUrl)?.host));
}

/** Passes callers that are no browsers (`origin` is ''). @throws Refusal `origin_not_allowed` naming the origin and the setting. */
export function checkOrigin(origin: string, allowedDomains: readonly string[], channel: Channel): void {
  if (origin === '' || isOriginAllowed(origin, allowedDomains, channel)) return;
  throw new Refusal(
    'origin_not_allowed',
    origin === 'null'
      ? "A page from a file, or in a sandboxed frame, has the origin null, which is not among the app's Allowed domains. Open it over http, or add null to that setting in the console."
      : `The origin ${origin} is not among the app's Allowed domains. Add its host to that setting in the console.`,
  );
}

/** The answer to a preflight: it comes without a key, so it tells only what is possible. The request itself is checked. */
export function preflightHeaders(origin: string, methods: string): Readonly<Record<string, string>> {
  return {
    // Beside an Origin the exchange itself names it; without one this was no browser.
    ...(origin === '' ? { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': CORS_EXPOSED_HEADERS } : {}),
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': CORS_REQUEST_HEADERS,
    'Access-Control-Max-Age': String(PREFLIGHT_MAX_AGE_S),
  };
}
