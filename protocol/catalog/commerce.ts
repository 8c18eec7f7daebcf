/** Components of buying: order_tracker, variant_picker, pass. */
import * as v from 'valibot';
import { ID_MAX_CHARS } from '../limits.ts';
import { flag } from '../schema/bounded.ts';
import { text } from '../schema/text.ts';
import { selectableOptions } from './choices.ts';
import { defineComponent, type Selectable } from './component.ts';
import { action, checkActions, image, lines, money, optionEntries, saidAction, saidList } from './shapes.ts';
import { anyList, count, hexColour, id, list, ordered, said, saidTime, time, unique, uniqueIds, webUrl, words } from './values.ts';

const ORDER_STATUSES = [
  'placed',
  'confirmed',
  'preparing',
  'shipped',
  'out_for_delivery',
  'delivered',
  'delayed',
  'cancelled',
  'returned',
] as const;

function saidEta(eta: { from?: string | undefined; until?: string | undefined } | undefined): string | undefined {
  if (eta?.from === undefined && eta?.until === undefined) return undefined;
  if (eta.from === undefined) return `Expected until ${saidTime(eta.until ?? '')}`;
  return eta.until === undefined
    ? `Expected from ${saidTime(eta.from)}`
    : `Expected from ${saidTime(eta.from)} until ${saidTime(eta.until)}`;
}

export const orderTracker = defineComponent({
  name: 'order_tracker',
  description: 'Where one order stands. With the status and times an action returned.',
  example: {
    order_id: 'A-1',
    status: 'shipped',
    steps: [
      { label: 'Ordered', state: 'done', at: '2026-11-20T18:04:00+01:00' },
      { label: 'On its way', state: 'current' },
    ],
  },
  entries: {
    order_id: words(ID_MAX_CHARS),
    status: v.picklist(ORDER_STATUSES),
    steps: list(
      v.strictObject({ label: words(40), state: v.picklist(['done', 'current', 'pending', 'failed']), at: v.optional(time) }),
      2,
      8,
    ),
    eta: v.optional(v.strictObject({ from: v.optional(time), until: v.optional(time) })),
    carrier: v.optional(text(40)),
    tracking_number: v.optional(text(64)),
    tracking_url: v.optional(webUrl),
    items: anyList(v.strictObject({ name: words(80), quantity: count(1), image: v.optional(image), price: v.optional(money) }), 10),
    actions: anyList(action, 2),
  },
  rules: ({ eta }, report) => ordered(eta?.from, eta?.until, ['eta', 'until'], report),
  inContext: ({ actions }, context, report) => checkActions(actions, 'actions', context, report),
  fallback({ order_id: order, status, steps, eta, carrier, tracking_number: number, tracking_url: url, items, actions }) {
    const current = steps.find((step) => step.state === 'current') ?? steps.find((step) => step.state === 'failed');
    return lines(
      `Order ${order}: ${status.replaceAll('_', ' ')}`,
      current?.label,
      saidEta(eta),
      carrier || number ? `Tracking: ${[carrier, number].filter(Boolean).join(' ')}` : undefined,
      url,
      items.map((item) => `${item.quantity} × ${item.name}`).join(', '),
      saidList(undefined, actions.map(saidAction)),
    );
  },
});

const axisOption = v.strictObject({ ...optionEntries, hex: v.optional(said(hexColour, 'As #1a2b3c.')) });

const axis = v.strictObject({
  id,
  label: words(40),
  display: v.picklist(['chip', 'swatch', 'dropdown']),
  options: list(axisOption, 1, 24),
});

const variant = v.strictObject({
  id,
  option_ids: said(list(id, 1, 3), 'One option id of each axis.'),
  price: v.optional(money),
  available: flag,
});

interface Axes {
  readonly axes: readonly v.InferOutput<typeof axis>[];
  readonly variants: readonly v.InferOutput<typeof variant>[];
}

/** An option is disabled when it says so, or when no available variant has it. */
function axisIds({ axes, variants }: Axes): Map<string, Selectable> {
  const sold = new Set(variants.flatMap((item) => (item.available ? item.option_ids : [])));
  return selectableOptions(
    axes.flatMap(({ options }) => options.map((item) => ({ id: item.id, disabled: item.disabled || !sold.has(item.id) }))),
  );
}

