/** A link → what its document says: fetched through the address guard, read in a thread of its own. */
import type { AddressGuard } from '../address-guard.ts';
import type { ExtractedText } from './extract-text.ts';
import { createExtraction, type ExtractionOptions } from './extraction.ts';
import { fetchLink } from './fetch-link.ts';

export interface LinkReader {
  /** @throws LinkError with a sentence for a person; the reason of `signal` when that ended it. */
  read(uri: string, signal?: AbortSignal): Promise<ExtractedText>;
}

export interface LinkReaderOptions extends ExtractionOptions {
  readonly guard: AddressGuard;
}

/** A reader with extraction threads of its own; `guard` decides which addresses it connects to. */
export function createLinkReader({ guard, ...options }: LinkReaderOptions): LinkReader {
  const extraction = createExtraction(options);
  return {
    async read(uri, signal) {
      const document = await fetchLink(uri, signal === undefined ? { guard } : { guard, signal });
      return extraction.extract(document, signal);
    },
  };
}
