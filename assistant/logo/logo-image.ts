/** A logo's bytes, judged (LOGO-2): PNG, JPEG, WebP or SVG by what they are, never by what they are called. */
import { Refusal } from '../../protocol/errors.ts';
import { checkSize, examineRaster, type RasterType, sniff } from './raster-image.ts';
import { safeSvg } from './safe-svg.ts';

export interface LogoImage {
  readonly mediaType: RasterType | 'image/svg+xml';
  /** In pixels; an SVG's own units. */
  readonly width: number;
  readonly height: number;
  /** What may be kept and served: an SVG without anything that acts or reaches outside, a raster image without a tail. */
  readonly bytes: Uint8Array;
}

const SVG_TAG = /<(?:[\w-]+:)?svg[\s/>]/i;

function looksLikeSvg(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return /^(?:\xef\xbb\xbf)?\s*</.test(text) && SVG_TAG.test(text);
}

/**
 * The logo that these bytes are. The same bytes always give the same image. `asker`: the organisation that sends them.
 * @throws Refusal 415 unsupported_type (another type, or broken), 413 too_large (pixels or elements), 429 rate_limited (too
 * many SVGs at once).
 */
export async function examineLogo(bytes: Uint8Array, asker: string): Promise<LogoImage> {
  const found = await sniff(bytes);
  if (found?.raster !== undefined) return examineRaster(bytes, found.raster);
  if ((found === undefined || found.name === 'xml') && looksLikeSvg(bytes)) {
    const svg = await safeSvg(bytes, asker);
    checkSize(svg.width, svg.height);
    return { mediaType: 'image/svg+xml', width: svg.width, height: svg.height, bytes: Buffer.from(svg.text, 'utf8') };
  }
  const what = found === undefined ? 'none of these' : `of type ${found.name}`;
  throw new Refusal('unsupported_type', `A logo is a PNG, JPEG, WebP or SVG image; this file is ${what}.`);
}
