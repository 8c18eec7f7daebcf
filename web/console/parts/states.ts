/**
 * One word and one colour for each state, on every page. Green: it is as it should be. Blue: it goes on by itself. Amber: it waits for you.
 * Red: it failed. Grey: it is over, or there is nothing to be done about it.
 */
type Signal = 'is-ok' | 'is-accent' | 'is-wait' | 'is-bad' | '';

const SIGNALS: Readonly<Record<Exclude<Signal, 'is-accent'>, readonly string[]>> = {
  'is-ok': [
    ...['completed', 'succeeded', 'done', 'live', 'indexed', 'approved', 'passed', 'helpful', 'added'],
    ...['current', 'connected', 'claimed', 'entered', 'charged', 'manual', 'sent', 'on', 'in_both', 'in_the_build', 'serving', 'answers'],
  ],
  'is-wait': [
    ...['open', 'waiting', 'undecided', 'blocked', 'building', 'left', 'not_entered', 'not_connected', 'waits_for_a_key'],
    ...['twice', 'differs', 'planned'],
  ],
  'is-bad': ['failed', 'timed_out', 'unknown', 'interrupted', 'aborted', 'suspended', 'not_helpful', 'missing', 'away'],
  '': [
    ...['new', 'newest', 'newest_only', 'requested', 'continued', 'declined', 'rejected', 'replaced', 'cancelled', 'expired', 'over'],
    ...['archived', 'progress', 'not_following'],
  ],
};

const SIGNAL_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(SIGNALS).flatMap(([signal, states]) => states.map((state) => [state, signal])),
);

/** What has no entry is on its way. */
export function signalOf(state: string): string {
  return SIGNAL_OF.get(state) ?? 'is-accent';
}

const WORDS: Readonly<Record<string, string>> = {
  awaiting_confirmation: 'waits for a yes',
  awaiting_tool_results: 'waits for the app',
  open: 'waits for your agent',
  waiting: 'waits for you',
  undecided: 'waits for you',
  building: 'not live yet',
  blocked: 'live · blocked',
  running: 'at work',
  'pending.clean': 'waits for a yes',
  'pending.editing': 'waits for a yes',
  'pending.rejected': 'waits for a yes',
  pending: 'waits its turn',
  indexing: 'being indexed',
  cancelled: 'stopped',
  over: 'done',
  left: 'left unfinished',
};

/** A state as a person says it. */
export function stateWords(state: string): string {
  return WORDS[state] ?? state.replaceAll('_', ' ');
}
