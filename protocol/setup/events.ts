/** Body of POST /events (SETUP-47, SETUP-48): one event, a list, or a list with a discovery report. */
import * as v from 'valibot';
import { EVENT_DATA_MAX_CHARS, EVENT_DETAIL_MAX_CHARS, EVENT_TITLE_MAX_CHARS, EVENTS_PER_REQUEST_MAX } from '../limits.ts';
import { isObject } from '../schema/bounded.ts';
import { parseOrRefuse } from '../schema/parse.ts';
import { stated } from '../schema/stated.ts';
import { fits, text } from '../schema/text.ts';
import { type Detected, detected } from './detected.ts';
import { fields, listOf } from './shapes.ts';
import { AGENT_STEPS, EVENT_STATUSES } from './steps.ts';

const data = v.pipe(
  // Not a record: that would leave out names such as `constructor`, which the app's data may well have.
  stated(v.custom<Readonly<Record<string, unknown>>>(isObject, 'must be an object'), { type: 'object' }),
  stated(
    v.check(
      (value: Readonly<Record<string, unknown>>) => fits(JSON.stringify(value), EVENT_DATA_MAX_CHARS),
      `must be at most ${EVENT_DATA_MAX_CHARS} characters of JSON`,
    ),
    {},
  ),
  v.description(`At most ${EVENT_DATA_MAX_CHARS} characters when written as JSON without white space.`),
);

const event = fields({
  step: v.picklist(AGENT_STEPS),
  status: v.picklist(EVENT_STATUSES),
  title: v.optional(text(EVENT_TITLE_MAX_CHARS)),
  detail: v.optional(text(EVENT_DETAIL_MAX_CHARS)),
  data: v.optional(data),
});
export type ProgressEvent = Readonly<v.InferOutput<typeof event>>;

const events = listOf(event, 1, EVENTS_PER_REQUEST_MAX);
/** Its list may be empty: there may be nothing to tell beside what was detected. */
const report = fields({ events: listOf(event, 0, EVENTS_PER_REQUEST_MAX), detected: v.optional(detected) });

/** The three forms together, as they are published. */
export const eventsBody = v.union([event, events, report]);

export interface EventsReport {
  readonly events: readonly ProgressEvent[];
  readonly detected: Detected | undefined;
}

/**
 * The body in its one inner form. @throws Refusal 400 invalid_body that names the field as the body has it: `title`,
 * `[3].title` or `events[3].title`.
 */
export function parseEvents(body: unknown): EventsReport {
  if (Array.isArray(body)) return { events: parseOrRefuse(events, body, 'invalid_body'), detected: undefined };
  if (isObject(body) && Object.hasOwn(body, 'events')) {
    const accepted = parseOrRefuse(report, body, 'invalid_body');
    return { events: accepted.events, detected: accepted.detected };
  }
  return { events: [parseOrRefuse(event, body, 'invalid_body')], detected: undefined };
}
