/**
 * Appearance: theme tokens, the dark variant and the copilot block (APPEARANCE-1).
 * One schema for the setup interface, the console and what is read back from storage.
 */
import * as v from 'valibot';
import { isId } from '../ids.ts';
import {
  COMPOSER_HINT_MAX_CHARS,
  FONT_FAMILY_MAX_CHARS,
  FONT_SCALE_MAX,
  FONT_SCALE_MIN,
  LAUNCHER_LABEL_MAX_CHARS,
  RADIUS_MAX_PX,
  REASON_MAX_CHARS,
} from '../limits.ts';
import { flag } from '../schema/bounded.ts';
import { stated } from '../schema/stated.ts';
import { text } from '../schema/text.ts';
import { fields } from './shapes.ts';

const colour = v.pipe(v.string('must be a string'), v.regex(/^#[0-9a-fA-F]{6}$/, 'must be an opaque colour written #rrggbb'));

function numberBetween(min: number, max: number, unit: string) {
  return v.pipe(
    v.number('must be a number'),
    v.minValue(min, `must be ${min} to ${max}${unit}`),
    v.maxValue(max, `must be ${min} to ${max}${unit}`),
  );
}

/** Colours that a theme always names together. */
const baseColours = { surface: colour, onSurface: colour, accent: colour, onAccent: colour };

/** Tokens that may be left out: colours are then derived, the rest is the SDK's own. */
const optionalTokens = {
  surfaceRaised: v.optional(colour),
  surfaceHigh: v.optional(colour),
  surfaceSunk: v.optional(colour),
  onSurfaceMuted: v.optional(colour),
  outline: v.optional(colour),
  danger: v.optional(colour),
  onDanger: v.optional(colour),
  success: v.optional(colour),
  onSuccess: v.optional(colour),
  radius: v.optional(numberBetween(0, RADIUS_MAX_PX, ' px')),
  spacing: v.optional(v.picklist(['compact', 'cosy', 'roomy'])),
  fontFamily: v.optional(
    v.pipe(
      text(FONT_FAMILY_MAX_CHARS, 1),
      v.regex(/^[\p{L}\p{N} ,'"-]*$/u, 'may hold letters, digits, spaces, commas, quotes and hyphens only'),
    ),
  ),
  fontScale: v.optional(numberBetween(FONT_SCALE_MIN, FONT_SCALE_MAX, '')),
  style: v.optional(v.picklist(['flat', 'soft', 'outlined'])),
  launcherPosition: v.optional(v.picklist(['start', 'end'])),
  logoAssetId: v.optional(
    v.pipe(
      v.string('must be a string'),
      stated(
        v.check((value: string) => isId('ast', value), 'must be the id of an uploaded logo (ast_…)'),
        { pattern: '^ast_[0-9a-hjkmnp-tv-z]{24}$' },
      ),
    ),
  ),
};

const themeTokens = v.strictObject({ ...baseColours, ...optionalTokens });

export const theme = fields(themeTokens.entries);
export type Theme = Readonly<v.InferOutput<typeof theme>>;

/** Any subset of the theme's tokens; what it omits is derived from the light theme. */
export const themeDark = fields(v.partial(themeTokens).entries);
export type ThemeDark = Readonly<v.InferOutput<typeof themeDark>>;

/** Names every SDK can draw; shared by the three icons of the composer. */
export const ICONS = [
  'arrow_right',
  'arrow_up',
  'camera',
  'chat',
  'file',
  'image',
  'microphone',
  'paper_plane',
  'paperclip',
  'plus',
  'send',
  'sparkle',
  'waveform',
] as const;

const icon = v.picklist(ICONS);

export const copilot = fields({
  launcherLabel: v.optional(text(LAUNCHER_LABEL_MAX_CHARS)),
  composerHint: v.optional(text(COMPOSER_HINT_MAX_CHARS)),
  attachIcon: v.optional(icon),
  voiceIcon: v.optional(icon),
  sendIcon: v.optional(icon),
  /** Thumbs under answers. */
  feedback: v.optional(flag),
});

export const appearanceBody = fields({
  theme,
  themeDark: v.optional(themeDark),
  copilot: v.optional(copilot),
  reason: v.optional(text(REASON_MAX_CHARS)),
});
export type AppearanceBody = v.InferOutput<typeof appearanceBody>;

/** The draft as it is kept and published. */
export type AppearanceDraft = Readonly<AppearanceBody>;

/**
 * The draft after a write: the theme replaces the old one but keeps an uploaded logo, the dark variant goes with its
 * theme, and a copilot block that is left out stays.
 */
export function replaceAppearance(before: AppearanceDraft | null, body: AppearanceBody): AppearanceDraft {
  const logoAssetId = body.theme.logoAssetId ?? before?.theme.logoAssetId;
  const block = body.copilot ?? before?.copilot;
  return {
    theme: logoAssetId === undefined ? body.theme : { ...body.theme, logoAssetId },
    ...(body.themeDark !== undefined && { themeDark: body.themeDark }),
    ...(block !== undefined && { copilot: block }),
    ...(body.reason !== undefined && { reason: body.reason }),
  };
}
