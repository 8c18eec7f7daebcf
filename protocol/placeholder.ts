/**
 * The marks of words that stand where personal data was (PRIVACY-1), `⟦email_1⟧`: for whoever cuts a text or judges it by its
 * form. Which kinds there are, and what each stands for, is told elsewhere (assistant/privacy/placeholder.ts).
 */
import { clip } from './schema/text.ts';

/** A placeholder begins with this; text without it holds none. */
export const PLACEHOLDER_OPENS = '⟦';
export const PLACEHOLDER_CLOSES = '⟧';

/** Whatever anybody could take for a placeholder; everything restorable is among it. */
export const LOOKALIKE = /⟦[a-z]+_\d+⟧/g;

/** As `clip`, never within a placeholder: half of one could not be restored. */
export function clipWhole(text: string, max: number): string {
  const cut = clip(text, max);
  const opens = cut === text ? -1 : cut.lastIndexOf(PLACEHOLDER_OPENS);
  return opens > cut.lastIndexOf(PLACEHOLDER_CLOSES) ? `${cut.slice(0, opens)}…` : cut;
}
