/** Documents of strangers → their text, read where they can do no harm; a failure becomes a sentence for a person. */
import type { AddressGuard } from '../http/address-guard.ts';
import { type FailureKind, ParseFailure } from '../parsers/parser-process.ts';
import { parsers as ownParsers, type ParseOptions, type Parsers } from '../parsers/parsers.ts';
import type { DocumentType, ExtractedText } from './extract-text.ts';
import { fetchLink } from './fetch-link.ts';
import { LinkError } from './link-error.ts';

const SENTENCES: Readonly<Record<FailureKind, string>> = {
  memory: 'The document is too complicated: reading it took too much memory.',
  time: 'The document is too complicated: reading it took too long.',
  broken: 'The document could not be read.',
  unavailable: 'The document could not be read now: its parser could not be started. Send it again later.',
};

/** Reads what `load` brings when its turn comes. @throws LinkError; ParsersBusy; what `load` threw; the reason of the signal. */
export async function extractDocument(
  parsers: Parsers,
  type: DocumentType,
  load: () => Uint8Array | Promise<Uint8Array>,
  options: ParseOptions,
): Promise<ExtractedText> {
  try {
    const verdict = await parsers.parse('document', type, load, options);
    if (verdict.kind === 'text') return verdict.document;
    throw new LinkError(verdict.message);
  } catch (error) {
    if (error instanceof ParseFailure) throw new LinkError(SENTENCES[error.kind], { cause: error });
    throw error;
  }
}

export interface LinkReader {
  /** One organisation does not keep all others waiting. @throws LinkError with a sentence for a person; the reason of `signal`. */
  read(uri: string, asker: string, signal?: AbortSignal): Promise<ExtractedText>;
}

export interface LinkReaderOptions {
  readonly guard: AddressGuard;
  readonly parsers?: Parsers;
  readonly timeoutMs?: number;
}

export function createLinkReader({ guard, parsers = ownParsers, timeoutMs }: LinkReaderOptions): LinkReader {
  return {
    async read(uri, asker, signal) {
      const { bytes, ...type } = await fetchLink(uri, signal === undefined ? { guard } : { guard, signal });
      const options = { asker, inBackground: true, signal, ...(timeoutMs !== undefined && { timeoutMs }) };
      return extractDocument(parsers, type, () => bytes, options);
    },
  };
}
