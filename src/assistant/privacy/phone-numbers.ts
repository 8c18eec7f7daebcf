/**
 * Phone numbers in text (decisions §9). A number that says so itself (a plus, a trunk zero in groups, an area code in
 * brackets) is taken by its shape; any other has to be a valid one of the person's country, written as people there write it.
 * Numbers of orders, dates, prices, coordinates, addresses of machines and parts of identifiers are none.
 */
import parsePhoneNumber, { type CountryCode, isSupportedCountry } from 'libphonenumber-js/max';
import type { Finding } from './find.ts';
import type { RedactionWork } from './redaction-work.ts';

const DIGITS_MIN = 7;
/** E.164 allows 15; an international prefix or a trunk zero may stand before or within. */
const DIGITS_MAX = 17;
/** `+49 (0) 30 12 34 56 78` has eight. */
const GROUPS_MAX = 9;
/** Between two groups, as in `) / `. */
const GAP_MAX_CHARS = 4;
/** A national number with its trunk digits. */
const NATIONAL_DIGITS_MAX = 14;
/** An article or a customer's number has eight digits as often as a phone number without area code. */
const BARE_DIGITS_MIN = 9;
/** Parsing one takes some 50 µs. Texts with more are tables of numbers: what is left is judged by its shape. */
const PARSES_MAX = 32;
/** A word that says what a number is stands right before it. */
const CONTEXT_CHARS = 40;
/** The end of a field's name says what it holds; a longer one is cut, because it is searched again for each value of a list. */
const LABEL_MAX_CHARS = 64;
/** Locales that apps are translated to; each entry is a few bytes. */
const LOCALES_KEPT = 256;

