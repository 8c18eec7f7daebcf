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

export function stateOf({ live, suspended }: Pick<App, 'live' | 'suspended'>) {
  if (suspended) return { word: 'suspended', signal: 'bad' };
  return live ? { word: 'live', signal: 'ok' } : { word: 'not live yet', signal: 'wait' };
}

/** A go-live check: one that passes because there is nothing to check is told so. */
export function markOf({ key, ok }: Check, { knowledge, declaredScreens }: AppStatus['facts']) {
  if (!ok) return { look: 'mark', sign: '', word: 'open' };
  const isEmpty = (key === 'knowledge' && knowledge.indexed === 0) || (key === 'screens' && declaredScreens === 0);
  return isEmpty ? { look: 'mark', sign: '–', word: 'nothing to check' } : { look: 'mark is-ok', sign: '✓', word: 'passed' };
}

interface Section {
  readonly name: string;
  readonly label: string;
}

/** In the order of the way from nothing to a live app. To add one, write its line here and its page in ../pages.ts. */
export const SECTIONS: readonly Section[] = [
  { name: '', label: 'Summary' },
  { name: 'setup', label: 'Setup' },
  { name: 'appearance', label: 'Appearance' },
  { name: 'assistant', label: 'Assistant' },
  { name: 'knowledge', label: 'Knowledge' },
  { name: 'actions', label: 'Actions and screens' },
  { name: 'proposals', label: 'Proposals' },
  { name: 'test', label: 'Test' },
  { name: 'go-live', label: 'Go live' },
  { name: 'conversations', label: 'Conversations' },
  { name: 'usage', label: 'Usage' },
  { name: 'settings', label: 'Settings' },
];