/** One option of each axis, and together a variant that can be had. */
function variantProblem({ axes, variants }: Axes, ids: readonly string[]): string | undefined {
  const onePerAxis = axes.every(({ options }) => options.filter((item) => ids.includes(item.id)).length === 1);
  if (!onePerAxis || ids.length !== axes.length) return `must name one option of each of: ${axes.map((item) => item.label).join(', ')}`;
  const chosen = variants.find((item) => item.option_ids.every((wanted) => ids.includes(wanted)));
  return chosen?.available ? undefined : 'names a combination that is not available';
}

export const variantPicker = defineComponent({
  name: 'variant_picker',
  description: 'Size, colour and the like. When the person wants a product that comes in variants.',
  example: {
    product_id: 'mug',
    title: 'Mug',
    axes: [{ id: 'size', label: 'Size', display: 'chip', options: [{ id: 's', label: 'Small' }] }],
    variants: [{ id: 'mug-s', option_ids: ['s'], price: { amount: '9.00', currency: 'EUR' }, available: true }],
  },
  entries: {
    product_id: id,
    title: words(80),
    image: v.optional(image),
    axes: said(list(axis, 1, 3), 'What varies. Option ids are unique over all.'),
    variants: said(list(variant, 1, 100), 'Combinations that exist.'),
    quantity: v.optional(v.strictObject({ min: count(), max: count(1) })),
  },
  rules({ axes, variants, quantity }, report) {
    uniqueIds(axes, ['axes'], report);
    uniqueIds(variants, ['variants'], report);
    const shown = axes.flatMap((item, at) =>
      item.options.map((one, index) => ({ id: one.id, path: ['axes', at, 'options', index, 'id'] })),
    );
    unique(
      shown.map((item) => item.id),
      (index) => shown[index]?.path ?? [],
      report,
    );
    const axisOf = new Map(axes.flatMap((item, at) => item.options.map((one) => [one.id, at] as const)));
    for (const [index, { option_ids: ids }] of variants.entries()) {
      const unknown = ids.find((wanted) => !axisOf.has(wanted));
      if (unknown !== undefined) report(['variants', index, 'option_ids'], `names "${unknown}", which no axis offers`);
      else if (ids.length !== axes.length || new Set(ids.map((wanted) => axisOf.get(wanted))).size !== axes.length) {
        report(['variants', index, 'option_ids'], 'must name one option of each axis');
      }
    }
    if (quantity !== undefined && quantity.min > quantity.max) report(['quantity', 'min'], 'must be at most max');
  },
  fallback: ({ title, axes, variants }) =>
    lines(
      title,
      ...axes.map(({ label, options }) => `${label}: ${options.map((item) => item.label).join(', ')}`),
      !variants.some((item) => item.available) && 'Nothing is available',
    ),
  pick: {
    ids: axisIds,
    label: ({ axes }, wanted) => axes.flatMap((item) => item.options).find((item) => item.id === wanted)?.label ?? wanted,
    problem: variantProblem,
    subject: 'product_id',
  },
});

export const pass = defineComponent({
  name: 'pass',
  description: 'A ticket, coupon or card to show or scan. With a code an action returned, never one made up.',
  entries: {
    kind: v.picklist(['boarding', 'event', 'coupon', 'loyalty', 'ticket']),
    title: words(60),
    barcode: v.optional(
      v.strictObject({
        format: v.picklist(['qr', 'pdf417', 'aztec', 'code128']),
        value: words(1_024),
        alt: said(text(64), 'Printed below.'),
      }),
    ),
    fields: anyList(v.strictObject({ label: words(40), value: text(80) }), 8),
    valid_from: v.optional(time),
    valid_until: v.optional(time),
  },
  rules: ({ valid_from: from, valid_until: until }, report) => ordered(from, until, ['valid_until'], report),
  fallback: ({ title, barcode, fields, valid_from: from, valid_until: until }) =>
    lines(
      title,
      fields.map((field) => `${field.label}: ${field.value}`).join('; '),
      from !== undefined && `Valid from ${saidTime(from)}`,
      until !== undefined && `Valid until ${saidTime(until)}`,
      barcode !== undefined && saidList('Code', [barcode.alt || barcode.value]),
    ),
});
