/** What a parser process says of a document: its text, or why there is none. */
import { type DocumentBytes, type ExtractedText, extractText } from './extract-text.ts';
import { LinkError } from './link-error.ts';

export type DocumentType = Pick<DocumentBytes, 'mediaType' | 'charset'>;

export type DocumentVerdict =
  | { readonly kind: 'text'; readonly document: ExtractedText }
  /** `message` is a LinkError's sentence. */
  | { readonly kind: 'refused'; readonly message: string };

/** @throws what a bug or a hostile document threw. */
export async function judgeDocument({ mediaType, charset }: DocumentType, bytes: Uint8Array): Promise<DocumentVerdict> {
  try {
    return { kind: 'text', document: await extractText({ mediaType, charset, bytes }) };
  } catch (error) {
    if (error instanceof LinkError) return { kind: 'refused', message: error.message };
    throw error;
  }
}
