/** `datetime_slots`: a day, then a time; nothing is booked by a press alone. */
import { useState } from 'preact/hooks';
import type { BlockProps, BodyOf } from './block-view.ts';
import { AnswerNote, chosenIds, isOpen } from './parts/answer-note.tsx';
import { clockTime, dated } from './parts/formats.ts';
import { Icon } from './parts/icon.tsx';
import { filled } from './words.ts';

type Body = BodyOf<'datetime_slots'>;
type Slot = Body['days'][number]['slots'][number];

/** Noon in Greenwich is the same day in all but two zones; a date alone has none. */
const dayPart = (date: string, locale: string, options: Intl.DateTimeFormatOptions) =>
  dated(`${date}T12:00:00Z`, locale, { timeZone: 'UTC', ...options });

function slotWords({ start }: Slot, timezone: string, locale: string): string {
  return dated(start, locale, { weekday: 'short', day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit', timeZone: timezone });
}

function isFree(slots: readonly Slot[]): boolean {
  return slots.some(({ available }) => available);
}

export function DatetimeSlots({ block, body, answer, around }: BlockProps<'datetime_slots'>) {
  const { prompt, timezone, duration_min: minutes, days, status } = body;
  const { words, ask, locale } = around;
  const open = isOpen(status, answer);
  const [day, setDay] = useState(() =>
    Math.max(
      0,
      days.findIndex(({ slots }) => isFree(slots)),
    ),
  );
  const [picked, setPicked] = useState<Slot>();
  const past = chosenIds(body, answer);
  const chosen = open ? picked : days.flatMap(({ slots }) => slots).find(({ id }) => past.has(id));
  const none = !days.some(({ slots }) => isFree(slots));
  return (
    <fieldset class={`card slots ${open ? '' : 'is-past'}`}>
      <legend class="title">{prompt}</legend>
      {open ? (
        <>
          <div class="days">
            {days.map(({ date, slots }, at) => (
              <button
                key={date}
                type="button"
                class={`day ${at === day ? 'is-chosen' : ''}`}
                aria-pressed={at === day}
                disabled={!isFree(slots)}
                onClick={() => setDay(at)}
              >
                <small>{dayPart(date, locale, { weekday: 'short' })}</small>
                <b>{dayPart(date, locale, { day: 'numeric' })}</b>
                <small>{dayPart(date, locale, { month: 'short' })}</small>
              </button>
            ))}
          </div>
          {none ? <p class="note">{words.noSlots}</p> : null}
          <div class="times">
            {(days[day]?.slots ?? []).map((slot) => (
              <button
                key={slot.id}
                type="button"
                class={`pill ${slot.id === picked?.id ? 'is-chosen' : ''}`}
                aria-pressed={slot.id === picked?.id}
                disabled={!slot.available}
                onClick={() => setPicked(slot)}
              >
                {clockTime(slot.start, locale, timezone)}
              </button>
            ))}
          </div>
        </>
      ) : chosen === undefined ? null : (
        <p class="when">
          <Icon name="clock" />
          <b>{slotWords(chosen, timezone, locale)}</b>
        </p>
      )}
      <p class="note">
        {minutes === undefined ? '' : `${filled(words.minutes, { count: minutes })} · `}
        {filled(words.times, { zone: timezone.replaceAll('_', ' ') })}
      </p>
      {open && picked !== undefined ? (
        <div class="buttons">
          <button
            type="button"
            class="button is-primary"
            onClick={() => ask.choose(block, [picked.id], slotWords(picked, timezone, locale))}
          >
            {filled(words.book, { when: slotWords(picked, timezone, locale) })}
          </button>
        </div>
      ) : null}
      <AnswerNote status={status} answer={answer} around={around} answered={words.answered} />
    </fieldset>
  );
}
