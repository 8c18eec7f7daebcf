/** All scenarios, in the order in which they are read, and which of them ask for no understanding. */
import { COMPONENT_SCENARIOS } from './components.ts';
import { CONVERSATIONS } from './conversations.ts';
import type { Scenario } from './scenario.ts';

/** What is named in the message, what was found and what a call brought says all that is wanted. */
const PLAIN = new Set([
  ...['email-passed-on', 'two-things', 'parameter-wrong', 'order_tracker-asked', 'read-answered', 'read-failed', 'read-late'],
  ...['typed-yes', 'confirmed', 'declined', 'write-failed', 'form-sent'],
  ...['not-known', 'injected-state', 'section-asked', 'key_points-asked'],
]);

export const SCENARIOS: readonly Scenario[] = [...CONVERSATIONS, ...COMPONENT_SCENARIOS].map((scenario) => ({
  ...scenario,
  isPlain: PLAIN.has(scenario.name),
}));
