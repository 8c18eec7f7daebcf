/** A fetched document of any accepted type → a title and text that fits a knowledge source. */
import { KNOWLEDGE_TEXT_MAX_CHARS, KNOWLEDGE_TITLE_MAX_CHARS } from '../../protocol/limits.ts';
import { clip, withoutEnd } from '../../protocol/schema/text.ts';
import { decodeText } from './charset.ts';
import type { LinkMediaType } from './fetch-link.ts';
import { LinkError } from './link-error.ts';
import type { ReadablePage } from './readable-html.ts';

export interface DocumentBytes {
  readonly mediaType: LinkMediaType;
  readonly charset: string | undefined;
  readonly bytes: Uint8Array;
}

export interface ExtractedText {
  /** '' when the document has none; at most 160 characters. */
  readonly title: string;
  /** Markdown, at most 200,000 characters, never blank. */
  readonly text: string;
}

/** Indented, as code: so its lines are cut as lines. What does not parse is kept as it is. */
function jsonText(source: string): string {
  try {
    return `\`\`\`json\n${JSON.stringify(JSON.parse(source), null, 2)}\n\`\`\``;
  } catch {
    return source;
  }
}

function firstHeading(markdown: string): string {
  const heading = /^# +(\S.*)$/m.exec(markdown.slice(0, 10_000))?.[1] ?? '';
  // A line of blanks and hashes only is named by its first.
  return withoutEnd(heading, ' #') || heading.charAt(0);
}

async function read({ mediaType, charset, bytes }: DocumentBytes): Promise<ReadablePage> {
  switch (mediaType) {
    case 'text/html': {
      // Loaded where they are needed: a process that reads plain text starts in a tenth of the time.
      const { readableHtml } = await import('./readable-html.ts');
      return readableHtml(decodeText(bytes, charset, true), KNOWLEDGE_TEXT_MAX_CHARS);
    }
    case 'application/pdf': {
      const { pdfText } = await import('./pdf-text.ts');
      return pdfText(bytes, KNOWLEDGE_TEXT_MAX_CHARS);
    }
    case 'application/json':
      return { title: '', text: jsonText(decodeText(bytes, charset, false)) };
    case 'text/markdown': {
      const text = decodeText(bytes, charset, false);
      return { title: firstHeading(text), text };
    }
    case 'text/plain':
      return { title: '', text: decodeText(bytes, charset, false) };
  }
}

/** @throws LinkError. Hostile bytes may keep it busy or overflow its stack: run it by `extraction.ts` when they come from a stranger. */
export async function extractText(document: DocumentBytes): Promise<ExtractedText> {
  const { title, text } = await read(document);
  const readable = text.replace(/\r\n?/g, '\n').trim();
  if (readable === '') throw new LinkError('The document has no text that could be read.');
  return { title: clip(title.replace(/\s+/g, ' ').trim(), KNOWLEDGE_TITLE_MAX_CHARS), text: clip(readable, KNOWLEDGE_TEXT_MAX_CHARS) };
}

export type DocumentType = Pick<DocumentBytes, 'mediaType' | 'charset'>;

export type DocumentVerdict =
  | { readonly kind: 'text'; readonly document: ExtractedText }
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
