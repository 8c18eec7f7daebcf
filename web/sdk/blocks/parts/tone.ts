/** Tones: colours that mean something, with the icon that says the same. */
import type { TagsBlock } from '../../../../types/assistant-runtime.d.ts';
import type { IconName } from './icon.tsx';

export type Tone = NonNullable<TagsBlock['body']['items'][number]['tone']>;

const ICONS: Readonly<Record<Tone, IconName>> = { neutral: 'info', info: 'info', success: 'check', warning: 'warning', danger: 'warning' };

export function toneIcon(tone: Tone): IconName {
  return ICONS[tone] ?? 'info';
}
