/** The words in an uploaded file, cut to what a model is given of one. Strangers' documents are read in processes of their own. */
import { isUtf8 } from 'node:buffer';
import { isImage } from '../../protocol/runtime/uploads.ts';
import { clip, fits } from '../../protocol/schema/text.ts';
import { fence } from '../fence.ts';
import { decodeText } from '../knowledge/charset.ts';
import { extractDocument } from '../knowledge/extraction.ts';
import { LinkError } from '../knowledge/link-error.ts';
import type { Parsers } from '../parsers/parsers.ts';

/** Four of them fit beside the conversation in the smallest common context windows. */
export const ATTACHMENT_TEXT_MAX_CHARS = 20_000;
/** No charset takes more for a character. */
const CHARACTER_MAX_BYTES = 4;
/** One character beyond the bound, so that it shows that there is more. */
const READ_MAX_BYTES = (ATTACHMENT_TEXT_MAX_CHARS + 1) * CHARACTER_MAX_BYTES;

const CUT_MARK = `[The file goes on: only its first ${ATTACHMENT_TEXT_MAX_CHARS} characters are here.]`;
const NO_WORDS = '[The file has no text.]';

export function cutText(text: string): string {
  if (fits(text, ATTACHMENT_TEXT_MAX_CHARS)) return text.trim() === '' ? NO_WORDS : text;
  return `${clip(text, ATTACHMENT_TEXT_MAX_CHARS)}\n${CUT_MARK}`;
}

function beginsInUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

export function plainFileText(bytes: Uint8Array): string {
  const read = bytes.subarray(0, READ_MAX_BYTES);
  const isInUtf8 = read.length < bytes.length ? beginsInUtf8(read) : isUtf8(read);
  return cutText(decodeText(read, isInUtf8 ? 'utf-8' : undefined, false).replace(/\r\n?/g, '\n'));
}

export interface PdfParseOptions {
  readonly parsers: Parsers;
  readonly asker: string;
  readonly signal: AbortSignal;
}

/** Without a parser, a line that says why: the person is to hear it. @throws ParsersBusy; what `load` threw; the reason of `signal`. */
export async function pdfFileText(load: () => Promise<Uint8Array>, { parsers, ...options }: PdfParseOptions): Promise<string> {
  try {
    const type = { mediaType: 'application/pdf', charset: undefined } as const;
    const { text } = await extractDocument(parsers, type, load, { ...options, inBackground: false });
    return cutText(text);
  } catch (error) {
    if (error instanceof LinkError) return `[The text of this PDF is not here. ${error.message}]`;
    throw error;
  }
}

export interface AttachedWords {
  readonly name: string;
  readonly mediaType: string;
  readonly text: string | null;
}

/** A name is somebody's words: one line of them, and no story. */
const NAME_MAX_CHARS = 80;

function plainName(name: string): string {
  const plain = name.replace(/[^\p{L}\p{M}\p{N} _.,()+@⟦⟧-]+/gu, ' ').replace(/ {2,}/g, ' ');
  return [...plain.trim()].slice(0, NAME_MAX_CHARS).join('') || 'unnamed';
}

/** A fenced block that begins with the file's name. Of an image the name is all: its pixels go beside the words. */
export function attachmentWords({ name, mediaType, text }: AttachedWords): string {
  return isImage(mediaType) ? fence('image', plainName(name)) : fence('attachment', `${plainName(name)}\n\n${text ?? ''}`);
}
