/** Personal data in a text (PRIVACY-1). What was found is hidden from later searches, the surest kind first, so no two overlap. */
import { LOOKALIKE, PLACEHOLDER_OPENS } from '../../protocol/placeholder.ts';
import { findCards, findIbans } from './cards.ts';
import { findPhones, type PhonePlace } from './phone-numbers.ts';
import type { Finding } from './placeholder.ts';
import { BETWEEN_DIGITS, GLUE, INVISIBLE, OTHER_DIGIT, plainForm } from './plain-form.ts';
import { RedactionWork } from './redaction-work.ts';

/** Seven digits that belong together. Each step is bounded: linear. */
const SEVEN_DIGITS = `\\d(?:[${BETWEEN_DIGITS}]{0,7}\\d){6}`;
/** Digits of other scripts are few where they are not meant, and are looked at one and all. */
const DIGITS = new RegExp(`${OTHER_DIGIT}|${SEVEN_DIGITS}`);
/** Without these there is nothing to find. */
const SUSPICIOUS = new RegExp(`[@＠⟦]|${OTHER_DIGIT}|${SEVEN_DIGITS}`);

const HAN_COMMA = /(?<=\d)[、，､](?= ?\d)/g;

/** IBANs, cards and phone numbers. */
const DIGIT_RULES = 3;
const NOTHING: readonly Finding[] = Object.freeze([]);

const AT = /[@＠]/g;
/** A look at one range is enough in western text. */
const UNSEEN = new RegExp(`[\\u00ad-\\uffff](?<=[${INVISIBLE}])`, 'g');
/** RFC 5321: octets of what stands before the @. */
const LOCAL_PART_MAX_CHARS = 64;
/** Less than the standard allows: where others of its characters stand before an address, as in `to=`, they are no part of it. */
const LOCAL_PART_CHAR = /^[\p{L}\p{M}\p{N}._%+'．＿＋－-]$/u;
const LOCAL_PART_EDGE = /^[.'．-]+/;
/** `"john doe"@`. Its quotes are the address's own. */
const QUOTED = /"(?:[^"\\\r\n]|\\[^\r\n]){1,64}"$/;
const QUOTES_CHARS = 2;
/** Letters that need no blank beside an address: before western ones they are words, and no part of it. */
const WORDS_BEFORE = new RegExp(`^[^]*[^\\P{L}${GLUE}]\\p{M}*`, 'u');
const NOT_ASCII = /[^ -~]/;
/** Labels and dots, at least two, the last one of letters (or punycode); western ones alone where they are enough, for words may follow at once. */
const LABELS = (letters: string, dots = '.．') =>
  `(?:[${letters}\\p{N}](?:[${letters}\\p{M}\\p{N}-]{0,61}[${letters}\\p{M}\\p{N}])?[${dots}])+`;
const WESTERN_TOP = '(?:[xX][nN]--[A-Za-z0-9-]{2,59}|\\p{Script=Latin}{2,63})';
/** With the stops of a Japanese keyboard, which end sentences, too: only between western words, and where no others are enough. */
const STOPPED = `(?<=[\\p{Script=Latin}\\p{N}][@＠])${LABELS('\\p{Script=Latin}', '.．。｡')}${WESTERN_TOP}`;
const DOMAIN = new RegExp(
  `${LABELS('\\p{Script=Latin}')}${WESTERN_TOP}|${STOPPED}|${LABELS('\\p{L}')}(?:${WESTERN_TOP}|[^\\P{L}\\p{Script=Latin}](?:(?!\\p{Script=Latin})[\\p{L}\\p{M}]){1,62}|\\p{L}{2,63})`,
  'uy',
);

const hasAt = (text: string) => text.includes('@') || text.includes('＠');

/** What may stand before the @ that follows `before`, read from its end. */
function localPart(before: string): string {
  const quoted = before.endsWith('"') ? QUOTED.exec(before)?.[0] : undefined;
  if (quoted !== undefined) return quoted;
  const chars = Array.from(before.slice(-LOCAL_PART_MAX_CHARS));
  const first = chars.findLastIndex((char) => !LOCAL_PART_CHAR.test(char)) + 1;
  const written = chars.slice(first).join('');
  const address = (NOT_ASCII.test(written) && written.replace(WORDS_BEFORE, '')) || written;
  return address.replace(LOCAL_PART_EDGE, '');
}

