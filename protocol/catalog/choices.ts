/** Components answered by choosing among a few things: quick_replies, choice, rating. */
import * as v from 'valibot';
import { flag, whole } from '../schema/bounded.ts';
import { text } from '../schema/text.ts';
import { defineComponent, type Selectable } from './component.ts';
import { option, saidList } from './shapes.ts';
import { id, list, said, uniqueIds, words } from './values.ts';

const OPTIONS_MAX = 24;

/** Ids with their state, in the order shown. */
export function selectableOptions(
  options: readonly { readonly id: string; readonly disabled?: boolean | undefined }[],
): Map<string, Selectable> {
  return new Map(options.map((item) => [item.id, { disabled: item.disabled === true }]));
}

function labelOf(items: readonly { readonly id: string; readonly label: string }[], wanted: string): string {
  return items.find((item) => item.id === wanted)?.label ?? wanted;
}

export function exactlyOne(ids: readonly string[]): string | undefined {
  return ids.length === 1 ? undefined : 'must name exactly one option';
}

export const quickReplies = defineComponent({
  name: 'quick_replies',
  description: 'Follow-ups to send with one tap. Last, when the next questions are easy to guess.',
  entries: { replies: list(v.strictObject({ id, label: words(24) }), 1, 6) },
  rules: ({ replies }, report) => uniqueIds(replies, ['replies'], report),
  fallback: ({ replies }) => saidList('You can reply', [replies.map((reply) => reply.label).join(' / ')]),
  pick: {
    ids: ({ replies }) => selectableOptions(replies),
    label: ({ replies }, wanted) => labelOf(replies, wanted),
    problem: (_body, ids) => exactlyOne(ids),
  },
});

export const choice = defineComponent({
  name: 'choice',
  description: 'A question with options to pick from. When you need a decision to go on.',
  entries: {
    prompt: words(200),
    mode: v.picklist(['single', 'multi']),
    options: list(option, 2, OPTIONS_MAX),
    min: v.optional(said(whole(0, OPTIONS_MAX), 'Fewest to pick.')),
    max: v.optional(said(whole(1, OPTIONS_MAX), 'Most to pick.')),
    other: v.optional(said(v.strictObject({ label: words(40) }), 'Allows own words.')),
    submit_label: v.optional(text(24)),
  },
  rules({ mode, options, min, max }, report) {
    uniqueIds(options, ['options'], report);
    const most = Math.min(max ?? options.length, options.length);
    if (max !== undefined && max > options.length) report(['max'], `must be at most the number of options, ${options.length}`);
    if (min !== undefined && min > most)
      report(['min'], max === undefined ? 'must be at most the number of options' : 'must be at most max');
    if (mode === 'single' && max !== undefined && max > 1) report(['max'], 'must be 1 when mode is single');
    if (mode === 'single' && min !== undefined && min > 1) report(['min'], 'must be at most 1 when mode is single');
  },
  fallback({ prompt, options, other }) {
    const labels = options.map((item) => (item.disabled ? `${item.label} (not available)` : item.label));
    return saidList(
      prompt.replace(/:$/, ''),
      [...labels, ...(other === undefined ? [] : [other.label])].map((label) => `\n• ${label}`),
      '',
    );
  },
  pick: {
    ids: ({ options }) => selectableOptions(options),
    label: ({ options }, wanted) => labelOf(options, wanted),
    acceptsOther: ({ other }) => other !== undefined,
    problem({ mode, options, min, max }, ids, hasOtherText) {
      const picked = ids.length + (hasOtherText ? 1 : 0);
      // Own words come on top of the options, so "all of them and this" is an answer when no max is set.
      const most = mode === 'single' ? 1 : (max ?? options.length + 1);
      const least = min ?? 1;
      if (picked < least) return `must name at least ${least} of the options`;
      return picked > most ? `must name at most ${most} of the options` : undefined;
    },
  },
});

/** The values of a rating, 1 to its scale, as the ids of a selection. */
function scaleIds(scale: number): string[] {
  return Array.from({ length: scale }, (_unused, index) => String(index + 1));
}

export const rating = defineComponent({
  name: 'rating',
  description: 'Asks for a score. After an order or a conversation, to ask how it went.',
  entries: {
    prompt: words(160),
    scale: said(v.picklist([3, 5, 10]), 'The best score.'),
    style: v.picklist(['stars', 'emoji', 'number']),
    comment: v.optional(flag),
  },
  fallback: ({ prompt, scale }) => `${prompt} (1 to ${scale})`,
  pick: {
    ids: ({ scale }) => selectableOptions(scaleIds(scale).map((value) => ({ id: value }))),
    label: ({ scale }, wanted) => `${wanted} of ${scale}`,
    acceptsOther: ({ comment }) => comment === true,
    problem: (_body, ids) => (ids.length === 1 ? undefined : 'must name exactly one score'),
  },
});
