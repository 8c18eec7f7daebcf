/** The sections of an app that there are, in the order of the way from nothing to a live app. To add one, write its line here and its page in ../pages.ts. */

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
