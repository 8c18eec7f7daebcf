/** Whether an answer uses the passages that it was given (SMOKE-11). That some were found proves nothing: nearly always one is. */
import { contentStems, stemsFoundIn } from '../../assistant/knowledge/terms.ts';
import type { Passage } from '../../assistant/models/model.ts';

/** Content words of one passage. A single one is common by chance. */
const WORDS_MIN = 2;
/** The share of capitalised words within sentences; above it, as in German, a capital does not mark a name. */
const CAPITALS_MAX_SHARE = 0.2;

/** What says nothing by itself in languages beside English, whose words of this kind a search passes over. */
const FUNCTION_WORDS = new Set(
  `der die das den dem des ein eine einen einem einer und oder ist sind war hat haben wird mit von bei für fur auf aus als auch nur wie wir sie ich
  ihr nicht zum zur sich noch bis nach über uber leider bitte le la les un une et est pas que qui sur par pour avec dans sont vous nous el los las una con
  por del para su sus como más mas esta este hay il lo gli di da per non che sono con het een van op te zijn niet voor os um uma ao em com não nao`.split(
    /\s+/,
  ),
);
const DIGIT = /^\d/;

const NUMBER = /\d+(?:[.,'’]\d+)*/g;
const IN_THOUSANDS = /^\d{1,3}(?:[.,'’]\d{3})+$/;
/** Numbers of a list's items say nothing. */
const ITEM_NUMBERS = /^\s{0,12}\d{1,3}[.)]\s/gm;
const ADDRESS = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}|\b(?:https?:\/\/|www\.)[^\s<>()\]"']{1,200}/g;
/** A word within a sentence: behind a small letter or a comma. */
const WITHIN_SENTENCE = /(?<=[\p{Ll}\d,;] )[\p{L}][\p{L}\p{M}'’-]{2,40}/gu;
const WORD = /[\p{L}][\p{L}\p{M}'’-]{2,40}/gu;
const CAPITAL = /^\p{Lu}/u;

/** `1.000`, `1,000` and `1000` are one number, as are `2,50` and `2.5`. */
function canonical(written: string): string {
  if (IN_THOUSANDS.test(written)) return written.replace(/\D/g, '');
  const plain = written.replace(/[,'’]/g, '.');
  return /^\d{1,15}(?:\.\d{1,9})?$/.test(plain) ? String(Number(plain)) : plain;
}

function numbersOf(text: string): string[] {
  return Array.from(text.replace(ITEM_NUMBERS, ' ').matchAll(NUMBER), ([written]) => canonical(written));
}

function addressesOf(text: string): string[] {
  return Array.from(text.matchAll(ADDRESS), ([written]) => written.replace(/[.,;:!?]$/, '').toLowerCase());
}

/** Words that are written with a capital where a sentence does not ask for it; none where most things are. */
function namesOf(text: string): string[] {
  const words = Array.from(text.matchAll(WITHIN_SENTENCE), ([word]) => word);
  const names = words.filter((word) => CAPITAL.test(word));
  return names.length > words.length * CAPITALS_MAX_SHARE ? [] : names;
}

function wordsOf({ title, headings, text }: Passage): string {
  return [title, ...headings, text].join('\n');
}

/** Whether `answer` uses one of the passages beyond what `question` says, and has no number that neither of them has. */
export function usesPassages(question: string, answer: string, passages: readonly Passage[]): boolean {
  if (passages.length === 0) return false;
  const texts = passages.map(wordsOf);
  const asked = new Set([...contentStems(question), ...numbersOf(question), ...addressesOf(question)]);
  const numbers = numbersOf(answer);
  const known = new Set([...texts.flatMap((text) => Array.from(text.matchAll(NUMBER), ([written]) => canonical(written))), ...asked]);
  if (numbers.some((number) => !known.has(number))) return false;
  const stems = contentStems(answer).filter((stem) => !asked.has(stem) && !FUNCTION_WORDS.has(stem) && !DIGIT.test(stem));
  const marks = new Set([...numbers, ...addressesOf(answer)].filter((mark) => !asked.has(mark)));
  const words = new Set(Array.from(answer.matchAll(WORD), ([word]) => word));
  const questionWords = question.toLowerCase();
  return texts.some(
    (text) =>
      stemsFoundIn(text, stems).length >= WORDS_MIN ||
      [...numbersOf(text), ...addressesOf(text)].some((mark) => marks.has(mark)) ||
      namesOf(text).some((name) => words.has(name) && !questionWords.includes(name.toLowerCase())),
  );
}
