/** Which conversations a query of the console asks for (CONSOLE-27). */
import { Refusal } from '../../protocol/errors.ts';
import { TURN_STATES } from '../../protocol/runtime/states.ts';
import type { ConversationFilter } from '../../storage/conversations/transcripts.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d)$/;

/** Milliseconds since 1970; null when the query does not say. @throws Refusal 400 invalid_request for anything but a time of RFC 3339. */
function timeOf(query: URLSearchParams, name: string): number | null {
  const given = query.get(name);
  if (given === null) return null;
  const atMs = TIME.test(given) ? Date.parse(given) : Number.NaN;
  if (!(atMs >= 0)) throw new Refusal('invalid_request', `${name} must be a time such as 2026-11-21T12:00:00Z.`);
  return atMs;
}

/** One of `values`; null when the query does not say. @throws Refusal 400 invalid_request for anything else. */
function oneOf<Value extends string>(query: URLSearchParams, name: string, values: readonly Value[]): Value | null {
  const given = query.get(name);
  if (given === null) return null;
  const value = values.find((each) => each === given);
  if (value === undefined) throw new Refusal('invalid_request', `${name} must be one of ${values.join(', ')}.`);
  return value;
}

/** @throws Refusal 400 invalid_request that names what is malformed. */
export function filterOf(query: URLSearchParams): ConversationFilter {
  const rating = oneOf(query, 'rating', ['1', '-1']);
  return {
    endUserId: query.get('end_user_id'),
    channel: oneOf(query, 'channel', ['live', 'sandbox']),
    state: oneOf(query, 'state', TURN_STATES),
    rating: rating === null ? null : rating === '1' ? 1 : -1,
    fromMs: timeOf(query, 'from'),
    toMs: timeOf(query, 'to'),
  };
}
