/**
 * The form component, and the check of what a person filled in (BLOCK-20).
 * What min and max count depends on the field's type and is settled here.
 */
import * as v from 'valibot';
import { ERROR_DETAILS_MAX, FORM_LIST_VALUE_MAX, FORM_VALUE_MAX_CHARS, FORM_VALUES_MAX } from '../limits.ts';
import { type Detail, renderPath } from '../schema/issues.ts';
import { flag } from '../schema/scalars.ts';
import { codePoints, fits, text } from '../schema/text.ts';
import { type Body, defineComponent, type Report } from './component.ts';
import { saidList } from './shapes.ts';
import { id, isDay, isEmail, isPhone, list, said, unique, words } from './values.ts';

/** docs/catalog.md: `options? ≤50`. */
const FORM_OPTIONS_MAX = 50;
/** An option is a short label; the longest label of the catalog. */
const FORM_OPTION_MAX_CHARS = 120;
/** A long text may be as long as a message's list value is in all; chat bodies hold no more. */
const LONG_TEXT_MAX_CHARS = FORM_VALUE_MAX_CHARS * 8;

const bound = v.union([v.pipe(v.number(), v.finite()), v.string()], 'must be a number, or a date for a date field');

const field = v.strictObject({
  name: said(id, 'Key of the value.'),
  label: words(60),
  type: v.picklist(['text', 'long_text', 'number', 'boolean', 'date', 'email', 'phone', 'select', 'multi_select']),
  required: v.optional(flag),
  min: v.optional(said(bound, 'Least characters, value, date or options.')),
  max: v.optional(said(bound, 'Most of the same.')),
  options: v.optional(said(list(words(FORM_OPTION_MAX_CHARS), 1, FORM_OPTIONS_MAX), 'For select and multi_select, required there.')),
  error: v.optional(said(text(120), 'What was wrong before.')),
});
export type FormField = v.InferOutput<typeof field>;

/** What min and max may be for a type; nothing for the types that take none. */
const BOUND_RULES: Partial<Record<FormField['type'], { fits(value: number | string): boolean; message: string }>> = {
  text: { fits: isCount, message: 'must be a number of characters' },
  long_text: { fits: isCount, message: 'must be a number of characters' },
  multi_select: { fits: isCount, message: 'must be a number of options' },
  number: { fits: (value) => typeof value === 'number', message: 'must be a number' },
  date: { fits: (value) => typeof value === 'string' && isDay(value), message: 'must be a date, as 2026-11-20' },
};

function isCount(value: number | string): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function checkField(item: FormField, index: number, report: Report): void {
  const { type, min, max, options } = item;
  const path = ['fields', index];
  const rule = BOUND_RULES[type];
  for (const [key, value] of [['min', min] as const, ['max', max] as const]) {
    if (value === undefined) continue;
    if (rule === undefined) report([...path, key], `is not used with type ${type}`);
    else if (!rule.fits(value)) report([...path, key], rule.message);
  }
  if (min !== undefined && max !== undefined && typeof min === typeof max && min > max) report([...path, 'min'], 'must be at most max');
  const selects = type === 'select' || type === 'multi_select';
  if (selects && options === undefined) report([...path, 'options'], `is required with type ${type}`);
  if (!selects && options !== undefined) report([...path, 'options'], `is not used with type ${type}`);
  if (options !== undefined) unique(options, (at) => [...path, 'options', at], report);
  if (type === 'multi_select' && typeof min === 'number' && options !== undefined && min > options.length) {
    report([...path, 'min'], 'must be at most the number of options');
  }
}

export const form = defineComponent({
  name: 'form',
  description: 'Fields to fill in. Use it when you need several values at once; for one decision use choice.',
  entries: {
    title: v.optional(text(80)),
    fields: list(field, 1, FORM_VALUES_MAX),
    submit_label: words(24),
  },
  rules({ fields }, report) {
    unique(
      fields.map((item) => item.name),
      (index) => ['fields', index, 'name'],
      report,
    );
    for (const [index, item] of fields.entries()) checkField(item, index, report);
  },
  fallback: ({ title, fields }) =>
    saidList(
      title || 'Please tell us',
      fields.map((item) => `\n• ${item.label}${item.required ? ' (required)' : ''}${item.error ? `: ${item.error}` : ''}`),
      '',
    ),
  pick: 'submission',
  carriesFormId: true,
});

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
