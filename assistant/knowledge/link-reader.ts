/** A link → what its document says: fetched through the address guard, read in a process where it can do no harm. */
import type { AddressGuard } from '../http/address-guard.ts';
import { parsers as ownParsers, type Parsers } from '../parsers/parsers.ts';
import type { ExtractedText } from './extract-text.ts';
import { extractDocument } from './extraction.ts';
import { fetchLink } from './fetch-link.ts';

export interface LinkReader {
  /**
   * `asker`: the organisation; one does not keep all others waiting.
   * @throws LinkError with a sentence for a person; the reason of `signal` when that ended it.
   */
  read(uri: string, asker: string, signal?: AbortSignal): Promise<ExtractedText>;
}

export interface LinkReaderOptions {
  readonly guard: AddressGuard;
  /** Those of the process unless given. */
  readonly parsers?: Parsers;
  readonly timeoutMs?: number;
}

/** `guard` decides which addresses it connects to. */
export function createLinkReader({ guard, parsers = ownParsers, timeoutMs }: LinkReaderOptions): LinkReader {
  return {
    async read(uri, asker, signal) {
      const { bytes, ...type } = await fetchLink(uri, signal === undefined ? { guard } : { guard, signal });
      const options = { asker, inBackground: true, signal, ...(timeoutMs !== undefined && { timeoutMs }) };
      return extractDocument(parsers, type, () => bytes, options);
    },
  };
}
