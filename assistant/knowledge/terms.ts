/** Owns the words of a text that carry meaning: for matching a question against documents and action descriptions. */

/** A message of 4,000 characters has some hundred distinct words; beyond this many, more of them decide nothing. */
export const CONTENT_TERMS_MAX = 64;
/** Longer runs of letters and digits are encoded data, not words. */
const TERM_MAX_CHARS = 64;
/** Stems shorter than this collide: "thing" and "th". */
const STEM_MIN_CHARS = 3;

const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about after all also am an and any anyone are as at be because been before being but by can cannot could did do does doing done dont
  each else ever every for from get gets give go goes going got had has have having he hello help her here hers hey hi him his how i if im in
  into is isnt it its ive just kindly know let like long ll look made make many may me might mine more most much must my need no not now of off
  ok okay on one only or other our ours out over own please possible re really s same see shall she should show so some such sure t take takes tell than
  thank thanks that the their them then there these they thing things this those to too under until up us use using ve very via want wants was
  way we were what whats when where wheres which while who whom whose why will with without wont work works would yes yet you your yours`.split(
    /\s+/,
  ),
);

/** Letters (with their marks) and digits; an apostrophe joins ("isn't"). */
const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’][\p{L}\p{M}]+)*/gu;
/** Scripts written without blanks between words: pairs of characters stand in for words. */
const UNSPACED = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{M}ー]+$/u;
const ASCII = /^[a-z0-9]+$/;

/** Longest first: the first that fits is taken off. */
const SUFFIXES = ['ations', 'ation', 'ments', 'ment', 'ings', 'able', 'ing', 'ied', 'ies', 'ed', 'es', 'ly', 's', 'e', 'y'];
const NOT_PLURAL = /(?:ss|us|is)$/;

/** What a word's forms share ("shipping", "shipped" → "ship"); the same way each time. `word` is lowercase. */
export function stem(word: string): string {
  if (!ASCII.test(word) || word.length <= STEM_MIN_CHARS || NOT_PLURAL.test(word)) return word;
  const suffix = SUFFIXES.find((end) => word.endsWith(end) && word.length - end.length >= STEM_MIN_CHARS);
  if (suffix === undefined) return word;
  const rest = word.slice(0, -suffix.length);
  const last = rest.at(-1);
  const doubled = suffix.length > 1 && rest.length > STEM_MIN_CHARS && last === rest.at(-2) && last !== 's' && last !== 'l';
  if (doubled) return rest.slice(0, -1);
  // "prices" loses "es", "price" loses "e", "orders" loses "s": an "e" left over would part them again.
  return suffix === 's' || suffix === 'y' ? rest : rest.replace(/e$/, '');
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

function* wordsOf(text: string): Generator<string> {
  for (const [raw] of folded(text).matchAll(WORD)) {
    const word = raw.replace(/['’]/g, '');
    if (word.length > TERM_MAX_CHARS) continue;
    if (!UNSPACED.test(word) || word.length < 3) {
      yield word;
      continue;
    }
    const chars = Array.from(word);
    for (let i = 0; i + 1 < chars.length; i++) yield `${chars[i]}${chars[i + 1]}`;
  }
}

/** Every word of `text` in order, lowercase and stemmed, stop words among them; at most `max`. */
export function stemmedWords(text: string, max: number): string[] {
  const found: string[] = [];
  for (const word of wordsOf(text)) {
    if (found.length >= max) break;
    found.push(stem(word));
  }
  return found;
}

/** Distinct words but stop words, lowercase, in order, not stemmed; scripts without blanks come as pairs of characters. */
export function contentTerms(text: string): string[] {
  const found = new Set<string>();
  for (const word of wordsOf(text)) {
    if (found.size >= CONTENT_TERMS_MAX) break;
    // A lone Latin letter is what an apostrophe or an abbreviation left behind.
    if (!STOP_WORDS.has(word) && !/^[a-z]$/.test(word)) found.add(word);
  }
  return [...found];
}

export function contentStems(text: string): string[] {
  return [...new Set(contentTerms(text).map(stem))];
}

/** Those of `stems` that a word of `text` has, at a fraction of a search's cost: most texts and words are passed over unread. */
export function stemsFoundIn(text: string, stems: readonly string[]): string[] {
  const bare = folded(text).replace(/['’]/g, '');
  const candidates = stems.filter((each) => bare.includes(each));
  if (candidates.length === 0) return [];
  const found = new Set<string>();
  for (const word of wordsOf(bare)) {
    for (const each of candidates) if (word.startsWith(each) && stem(word) === each) found.add(each);
  }
  return candidates.filter((each) => found.has(each));
}
