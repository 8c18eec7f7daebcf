/** Conversations as the interface answers them. */

const SIGNALS: Readonly<Record<string, string>> = {
  completed: 'is-ok',
  succeeded: 'is-ok',
  failed: 'is-bad',
  expired: 'is-bad',
  declined: '',
};

export function signalOf(state: string): string {
  return SIGNALS[state] ?? 'is-wait';
}
