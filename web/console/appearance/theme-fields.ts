/** The fields of an appearance: what each colours, and how a form's values become a draft and back. */
import type { AppearanceDraft, ThemeTokens } from '../preview/drafts-hook.ts';

export interface ColourRow {
  readonly token: string;
  readonly label: string;
  readonly hint: string;
}

export const BASE_COLOURS: readonly ColourRow[] = [
  { token: 'surface', label: 'Page', hint: 'Behind everything.' },
  { token: 'onSurface', label: 'Text', hint: 'On the page.' },
  { token: 'accent', label: 'Accent', hint: 'Launcher, buttons, links.' },
  { token: 'onAccent', label: 'Text on the accent', hint: '' },
];

/** Derived where they are left out. */
export const DERIVED_COLOURS: readonly ColourRow[] = [
  { token: 'surfaceRaised', label: 'Cards', hint: '' },
  { token: 'surfaceHigh', label: 'Panels', hint: '' },
  { token: 'surfaceSunk', label: 'Fields', hint: '' },
  { token: 'onSurfaceMuted', label: 'Muted text', hint: '' },
  { token: 'outline', label: 'Outlines', hint: '' },
  { token: 'danger', label: 'Danger', hint: '' },
  { token: 'onDanger', label: 'Text on danger', hint: '' },
  { token: 'success', label: 'Success', hint: '' },
  { token: 'onSuccess', label: 'Text on success', hint: '' },
];

const COLOURS = [...BASE_COLOURS, ...DERIVED_COLOURS];
const NUMBERS = ['radius', 'fontScale'] as const;
const WORDS = ['spacing', 'style', 'launcherPosition', 'fontFamily'] as const;
const COPILOT_WORDS = ['launcherLabel', 'composerHint'] as const;

/** By the paths that the service uses: `theme.accent`, `themeDark.accent`, `copilot.feedback`. '' and null: left out. */
export interface AppearanceFields extends Record<string, unknown> {
  readonly [path: string]: string | number | boolean | null;
}

/** What an app looks like that nobody gave a look: the widget's own colours. */
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

export const LABELS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    COLOURS.flatMap(({ token, label }) => [
      [`theme.${token}`, label],
      [`themeDark.${token}`, `${label} in the dark`],
    ]),
  ),
  'theme.radius': 'Corners',
  'theme.fontScale': 'Size of text',
  'theme.fontFamily': 'Typeface',
  'theme.spacing': 'Spacing',
  'theme.style': 'Style',
  'theme.launcherPosition': 'Side of the launcher',
  'copilot.launcherLabel': 'Words on the launcher',
  'copilot.composerHint': 'Hint in the field',
  'copilot.feedback': 'Thumbs under answers',
};
