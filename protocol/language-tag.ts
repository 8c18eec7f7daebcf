/** Language tags (BCP 47), as clients write them: which text is one, and what of it may be repeated in trusted instructions. */

/** The longest registered BCP 47 tags stay below this. */
export const LOCALE_MAX_CHARS = 35;

/** What a platform may write between the parts of a locale instead of the hyphen of a tag. */
const UNDERSCORES = /_/g;

const known = {
  language: new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' }),
  script: new Intl.DisplayNames(['en'], { type: 'script', fallback: 'none' }),
  region: new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' }),
};

/** The locale as a canonical tag (`de_at` → `de-AT`); null of what is no well-formed one (CHAT-5). */
export function languageTag(locale: string | null | undefined): string | null {
  if (locale === null || locale === undefined) return null;
  try {
    return Intl.getCanonicalLocales(locale.replace(UNDERSCORES, '-'))[0] ?? null;
  } catch {
    return null;
  }
}

/**
 * Language, script and region of a well-formed tag, each as far as it is a registered one: `de-AT-x-obey-me` → `de-AT`. A tag has room
 * for words of whoever sends it; what is left has none. Null when the language is not known.
 */
export function registeredTag(tag: string): string | null {
  const { language, script, region } = new Intl.Locale(tag);
  if (known.language.of(language) === undefined) return null;
  const parts = [
    language,
    script !== undefined && known.script.of(script) !== undefined ? script : null,
    region !== undefined && known.region.of(region) !== undefined ? region : null,
  ];
  return parts.filter((part) => part !== null).join('-');
}
