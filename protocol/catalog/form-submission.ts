/** What is wrong with what a person filled in (BLOCK-20). No schema is made here, so that clients check the same way before they send. */
import { ERROR_DETAILS_MAX, FORM_LIST_VALUE_MAX, FORM_VALUE_MAX_CHARS } from '../limits.ts';
import { type Detail, renderPath } from '../schema/issues.ts';
import { codePoints, fits } from '../schema/text.ts';
import type { Body } from './component.ts';
import type { FormField } from './forms.ts';
import { isDay, isEmail, isPhone } from './text-checks.ts';

/** A long text may be as long as a message's list value is in all; chat bodies hold no more. */
const LONG_TEXT_MAX_CHARS = FORM_VALUE_MAX_CHARS * 8;

function lengthProblem(value: string, { min, max }: FormField, most: number): string | undefined {
  const limit = typeof max === 'number' ? Math.min(max, most) : most;
  if (!fits(value, limit)) return `must be at most ${limit} characters`;
  return typeof min === 'number' && codePoints(value) < min ? `must be at least ${min} characters` : undefined;
}

function rangeProblem<T extends number | string>(value: T, { min, max }: FormField): string | undefined {
  if (typeof min === typeof value && value < (min as T)) return `must be at least ${min}`;
  return typeof max === typeof value && value > (max as T) ? `must be at most ${max}` : undefined;
}

function listProblem(value: unknown, { min, max, options = [] }: FormField): string | undefined {
  if (!Array.isArray(value) || value.length > FORM_LIST_VALUE_MAX) return 'must be a list of options';
  if (value.some((item) => !options.includes(item as string)) || new Set(value).size !== value.length)
    return 'must list options of this field';
  if (typeof min === 'number' && value.length < min) return `must list at least ${min} options`;
  return typeof max === 'number' && value.length > max ? `must list at most ${max} options` : undefined;
}

function valueProblem(value: unknown, item: FormField): string | undefined {
  switch (item.type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? rangeProblem(value, item) : 'must be a number';
    case 'multi_select':
      return listProblem(value, item);
  }
  if (typeof value !== 'string') return 'must be a string';
  switch (item.type) {
    case 'text':
      return lengthProblem(value, item, FORM_VALUE_MAX_CHARS);
    case 'long_text':
      return lengthProblem(value, item, LONG_TEXT_MAX_CHARS);
    case 'date':
      return isDay(value) ? rangeProblem(value, item) : 'must be a date, as 2026-11-20';
    case 'email':
      return fits(value, FORM_VALUE_MAX_CHARS) && isEmail(value) ? undefined : 'must be an e-mail address';
    case 'phone':
      return fits(value, FORM_VALUE_MAX_CHARS) && isPhone(value) ? undefined : 'must be a phone number';
    case 'select':
      return item.options?.includes(value) ? undefined : 'must be an option of this field';
  }
}

/** Nothing was given: left out, an empty text, or an empty list. */
function isBlank(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    (typeof value === 'string' && value.trim() === '') ||
    (Array.isArray(value) && value.length === 0)
  );
}

/**
 * What is wrong with `values` as a submission of the form `body` (a valid one): at most twelve details with paths below
 * `values`, none when it is good. A field left blank is wrong only when required; a required boolean may be false.
 */
export function submissionProblems(body: Body, values: Readonly<Record<string, unknown>>): Detail[] {
  const fields = body.fields as readonly FormField[];
  const details: Detail[] = [];
  const report = (name: string, message: string) => details.push({ path: renderPath(['values', name]), message });
  const known = new Set(fields.map((item) => item.name));
  for (const name of Object.keys(values)) {
    if (!known.has(name)) report(name, 'is not a field of this form');
  }
  for (const item of fields) {
    const value = Object.hasOwn(values, item.name) ? values[item.name] : undefined;
    const problem = isBlank(value) ? (item.required ? 'is required' : undefined) : valueProblem(value, item);
    if (problem !== undefined) report(item.name, problem);
  }
  return details.slice(0, ERROR_DETAILS_MAX);
}
