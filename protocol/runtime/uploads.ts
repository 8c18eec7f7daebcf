/** What is uploaded and what is answered (UPLOAD-1). */

export type ImageMediaType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif';
export type UploadMediaType = ImageMediaType | 'application/pdf' | 'text/plain';

export interface UploadReply {
  readonly upload_id: string;
  /** The file's own name, without folders and control characters. */
  readonly name: string;
  /** By its content, whatever the client announced. */
  readonly media_type: UploadMediaType;
  readonly size: number;
  /** When it is deleted unless a message uses it. */
  readonly expires_at: string;
}

/** Whether a model is given this file as a picture; anything else it is given as text. */
export function isImage(mediaType: string): boolean {
  return mediaType.startsWith('image/');
}

/** As long as file systems take. */
const NAME_MAX_CHARS = 255;
/** Control characters garble lists and headers; marks of direction make a name read as another one. */
const UNSHOWN = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/gu;

const UNNAMED: Readonly<Record<UploadMediaType, string>> = {
  'image/png': 'image.png',
  'image/jpeg': 'image.jpg',
  'image/webp': 'image.webp',
  'image/gif': 'image.gif',
  'application/pdf': 'document.pdf',
  'text/plain': 'text.txt',
};

/** The name under which a file is kept: what stands behind the last slash, of either kind, or one by its type when nothing does. */
export function uploadName(given: string, mediaType: UploadMediaType): string {
  const last = given.split(/[/\\]/).at(-1) ?? '';
  const shown = last.replace(UNSHOWN, '').trim();
  const name = [...shown].slice(0, NAME_MAX_CHARS).join('');
  return /^\.*$/.test(name) ? UNNAMED[mediaType] : name;
}
