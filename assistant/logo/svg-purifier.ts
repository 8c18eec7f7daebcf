/**
 * Makes a safe SVG of any SVG (LOGO-6, LOGO-8): parsed as XML, bounded, rid of scripts, handlers, foreign
 * content, animation and everything that points outside, and written again. DOMPurify decides which elements and
 * attributes stay, svg-references.ts what they may point at. Blocks while it works: to be run in a parser process (safe-svg.ts).
 */

import { createRequire } from 'node:module';
import createDOMPurify, { type Config, type WindowLike } from 'dompurify';
import { Refusal } from '../../protocol/errors.ts';
import { examineRaster, sniff } from './raster-image.ts';
import { costOf } from './svg-cost.ts';
import { attributesOf, childrenOf, type Dom, type DomElement, type DomNode } from './svg-dom.ts';
import { ADDRESS_ATTRIBUTES, embeddedImage, fragmentOf, isSafeCss } from './svg-references.ts';

/** A traced logo has some thousand; more takes a phone too long to draw. */
export const SVG_ELEMENTS_MAX = 5_000;
/** Drawing programs nest some twenty groups; renderers recurse. */
export const SVG_DEPTH_MAX = 64;
/** Elements drawn once all references are followed: keeps a short file from unfolding into billions. */
export const SVG_DRAWN_MAX = 50_000;
/** Pictures inside the picture; each is examined like a logo of its own. */
export const SVG_PICTURES_MAX = 8;

export interface SafeSvg {
  /** A whole document, UTF-8. */
  readonly text: string;
  /** Its own size: `width` and `height`, else those of its viewBox. */
  readonly width: number;
  readonly height: number;
}

const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';
const TEXT_NODE = 3;
const CDATA_NODE = 4;

// Through require, because an import of its types would bring the browser's globals into every file of the program.
const { JSDOM } = createRequire(import.meta.url)('jsdom') as { JSDOM: new (html: string) => { window: Dom } };

const PURIFY_OPTIONS: Config = {
  IN_PLACE: true,
  USE_PROFILES: { svg: true, svgFilters: true },
  // The profile leaves `use` out because it can refer to other files; such references are removed below.
  ADD_TAGS: ['use'],
  FORBID_TAGS: ['animate', 'animateColor', 'animateMotion', 'animateTransform', 'animatecolor', 'animatemotion', 'animatetransform', 'set'],
  ALLOW_DATA_ATTR: false,
  // What stood inside a forbidden element goes with it.
  KEEP_CONTENT: false,
};

function unsupported(message: string): Refusal {
  return new Refusal('unsupported_type', message);
}

function parse(window: Dom, text: string): DomElement {
  const root = new window.DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  if (root.localName === 'parsererror') throw unsupported('The SVG is not well-formed XML. Export it again.');
  if (root.namespaceURI !== SVG_NAMESPACE || root.nodeName !== 'svg') {
    throw unsupported(`The file is not an SVG: its root must be <svg xmlns="${SVG_NAMESPACE}">, without a prefix.`);
  }
  return root;
}

/** Counts without recursion, which a hostile depth would break. */
function checkBounds(root: DomElement): void {
  let count = 0;
  const waiting: [DomElement, number][] = [[root, 1]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [element, depth] = next;
    count += 1;
    if (count > SVG_ELEMENTS_MAX) throw new Refusal('too_large', `The SVG has over ${SVG_ELEMENTS_MAX} elements. Simplify it.`);
    if (depth > SVG_DEPTH_MAX) throw new Refusal('too_large', `The SVG nests over ${SVG_DEPTH_MAX} elements deep. Flatten it.`);
    for (const child of childrenOf(element)) waiting.push([child, depth + 1]);
  }
}

/** The sanitiser drops CDATA; most drawing programs write their style sheets in it. */
function unwrapStyleSheets(root: DomElement): void {
  for (const style of root.querySelectorAll('style')) {
    const isText = (node: DomNode) => node.nodeType === TEXT_NODE || node.nodeType === CDATA_NODE;
    const css = style.textContent;
    if ([...style.childNodes].every(isText)) style.textContent = css;
  }
}

async function isSafePicture(address: string): Promise<boolean> {
  const bytes = embeddedImage(address);
  const raster = bytes === undefined ? undefined : (await sniff(bytes))?.raster;
  if (bytes === undefined || raster === undefined) return false;
  examineRaster(bytes, raster);
  return true;
}

const PICTURE_ELEMENTS: readonly string[] = ['image', 'feImage'];
/** Names and words, which no renderer reads as CSS. */
const PLAIN_ATTRIBUTES = /^(?:id|class|role|lang|aria-.*|d|points)$/;

async function keepInside(root: DomElement): Promise<void> {
  let pictures = 0;
  for (const element of [root, ...root.querySelectorAll('*')]) {
    for (const [name, value] of attributesOf(element)) {
      if (ADDRESS_ATTRIBUTES.includes(name)) {
        if (fragmentOf(value) !== undefined && element.nodeName !== 'a') continue;
        const isPicture = PICTURE_ELEMENTS.includes(element.nodeName);
        if (isPicture && ++pictures > SVG_PICTURES_MAX) {
          throw new Refusal('too_large', `The SVG embeds over ${SVG_PICTURES_MAX} pictures. Embed fewer.`);
        }
        if (!(isPicture && (await isSafePicture(value)))) element.removeAttribute(name);
      } else if (!PLAIN_ATTRIBUTES.test(name) && !name.startsWith('xmlns') && !isSafeCss(value)) {
        element.removeAttribute(name);
      }
    }
    if (element.nodeName === 'style' && !isSafeCss(element.textContent)) element.remove();
  }
}

const LENGTH = /^\s*(\d+(?:\.\d+)?)(?:px)?\s*$/;

function sizeOf(root: DomElement): { width: number; height: number } {
  const length = (name: string) => Number(LENGTH.exec(root.getAttribute(name) ?? '')?.[1] ?? Number.NaN);
  const box = (root.getAttribute('viewBox') ?? '')
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const width = length('width') || (box[2] ?? Number.NaN);
  const height = length('height') || (box[3] ?? Number.NaN);
  if (!(width > 0 && height > 0 && Number.isFinite(width * height))) {
    throw unsupported('The SVG has no size. Give its root a viewBox, or width and height in pixels.');
  }
  return { width: Math.ceil(width), height: Math.ceil(height) };
}

/**
 * The safe document. `text` holds no DOCTYPE (safe-svg.ts sees to it).
 * @throws Refusal unsupported_type (no SVG, nothing left to draw), too_large (over one of the bounds above).
 */
export async function purifySvg(text: string): Promise<SafeSvg> {
  const { window } = new JSDOM('');
  try {
    const root = parse(window, text);
    checkBounds(root);
    unwrapStyleSheets(root);
    createDOMPurify(window as unknown as WindowLike).sanitize(root as never, PURIFY_OPTIONS);
    await keepInside(root);
    if (costOf(root) > SVG_DRAWN_MAX) {
      throw new Refusal('too_large', `The SVG draws over ${SVG_DRAWN_MAX} elements once its references are followed. Simplify it.`);
    }
    if (root.firstElementChild === null) throw unsupported('Nothing of the SVG is left to draw without what is not allowed in a logo.');
    return { text: new window.XMLSerializer().serializeToString(root), ...sizeOf(root) };
  } finally {
    window.close();
  }
}
