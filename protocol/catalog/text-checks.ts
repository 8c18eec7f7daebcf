/** What a text is: an address, a number to dial, a time. Plain functions without schemas, for clients as well. */

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const CALENDAR_DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
/** Privacy placeholders (PRIVACY-1) stand where the person's own address or number was. */
const PLACEHOLDER = /⟦[a-z]+_\d+⟧/;

function isUrl(value: string, schemes: RegExp): boolean {
  // The parser drops blanks and control characters silently, and `https://bank.example@elsewhere.example` leads to the second one: an address
  // with any of them is not what it looks like.
  return schemes.test(value) && !/[\s<>"\\\p{Cc}]|^\w+:\/*[^/?#]*@/u.test(value) && URL.canParse(value);
}

export const isWebUrl = (value: string) => isUrl(value, /^https?:\/\//i);
export const isHttpsUrl = (value: string) => isUrl(value, /^https:\/\//i);
/** True of a mail address, or of a text that holds a placeholder for one. */
export const isEmail = (value: string) => PLACEHOLDER.test(value) || /^[^\s@<>]+@[^\s@<>]+$/.test(value);
/** True of what a telephone can dial, or of a text that holds a placeholder for it. */
export const isPhone = (value: string) => PLACEHOLDER.test(value) || /^\+?[\s().*#/-]*\d[\d\s().*#/-]*$/.test(value);
/** True of `tel:`, `javascript:` and the like: a link in all but an http(s) scheme. */
export const hasForeignScheme = (value: string) => /^\s*[a-z][a-z0-9+.-]*:/i.test(value) && !isWebUrl(value);

function isCalendarDate(year: number, month: number, day: number): boolean {
  const at = new Date(Date.UTC(year, month - 1, day));
  // Years below 100 would be read as 19xx.
  at.setUTCFullYear(year, month - 1, day);
  return at.getUTCMonth() === month - 1 && at.getUTCDate() === day;
}

function isDated(value: string, pattern: RegExp): boolean {
  const [, year, month, day] = pattern.exec(value) ?? [];
  return year !== undefined && isCalendarDate(Number(year), Number(month), Number(day));
}

/** True of RFC 3339 with offset, of a day that there is. */
export const isTime = (value: string) => isDated(value, RFC3339);
export const isDay = (value: string) => isDated(value, CALENDAR_DATE);
