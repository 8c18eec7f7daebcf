/**
 * The themes that clients are served: every colour token that was left out, derived from those that were written, and
 * the dark variant derived from the light theme (APPEARANCE-5, APPEARANCE-6).
 * A written token is never changed; a derived one meets its contrast minimum wherever the written ones leave room.
 */
import type { Theme, ThemeDark } from '../setup/appearance.ts';
import { contrastRatio, type Demand, fromOklch, meets, nearestMeetingMost, oklch } from './colour.ts';

/** WCAG 2.2, success criteria 1.4.3 (text) and 1.4.11 (everything else that has to be told apart). */
export const TEXT_MINIMUM = 4.5;
export const NON_TEXT_MINIMUM = 3;

export type ColourToken =
  | 'surface'
  | 'onSurface'
  | 'accent'
  | 'onAccent'
  | 'surfaceRaised'
  | 'surfaceHigh'
  | 'surfaceSunk'
  | 'onSurfaceMuted'
  | 'outline'
  | 'danger'
  | 'onDanger'
  | 'success'
  | 'onSuccess';

export type CompleteTheme = Theme & Readonly<Record<ColourToken, string>>;

/** OKLCH lightness between a surface and those drawn on or into it. */
const RAISED_STEP = 0.02;
const HIGH_STEP = 0.05;
const SUNK_STEP = 0.035;
/** Share of the way from the text to the surface. */
const MUTED_SHARE = 0.35;
const OUTLINE_SHARE = 0.6;
/** Red and green as people expect them; both read with white on them and on a white page. */
const DANGER = '#c62828';
const SUCCESS = '#2e7d32';
/** OKLCH lightness of a dark page, and of light and dark text. Pure black and white on large areas tire the eye. */
const DARK_SURFACE_LIGHTNESS = 0.2;
const LIGHT_TEXT_LIGHTNESS = 0.94;
const DARK_TEXT_LIGHTNESS = 0.2;
/** A page or a text keeps a tint of its hue at most: more would glow on a dark screen. */
const TINT_CHROMA_MAX = 0.04;

function text(against: string): Demand {
  return { against, minimum: TEXT_MINIMUM };
}

function nonText(against: string): Demand {
  return { against, minimum: NON_TEXT_MINIMUM };
}

/** `from` moved towards the lightness of `to`, by a share of the way between them. */
function between(from: string, to: string, share: number): string {
  const start = oklch(from);
  return fromOklch({ ...start, l: start.l + (oklch(to).l - start.l) * share });
}

/** The surface moved towards its text by `step`, or by as much of it as leaves the text readable. */
function towardsText(surface: string, onSurface: string, step: number): string {
  const start = oklch(surface);
  const direction = Math.sign(oklch(onSurface).l - start.l);
  const moved = [step, step / 2, step / 4].map((part) => fromOklch({ ...start, l: start.l + direction * part }));
  return moved.find((colour) => meets(onSurface, [text(colour)])) ?? surface;
}

/** Below the page: away from the text, or towards it where the page is already black or white. */
function sunk(surface: string, onSurface: string): string {
  const start = oklch(surface);
  const l = start.l + Math.sign(start.l - oklch(onSurface).l) * SUNK_STEP;
  return l >= 0 && l <= 1 ? fromOklch({ ...start, l }) : towardsText(surface, onSurface, SUNK_STEP);
}

/** Black or white, whichever reads better; the better one always meets the minimum of text. */
function plainTextOn(colour: string): string {
  return contrastRatio('#ffffff', colour) >= TEXT_MINIMUM ? '#ffffff' : '#000000';
}

/**
 * Every colour token: written ones as they are, the rest derived. Tokens that are no colours pass through.
 * @throws TypeError when a colour is not one.
 */
export function completeTheme(theme: Theme): CompleteTheme {
  const { surface, onSurface } = theme;
  const danger = theme.danger ?? statusColour(DANGER, surface, theme.onDanger);
  const success = theme.success ?? statusColour(SUCCESS, surface, theme.onSuccess);
  return {
    ...theme,
    surfaceRaised: theme.surfaceRaised ?? towardsText(surface, onSurface, RAISED_STEP),
    surfaceHigh: theme.surfaceHigh ?? towardsText(surface, onSurface, HIGH_STEP),
    surfaceSunk: theme.surfaceSunk ?? sunk(surface, onSurface),
    onSurfaceMuted: theme.onSurfaceMuted ?? nearestMeetingMost(between(onSurface, surface, MUTED_SHARE), [text(surface)]),
    outline: theme.outline ?? nearestMeetingMost(between(onSurface, surface, OUTLINE_SHARE), [nonText(surface)]),
    danger,
    onDanger: theme.onDanger ?? plainTextOn(danger),
    success,
    onSuccess: theme.onSuccess ?? plainTextOn(success),
  };
}

