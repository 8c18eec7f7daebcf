/** A PDF → its text, page by page. Owns the bounds on what is read of one. */
import { getDocument, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { LinkError } from './link-error.ts';
import type { ReadablePage } from './readable-html.ts';

/** A manual of 500 pages has more text than a source may hold; what is not stored is not read. */
const PAGES_MAX = 500;
/** Between two lines, as a part of the letters' height: more is a new paragraph. */
const PARAGRAPH_GAP = 1.7;

interface TextItem {
  readonly str: string;
  readonly hasEOL: boolean;
  readonly height: number;
  /** The last two are x and y. */
  readonly transform: readonly number[];
}

function isText(item: object): item is TextItem {
  return 'str' in item;
}

/** Lines as they stand on the page; a blank line where there is one to the eye. */
function pageText(items: readonly object[]): string {
  let text = '';
  let lastY: number | undefined;
  let height = 0;
  for (const item of items) {
    if (!isText(item)) continue;
    const y = item.transform[5] ?? 0;
    if (item.str.trim() !== '') {
      if (lastY !== undefined && text.endsWith('\n') && Math.abs(lastY - y) > Math.max(height, item.height) * PARAGRAPH_GAP) text += '\n';
      lastY = y;
      height = item.height;
    }
    text += item.hasEOL ? `${item.str}\n` : item.str;
  }
  return text
    .replace(/(?<![ \t])[ \t]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

async function open(bytes: Uint8Array) {
  const options = {
    data: bytes,
    verbosity: VerbosityLevel.ERRORS,
    // Text needs no fonts, and nothing in a document is run.
    isEvalSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    stopAtErrors: false,
  };
  return await getDocument(options).promise;
}

async function read(bytes: Uint8Array, maxChars: number): Promise<ReadablePage> {
  const document = await open(bytes);
  const { info } = await document.getMetadata();
  const title = (info as { Title?: unknown }).Title;
  const pages: string[] = [];
  let length = 0;
  for (let number = 1; number <= Math.min(document.numPages, PAGES_MAX) && length < maxChars; number++) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    const text = pageText(items);
    if (text === '') continue;
    pages.push(document.numPages > 1 ? `## Page ${number}\n\n${text}` : text);
    length += text.length;
  }
  return { title: typeof title === 'string' ? title.trim() : '', text: pages.join('\n\n') };
}

/** What there is no memory for is no damage: its parser says so itself. */
function isOfMemory(error: unknown): boolean {
  return error instanceof RangeError || (error instanceof Error && /allocation failed|out of memory/i.test(error.message));
}

/** The first pages, until `maxChars` or 500 pages. @throws LinkError when it is locked or damaged, wherever the damage is. */
export async function pdfText(bytes: Uint8Array, maxChars: number): Promise<ReadablePage> {
  try {
    return await read(bytes, maxChars);
  } catch (error) {
    if (isOfMemory(error)) throw error;
    const locked = (error as { name?: unknown }).name === 'PasswordException';
    throw new LinkError(locked ? 'The PDF is protected by a password.' : 'The PDF is damaged and could not be read.', { cause: error });
  }
}
