import { countrySpecs, ValidationErrorsIBAN, validateIBAN } from 'ibantools';
import type { Finding } from './placeholder.ts';
import { GAP, GLUE } from './plain-form.ts';

/** A country, check digits and at least the shortest account's characters (Norway's eleven). */
const IBAN = new RegExp(`(?<![${GLUE}](?<!iban))[A-Z]{2} ?\\d{2}(?:${GAP}[A-Z0-9]){11}`, 'giu');
const IBAN_NEXT = new RegExp(`${GAP}[A-Z0-9]`, 'iy');
const GLUED = new RegExp(`[${GLUE}]`, 'u');

/** Where the `chars` letters and digits end that begin at `start`; undefined when there are fewer, or more follow at once. */
function endOfIban(text: string, start: number, chars: number): number | undefined {
  let end = start;
  for (let taken = 0; taken < chars; taken++) {
    IBAN_NEXT.lastIndex = end;
    if (!IBAN_NEXT.test(text)) return undefined;
    end = IBAN_NEXT.lastIndex;
  }
  return GLUED.test(text.charAt(end)) ? undefined : end;
}

function isIban(written: string): boolean {
  const compact = written.replace(/[^A-Za-z0-9]/g, '').toUpperCase();
  // Some countries check their banks' numbers once more; an IBAN that a person got wrong there tells as much.
  return validateIBAN(compact).errorCodes.every((code) => code === ValidationErrorsIBAN.WrongAccountBankBranchChecksum);
}

/** IBANs of their country's length and with the right remainder of 97. `text` is in plain form. */
export function findIbans(text: string): Finding[] {
  const findings: Finding[] = [];
  IBAN.lastIndex = 0;
  for (let match = IBAN.exec(text); match !== null; match = IBAN.exec(text)) {
    const start = match.index;
    const chars = countrySpecs[match[0].slice(0, 2).toUpperCase()]?.chars;
    const end = typeof chars === 'number' ? endOfIban(text, start, chars) : undefined;
    const value = end === undefined ? undefined : text.slice(start, end);
    const isFound = end !== undefined && value !== undefined && isIban(value);
    if (isFound) findings.push({ kind: 'iban', start, end, value });
    IBAN.lastIndex = isFound ? end : start + 1;
  }
  return findings;
}