const SPACES = ' \\u00a0\\u2009\\u202f';
const RUN = new RegExp(`[+(]{0,2}\\d[\\d${SPACES}+()./\\-\\u2010-\\u2015]*`, 'g');
const GROUP = /[+(]{0,2}\d+/g;
const SPACE = new RegExp(`[${SPACES}]`);

const GLUED_BEFORE = /[\p{L}\p{N}_#=&?/@$€£¥%~^*-]$/u;
const GLUED_AFTER = /^(?:[\p{L}\p{N}_%#@=€$£¥]|[-_/.:,](?=\d)|[-_](?=\p{L}))/u;
const CURRENCY = '[€$£¥₹₺₽%]|(?:EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|HUF|Euro|Dollar|kr|zł|Kč|Ft)(?!\\p{L})';
const PRICE_AFTER = new RegExp(`^[${SPACES}]?(?:${CURRENCY})`, 'iu');
const PRICE_BEFORE = /(?:[€$£¥₹₺₽]|(?<!\p{L})(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN))[\s]?$/iu;

const DATE = /(?<![\d]|\d[-./])(?:(?:19|20)\d{2}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2(?:(?:19|20)\d{2}|\d{2}))(?![-./]?\d)/g;
/** Decimals, addresses of machines, spans of years. */
const OTHER_NUMBER = /^(?:(?:0|[1-9]\d*)\.\d+|\d{1,3}(?:\.\d{1,3}){3}|(?:19|20)\d{2}[-/\u2013](?:19|20)\d{2})$/;
/** `12 345 678`: numbers that are dialled do not begin with one or two digits and go on in threes. */
const THOUSANDS = new RegExp(`^\\d{1,2}(?:[.${SPACES}]\\d{3})+$`);

/** Words of what else has a number; then perhaps `no.`, `is`, a colon, and the number. Every repetition is bounded: linear. */
const ID_BEFORE =
  /(?:^|[^\p{L}])(?:(?:order|bestell|auftrag|rechnung|invoice|ticket|case|tracking|sendung|paket|parcel|kunde|customer|account|konto|article|artikel|product|produkt|sku|ean|gtin|isbn|upc|imei|serial|serie|reference|referenz|commande|facture|pedido|ordine|fattura|factura|transaction|booking|buchung|vertrag|contract)\p{L}{0,24}|(?:ref|id|blz|version)(?!\p{L}))[\s_-]?(?:no|nr|num(?:ber|mer|ero)?|num[eé]ro|n[uú]mero|id|code)?[.:#\s-]{0,4}(?:is|ist|lautet|war|was|=)?[\s:"'#№]{0,4}$/iu;
const ID_LABEL = /(?:^id|_id|[a-z]I[dD]): $/;
const PHONE_BEFORE =
  /(?:(?<!\p{L})(?:tel|phone|call|cell|fax|mobil|handy|whatsapp|sms|r[uü]ckruf|anruf|erreich|t[eé]l[eé]phon|m[oó]vil|llam|portable|appel)\p{L}{0,24}|telef\p{L}{0,24}|(?:_|\p{L})(?:phone|Phone|Tel)|[☎📞📱])[^\d\n]{0,16}$/iu;

/** Area code and number as North America writes them, whoever writes: with brackets, hyphens or dots. */
const NORTH_AMERICAN = /^(?:1[-. ])?(?:\([2-9]\d{2}\)[ -]?|[2-9]\d{2}[-.])\d{3}[-. ]\d{4}$/;
/** A trunk zero and groups, as most other countries write: `0176 1234 5678`, `06 12 34 56 78`, `(030) 901820`. */
const TRUNK = new RegExp(`^\\(?0[1-9]\\d{0,4}\\)?(?:[${SPACES}]?[-/.\\u2010-\\u2015]?[${SPACES}]?\\d{2,8}){1,5}$`);

interface Group {
  readonly start: number;
  readonly end: number;
  readonly digits: number;
}

type Said = 'price' | 'id' | 'phone' | 'nothing';

function saidBy(before: string): Said {
  if (PRICE_BEFORE.test(before)) return 'price';
  if (ID_BEFORE.test(before) || ID_LABEL.test(before)) return 'id';
  return PHONE_BEFORE.test(before) ? 'phone' : 'nothing';
}

/** Where the text stands, and what its search may cost; see findPersonalData. */
export interface PhonePlace {
  readonly region: string | undefined;
  readonly label: string;
  readonly work: RedactionWork;
}

/** One text's search: how often it may still parse belongs to it. */
class PhoneSearch {
  readonly #text: string;
  readonly #country: CountryCode | undefined;
  readonly #label: string;
  readonly #work: RedactionWork;
  #parsesLeft = PARSES_MAX;
  #said: { readonly start: number; readonly says: Said } | undefined;

  constructor(text: string, { region, label, work }: PhonePlace) {
    this.#text = text;
    this.#work = work;
    this.#country = region !== undefined && isSupportedCountry(region) ? region : undefined;
    this.#label = label === '' ? '' : `${label.slice(-LABEL_MAX_CHARS)}: `;
  }

  /** The groups from the `first` on that are a phone number, as many as possible; 0 when none are. */
  length(groups: readonly Group[], first: number): number {
    const start = groups[first]?.start ?? 0;
    // Within a run only what shows its beginning is looked at: the second half of something else does not.
    if (first > 0 && !('+(0'.includes(this.#text.charAt(start)) && SPACE.test(this.#text.charAt(start - 1)))) return 0;
    if (GLUED_BEFORE.test(this.#text.slice(Math.max(0, start - 2), start))) return 0;
    const ends: { readonly count: number; readonly digits: number }[] = [];
    let digits = 0;
    for (let count = 1; count <= GROUPS_MAX; count++) {
      const group = groups[first + count - 1];
      if (group === undefined) break;
      digits += group.digits;
      if (digits > DIGITS_MAX) break;
      // Single digits in a row are a list, not a number in groups.
      if (digits >= DIGITS_MIN && digits * 2 >= count * 3) ends.unshift({ count, digits });
    }
    const found = ends.find(({ count }) => this.#isPhone(start, groups[first + count - 1]?.end ?? start));
    return found?.count ?? 0;
  }

  #isPhone(start: number, end: number): boolean {
    const written = this.#text.slice(start, end);
    const after = this.#text.slice(end, end + 8);
    if (GLUED_AFTER.test(after) || PRICE_AFTER.test(after) || OTHER_NUMBER.test(written)) return false;
    const says = this.#saidBefore(start);
    if (says === 'price') return false;
    const digits = written.replace(/\D/g, '');
    if (/^\(?\+/.test(written)) return this.#isInternational(written, digits);
    if (says === 'id') return false;
    if (says === 'phone' && digits.length <= 15) return true;
    if (NORTH_AMERICAN.test(written)) return true;
    const isBare = written === digits;
    if (!isBare && digits.length >= 10 && digits.length <= 12 && TRUNK.test(written)) return true;
    return digits.startsWith('00') ? this.#isInternational(`+${digits.slice(2)}`, digits.slice(2)) : this.#isNational(written, digits);
  }

  /** What the words before `start` say of the number there; of one beginning, many ends are asked for. */
  #saidBefore(start: number): Said {
    if (this.#said?.start === start) return this.#said.says;
    const before = (start < CONTEXT_CHARS ? this.#label : '') + this.#text.slice(Math.max(0, start - CONTEXT_CHARS), start);
    const says = saidBy(before);
    this.#said = { start, says };
    return says;
  }

  #isInternational(written: string, digits: string): boolean {
    if (digits.length > 16 || digits.startsWith('0')) return false;
    const isGrouped = written.length > digits.length + 1;
    return (isGrouped && digits.length > DIGITS_MIN) || this.#parse(written, undefined, (number) => number.isPossible());
  }

  #isNational(written: string, digits: string): boolean {
    if (this.#country === undefined || digits.length > NATIONAL_DIGITS_MAX || THOUSANDS.test(written)) return false;
    return this.#parse(written, this.#country, (number) => {
      if (!number.isValid()) return false;
      if (digits !== number.nationalNumber || written.startsWith('(')) return true;
      // Where a trunk digit belongs before it, a number without one is another number.
      const isWhole = number.formatNational().replace(/\D/g, '') === digits;
      return isWhole && (written !== digits || digits.length >= BARE_DIGITS_MIN);
    });
  }

  #parse(
    written: string,
    country: CountryCode | undefined,
    accepts: (number: NonNullable<ReturnType<typeof parsePhoneNumber>>) => boolean,
  ): boolean {
    // Rather hidden than told: it looked like one up to here.
    if (this.#parsesLeft === 0 || !this.#work.takeLookup()) return true;
    this.#parsesLeft--;
    const number = parsePhoneNumber(written, { ...(country === undefined ? {} : { defaultCountry: country }), extract: false });
    return number !== undefined && accepts(number);
  }
}

/** Groups of digits with at most a small gap between them. */
function groupsOf(text: string): Group[][] {
  return Array.from(text.matchAll(RUN)).flatMap((run) => {
    const parts: Group[][] = [];
    for (const match of run[0].matchAll(GROUP)) {
      const [written] = match;
      const start = run.index + match.index;
      const group = { start, end: start + written.length, digits: written.replace(/\D/g, '').length };
      const part = parts.at(-1);
      if (part !== undefined && start - (part.at(-1)?.end ?? 0) <= GAP_MAX_CHARS) part.push(group);
      else parts.push([group]);
    }
    return parts;
  });
}

/** The finding; a bracket that opens before it and closes after it is none of it. */
function findingOf(text: string, from: number, end: number): Finding {
  const start = text.charAt(from) === '(' && !text.slice(from, end).includes(')') ? from + 1 : from;
  return { kind: 'phone', start, end, value: text.slice(start, end) };
}

/** Phone numbers: international ones, national ones of `region`, and what can hardly be anything else; see findPersonalData. */
export function findPhones(text: string, place: PhonePlace): Finding[] {
  const undated = text.replace(DATE, (date) => '\n'.repeat(date.length));
  const search = new PhoneSearch(undated, place);
  const findings: Finding[] = [];
  for (const groups of groupsOf(undated)) {
    for (let first = 0; first < groups.length; ) {
      const count = search.length(groups, first);
      const [start, end] = [groups[first]?.start ?? 0, groups[first + count - 1]?.end ?? 0];
      if (count > 0) findings.push(findingOf(undated, start, end));
      first += Math.max(1, count);
    }
  }
  return findings;
}

const regions = new Map<string, string | undefined>();

function readRegion(locale: string): string | undefined {
  try {
    return new Intl.Locale(locale).maximize().region;
  } catch {
    return undefined;
  }
}

/** The country of a handshake's locale: `de-AT` → `AT`, `de` → `DE`; undefined when it names none. */
export function regionOfLocale(locale: string | null | undefined): string | undefined {
  if (locale === undefined || locale === null) return undefined;
  if (!regions.has(locale)) {
    if (regions.size >= LOCALES_KEPT) regions.clear();
    regions.set(locale, readRegion(locale));
  }
  return regions.get(locale);
}
