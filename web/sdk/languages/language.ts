/** The words of other languages than English, each loaded where it is spoken (WIDGET-47). */
import type { BlockWords } from '../blocks/words.ts';
import type { LaterWords } from '../later-words.ts';
import type { WidgetWords } from '../words.ts';

export type Words = WidgetWords & LaterWords & BlockWords;

const loadTable = () => import('./lazy/table.ts');

/** Undefined for English, for a language that there is not, and where it cannot be had: then `failed` is told. Never rejects. */
export async function wordsIn(tag: string, failed: (error: unknown) => void): Promise<Words | undefined> {
  const [language = '', ...parts] = tag.toLowerCase().split('-');
  if (language === 'en') return undefined;
  try {
    const { LANGUAGES } = await loadTable();
    const isTraditional = language === 'zh' && parts.some((part) => ['hant', 'tw', 'hk', 'mo'].includes(part));
    const name = isTraditional ? 'zh-hant' : language === 'no' || language === 'nn' ? 'nb' : language;
    return Object.hasOwn(LANGUAGES, name) ? (await LANGUAGES[name as keyof typeof LANGUAGES]()).default : undefined;
  } catch (error) {
    failed(error);
    return undefined;
  }
}
