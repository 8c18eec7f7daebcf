/**
 * `context` of a turn (CHAT-3): what surrounds the question. It helps the answer and is never a reason to go without one, so a field that
 * does not fit is left out. Knows no component of the catalog: clients check with it what an app hands them.
 */
import * as v from 'valibot';
import {
  APP_STATE_MAX_BYTES,
  FORM_LIST_VALUE_MAX,
  FORM_VALUE_MAX_CHARS,
  FORM_VALUES_MAX,
  ID_MAX_CHARS,
  MANIFEST_ROUTE_PARAMS_MAX,
  OPEN_FORMS_MAX,
} from '../limits.ts';
import { boundedList, boundedMap } from '../schema/bounded.ts';
import { type Detail, explain } from '../schema/issues.ts';
import { stated } from '../schema/stated.ts';
import { fitsBytes, text } from '../schema/text.ts';
import { openObject } from './shapes.ts';

/** Any JSON of at most `maxBytes`. */
export function jsonOf(maxBytes: number) {
  return v.pipe(
    v.unknown(),
    stated(
      v.check(
        (value: unknown) => value === undefined || fitsBytes(JSON.stringify(value), maxBytes),
        `must serialize to at most ${maxBytes} bytes`,
      ),
      { description: `Any JSON that serializes to at most ${maxBytes} bytes.` },
    ),
  );
}

const formValue = v.union(
  [
    text(FORM_VALUE_MAX_CHARS * 8),
    v.number(),
    v.boolean(),
    boundedList(text(FORM_VALUE_MAX_CHARS), FORM_LIST_VALUE_MAX, `must list at most ${FORM_LIST_VALUE_MAX} strings`),
  ],
  `must be a string, a number, a boolean or a list of at most ${FORM_LIST_VALUE_MAX} strings of ${FORM_VALUE_MAX_CHARS} characters`,
);

export const formValues = boundedMap(text(ID_MAX_CHARS), formValue, FORM_VALUES_MAX, `must name at most ${FORM_VALUES_MAX} fields`);

const routeParams = boundedMap(
  text(ID_MAX_CHARS),
  v.union([text(FORM_VALUE_MAX_CHARS), v.number(), v.boolean()], 'must be a string, a number or a boolean'),
  MANIFEST_ROUTE_PARAMS_MAX,
  `must name at most ${MANIFEST_ROUTE_PARAMS_MAX} parameters`,
);

export const turnContext = openObject({
  app_state: v.optional(jsonOf(APP_STATE_MAX_BYTES)),
  current_screen: v.optional(
    v.nullable(openObject({ name: text(ID_MAX_CHARS, 1), title: v.optional(text(120)), params: v.optional(routeParams) })),
  ),
  open_forms: v.optional(
    boundedList(
      openObject({ form_id: text(ID_MAX_CHARS, 1), values: formValues }),
      OPEN_FORMS_MAX,
      `must list at most ${OPEN_FORMS_MAX} forms`,
    ),
  ),
});
export type TurnContext = v.InferOutput<typeof turnContext>;

/** What of a context fits, and what is wrong with the rest: of the whole where the path is ''. */
export function fittingContext(told: unknown): {
  readonly fitting: Readonly<Record<string, unknown>>;
  readonly problems: readonly Detail[];
} {
  const { success, issues = [] } = v.safeParse(turnContext, told);
  if (success) return { fitting: told as Record<string, unknown>, problems: [] };
  const wrong = new Set(issues.map(({ path }) => path?.[0].key));
  const fields = wrong.has(undefined) ? [] : Object.entries(told as object);
  return { fitting: Object.fromEntries(fields.filter(([name]) => !wrong.has(name))), problems: explain(issues) };
}
