/**
 * Colour arithmetic of the appearance (APPEARANCE-8): contrast by WCAG 2.2, steps in OKLCH, and the search for the
 * nearest colour of a hue that reads well. Colours are opaque and written `#rrggbb`. Owns no token and no rule.
 */
import type { Oklab, Oklch, Rgb } from 'culori/fn';
import { culori } from './culori.ts';

/** Lightness steps of a search: finer than 8 bits can tell apart anywhere but in the darkest greys. */
const LIGHTNESS_STEPS = 256;
/** Contrast beyond the minimum that a search asks for: tools that round the WCAG coefficients differently agree then. */
const SAFETY_FACTOR = 1.002;
/** Candidates that are off the wanted hue and chroma by so little more than the best one look alike; the nearest lightness wins. */
const LOOKS_ALIKE = 0.005;
/** Less chroma than this is a grey: its hue is the noise of rounding. */
const ACHROMATIC = 0.004;
/** The cube of OKLCH lightness tells luminance to within a quarter: enough to skip most steps of a search unseen. */
const ROUGH_FACTOR = 0.75;
/** One look at an appearance asks for the same few colours again for every fix it tries; 200 bytes each. */
const SEARCHES_KEPT = 1_000;
/** How much worse a turn of the hue is than a loss of chroma of the same OKLab distance. */
const HUE_WEIGHT = 4;

/** `against`: a colour; `minimum`: the WCAG ratio to keep from it, 1 to 21. */
export interface Demand {
  readonly against: string;
  readonly minimum: number;
}

/** WCAG 2.2 contrast ratio of two colours, 1 to 21, not rounded. */
export function contrastRatio(one: string, other: string): number {
  return culori().wcagContrast(one, other);
}

/** Whether `colour` keeps every demanded ratio. */
export function meets(colour: string, demands: readonly Demand[]): boolean {
  return demands.every(({ against, minimum }) => contrastRatio(colour, against) >= minimum);
}

function defined<Value>(value: Value | undefined, colour: string): Value {
  if (value === undefined) throw new TypeError(`${JSON.stringify(colour)} is not a colour written #rrggbb`);
  return value;
}

/** OKLCH coordinates: `l` 0 to 1, `c` 0 to about 0.32, `h` in degrees. @throws TypeError when it is no colour. */
export function oklch(colour: string): { readonly l: number; readonly c: number; readonly h: number } {
  const { l, c, h = 0 } = defined<Oklch>(culori().toOklch(colour), colour);
  return c < ACHROMATIC ? { l, c: 0, h: 0 } : { l, c, h };
}

/** The colour of these coordinates; chroma yields where sRGB has no such colour. */
export function fromOklch(at: { readonly l: number; readonly c: number; readonly h: number }): string {
  const { clampChroma, formatHex } = culori();
  return formatHex(clampChroma({ mode: 'oklch', l: Math.min(1, Math.max(0, at.l)), c: at.c, h: at.h }, 'oklch'));
}

/** Distance of two colours in OKLab; 1 from black to white. */
export function distance(one: string, other: string): number {
  const { toOklab } = culori();
  const a = defined<Oklab>(toOklab(one), one);
  const b = defined<Oklab>(toOklab(other), other);
  return Math.hypot(a.l - b.l, a.a - b.a, a.b - b.b);
}

/** The 8-bit colours around a point of the hue's line: rounding alone turns the hue of dark colours visibly. */
function roundings(l: number, c: number, h: number): Rgb[] {
  const { clampChroma, toRgb } = culori();
  const { r, g, b } = toRgb(clampChroma<Oklch>({ mode: 'oklch', l, c, h }, 'oklch'));
  const channels = [r, g, b].map((value) => Math.min(255, Math.max(0, value * 255)));
  // Greys stay grey.
  if (c < ACHROMATIC) return [channels.map(Math.round)].map(rgbOf);
  return [0, 1, 2, 3, 4, 5, 6, 7].map((up) =>
    rgbOf(channels.map((value, index) => ((up >> index) & 1 ? Math.ceil(value) : Math.floor(value)))),
  );
}

function rgbOf([red = 0, green = 0, blue = 0]: readonly number[]): Rgb {
  return { mode: 'rgb', r: red / 255, g: green / 255, b: blue / 255 };
}

interface Candidate {
  readonly colour: Rgb;
  /** How far off the wanted hue and chroma. */
  readonly drift: number;
  /** How far off the wanted lightness. */
  readonly moved: number;
}

function candidate(colour: Rgb, wanted: Oklab): Candidate {
  const { l, a, b } = culori().toOklab(colour);
  const chromaLost = Math.abs(Math.hypot(a, b) - Math.hypot(wanted.a, wanted.b));
  const apart = Math.hypot(a - wanted.a, b - wanted.b);
  const hueTurned = Math.sqrt(Math.max(0, apart ** 2 - chromaLost ** 2));
  return { colour, drift: chromaLost + HUE_WEIGHT * hueTurned, moved: Math.abs(l - wanted.l) };
}

/** WCAG's ratio of two relative luminances. */
function ratioOf(one: number, other: number): number {
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

function search(ideal: string, demands: readonly Demand[]): string | undefined {
  const { formatHex, toOklab, wcagLuminance } = culori();
  const { c, h } = oklch(ideal);
  const wanted = defined<Oklab>(toOklab(ideal), ideal);
  const bounds = demands.map(({ against, minimum }) => ({ luminance: wcagLuminance(against), minimum }));
  const within = (luminance: number, factor: number) =>
    bounds.every((bound) => ratioOf(luminance, bound.luminance) >= bound.minimum * factor);
  const found: Candidate[] = [];
  for (let step = 0; step <= LIGHTNESS_STEPS; step++) {
    const l = step / LIGHTNESS_STEPS;
    if (!within(l ** 3, ROUGH_FACTOR)) continue;
    for (const colour of roundings(l, c, h)) {
      if (within(wcagLuminance(colour), SAFETY_FACTOR)) found.push(candidate(colour, wanted));
    }
  }
  const least = Math.min(...found.map(({ drift }) => drift));
  const alike = found.filter(({ drift }) => drift <= least + LOOKS_ALIKE).sort((one, other) => one.moved - other.moved);
  return alike[0] && formatHex(alike[0].colour);
}

const searches = new Map<string, string | undefined>();

/**
 * The colour that meets every demand and keeps the hue of `ideal`, then its chroma, then its lightness, as near as it
 * can in OKLCH; `ideal` itself when it meets them. Black and white lie on every hue. Undefined when there is none.
 */
export function nearestMeeting(ideal: string, demands: readonly Demand[]): string | undefined {
  if (meets(ideal, demands)) return ideal;
  const key = [ideal, ...demands.map(({ against, minimum }) => `${against}/${minimum}`)].join(' ');
  if (!searches.has(key)) {
    if (searches.size >= SEARCHES_KEPT) searches.clear();
    searches.set(key, search(ideal, demands));
  }
  return searches.get(key);
}

/** `nearestMeeting` of as many demands as can be met together; those listed first matter most. */
export function nearestMeetingMost(ideal: string, demands: readonly Demand[]): string {
  for (let count = demands.length; count > 0; count--) {
    const colour = nearestMeeting(ideal, demands.slice(0, count));
    if (colour !== undefined) return colour;
  }
  return ideal;
}
