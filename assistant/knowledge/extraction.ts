/** Documents of strangers → their text, read in processes where they can do no harm; a failure there becomes a sentence for a person. */
import { type FailureKind, ReadingFailure } from '../readers/reader-process.ts';
import type { Readers, ReadingOptions } from '../readers/readers.ts';
import type { DocumentType } from './document-verdict.ts';
import type { ExtractedText } from './extract-text.ts';
import { LinkError } from './link-error.ts';

const SENTENCES: Readonly<Record<FailureKind, string>> = {
  memory: 'The document is too complicated: reading it took too much memory.',
  time: 'The document is too complicated: reading it took too long.',
  broken: 'The document could not be read.',
  unavailable: 'The document could not be read now: its reader could not be started. Send it again later.',
};

/**
 * Reads the document that `load` brings when its turn comes.
 * @throws LinkError when it has no text, is damaged, or is too much for its reader; ReadersBusy; what `load` threw; the reason of the
 * signal when that ended it.
 */
export async function extractDocument(
  readers: Readers,
  type: DocumentType,
  load: () => Uint8Array | Promise<Uint8Array>,
  options: ReadingOptions,
): Promise<ExtractedText> {
  try {
    const verdict = await readers.read('document', type, load, options);
    if (verdict.kind === 'text') return verdict.document;
    throw new LinkError(verdict.message);
  } catch (error) {
    if (error instanceof ReadingFailure) throw new LinkError(SENTENCES[error.kind], { cause: error });
    throw error;
  }
}
