/**
 * Generated help texts and the questions people have about them: always the same for the same seed. Word frequencies
 * fall off as in a language (Zipf): a few words are in every passage, most in next to none. That is what makes a search
 * dear or cheap, so what is measured with even frequencies says nothing.
 */

/** Function words take the first ranks, as in English; a search may know them and leave them out. */
const FUNCTION_WORDS = `the of and to a in is you that it for on are with as your be or from can this have by not at we will an if when all
  one their which there do how out up more also only after before any our may use then into no other some`.split(/\s+/);

/** Words of one's own that a large help centre has. */
const CONTENT_WORDS = 20_000;
/** Mandelbrot's shift: flattens the first ranks to what is counted in English. */
const ZIPF_SHIFT = 2.7;
/** A document keeps coming back to so many words of its subject, with this share of its content words. */
const SUBJECT_WORDS = 12;
const SUBJECT_SHARE = 0.2;

const SENTENCE_WORDS = [6, 22] as const;
const PARAGRAPH_SENTENCES = [2, 6] as const;
const SECTION_PARAGRAPHS = [1, 4] as const;
const HEADING_WORDS = [2, 4] as const;

/** Content words of a question as people type it. */
const QUESTION_WORDS = [2, 8] as const;
/** Share of questions that are a whole paragraph that was pasted. */
const PASTED_SHARE = 0.05;
/** Share of questions that hold a word that no text has: a name, a number, a slip of the finger. */
const UNKNOWN_SHARE = 0.1;
const UNKNOWN_WORD = 'xqzvkj';
const OPENINGS = ['how do I', 'can I', 'where is the', 'what is', 'why does my', 'is it possible to', 'do you', 'tell me about'];

/** mulberry32: 32 bits of state are plenty, and the same numbers on every machine. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The words by rank, the most frequent first; made of syllables, shorter ones more often in front. */
function vocabulary(): string[] {
  const random = randomOf(1);
  const of = (letters: string): string => letters[Math.floor(random() * letters.length)] ?? '';
  const words = new Set(FUNCTION_WORDS);
  while (words.size < FUNCTION_WORDS.length + CONTENT_WORDS) {
    const syllables = 2 + Math.floor(random() * 2 + words.size / CONTENT_WORDS);
    words.add(Array.from({ length: syllables }, () => of('bcdfgklmnprstvz') + of('aeiou') + (random() < 0.4 ? of('lnrst') : '')).join(''));
  }
  return [...words];
}

const WORDS = vocabulary();
/** Running sums of the frequencies, by rank. */
const SUMS = new Float64Array(WORDS.length);
WORDS.reduce((sum, _, rank) => {
  SUMS[rank] = sum + 1 / (rank + 1 + ZIPF_SHIFT);
  return SUMS[rank] as number;
}, 0);

/** Texts and questions drawn from one vocabulary; sources with different seeds bring different ones. */
export function textSource(seed: number) {
  const random = randomOf(seed);
  const between = ([least, most]: readonly [number, number]): number => least + Math.floor(random() * (most - least + 1));
  const many = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

  /** The word at which the running sum passes a random part of the whole, from the rank `first` on. */
  const word = (first = 0): string => {
    const base = first === 0 ? 0 : (SUMS[first - 1] ?? 0);
    const wanted = base + random() * ((SUMS[SUMS.length - 1] ?? 0) - base);
    let low = first;
    let high = SUMS.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((SUMS[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return WORDS[low] ?? '';
  };
  const contentWord = (): string => word(FUNCTION_WORDS.length);
  const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

  const paragraph = (subject: readonly string[]): string => {
    const next = (): string => (random() < SUBJECT_SHARE ? (subject[Math.floor(random() * subject.length)] ?? '') : word());
    return many(between(PARAGRAPH_SENTENCES), () => `${capital(many(between(SENTENCE_WORDS), next).join(' '))}.`).join(' ');
  };

  return {
    /** Markdown of exactly `chars` characters, with the title as its first heading: the last sentence may be cut. */
    document(chars: number) {
      const subject = many(SUBJECT_WORDS, contentWord);
      const heading = (): string =>
        capital(many(between(HEADING_WORDS), () => subject[Math.floor(random() * subject.length)] ?? '').join(' '));
      const title = heading();
      let text = `# ${title}\n`;
      while (text.length < chars) {
        text += `\n## ${heading()}\n\n${many(between(SECTION_PARAGRAPHS), () => paragraph(subject)).join('\n\n')}\n`;
      }
      return { title, text: text.slice(0, chars) };
    },
    /** About nothing in particular: its words are as frequent as those of the documents. */
    question(): string {
      if (random() < PASTED_SHARE) return paragraph([contentWord()]);
      const words = many(between(QUESTION_WORDS), contentWord);
      if (random() < UNKNOWN_SHARE) words.push(UNKNOWN_WORD);
      return `${OPENINGS[Math.floor(random() * OPENINGS.length)]} ${words.join(' ')}?`;
    },
  };
}
