/** Components that list or align facts: tags, timeline, checklist, comparison, key_value, item_list. */
import * as v from 'valibot';
import { flag } from '../schema/bounded.ts';
import { text } from '../schema/text.ts';
import { defineComponent } from './component.ts';
import { action, checkAction, image, type Money, money, saidList, saidMoney, tone } from './shapes.ts';
import { count, id, list, said, saidTime, time, uniqueIds, words } from './values.ts';

export const tags = defineComponent({
  name: 'tags',
  description: 'Short labels. For attributes, categories or states that need no sentence.',
  entries: {
    label: v.optional(text(40)),
    items: list(v.strictObject({ id, label: words(24), tone: v.optional(tone) }), 1, 12),
  },
  rules: ({ items }, report) => uniqueIds(items, ['items'], report),
  fallback: ({ label, items }) =>
    saidList(
      label,
      items.map((item) => item.label),
      ', ',
    ),
});

const EVENT_STATES = { done: 'done', current: 'in progress', upcoming: 'upcoming', failed: 'failed' } as const;

export const timeline = defineComponent({
  name: 'timeline',
  description: 'Events in order of time. For a history, an itinerary or the steps of a process.',
  entries: {
    title: v.optional(text(80)),
    events: list(
      v.strictObject({
        title: words(80),
        at: v.optional(time),
        detail: v.optional(text(200)),
        state: v.picklist(['done', 'current', 'upcoming', 'failed']),
      }),
      1,
      20,
    ),
  },
  fallback: ({ title, events }) =>
    saidList(
      title,
      events.map(({ title: name, at, state }) => `${name} (${at === undefined ? '' : `${saidTime(at)}, `}${EVENT_STATES[state]})`),
    ),
});

export const checklist = defineComponent({
  name: 'checklist',
  description: 'Things to do, each done or open. For preparations, requirements or progress.',
  entries: {
    title: v.optional(text(80)),
    items: list(v.strictObject({ id, label: words(120), done: flag, detail: v.optional(text(200)) }), 1, 20),
  },
  rules: ({ items }, report) => uniqueIds(items, ['items'], report),
  fallback: ({ title, items }) =>
    saidList(
      title,
      items.map((item) => `\n${item.done ? '☑' : '☐'} ${item.label}`),
      '',
    ),
});

const cell = v.union([text(80), flag, money], 'must be a string of at most 80 characters, true, false, or an amount with its currency');

function saidCell(value: string | boolean | Money): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return saidMoney(value);
}

export const comparison = defineComponent({
  name: 'comparison',
  description: '2 to 4 things side by side. When the person weighs products, plans or offers.',
  example: {
    columns: [
      { id: 's', name: 'Small' },
      { id: 'l', name: 'Large' },
    ],
    rows: [
      { label: 'Price', values: [{ amount: '9.00', currency: 'EUR' }, 'on request'] },
      { label: 'Quiet', values: [true, false] },
    ],
  },
  entries: {
    columns: list(v.strictObject({ id, name: words(40), image: v.optional(image), badge: v.optional(text(20)) }), 2, 4),
    rows: list(v.strictObject({ label: words(40), values: said(list(cell, 2, 4), 'One per column, in order.') }), 1, 12),
    recommended_id: v.optional(said(id, 'Of a column.')),
  },
  rules({ columns, rows, recommended_id: recommended }, report) {
    uniqueIds(columns, ['columns'], report);
    for (const [index, row] of rows.entries()) {
      if (row.values.length !== columns.length)
        report(['rows', index, 'values'], `must hold one value for each of the ${columns.length} columns`);
    }
    if (recommended !== undefined && !columns.some((column) => column.id === recommended)) {
      report(['recommended_id'], 'must be the id of a column');
    }
  },
  fallback({ columns, rows, recommended_id: recommended }) {
    const perColumn = columns.map(({ id: column, name }, at) => {
      const facts = rows.map((row) => `${row.label} ${saidCell(row.values[at] ?? '')}`);
      return `\n${saidList(column === recommended ? `${name} (recommended)` : name, facts, ', ')}`;
    });
    return perColumn.join('');
  },
});

export const keyValue = defineComponent({
  name: 'key_value',
  description: 'Labels with values. For the data of one thing: an account, a booking, a specification.',
  entries: {
    title: v.optional(text(80)),
    rows: list(
      v.strictObject({
        label: words(40),
        value: text(200),
        tone: v.optional(tone),
        copyable: v.optional(flag),
      }),
      1,
      20,
    ),
  },
  fallback: ({ title, rows }) =>
    saidList(
      title,
      rows.map((row) => `\n${row.label}: ${row.value}`),
      '',
    ),
});

export const itemList = defineComponent({
  name: 'item_list',
  description: 'Products, articles, bookings. For results to look at one by one.',
  entries: {
    title: v.optional(text(80)),
    layout: v.picklist(['list', 'grid', 'carousel']),
    items: list(
      v.strictObject({
        id,
        title: words(80),
        subtitle: v.optional(text(120)),
        image: v.optional(image),
        price: v.optional(money),
        badge: v.optional(text(20)),
        tap: v.optional(action),
      }),
      1,
      20,
    ),
    total: v.optional(said(count(), 'When more than shown.')),
  },
  rules: ({ items }, report) => uniqueIds(items, ['items'], report),
  inContext({ items }, context, report) {
    for (const [index, { tap }] of items.entries()) {
      if (tap !== undefined) checkAction(tap, ['items', index, 'tap'], context, report);
    }
  },
  fallback({ title, items, total }) {
    const names = items.map(({ title: name, price }) => `\n• ${name}${price === undefined ? '' : `, ${saidMoney(price)}`}`);
    // Said before the items, which may be cut.
    const more = total !== undefined && total > items.length ? `${items.length} of ${total}` : undefined;
    const heading = [title, more].filter((part) => part !== undefined && part !== '').join(', ');
    return saidList(heading, names, '');
  },
});
