/** What a parser process says of an image: decoded, and a logo encoded anew, so that nothing of a stranger's file is kept but its pixels. */
import sharp, { type Sharp } from 'sharp';

export type ImageType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif' | 'image/svg+xml';

export interface ImageQuestion {
  readonly mediaType: ImageType;
  readonly sideMaxPx: number;
  /** To be encoded anew, its first picture alone; else it is only looked at. */
  readonly isLogo: boolean;
}

export type ImageVerdict =
  /** Sizes are as it is shown, in pixels; `content` is base64. */
  | ({ readonly kind: 'encoded'; readonly mediaType: 'image/png' | 'image/jpeg' | 'image/webp'; readonly content: string } & Size)
  | ({ readonly kind: 'large' } & Size)
  /** `empty`: nothing of it can be seen. */
  | { readonly kind: 'whole' | 'damaged' | 'empty' };

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Longer side of what an SVG becomes: sharp at every size that a client shows a logo in, on every screen. */
const SVG_SIDE_PX = 1_024;
/** An SVG is measured at this density, at which its units are pixels; the most that the library takes. */
const SVG_DENSITY = 72;
const SVG_DENSITY_MAX = 100_000;
/** JPEG and WebP: no difference is seen from the original. */
const QUALITY = 90;
/** A whole image is decoded to a picture of this side, so that of a large one hardly anything is held at once. */
const GLANCE_PX = 16;
/** How the decoders say that they got none. */
const MEMORY = /out of memory|insufficient memory/i;

sharp.cache(false);
// One thread for each parser: the cores belong to turns.
sharp.concurrency(1);

function open(bytes: Uint8Array, density = SVG_DENSITY): Sharp {
  // Pixels are bounded below, in words that say how many there are.
  return sharp(bytes, { failOn: 'error', sequentialRead: true, limitInputPixels: false, density });
}

function encode(image: Sharp, mediaType: ImageType): Sharp {
  if (mediaType === 'image/jpeg') return image.jpeg({ quality: QUALITY });
  return mediaType === 'image/webp' ? image.webp({ quality: QUALITY }) : image.png();
}

async function logoOf(bytes: Uint8Array, mediaType: ImageType, { width, height }: Size): Promise<ImageVerdict> {
  const isSvg = mediaType === 'image/svg+xml';
  const density = isSvg ? Math.min(SVG_DENSITY_MAX, (SVG_DENSITY * SVG_SIDE_PX) / Math.max(width, height)) : SVG_DENSITY;
  const { data, info } = await encode(open(bytes, density).autoOrient(), mediaType).toBuffer({ resolveWithObject: true });
  const alpha = isSvg ? (await sharp(data).stats()).channels[3] : undefined;
  if (alpha?.max === 0) return { kind: 'empty' };
  const type = mediaType === 'image/jpeg' || mediaType === 'image/webp' ? mediaType : 'image/png';
  return { kind: 'encoded', mediaType: type, width: info.width, height: info.height, content: data.toString('base64') };
}

/** @throws Error out of memory, but nothing else for what the bytes are; a hostile image may end the process. */
export async function judgeImage({ mediaType, sideMaxPx, isLogo }: ImageQuestion, bytes: Uint8Array): Promise<ImageVerdict> {
  try {
    const { width, height, autoOrient } = await open(bytes).metadata();
    if (Math.max(width, height) > sideMaxPx) return { kind: 'large', ...autoOrient };
    if (isLogo) return await logoOf(bytes, mediaType, { width, height });
    await open(bytes).resize(GLANCE_PX, GLANCE_PX).raw().toBuffer();
    return { kind: 'whole' };
  } catch (error) {
    // The image may be whole: ParseFailure says what it lacked.
    if (MEMORY.test(String(error))) throw new Error('out of memory', { cause: error });
    return { kind: 'damaged' };
  }
}
