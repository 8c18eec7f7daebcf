/**
 * The form component; what a person filled in is checked in `form-submission.ts`.
 * What min and max count depends on the field's type and is settled here.
 */
import * as v from 'valibot';
import { FORM_VALUES_MAX } from '../limits.ts';
import { flag } from '../schema/bounded.ts';
import { text } from '../schema/text.ts';
import { defineComponent, type Report } from './component.ts';
import { saidList } from './shapes.ts';
import { isDay } from './text-checks.ts';
import { id, list, said, unique, words } from './values.ts';

/** docs/catalog.md: `options? ≤50`. */
const FORM_OPTIONS_MAX = 50;
/** An option is a short label; the longest label of the catalog. */
const FORM_OPTION_MAX_CHARS = 120;

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
  description: 'Fields to fill in. When you need several values at once; for one decision use choice.',
  example: {
    fields: [
      { name: 'order', label: 'Order', type: 'select', required: true, options: ['A-1', 'A-2'] },
      { name: 'what', label: 'What broke?', type: 'long_text' },
    ],
    submit_label: 'Report',
  },
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
