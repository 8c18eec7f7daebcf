/** Owns what is public and does not change while the program runs, and which copy of it a request gets: as it is, for gzip, or for br. */
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { TaggedReply } from '../route.ts';
import { etagOf, noneMatch } from './etag.ts';

type Headers = Readonly<Record<string, string>>;
type Variant = 'br' | 'gzip' | 'identity';

/** Headers of an HTML page: everything comes from here, nothing stands in the page, and no text becomes markup (PAGE-2, DEMO-2). */
export function pageHeaders(images = "'self'"): Headers {
  const policy = {
    ...{ 'default-src': "'none'", 'script-src': "'self'", 'style-src': "'self'", 'connect-src': "'self'", 'img-src': images },
    ...{ 'base-uri': "'none'", 'form-action': "'none'", 'frame-ancestors': "'none'" },
    ...{ 'require-trusted-types-for': "'script'", 'trusted-types': "'none'" },
  };
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': Object.entries(policy)
      .map((directive) => directive.join(' '))
      .join('; '),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  };
}

/** The smallest first. */
const ENCODINGS = ['br', 'gzip'] as const;

/** Nearly as small as the highest quality makes it, in a tenth of the time. */
const BROTLI_QUALITY = 9;

function accepted(acceptEncoding: string): readonly string[] {
  return acceptEncoding.split(',').flatMap((part) => {
    const [name = '', quality = ''] = part.split(';');
    return quality.trim() === 'q=0' ? [] : [name.trim().toLowerCase()];
  });
}

/** A file that lies in memory once, and once for each encoding (PAGE-3, HTTP-27). */
export class StaticFile {
  readonly #variants: Map<Variant, Uint8Array>;
  readonly #tag: string;
  readonly #headers: Headers;

  private constructor(variants: Map<Variant, Uint8Array>, headers: Headers) {
    this.#variants = variants;
    this.#tag = etagOf(variants.get('identity') as Uint8Array).slice(1, -1);
    this.#headers = headers;
  }

  /** A file with its compressed copies beside it. @throws Error when one of them is missing */
  static built(file: URL, headers: Headers): StaticFile {
    const read = (ending: string) => readFileSync(new URL(file.href + ending));
    const variants = new Map<Variant, Uint8Array>([
      ['identity', read('')],
      ['br', read('.br')],
      ['gzip', read('.gz')],
    ]);
    return new StaticFile(variants, { ...headers, Vary: 'Accept-Encoding' });
  }

  /** A text, which is compressed beside the event loop; until then it is sent as it is. */
  static text(text: string, headers: Headers): StaticFile {
    const bytes = Buffer.from(text);
    const variants = new Map<Variant, Uint8Array>([['identity', bytes]]);
    const keep = (variant: Variant) => (compressed: Uint8Array) => void variants.set(variant, compressed);
    const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
    // Neither fails but for want of memory; then it is sent as it is.
    promisify(brotliCompress)(bytes, { params }).then(keep('br'), () => {});
    promisify(gzip)(bytes).then(keep('gzip'), () => {});
    return new StaticFile(variants, { ...headers, Vary: 'Accept-Encoding' });
  }

  /** What would not get smaller. */
  static plain(bytes: Uint8Array, headers: Headers): StaticFile {
    return new StaticFile(new Map([['identity', bytes]]), headers);
  }

  reply(header: (name: string) => string, more: Headers = {}): TaggedReply {
    const names = accepted(header('accept-encoding'));
    const fit: Variant = ENCODINGS.find((encoding) => names.includes(encoding) && this.#variants.has(encoding)) ?? 'identity';
    const asked = header('if-none-match');
    const has = asked === '' ? undefined : [fit, ...this.#variants.keys()].find((variant) => noneMatch(asked, this.#tagOf(variant)));
    const variant = has ?? fit;
    const headers = { ...this.#headers, ...more, ETag: this.#tagOf(variant) };
    return {
      kind: 'tagged',
      isFile: true,
      isUnchanged: has !== undefined,
      body: this.#variants.get(variant) as Uint8Array,
      headers: { 200: variant === 'identity' ? headers : { ...headers, 'Content-Encoding': variant }, 304: headers },
    };
  }

  /** Bytes differ by encoding, so tags do (RFC 9110, section 8.8.3). */
  #tagOf(variant: Variant): string {
    return `"${this.#tag}-${variant}"`;
  }
}
