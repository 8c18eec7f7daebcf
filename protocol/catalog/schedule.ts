/** The component for picking an appointment: datetime_slots. */
import * as v from 'valibot';
import { flag, whole } from '../schema/bounded.ts';
import { exactlyOne, selectableOptions } from './choices.ts';
import { defineComponent } from './component.ts';
import { lines } from './shapes.ts';
import { day, id, list, ordered, said, saidTime, time, timezone, unique, words } from './values.ts';

const DAYS_MAX = 14;
const SLOTS_PER_DAY_MAX = 24;
const SLOTS_MAX = 100;
/** A slot that lasts longer than its whole calendar is none. */
const DURATION_MAX_MINUTES = DAYS_MAX * 24 * 60;
/** A fallback text names the first free slots and says that there are more. */
const SLOTS_IN_FALLBACK = 6;

const slot = v.strictObject({
  id,
  start: time,
  end: v.optional(time),
  available: flag,
});

interface Days {
  readonly days: readonly { readonly slots: readonly v.InferOutput<typeof slot>[] }[];
}

const slotsOf = ({ days }: Days) => days.flatMap((item) => item.slots);

export const datetimeSlots = defineComponent({
  name: 'datetime_slots',
  description: 'Times to pick one from. To book an appointment, a table or a delivery, with slots an action returned.',
  example: {
    prompt: 'When?',
    timezone: 'Europe/Madrid',
    days: [{ date: '2026-11-20', slots: [{ id: '9', start: '2026-11-20T09:00:00+01:00', available: true }] }],
  },
  entries: {
    prompt: words(200),
    timezone,
    duration_min: v.optional(said(whole(1, DURATION_MAX_MINUTES), 'Minutes a slot lasts.')),
    days: said(
      list(v.strictObject({ date: day, slots: list(slot, 1, SLOTS_PER_DAY_MAX) }), 1, DAYS_MAX),
      `At most ${SLOTS_MAX} slots in all, ids unique over all.`,
    ),
  },
  rules({ days }, report) {
    const total = slotsOf({ days }).length;
    if (total > SLOTS_MAX) report(['days'], `must hold at most ${SLOTS_MAX} slots in all, not ${total}`);
    unique(
      days.map((item) => item.date),
      (index) => ['days', index, 'date'],
      report,
    );
    const shown = days.flatMap((item, at) => item.slots.map((one, index) => ({ ...one, path: ['days', at, 'slots', index] })));
    unique(
      shown.map((item) => item.id),
      (index) => [...(shown[index]?.path ?? []), 'id'],
      report,
    );
    for (const { start, end, path } of shown) ordered(start, end, [...path, 'end'], report);
  },
  fallback({ prompt, timezone: zone, days }) {
    const free = slotsOf({ days }).filter((item) => item.available);
    const first = free.slice(0, SLOTS_IN_FALLBACK).map((item) => saidTime(item.start));
    const more = free.length > first.length ? `and ${free.length - first.length} more` : undefined;
    return lines(prompt, free.length === 0 ? 'No time is free' : `${first.join(', ')} (${zone})`, more);
  },
  pick: {
    ids: (body) => selectableOptions(slotsOf(body).map((item) => ({ id: item.id, disabled: !item.available }))),
    label: (body, wanted) => saidTime(slotsOf(body).find((item) => item.id === wanted)?.start ?? wanted),
    problem: (_body, ids) => exactlyOne(ids),
    subject: 'prompt',
  },
});
