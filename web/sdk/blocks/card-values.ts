/** What a confirmation card's values are when they are typed, and what became of it. Of every SDK: nothing here draws. */
import type { BodyOf } from '../../client/conversation/answer-blocks.ts';
import type { Call } from '../../client/conversation/calls.ts';
import { type BlockWords, filled } from './words.ts';

export type CardField = BodyOf<'confirm_card'>['fields'][number];

/** What a field is typed as: lists a line each, everything else as its words. */
export function textOf({ value, display }: CardField): string {
  if (Array.isArray(value)) return value.join('\n');
  return value === undefined || value === null ? '' : typeof value === 'object' ? display : String(value);
}

/** What was typed, as the action's parameter takes it; null: none. What is no number stays text, and the service says so. */
export function typedValue({ type, enum: allowed }: CardField, text: string): unknown {
  if (text.trim() === '') return null;
  const listed = allowed?.find((each) => String(each) === text);
  if (listed !== undefined) return listed;
  if (type === 'boolean') return text === 'true';
  if (type === 'array') return text.split('\n').filter((line) => line.trim() !== '');
  if (type !== 'number' && type !== 'integer') return text;
  const number = Number(text.replace(',', '.'));
  return Number.isFinite(number) ? number : text;
}

/** Letters that look alike are the same letters, as the service compares them. */
export const plain = (words: string) => words.normalize('NFC').trim();

export function outcomeOf(
  status: BodyOf<'confirm_card'>['status'],
  call: Call | undefined,
  words: BlockWords,
): { readonly words: string; readonly tone: string } {
  if (status === 'declined') return { words: words.declined, tone: '' };
  if (status === 'expired') return { words: words.expired, tone: '' };
  if (call?.phase === 'running' || call?.phase === 'answered' || call?.phase === 'sending')
    return { words: words.working, tone: 'is-busy' };
  const result = call?.result;
  if (result === undefined || result.status === 'ok')
    return { words: result === undefined ? words.confirmedCard : words.callDone, tone: 'is-ok' };
  if (result.status === 'timeout') return { words: words.callUnknown, tone: 'is-bad' };
  return { words: filled(words.callFailed, { reason: result.error ?? words.failed }), tone: 'is-bad' };
}
