/** Whose way of writing telephone numbers is known of a conversation (PRIVACY-3): countries of locales and of languages. */

/** Locales that apps are translated to; each entry is a few bytes. */
const LOCALES_KEPT = 256;
/** Each costs a look at every number. A locale and the languages of all but a few apps fit. */
const REGIONS_MAX = 4;

const known = new Map<string, string | undefined>();

function readRegion(locale: string): string | undefined {
  try {
    return new Intl.Locale(locale).maximize().region;
  } catch {
    return undefined;
  }
}

/** The country of a locale: `de-AT` → `AT`, `de` → `DE`; undefined when it names none. */
export function regionOfLocale(locale: string | null | undefined): string | undefined {
  if (locale === undefined || locale === null) return undefined;
  if (!known.has(locale)) {
    if (known.size >= LOCALES_KEPT) known.clear();
    known.set(locale, readRegion(locale));
  }
  return known.get(locale);
}

/** Countries whose national numbers are read: that of the handshake's locale first, then those of the app's languages. */
export function regionsOf(locale: string | null | undefined, languages: readonly string[]): string[] {
  const regions = [locale, ...languages].map(regionOfLocale).filter((region) => region !== undefined);
  return [...new Set(regions)].slice(0, REGIONS_MAX);
}
