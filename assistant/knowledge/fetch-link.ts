/** Fetches the document behind a link (LINK-8 to LINK-11). Every hop passes the address guard; nothing tells who asked. */
import { LINK_MAX_BYTES, LINK_REDIRECTS_MAX, LINK_TIMEOUT_MS } from '../../protocol/limits.ts';
import type { AddressGuard } from '../http/address-guard.ts';
import { failureSentence, headerOf, readAnswer } from '../http/http-answer.ts';
import { Client } from '../http/undici.ts';
import { LinkError } from './link-error.ts';

const PORTS = new Set(['', '80', '443']);

/** The parsed address of a link (LINK-6) or of a redirect (resolved against `base`). @throws LinkError saying which rule it breaks. */
function linkAddress(uri: string, guard: AddressGuard, base?: URL): URL {
  const url = URL.canParse(uri, base?.href) ? new URL(uri, base?.href) : undefined;
  if (url === undefined) throw new LinkError('The address is malformed.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new LinkError('Only http and https addresses are read.');
  if (url.username !== '' || url.password !== '') throw new LinkError('The address must not hold a user name or a password.');
  if (!PORTS.has(url.port) && !guard.isLocal(url.hostname)) throw new LinkError('Only the ports 80 and 443 are read.');
  // Never sent, and two addresses that differ in it are one document.
  url.hash = '';
  return url;
}

/** What is read; everything else is refused by name. */
const LINK_MEDIA_TYPES = ['text/html', 'text/plain', 'text/markdown', 'application/pdf', 'application/json'] as const;
export type LinkMediaType = (typeof LINK_MEDIA_TYPES)[number];

export interface FetchedLink {
  readonly mediaType: LinkMediaType;
  readonly charset: string | undefined;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface FetchOptions {
  readonly guard: AddressGuard;
  /** The caller's own end: the fetch rejects with its reason. */
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

export const LINK_USER_AGENT = 'AssistantService/1.0 (reads a link that an app added to its knowledge)';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const HEADERS = {
  'user-agent': LINK_USER_AGENT,
  accept: 'text/html, text/markdown;q=0.9, text/plain;q=0.8, application/pdf;q=0.8, application/json;q=0.7',
  'accept-encoding': 'gzip, deflate, br',
};

const UNREAD_ENCODING = 'The document is compressed in a way that is not read: gzip, deflate and br are.';

function linkErrorOf(error: unknown): LinkError {
  return error instanceof LinkError ? error : new LinkError(failureSentence(error, 'site', 'The document'), { cause: error });
}

function typeOf(contentType: string | undefined): { mediaType: LinkMediaType; charset: string | undefined } {
  if (contentType === undefined) throw new LinkError('The site does not say what type the document has.');
  const written = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  const mediaType = LINK_MEDIA_TYPES.find((type) => type === written);
  if (mediaType === undefined) {
    // What the site wrote is shown only when it looks like a type.
    const shown = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(written) ? written : 'unknown';
    throw new LinkError(`The document has the type ${shown}; read are ${LINK_MEDIA_TYPES.join(', ')}.`);
  }
  const charset = /;\s*charset\s*=\s*"?([^\s";]{1,40})/i.exec(contentType)?.[1]?.toLowerCase();
  return { mediaType, charset };
}

type Hop = { readonly redirect: string } | { readonly document: FetchedLink };

/** One request on a connection of its own, which ends with it. */
async function fetchHop(url: URL, guard: AddressGuard, signal: AbortSignal, maxBytes: number): Promise<Hop> {
  const client = new Client(url.origin, { connect: guard.connect, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  // Not the request's own signal: that is not heard before there is a connection.
  const end = () => void client.destroy(signal.reason as Error).catch(() => {});
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    const answer = await client.request({ method: 'GET', path: `${url.pathname}${url.search}`, headers: HEADERS });
    // The connection is destroyed while a body may still be on its way: that is not an error to anybody.
    answer.body.on('error', () => {});
    if (REDIRECTS.has(answer.statusCode)) {
      const location = headerOf(answer, 'location');
      if (location === undefined) throw new LinkError('The site redirects without saying where to.');
      return { redirect: location };
    }
    if (answer.statusCode !== 200) throw new LinkError(`The site answered with status ${answer.statusCode}.`);
    const type = typeOf(headerOf(answer, 'content-type'));
    const tooLong = `The document is larger than ${Math.floor(maxBytes / (1024 * 1024))} MB.`;
    return { document: { ...type, bytes: await readAnswer(answer, maxBytes, { tooLong, encoding: UNREAD_ENCODING }) } };
  } finally {
    signal.removeEventListener('abort', end);
    void client.destroy().catch(() => {});
  }
}

async function followed(uri: string, guard: AddressGuard, signal: AbortSignal, maxBytes: number): Promise<FetchedLink> {
  let url = linkAddress(uri, guard);
  for (let redirects = 0; ; redirects++) {
    const hop = await fetchHop(url, guard, signal, maxBytes);
    if ('document' in hop) return hop.document;
    if (redirects === LINK_REDIRECTS_MAX) throw new LinkError(`The site redirects more than ${LINK_REDIRECTS_MAX} times.`);
    url = linkAddress(hop.redirect, guard, url);
  }
}

/** @throws LinkError with a sentence for a person; the reason of `signal` when that ended it. */
export async function fetchLink(uri: string, options: FetchOptions): Promise<FetchedLink> {
  const { guard, signal, timeoutMs = LINK_TIMEOUT_MS, maxBytes = LINK_MAX_BYTES } = options;
  signal?.throwIfAborted();
  const ended = new AbortController();
  const timer = setTimeout(
    () => ended.abort(new LinkError(`The site did not send the document within ${Math.ceil(timeoutMs / 1_000)} seconds.`)),
    timeoutMs,
  );
  const stop = () => ended.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await followed(uri, guard, ended.signal, maxBytes);
  } catch (error) {
    signal?.throwIfAborted();
    if (ended.signal.aborted) throw ended.signal.reason;
    throw linkErrorOf(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}
