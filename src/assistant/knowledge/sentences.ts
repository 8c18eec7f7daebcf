/**
 * Owns where sentences of plain text end. A scanner of our own and not Intl.Segmenter: linear with a small constant, the
 * same on every ICU version, and it does not break after "e.g." or "Dr.".
 */

/** Ends a sentence when blank space or the end follows. */
const TERMINATORS = '.!?…';
/** Ends a sentence by itself: scripts with these marks put no blank after them. */
const WIDE_TERMINATORS = '。！？｡।॥۔؟';
/** Stays with the sentence that it closes. */
const CLOSERS = '"\'”’»)]）」』】*_`';
/** A full stop after one of these belongs to the word. */
const ABBREVIATIONS: ReadonlySet<string> = new Set(
  'e.g i.e eg ie etc vs cf approx no nos dr mr mrs ms prof st inc ltd co corp fig vol p pp z.b bzw ca usw d.h u.a nr str'.split(' '),
);
/** Longer words are no abbreviation; looking back no further keeps the scan linear. */
const ABBREVIATION_MAX_CHARS = 6;

function isBlank(char: string | undefined): boolean {
  return char === undefined || /\s/.test(char);
}

/** Whether the full stop at `at` closes an abbreviation ("e.g."), an initial ("J. Smith") or a list number ("1."). */
function closesWord(text: string, at: number, from: number): boolean {
  let start = at;
  while (start > from && at - start <= ABBREVIATION_MAX_CHARS && /[\p{L}\p{N}.]/u.test(text[start - 1] ?? '')) start--;
  const word = text.slice(start, at);
  if (word === '') return false;
  if (ABBREVIATIONS.has(word.toLowerCase())) {
    // "No." and "etc." end sentences too; then a capital follows. The others hardly ever do.
    const ambiguous = /^(?:etc|no|nos|inc|ltd|co|corp|usw)$/i.test(word);
    return !(ambiguous && /\p{Lu}/u.test(text.slice(at + 1, at + 4).trimStart()[0] ?? ''));
  }
  return /^\p{Lu}$/u.test(word) || (start === from && /^\d{1,3}$/.test(word));
}

/**
 * The sentences of `text` as `[start, end)` spans that follow one another without gap: blank space after a sentence
 * belongs to it. Line breaks do not end a sentence. Linear in the length of `text`.
 */
export function sentenceSpans(text: string): [start: number, end: number][] {
  const spans: [number, number][] = [];
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? '';
    const wide = WIDE_TERMINATORS.includes(char);
    if (!wide && !TERMINATORS.includes(char)) continue;
    const at = i;
    while (i + 1 < text.length && (TERMINATORS + WIDE_TERMINATORS).includes(text[i + 1] ?? '')) i++;
    while (i + 1 < text.length && CLOSERS.includes(text[i + 1] ?? '')) i++;
    if (!wide && (!isBlank(text[i + 1]) || (char === '.' && i === at && closesWord(text, at, from)))) continue;
    while (i + 1 < text.length && isBlank(text[i + 1])) i++;
    spans.push([from, i + 1]);
    from = i + 1;
  }
  if (from < text.length) spans.push([from, text.length]);
  return spans;
}

/** The sentences of `text`, without the blank space around them; none is empty. */
export function sentences(text: string): string[] {
  return sentenceSpans(text)
    .map(([start, end]) => text.slice(start, end).trim())
    .filter((sentence) => sentence !== '');
}
