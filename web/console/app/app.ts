/** An app and its organisation as the interface answers them, and its state in words. */
import type { App } from '../../../protocol/console/answers.ts';

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

interface Section {
  readonly name: string;
  readonly label: string;
}

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

export function hasSection(name: string): boolean {
  return SECTIONS.some((section) => section.name === name);
}
