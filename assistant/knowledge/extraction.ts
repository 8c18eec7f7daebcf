/** Documents of strangers → their text, read in processes where they can do no harm; a failure there becomes a sentence for a person. */
import { type FailureKind, ParseFailure } from '../parsers/parser-process.ts';
import type { ParseOptions, Parsers } from '../parsers/parsers.ts';
import type { DocumentType } from './document-verdict.ts';
import type { ExtractedText } from './extract-text.ts';
import { LinkError } from './link-error.ts';

const SENTENCES: Readonly<Record<FailureKind, string>> = {
  memory: 'The document is too complicated: reading it took too much memory.',
  time: 'The document is too complicated: reading it took too long.',
  broken: 'The document could not be read.',
  unavailable: 'The document could not be read now: its parser could not be started. Send it again later.',
};

/**
 * Reads the document that `load` brings when its turn comes.
 * @throws LinkError when it has no text, is damaged, or is too much for its parser; ParsersBusy; what `load` threw; the reason of the
 * signal when that ended it.
 */
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
