/**
 * How the widget looks and what it is called, of the published configuration and what the app passed to `init` (WIDGET-5). A value that is not
 * of its kind is left out: the configuration comes over the network, and what stands in a style must not be able to say anything else.
 */
import { RADIUS_MAX_PX } from '../../protocol/limits.ts';

export type ThemeColour =
  | 'surface'
  | 'surfaceRaised'
  | 'surfaceHigh'
  | 'surfaceSunk'
  | 'onSurface'
  | 'onSurfaceMuted'
  | 'outline'
  | 'accent'
  | 'onAccent'
  | 'danger'
  | 'onDanger'
  | 'success'
  | 'onSuccess';

/** Colours (`#rrggbb`) and measures, named as in the published configuration (APPEARANCE-1); any subset. */
export interface WidgetTheme extends Readonly<Partial<Record<ThemeColour, string>>> {
  /** Of corners, 0 to 32 px. */
  readonly radius?: number;
  readonly fontFamily?: string;
  /** 0.8 to 1.4. */
  readonly fontScale?: number;
  readonly spacing?: 'compact' | 'cosy' | 'roomy';
  readonly style?: 'flat' | 'soft' | 'outlined';
  readonly launcherPosition?: 'start' | 'end';
  readonly logoAssetId?: string;
}

export interface Copilot {
  readonly assistantName?: string;
  readonly launcherLabel?: string;
  readonly composerHint?: string;
  readonly welcomeTitle?: string;
  readonly welcomeBody?: string;
  readonly suggestions: readonly string[];
  readonly feedback: boolean;
}

export interface Appearance {
  readonly copilot: Copilot;
  /** `--name: value` pairs for the host of the shadow root. */
  readonly properties: Readonly<Record<string, string>>;
  readonly launcherAt: 'start' | 'end';
  readonly logo: string | undefined;
}

const COLOURS = {
  surface: ['--panel', '--ground'],
  surfaceRaised: ['--raised'],
  surfaceSunk: ['--sunken'],
  surfaceHigh: ['--accent-soft'],
  onSurface: ['--ink'],
  onSurfaceMuted: ['--ink-2', '--ink-3'],
  outline: ['--line-strong'],
  accent: ['--accent'],
  onAccent: ['--on-accent'],
  danger: ['--bad'],
  onDanger: ['--on-bad'],
  success: ['--ok'],
} as const;

export const COLOUR_NAMES = Object.keys(COLOURS) as readonly (keyof typeof COLOURS)[];

const COLOUR = /^#(?:[0-9a-f]{3}){1,2}$/i;
const FONT = /^[\p{L}\p{N} ,'"-]{1,120}$/u;
const SPACING_PX = { compact: 8, cosy: 12, roomy: 16 } as const;
/** As the console takes them. */
const SUGGESTIONS_MAX = 6;
const TEXT_MAX_CHARS = 400;

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.slice(0, TEXT_MAX_CHARS) : undefined;
}

export const isColour = (value: unknown): value is string => typeof value === 'string' && COLOUR.test(value);
export const isFont = (value: unknown): value is string => typeof value === 'string' && FONT.test(value);

export function numberIn(value: unknown, min: number, max: number): number | undefined {
  return typeof value === 'number' && value >= min && value <= max ? value : undefined;
}

function colourProperties(light: WidgetTheme, dark: WidgetTheme): [string, string][] {
  return Object.entries(COLOURS).flatMap(([token, names]) => {
    const [day, night] = [light[token as keyof typeof COLOURS], dark[token as keyof typeof COLOURS]];
    const [isDay, isNight] = [isColour(day), isColour(night)];
    if (!isDay && !isNight) return [];
    const value = `light-dark(${isDay ? day : night}, ${isNight ? night : day})`;
    return names.map((name): [string, string] => [name, value]);
  });
}

function measures({ radius, fontFamily, fontScale, spacing, style }: WidgetTheme): [string, string][] {
  const corner = numberIn(radius, 0, RADIUS_MAX_PX);
  const scale = numberIn(fontScale, 0.8, 1.4);
  return [
    ...(corner === undefined
      ? []
      : ([
          ['--r-3', `${corner}px`],
          ['--r-2', `${Math.round(corner * 0.6)}px`],
        ] as [string, string][])),
    ...(isFont(fontFamily) ? ([['--font', `${fontFamily}, system-ui, sans-serif`]] as [string, string][]) : []),
    ...(scale === undefined ? [] : ([['--scale', String(scale)]] as [string, string][])),
    ...(spacing !== undefined && Object.hasOwn(SPACING_PX, spacing) ? ([['--gap', `${SPACING_PX[spacing]}px`]] as [string, string][]) : []),
    ...(style === 'flat' ? ([['--shadow', 'none']] as [string, string][]) : []),
  ];
}

/** `asked`: suggestions in the place of those that are published. */
export function appearanceOf(
  configuration: object | undefined,
  theme: WidgetTheme = {},
  themeDark: WidgetTheme = {},
  asked?: readonly string[],
): Appearance {
  const published = record(configuration);
  const light = { ...record(published.theme), ...theme } as WidgetTheme;
  const dark = { ...record(published.themeDark), ...theme, ...themeDark } as WidgetTheme;
  const copilot = record(published.copilot);
  const texts = ['assistantName', 'launcherLabel', 'composerHint', 'welcomeTitle', 'welcomeBody'] as const;
  const named = Object.fromEntries(texts.flatMap((name) => (text(copilot[name]) === undefined ? [] : [[name, text(copilot[name])]])));
  const given = asked ?? copilot.suggestions;
  const suggestions = Array.isArray(given) ? given.flatMap((each) => text(each) ?? []) : [];
  return {
    copilot: { ...named, suggestions: suggestions.slice(0, SUGGESTIONS_MAX), feedback: copilot.feedback === true },
    properties: Object.fromEntries([...colourProperties(light, dark), ...measures(light)]),
    launcherAt: light.launcherPosition === 'start' ? 'start' : 'end',
    logo: typeof light.logoAssetId === 'string' && /^ast_[0-9a-z]{24}$/.test(light.logoAssetId) ? light.logoAssetId : undefined,
  };
}

/** The published logo; undefined when there is none, or it cannot be had. */
export async function logoOf(address: string, key: string): Promise<Blob | undefined> {
  try {
    const answer = await fetch(`${address}/v1/apps/logo`, { headers: { 'X-Service-Key': key } });
    return answer.ok ? await answer.blob() : undefined;
  } catch {
    return undefined;
  }
}
