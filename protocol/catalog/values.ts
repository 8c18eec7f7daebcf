/** The single values a body is made of: texts, numbers, addresses, times. Their bounds are those of docs/catalog.md. */
import * as v from 'valibot';
import { ADDRESS_MAX_CHARS, ID_MAX_CHARS } from '../limits.ts';
import { whole } from '../schema/bounded.ts';
import { stated } from '../schema/stated.ts';
import { fits, text } from '../schema/text.ts';
import type { Report } from './component.ts';
import { defuseMarkdown } from './markdown.ts';
import { isDay, isHttpsUrl, isTime, isWebUrl } from './text-checks.ts';
import { usedAs } from './text-uses.ts';

/** The codes of ISO 4217 that are in use (its list one, funds and metals included, and without the code for "no currency"). Changes with the standard: a code or two a year. */
const CODES = `
  AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD
  CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP
  GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR
  KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN
  MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD
  SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX
  USD USN UYI UYU UYW UZS VED VES VND VUV WST XAD XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD
  XPF XPT XSU XTS XUA YER ZAR ZMW ZWG`;
const CURRENCIES: ReadonlySet<string> = new Set(CODES.trim().split(/\s+/));

/** Twelve digits hold any price in any currency; four decimals hold every ISO 4217 minor unit. */
const DECIMAL = /^-?(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,4})?$/;

/** Text that must say something: 1 to `max` code points. */
export const words = (max: number) => text(max, 1);

/** A name that nobody reads. */
export const id = usedAs(text(ID_MAX_CHARS, 1), 'key');

/** `schema` with a sentence for the model. */
export function said<const S extends v.GenericSchema>(schema: S, description: string) {
  return v.pipe(schema, v.description(description));
}

/** CommonMark without HTML, 1 to `max` code points; links that are not http(s) lose their address, tags their bracket, images become links. */
export function markdown(max: number) {
  return v.pipe(
    v.string('must be a string'),
    v.metadata({ minLength: 1, maxLength: max, description: 'Markdown.' }),
    v.check((value) => fits(value, max), `must be at most ${max} characters`),
    v.check((value) => value.trim() !== '', 'must not be empty'),
    v.transform(defuseMarkdown),
  );
}

export function between(min: number, max: number) {
  const message = `must be a number from ${min} to ${max}`;
  return v.pipe(v.number('must be a number'), v.minValue(min, message), v.maxValue(max, message));
}

/** Counts that the catalog leaves open: a billion is beyond any shop and keeps the number exact everywhere. */
export const count = (min = 0) => whole(min, 1_000_000_000);

export function list<const S extends v.GenericSchema>(item: S, min: number, max: number) {
  const least = min === 1 ? 'must hold at least one item' : `must hold at least ${min} items`;
  return v.pipe(v.array(item, 'must be an array'), v.minLength(min, least), v.maxLength(max, `must hold at most ${max} items`));
}

/** `0` to `max` items; left out means none. */
export function anyList<const S extends v.GenericSchema>(item: S, max: number) {
  return v.optional(list(item, 0, max), []);
}

export const webUrl = usedAs(
  v.pipe(text(ADDRESS_MAX_CHARS, 1), v.check(isWebUrl, 'must be an http or https address'), v.description('http(s)')),
  'address',
);
/** What a client loads by itself to show it. */
export const fetchedUrl = usedAs(
  v.pipe(text(ADDRESS_MAX_CHARS, 1), v.check(isHttpsUrl, 'must be an https address'), v.description('https')),
  'fetched',
);

export const time = v.pipe(
  v.string('must be a string'),
  v.check((value) => isTime(value), 'must be an RFC 3339 time with an offset, as 2026-11-20T09:30:00+01:00'),
  v.description('time'),
);

export const day = v.pipe(v.string('must be a string'), v.check(isDay, 'must be a date, as 2026-11-20'), v.description('As 2026-11-20.'));

function isTimezone(name: string): boolean {
  // Newer engines take bare offsets too; the catalog wants a named zone.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
export const timezone = v.pipe(
  text(64, 1),
  v.check(isTimezone, 'must be an IANA time zone, as Europe/Madrid'),
  v.description('As Europe/Madrid.'),
);

export const decimal = v.pipe(v.string('must be a string'), v.regex(DECIMAL, 'must be a decimal number in a string, as "12.50"'));
export const currency = v.pipe(
  v.string('must be a string'),
  // All codes in every schema would cost the model more words than they save: the pattern and the description say it.
  stated(
    v.check((code: string) => CURRENCIES.has(code), 'must be an ISO 4217 code, as EUR'),
    { pattern: '^[A-Z]{3}$' },
  ),
);
export const hexColour = usedAs(v.pipe(v.string('must be a string'), v.regex(/^#[0-9A-Fa-f]{6}$/, 'must be a colour as #1a2b3c')), 'key');

/** Rule: ids within one list are unique. `path` leads to the list. */
export function uniqueIds(items: readonly { readonly id: string }[], path: readonly (string | number)[], report: Report, key = 'id'): void {
  unique(
    items.map((item) => item.id),
    (index) => [...path, index, key],
    report,
  );
}

/** Rule: values are unique; `pathOf` leads to the value at an index. */
export function unique(values: readonly string[], pathOf: (index: number) => (string | number)[], report: Report): void {
  const seen = new Set<string>();
  for (const [index, value] of values.entries()) {
    if (seen.has(value)) report(pathOf(index), `repeats "${value}", which must be unique here`);
    seen.add(value);
  }
}

/** Rule: `until` is not before `from`, where both are there. */
export function ordered(from: string | undefined, until: string | undefined, path: readonly (string | number)[], report: Report): void {
  if (from !== undefined && until !== undefined && Date.parse(until) < Date.parse(from)) report(path, 'must not be before the start');
}

/** `2026-11-20T09:30:00+01:00` → `2026-11-20 09:30`: local to its own offset, for fallback texts. */
export const saidTime = (at: string) => at.slice(0, 16).replace('T', ' ');
