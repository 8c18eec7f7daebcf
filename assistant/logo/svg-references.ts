/**
 * What an SVG may point at: its own elements by `#id`, and nothing outside of itself. Judges attribute values and CSS as
 * text, by lists of what is allowed: whatever is not on them is unsafe.
 */

/** Attributes that hold an address. Other spellings of them do not survive the sanitiser. */
export const ADDRESS_ATTRIBUTES: readonly string[] = ['href', 'xlink:href'];

/** The id that `#id` names; undefined for every other address. */
export function fragmentOf(address: string): string | undefined {
  return /^\s*#([^\s#]+)\s*$/.exec(address)?.[1];
}

/** The bytes of a PNG, JPEG or WebP written into the address as base64; undefined for every other address. */
export function embeddedImage(address: string): Uint8Array | undefined {
  const encoded = /^\s*data:image\/(?:png|jpe?g|webp);base64,([A-Za-z0-9+/=\s]+)$/i.exec(address)?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64');
}

/** Functions that only compute. None of them takes an address or another function's name. */
const CSS_FUNCTIONS = new Set(
  `rgb rgba hsl hsla lab lch oklab oklch color color-mix light-dark var calc min max clamp
  matrix matrix3d translate translatex translatey translatez translate3d rotate rotatex rotatey rotatez rotate3d
  scale scalex scaley scalez scale3d skew skewx skewy perspective
  blur brightness contrast drop-shadow grayscale hue-rotate invert opacity saturate sepia
  circle ellipse inset path polygon rect cubic-bezier steps linear
  is not where lang nth-child nth-last-child nth-of-type nth-last-of-type`.split(/\s+/),
);

const URL_OF_FRAGMENT = /\burl\(\s*(["']?)#([^"'()\\\s]+)\1\s*\)/gi;

/** Ids that `url(#id)` names in CSS or in an attribute. */
export function fragmentsIn(css: string): string[] {
  return [...css.matchAll(URL_OF_FRAGMENT)].map((match) => match[2] as string);
}

/**
 * Whether CSS (a sheet, a declaration or a single value) keeps to the document. Backslashes are unsafe because they can
 * spell any name; so is every at-rule but `@media`: they import sheets and load fonts.
 */
export function isSafeCss(css: string): boolean {
  if (/[\\<]|@(?!media\b)/i.test(css)) return false;
  const rest = css.replaceAll(URL_OF_FRAGMENT, ' ');
  for (const [, name = ''] of rest.matchAll(/(?<![^\s:;,(){}'"/*+])([^\s:;,(){}'"/*+]*)\(/g)) {
    if (name !== '' && !CSS_FUNCTIONS.has(name.toLowerCase())) return false;
  }
  return true;
}
