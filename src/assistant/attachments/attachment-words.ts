/** How what a person attached is put into their message for a model (decisions §7: attachments are data). */
import { isImage } from '../../protocol/runtime/uploads.ts';
import { fence } from '../fence.ts';

export interface AttachedWords {
  readonly name: string;
  readonly mediaType: string;
  /** Null for an image. */
  readonly text: string | null;
}

/** A name is somebody's words: it must not open or close anything, nor be a story. */
const NAME_MAX_CHARS = 80;

function plainName(name: string): string {
  const plain = name.replace(/[^\p{L}\p{M}\p{N} _.,()+@⟦⟧-]+/gu, ' ').replace(/ {2,}/g, ' ');
  return [...plain.trim()].slice(0, NAME_MAX_CHARS).join('') || 'unnamed';
}

/** The line that stands for an image, whose pixels go beside the words or are not shown again. */
export function imageLine(name: string): string {
  return `[image: ${plainName(name)}]`;
}

/** An image: a line with its name. Anything else: its text as a fenced block, labelled with its name. */
export function attachmentWords({ name, mediaType, text }: AttachedWords): string {
  return isImage(mediaType) ? imageLine(name) : fence(`attachment ${plainName(name)}`, text ?? '');
}
