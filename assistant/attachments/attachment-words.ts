/** How what a person attached is put into their message for a model (MODEL-8). */
import { isImage } from '../../protocol/runtime/uploads.ts';
import { fence } from '../fence.ts';

export interface AttachedWords {
  readonly name: string;
  readonly mediaType: string;
  /** Null for an image. */
  readonly text: string | null;
}

/** A name is somebody's words: one line of them, and no story. */
const NAME_MAX_CHARS = 80;

function plainName(name: string): string {
  const plain = name.replace(/[^\p{L}\p{M}\p{N} _.,()+@⟦⟧-]+/gu, ' ').replace(/ {2,}/g, ' ');
  return [...plain.trim()].slice(0, NAME_MAX_CHARS).join('') || 'unnamed';
}

/**
 * What was attached as a fenced block that begins with its name. Of an image the name is all: its pixels go beside the words, or are not
 * shown again.
 */
export function attachmentWords({ name, mediaType, text }: AttachedWords): string {
  return isImage(mediaType) ? fence('image', plainName(name)) : fence('attachment', `${plainName(name)}\n\n${text ?? ''}`);
}