/** Each address is read from its @ both ways, each way bounded. */
function findVisibleEmails(text: string): Finding[] {
  const findings: Finding[] = [];
  let from = 0;
  for (const { index: at } of text.matchAll(AT)) {
    DOMAIN.lastIndex = at + 1;
    if (at <= from || !DOMAIN.test(text)) continue;
    const end = DOMAIN.lastIndex;
    const local = localPart(text.slice(Math.max(from, at - LOCAL_PART_MAX_CHARS - QUOTES_CHARS), at));
    if (local === '') continue;
    const start = at - local.length;
    findings.push({ kind: 'email', start, end, value: text.slice(start, end) });
    from = end;
  }
  return findings;
}

/** The same seen through what is invisible within an address. */
function findEmails(text: string): Finding[] {
  if (text.search(UNSEEN) < 0) return findVisibleEmails(text);
  const unseen = Array.from(text.matchAll(UNSEEN), ({ index }, before) => index - before);
  let passed = 0;
  const place = (at: number) => {
    while ((unseen[passed] ?? text.length) <= at) passed++;
    return at + passed;
  };
  return findVisibleEmails(text.replace(UNSEEN, '')).map(({ start, end, ...finding }) => ({
    ...finding,
    start: place(start),
    end: place(end - 1) + 1,
  }));
}

function findLookalikes(text: string): Finding[] {
  return Array.from(text.matchAll(LOOKALIKE), (match) => {
    const [value] = match;
    return { kind: 'text', start: match.index, end: match.index + value.length, value };
  });
}

/** The text with line breaks where something was found: later searches neither see it nor reach across it. */
function without(text: string, findings: readonly Finding[]): string {
  let rest = '';
  let from = 0;
  for (const { start, end } of findings) {
    rest += text.slice(from, start) + '\n'.repeat(end - start);
    from = end;
  }
  return rest + text.slice(from);
}

function search(text: string, place: PhonePlace, lookalikes: boolean): Finding[] {
  const findings: Finding[] = [];
  let rest = text;
  const take = (found: readonly Finding[]) => {
    if (found.length === 0) return;
    for (const finding of found) findings.push(finding);
    rest = without(rest, found);
  };
  if (rest.includes(PLACEHOLDER_OPENS)) {
    const found = findLookalikes(rest);
    if (lookalikes) take(found);
    else rest = without(rest, found);
  }
  if (hasAt(rest)) take(findEmails(rest));
  if (DIGITS.test(rest)) {
    rest = plainForm(rest);
    take(findIbans(rest));
    take(findCards(rest));
    // What is found between commas first is a list of cards; then they may separate the groups of one.
    const joined = rest.replace(HAN_COMMA, '-');
    if (joined !== rest) take(findCards(joined));
    take(findPhones(rest, place));
  }
  return findings
    .sort((one, other) => one.start - other.start)
    .map(({ kind, start, end }) => ({ kind, start, end, value: text.slice(start, end) }));
}

/** How many rules are run over `text`: 0 when there is nothing to find in it. `lookalikes`: see findPersonalData. */
export function rulesFor(text: string, lookalikes = true): number {
  if (!SUSPICIOUS.test(text)) return 0;
  return Number(lookalikes && text.includes(PLACEHOLDER_OPENS)) + Number(hasAt(text)) + (DIGITS.test(text) ? DIGIT_RULES : 0);
}

/**
 * In order, never overlapping. `regions`: countries whose national phone numbers are read. `label`: the field's name, '' without one: an
 * `order_id` is no phone number, seven digits under `phone` are. `work`: what the request has left. `lookalikes`: whether what looks like a
 * placeholder is found.
 */
export function findPersonalData(
  text: string,
  regions: readonly string[],
  label = '',
  work: RedactionWork = new RedactionWork(),
  lookalikes = true,
): readonly Finding[] {
  return SUSPICIOUS.test(text) ? search(text, { regions, label, work }, lookalikes) : NOTHING;
}

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
  const regions: string[] = [];
  for (const tag of [locale, ...languages]) {
    const region = regionOfLocale(tag);
    if (region !== undefined && regions.length < REGIONS_MAX && !regions.includes(region)) regions.push(region);
  }
  return regions;
}
