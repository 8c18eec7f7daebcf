/** Images of strangers (LOGO-2, UPLOAD-2): told from their bytes, decoded by a parser process, refused in words that say what to do. */
import { Refusal } from '../../protocol/errors.ts';
import { ParseFailure } from '../parsers/parser-process.ts';
import { type Parsers, ParsersBusy, parsers as sharedParsers } from '../parsers/parsers.ts';
import type { ImageType, ImageVerdict } from './image-verdict.ts';

export interface LogoImage {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/webp';
  readonly width: number;
  readonly height: number;
  /** The picture, encoded anew; of an SVG as PNG. */
  readonly bytes: Uint8Array;
}

/** Side of the largest image that every phone's GPU takes as one texture. Decoded, such a square is 64 MB. */
export const LOGO_SIDE_MAX_PX = 4_096;
/** The largest side that JPEG, WebP and GIF decoders agree on; a phone's camera makes 12,000 pixels. */
const UPLOAD_SIDE_MAX_PX = 16_383;
const RETRY_AFTER_S = 5;
/** Long enough to tell a type, too short for a container with files in it, which the telling library would unpack. */
const SIGNATURE_BYTES = 32;
const SVG_TAG = /<(?:[\w-]+:)?svg[\s/>]/i;

const NAMES: Readonly<Record<ImageType, string>> = {
  'image/png': 'PNG',
  'image/jpeg': 'JPEG',
  'image/webp': 'WebP',
  'image/gif': 'GIF',
  'image/svg+xml': 'SVG',
};

const isImageType = (type: string | undefined): type is ImageType => type !== undefined && Object.hasOwn(NAMES, type);

function looksLikeSvg(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return /^(?:\xef\xbb\xbf)?\s*</.test(text) && SVG_TAG.test(text);
}

/** What the bytes are by their signature: the type of an image that is taken, or of none; `name` says it in words. */
export async function imageTypeOf(bytes: Uint8Array): Promise<{ readonly image: ImageType | undefined; readonly name: string }> {
  // Only now: most processes are shown no image for a long time, and it brings the readers of archives along.
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(bytes.subarray(0, SIGNATURE_BYTES)).catch(() => undefined);
  if (isImageType(found?.mime)) return { image: found.mime, name: found.ext };
  if ((found === undefined || found.ext === 'xml') && looksLikeSvg(bytes)) return { image: 'image/svg+xml', name: 'svg' };
  return { image: undefined, name: found === undefined ? 'none of these' : `of type ${found.ext}` };
}

async function verdictOn(bytes: Uint8Array, mediaType: ImageType, asker: string, isLogo: boolean, parsers: Parsers): Promise<ImageVerdict> {
  const sideMaxPx = isLogo ? LOGO_SIDE_MAX_PX : UPLOAD_SIDE_MAX_PX;
  const verdict = await parsers
    .parse('image', { mediaType, sideMaxPx, isLogo }, () => bytes, { asker, inBackground: false })
    .catch((error: unknown): ImageVerdict => {
      if (error instanceof ParsersBusy) {
        throw new Refusal('rate_limited', 'Too many images are being examined. Send it again in a few seconds.', {
          retryAfterS: RETRY_AFTER_S,
        });
      }
      if (!(error instanceof ParseFailure) || error.kind === 'unavailable') throw error;
      if (error.kind === 'broken') return { kind: 'damaged' };
      throw new Refusal('too_large', `The ${NAMES[mediaType]} is too complex to decode. Simplify it, or send a smaller PNG.`);
    });
  if (verdict.kind === 'damaged') throw new Refusal('unsupported_type', `The ${NAMES[mediaType]} is cut off or damaged. Export it again.`);
  if (verdict.kind === 'large') {
    const { width, height } = verdict;
    throw new Refusal('too_large', `The image is ${width} x ${height} pixels. It may be ${sideMaxPx} x ${sideMaxPx} at most.`);
  }
  return verdict;
}

/** The same bytes always give the same image. @throws Refusal 415 unsupported_type, 413 too_large, 429 rate_limited. */
export async function examineLogo(bytes: Uint8Array, asker: string, parsers = sharedParsers): Promise<LogoImage> {
  const { image, name } = await imageTypeOf(bytes);
  if (image === undefined || image === 'image/gif') {
    throw new Refusal(
      'unsupported_type',
      `A logo is a PNG, JPEG, WebP or SVG image; this file is ${image === undefined ? name : 'of type gif'}.`,
    );
  }
  const verdict = await verdictOn(bytes, image, asker, true, parsers);
  if (verdict.kind === 'encoded') return { ...verdict, bytes: Buffer.from(verdict.content, 'base64') };
  throw new Refusal('unsupported_type', `The ${NAMES[image]} shows nothing. Export it with its text as outlines, or send it as PNG.`);
}

/** Whether an upload of this type is whole. @throws Refusal unsupported_type, too_large, rate_limited. */
export async function examineUpload(bytes: Uint8Array, mediaType: ImageType, asker: string): Promise<void> {
  await verdictOn(bytes, mediaType, asker, false, sharedParsers);
}
