/** An app and its organisation as the interface answers them, and its state in words. */
import type { App } from '../../../protocol/console/answers.ts';

export type { App, Organisation } from '../../../protocol/console/answers.ts';

/** What the interface calls the app. */
export function appPath(id: string): string {
  return `/apps/${encodeURIComponent(id)}`;
}

/** The address of an app's page, or of one of its sections. */
export function appAddress(id: string, section = ''): string {
  return `/console/apps/${encodeURIComponent(id)}${section === '' ? '' : `/${section}`}`;
}

export function organisationAddress(id: string): string {
  return `/console/orgs/${encodeURIComponent(id)}`;
}

export interface StateWords {
  readonly word: string;
  readonly signal: 'ok' | 'wait' | 'bad';
}

/** What an app is now, in words and as a signal. */
export function stateOf({ live, suspended }: Pick<App, 'live' | 'suspended'>): StateWords {
  if (suspended) return { word: 'suspended', signal: 'bad' };
  return live ? { word: 'live', signal: 'ok' } : { word: 'not live yet', signal: 'wait' };
}
