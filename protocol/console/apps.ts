/** Bodies of the console's app endpoints: create, PATCH, keys, knowledge listing (CONSOLE-6). Unknown fields are refused. */
import * as v from 'valibot';
import { text } from '../schema/text.ts';
import { appSettingsEntries } from './app-settings.ts';

export const APP_NAME_MAX_CHARS = 80;
export const SLUG_MAX_CHARS = 60;
export const PLATFORM_HINT_MAX_CHARS = 40;

export const name = v.pipe(
  text(APP_NAME_MAX_CHARS, 1),
  v.check((value) => value.trim() !== '', 'must not be blank'),
);

const slug = v.pipe(
  v.string('must be a string'),
  v.regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'must be lowercase letters and digits in words joined by single hyphens'),
  v.maxLength(SLUG_MAX_CHARS, `must be at most ${SLUG_MAX_CHARS} characters`),
);

/** What an app is made for, as far as the hint tells: it is a person's word, and an agent reads the code. */
export type AppForm = 'web' | 'native' | 'unknown';

const NATIVE_WEB = /\breact[ -]?native\b/i;
const WEB =
  /\b(?:web(?:site|app)?|pages?|html|browser|javascript|typescript|react|next(?:\.?js)?|vue|nuxt|svelte|angular|remix|astro|node|rails|django|laravel|php|wordpress)\b/i;
const NATIVE = /\b(?:flutter|dart|ios|swift|swiftui|android|kotlin|native|expo|mobile|unity)\b/i;

export function formOf(hint: string): AppForm {
  if (WEB.test(hint) && !NATIVE_WEB.test(hint)) return 'web';
  return NATIVE.test(hint) ? 'native' : 'unknown';
}

const platformHint = text(PLATFORM_HINT_MAX_CHARS);

/** POST /orgs/:org/apps: a name, and any setting that should not start at its default. */
export const createAppBody = v.strictObject({
  name,
  slug: v.optional(slug),
  platform_hint: v.optional(platformHint, ''),
  ...appSettingsEntries,
});

export const patchAppBody = v.strictObject({
  name: v.optional(name),
  slug: v.optional(slug),
  platform_hint: v.optional(platformHint),
  ...appSettingsEntries,
});
export type PatchAppBody = v.InferOutput<typeof patchAppBody>;

/** POST /apps/:app/keys. On the wire a sandbox key is called `test`. */
export const createKeyBody = v.strictObject({ channel: v.picklist(['live', 'test']) });

/** `Café Ávila!` → `cafe-avila`; `app` when the name has no letter or digit of ASCII. */
export function deriveSlug(appName: string): string {
  const words = appName
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, SLUG_MAX_CHARS)
    .replace(/-$/, '');
  return words === '' ? 'app' : words;
}
