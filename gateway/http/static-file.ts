/** Owns files that were made when the program was built, and which of their copies a request gets: as they are, for gzip, or for br. */
import { readFileSync } from 'node:fs';
import type { Reply } from '../route.ts';
import { etagOf, noneMatch } from './etag.ts';

/** Encodings that files lie here in, the smallest first, by the ending of their name. */
const ENCODINGS = { br: 'br', gzip: 'gz' } as const;
type Encoding = keyof typeof ENCODINGS;

/** The first encoding of ours that the header accepts; undefined: the file as it is. */
function encodingOf(acceptEncoding: string): Encoding | undefined {
  const accepted = acceptEncoding.split(',').flatMap((part) => {
    const [name = '', quality = ''] = part.split(';');
    return quality.trim() === 'q=0' ? [] : [name.trim().toLowerCase()];
  });
  return (Object.keys(ENCODINGS) as Encoding[]).find((encoding) => accepted.includes(encoding));
}

type Variant = Encoding | 'identity';

/** A file with its compressed copies beside it, read once (PAGE-3). @throws Error when one of them is missing */
export class StaticFile {
  readonly #variants: ReadonlyMap<Variant, Uint8Array>;
  readonly #tag: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(file: URL, headers: Readonly<Record<string, string>>) {
    const read = (ending: string) => readFileSync(new URL(file.href + ending));
    this.#variants = new Map<Variant, Uint8Array>([
      ['identity', read('')],
      ['br', read('.br')],
      ['gzip', read('.gz')],
    ]);
    this.#tag = etagOf(read('').toString('utf8')).slice(1, -1);
    this.#headers = { ...headers, Vary: 'Accept-Encoding' };
  }

  /** The file as the request takes it, or 304 when it has it already. `more`: headers of this answer alone. */
  reply(header: (name: string) => string, more: Readonly<Record<string, string>> = {}): Reply {
    const encoding = encodingOf(header('accept-encoding'));
    const variant = encoding ?? 'identity';
    // Bytes differ by encoding, so tags do (RFC 9110, section 8.8.3).
    const etag = `"${this.#tag}-${variant}"`;
    const headers = { ...this.#headers, ...more, ETag: etag };
    if (noneMatch(header('if-none-match'), etag)) return { kind: 'empty', status: 304, headers };
    const body = this.#variants.get(variant) as Uint8Array;
    return { kind: 'bytes', status: 200, body, headers: encoding === undefined ? headers : { ...headers, 'Content-Encoding': encoding } };
  }
}
