/** All scenarios, in the order in which they are read. */
import { COMPONENT_SCENARIOS } from './components.ts';
import { CONVERSATIONS } from './conversations.ts';
import type { Scenario } from './scenario.ts';

export const SCENARIOS: readonly Scenario[] = [...CONVERSATIONS, ...COMPONENT_SCENARIOS];
