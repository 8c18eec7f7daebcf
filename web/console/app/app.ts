/** An app and its organisation as the interface answers them, and its state in words. */
import type { App } from '../../../protocol/console/answers.ts';
import type { AppStatus, Check } from '../../../protocol/console/setup-answers.ts';

export type { App, Organisation } from '../../../protocol/console/answers.ts';

export function appPath(id: string): string {
  return `/apps/${encodeURIComponent(id)}`;
}

export function appAddress(id: string, section = ''): string {
  return `/console/apps/${encodeURIComponent(id)}${section === '' ? '' : `/${section}`}`;
}

export function organisationAddress(id: string): string {
  return `/console/orgs/${encodeURIComponent(id)}`;
}

/** `web/0.51.0` as a person says it: `Web 0.51.0`. */
export function buildName(sdk: string): string {
  return sdk.replace('/', ' ').replace(/^./, (first) => first.toUpperCase());
}

/** Whether people get it; its word and its colour: ../parts/states.ts. */
export function stateOf({ live, suspended, blocked }: Pick<App, 'live' | 'suspended' | 'blocked'>): string {
  if (suspended) return 'suspended';
  if (blocked) return 'blocked';
  return live ? 'live' : 'building';
}

/** The checks of an app: those that take it live, then what people need beside them. */
export function checksOf({ go_live: checks, release }: AppStatus): readonly Check[] {
  return [...checks, ...release.reach];
}

export const NOTHING_TO_CHECK = 'nothing to check';

/** A go-live check: one that passes because there is nothing to check is told so. */
export function markOf({ key, ok }: Check, { knowledge, declaredScreens }: AppStatus['facts']) {
  if (!ok) return { look: 'mark is-wait', sign: '!', word: 'open' };
  const isEmpty = (key === 'knowledge' && knowledge.indexed === 0) || (key === 'screens' && declaredScreens === 0);
  return isEmpty ? { look: 'mark', sign: '–', word: NOTHING_TO_CHECK } : { look: 'mark is-ok', sign: '✓', word: 'passed' };
}

export interface Section {
  readonly name: string;
  readonly label: string;
  /** Its heading in the navigation; '' has none. */
  readonly group: '' | 'Configure' | 'Monitor';
}

/** In their order in the navigation, group by group. To add one, write its line here and its page in ../pages.ts. */
export const SECTIONS: readonly Section[] = [
  { name: '', label: 'Summary', group: '' },
  { name: 'setup', label: 'Setup', group: '' },
  { name: 'test', label: 'Test', group: '' },
  { name: 'go-live', label: 'Go live', group: '' },
  { name: 'appearance', label: 'Appearance', group: 'Configure' },
  { name: 'assistant', label: 'Assistant', group: 'Configure' },
  { name: 'knowledge', label: 'Knowledge', group: 'Configure' },
  { name: 'actions', label: 'Actions and screens', group: 'Configure' },
  { name: 'proposals', label: 'Proposals', group: 'Configure' },
  { name: 'settings', label: 'Settings', group: 'Configure' },
  { name: 'conversations', label: 'Conversations', group: 'Monitor' },
  { name: 'usage', label: 'Usage', group: 'Monitor' },
];

export const SECTION_GROUPS: readonly Section['group'][] = ['', 'Configure', 'Monitor'];
