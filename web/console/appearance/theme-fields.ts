/** The fields of an appearance: what each colours, and how a form's values become a draft and back. */
import {
  COMPOSER_HINT_MAX_CHARS,
  FONT_FAMILY_MAX_CHARS,
  FONT_SCALE_MAX,
  FONT_SCALE_MIN,
  LAUNCHER_LABEL_MAX_CHARS,
  RADIUS_MAX_PX,
} from '../../../protocol/limits.ts';
import { type FieldEntry, labelsOf } from '../parts/fields.tsx';
import type { AppearanceDraft, ThemeTokens } from '../preview/drafts-hook.ts';

export interface ColourRow {
  readonly token: string;
  readonly label: string;
}

export const BASE_COLOURS: readonly ColourRow[] = [
  { token: 'surface', label: 'Page' },
  { token: 'onSurface', label: 'Text' },
  { token: 'accent', label: 'Accent' },
  { token: 'onAccent', label: 'Text on the accent' },
];

/** Derived where they are left out. */
export const DERIVED_COLOURS: readonly ColourRow[] = [
  { token: 'surfaceRaised', label: 'Cards' },
  { token: 'surfaceHigh', label: 'Panels' },
  { token: 'surfaceSunk', label: 'Fields' },
  { token: 'onSurfaceMuted', label: 'Muted text' },
  { token: 'outline', label: 'Outlines' },
  { token: 'danger', label: 'Danger' },
  { token: 'onDanger', label: 'Text on danger' },
  { token: 'success', label: 'Success' },
  { token: 'onSuccess', label: 'Text on success' },
];

const COLOURS = [...BASE_COLOURS, ...DERIVED_COLOURS];
const NUMBERS = ['radius', 'fontScale'] as const;
const WORDS = ['spacing', 'style', 'launcherPosition', 'fontFamily'] as const;
const COPILOT_WORDS = ['launcherLabel', 'composerHint'] as const;

/** By the paths that the service uses: `theme.accent`, `themeDark.accent`, `copilot.feedback`. '' and null: left out. */
export interface AppearanceFields extends Record<string, unknown> {
  readonly [path: string]: string | number | boolean | null;
}

export const FIRST_DRAFT: AppearanceDraft = {
  theme: { surface: '#ffffff', onSurface: '#1c2230', accent: '#3a62c4', onAccent: '#ffffff' },
};

export function fieldsOf({ theme, themeDark, copilot }: AppearanceDraft): AppearanceFields {
  const fields: Record<string, string | number | boolean | null> = {};
  for (const { token } of COLOURS) {
    fields[`theme.${token}`] = theme[token] ?? '';
    fields[`themeDark.${token}`] = themeDark?.[token] ?? '';
  }
  for (const name of NUMBERS) fields[`theme.${name}`] = theme[name] ?? null;
  for (const name of WORDS) fields[`theme.${name}`] = theme[name] ?? '';
  for (const name of COPILOT_WORDS) fields[`copilot.${name}`] = copilot?.[name] ?? '';
  fields['copilot.feedback'] = copilot?.feedback ?? false;
  return fields;
}

/** The tokens below `prefix` that say something, and of `before` what the form does not show, such as the logo. */
function tokensOf(fields: AppearanceFields, prefix: string, before: ThemeTokens): Record<string, string | number> {
  const shown = Object.keys(fields).flatMap((path) => (path.startsWith(prefix) ? [path.slice(prefix.length)] : []));
  const kept = Object.entries(before).filter(([name]) => !shown.includes(name));
  const typed = shown.flatMap((name): [string, string | number][] => {
    const value = fields[prefix + name];
    return value === '' || value === null || typeof value === 'boolean' || value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries([...kept, ...typed]);
}

export function draftOf(fields: AppearanceFields, before: AppearanceDraft): AppearanceDraft {
  const dark = tokensOf(fields, 'themeDark.', before.themeDark ?? {});
  const { launcherLabel: _, composerHint: __, feedback: ___, ...icons } = before.copilot ?? {};
  const words = COPILOT_WORDS.flatMap((name): [string, string][] => {
    const value = fields[`copilot.${name}`];
    return typeof value === 'string' && value !== '' ? [[name, value]] : [];
  });
  return {
    theme: tokensOf(fields, 'theme.', before.theme),
    ...(Object.keys(dark).length === 0 ? {} : { themeDark: dark }),
    copilot: { ...icons, ...Object.fromEntries(words), feedback: fields['copilot.feedback'] === true },
  };
}

const byDefault = (name: string) => ['', `${name} (default)`] as const;

/** What an appearance has beside colours: shape, type, places and words. */
export const MEASURES: readonly FieldEntry[] = [
  {
    name: 'theme.radius',
    kind: 'number',
    label: 'Corners',
    min: 0,
    max: RADIUS_MAX_PX,
    unit: 'px',
    placeholder: '14',
    hint: 'Of the panel; smaller parts follow.',
  },
  {
    name: 'theme.spacing',
    kind: 'choice',
    label: 'Spacing',
    options: [byDefault('Cosy'), ['compact', 'Compact'], ['cosy', 'Cosy'], ['roomy', 'Roomy']],
  },
  {
    name: 'theme.style',
    kind: 'choice',
    label: 'Style',
    options: [byDefault('Soft'), ['flat', 'Flat'], ['soft', 'Soft'], ['outlined', 'Outlined']],
  },
  {
    name: 'theme.launcherPosition',
    kind: 'choice',
    label: 'Side of the launcher',
    hint: 'The end is the right side, or the left in languages written from right to left.',
    options: [byDefault('At the end'), ['end', 'At the end'], ['start', 'At the start']],
  },
  {
    name: 'theme.fontFamily',
    label: 'Typeface',
    max: FONT_FAMILY_MAX_CHARS,
    placeholder: 'system-ui',
    hint: 'One that the page or the device has; nothing is loaded.',
  },
  {
    name: 'theme.fontScale',
    kind: 'number',
    label: 'Text size',
    min: FONT_SCALE_MIN,
    max: FONT_SCALE_MAX,
    step: 0.05,
    placeholder: '1',
    hint: '1 is 100%.',
  },
  { name: 'copilot.launcherLabel', label: 'Words on the launcher', max: LAUNCHER_LABEL_MAX_CHARS, placeholder: 'The icon alone' },
  { name: 'copilot.composerHint', label: 'Hint in the field', max: COMPOSER_HINT_MAX_CHARS, placeholder: 'Write a message' },
  { name: 'copilot.feedback', kind: 'switch', label: 'Thumbs under answers', hint: 'People rate answers; you find them by it.' },
];

export const LABELS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    COLOURS.flatMap(({ token, label }) => [
      [`theme.${token}`, label],
      [`themeDark.${token}`, `${label} in the dark`],
    ]),
  ),
  ...labelsOf(MEASURES),
};