/** A status colour that shows on the surface, and under its own text: the written one, else white where possible. */
function statusColour(ideal: string, surface: string, onColour: string | undefined): string {
  return nearestMeetingMost(ideal, [nonText(surface), text(onColour ?? '#ffffff')]);
}

/** The dark page: the light one's hue, dark enough, and readable under a text that was written for it. */
function darkSurface(light: Theme, onSurface: string | undefined): string {
  const { l, c, h } = oklch(light.surface);
  const ideal = l <= DARK_SURFACE_LIGHTNESS ? light.surface : fromOklch({ l: DARK_SURFACE_LIGHTNESS, c: Math.min(c, TINT_CHROMA_MAX), h });
  return nearestMeetingMost(ideal, onSurface === undefined ? [] : [text(onSurface)]);
}

/** The light theme's text where it reads on the dark colours, else one of its hue at the readable end of lightness. */
function darkText(light: string, surfaces: readonly string[]): string {
  const demands = surfaces.map(text);
  if (meets(light, demands)) return light;
  const { c, h } = oklch(light);
  const tint = { c: Math.min(c, TINT_CHROMA_MAX), h };
  const ends = [LIGHT_TEXT_LIGHTNESS, DARK_TEXT_LIGHTNESS].map((l) => fromOklch({ ...tint, l }));
  const readable = ends.find((colour) => meets(colour, demands));
  return readable ?? nearestMeetingMost(ends[0] ?? light, demands);
}

/** A colour of the light theme on the dark page: kept when it shows there and carries its text, else moved. */
function darkColour(light: string, surface: string, onColour: string): string {
  return nearestMeetingMost(light, [nonText(surface), text(onColour)]);
}

/** As `darkColour`; one that the light theme leaves out is left to be derived for the dark page. */
function darkStatus(light: string | undefined, surface: string, onColour: string | undefined): string | undefined {
  return light === undefined ? undefined : darkColour(light, surface, onColour ?? plainTextOn(light));
}

/** The light theme's text on a status colour while it reads on the dark one. */
function keptOn(colour: string | undefined, light: string | undefined): string | undefined {
  return colour !== undefined && light !== undefined && meets(light, [text(colour)]) ? light : undefined;
}

/**
 * The whole dark variant: tokens of `dark` as they are, the rest from the light theme, on the same hues. Surfaces,
 * muted text and outline follow the dark page; tokens that are no colours are the light theme's.
 * @throws TypeError when a colour is not one.
 */
export function deriveDark(light: Theme, dark: ThemeDark = {}): CompleteTheme {
  const surface = dark.surface ?? darkSurface(light, dark.onSurface);
  const drawnOn = [surface, ...[dark.surfaceRaised, dark.surfaceHigh, dark.surfaceSunk].filter((colour) => colour !== undefined)];
  const onSurface = dark.onSurface ?? darkText(light.onSurface, drawnOn);
  const accent = dark.accent ?? darkColour(light.accent, surface, dark.onAccent ?? light.onAccent);
  const onAccent = dark.onAccent ?? darkText(light.onAccent, [accent]);
  const danger = dark.danger ?? darkStatus(light.danger, surface, dark.onDanger ?? light.onDanger);
  const success = dark.success ?? darkStatus(light.success, surface, dark.onSuccess ?? light.onSuccess);
  // These follow the dark page; completeTheme derives the ones that `dark` leaves out.
  const { surfaceRaised, surfaceHigh, surfaceSunk, onSurfaceMuted, outline, ...inherited } = light;
  return completeTheme({
    ...inherited,
    onDanger: keptOn(danger, light.onDanger),
    onSuccess: keptOn(success, light.onSuccess),
    ...dark,
    surface,
    onSurface,
    accent,
    onAccent,
    danger,
    success,
  });
}
