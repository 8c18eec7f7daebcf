/**
 * Personal data in a text (PRIVACY-1): e-mail addresses, phone numbers, card numbers, IBANs, and whatever looks like a
 * placeholder already.
 *
 * Nearly every text holds nothing: one look decides that. What was found is hidden from the searches that follow, the surest
 * kind first, so that no two findings overlap and the digits of a card are no phone number.
 */
import { LOOKALIKE, PLACEHOLDER_OPENS } from '../../protocol/placeholder.ts';
import { findCards } from './cards.ts';
import type { Finding } from './finding.ts';
import { findIbans } from './ibans.ts';
import { findPhones, type PhonePlace } from './phone-numbers.ts';
import { plainForm } from './plain-form.ts';
import { RedactionWork } from './redaction-work.ts';

/** Arabic-Indic, Persian and full-width digits. */
const OTHER_DIGITS = /[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/;
/** Without an @, a ⟦, or seven digits that belong together there is nothing to find. Each step is bounded: linear. */
const SUSPICIOUS =
  /[@⟦\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]|\d(?:[\s()./+\-_\u0085\u00ad\u200b-\u200d\u2060\u2010-\u2015\u2212\ufe58\ufe63\uff0d]{0,7}\d){6}/;
const DIGITS = /\d(?:[\s()./+\-_\u0085\u00ad\u200b-\u200d\u2060\u2010-\u2015\u2212\ufe58\ufe63\uff0d]{0,7}\d){6}/;

/** IBANs, cards and phone numbers. */
const DIGIT_RULES = 3;
const NOTHING: readonly Finding[] = Object.freeze([]);

/** RFC 5321: octets of what stands before the @. */
const LOCAL_PART_MAX_CHARS = 64;
/** Less than the standard allows: where others of its characters stand before an address, as in `to=`, they are no part of it. */
const LOCAL_PART_CHAR = /^[\p{L}\p{M}\p{N}._%+'-]$/u;
const LOCAL_PART_EDGE = /^[.'-]+/;
/** Labels and dots, at least two, the last one of letters (or punycode). */
const DOMAIN = /(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+(?:xn--[a-z0-9-]{2,59}|\p{L}{2,63})/iuy;

/** What may stand before the @ that follows `before`, read from its end. */
function localPart(before: string): string {
  const chars = Array.from(before);
  const first = chars.findLastIndex((char) => !LOCAL_PART_CHAR.test(char)) + 1;
  return chars.slice(first).join('').replace(LOCAL_PART_EDGE, '');
}

/** Each address is read from its @ both ways, each way bounded. */
function findEmails(text: string): Finding[] {
  const findings: Finding[] = [];
  let from = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    DOMAIN.lastIndex = at + 1;
    if (at === from || !DOMAIN.test(text)) continue;
    const end = DOMAIN.lastIndex;
    const local = localPart(text.slice(Math.max(from, at - LOCAL_PART_MAX_CHARS), at));
    if (local === '') continue;
    const start = at - local.length;
    findings.push({ kind: 'email', start, end, value: text.slice(start, end) });
    from = end;
  }
  return findings;
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
  if (rest.includes('@')) take(findEmails(rest));
  if (OTHER_DIGITS.test(rest) || DIGITS.test(rest)) {
    rest = plainForm(rest);
    take(findIbans(rest));
    take(findCards(rest));
    take(findPhones(rest, place));
  }
  return findings
    .sort((one, other) => one.start - other.start)
    .map(({ kind, start, end }) => ({ kind, start, end, value: text.slice(start, end) }));
}

/** How many rules are run over `text`: 0 when there is nothing to find in it. `lookalikes`: see findPersonalData. */
export function rulesFor(text: string, lookalikes = true): number {
  if (!SUSPICIOUS.test(text)) return 0;
  const hasDigits = OTHER_DIGITS.test(text) || DIGITS.test(text);
  return Number(lookalikes && text.includes(PLACEHOLDER_OPENS)) + Number(text.includes('@')) + (hasDigits ? DIGIT_RULES : 0);
}

/**
 * Personal data in `text`, in order, never overlapping.
 * `regions` are the countries (`DE`) whose national phone numbers are read; see regionsOf. `label` is the name of the field
 * that holds the text, '' when it has none: an `order_id` is no phone number, and seven digits under `phone` are one.
 * `work` is what the request has left for the looking up of numbers; without it a text has as much as a request.
 * `lookalikes`: whether text that looks like a placeholder is found; it is no part of anything else in any case.
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
