/** A scanner and not Intl.Segmenter: linear with a small constant, the same on every ICU version, no break after "e.g." or "Dr.". */

/** What may end a sentence; the wide ones end it by themselves, because their scripts put no blank after them. */
const TERMINATOR = /[.!?…。！？｡।॥۔؟]/g;
const TERMINATORS = '.!?…。！？｡।॥۔؟';
const WIDE_TERMINATORS = '。！？｡।॥۔؟';
/** Stays with the sentence that it closes. */
const CLOSERS = '"\'”’»)]）」』】*_`';
/** A full stop after one of these belongs to the word. */
const ABBREVIATIONS: ReadonlySet<string> = new Set(
  'e.g i.e eg ie etc vs cf approx no nos dr mr mrs ms prof st inc ltd co corp fig vol p pp z.b bzw ca usw d.h u.a nr str'.split(' '),
);
/** Longer words are no abbreviation; looking back no further keeps the scan linear. */
const ABBREVIATION_MAX_CHARS = 6;

/** The last word before a full stop. */
const LAST_WORD = /[\p{L}\p{N}.]{1,7}$/u;

function isBlankAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  // Everything from "!" to "~" is told apart without a pattern; beyond the end there is no code.
  return Number.isNaN(code) || code <= 0x20 || (code > 0x7e && /\s/.test(text[at] ?? ''));
}

/** Whether the full stop at `at` closes an abbreviation ("e.g."), an initial ("J. Smith") or a list number ("1."). */
function closesWord(text: string, at: number, from: number): boolean {
  const before = text.slice(Math.max(from, at - ABBREVIATION_MAX_CHARS - 1), at);
  const word = LAST_WORD.exec(before)?.[0];
  if (word === undefined || word.length > ABBREVIATION_MAX_CHARS) return false;
  if (ABBREVIATIONS.has(word.toLowerCase())) {
    // "No." and "etc." end sentences too; then a capital follows. The others hardly ever do.
    const ambiguous = /^(?:etc|no|nos|inc|ltd|co|corp|usw)$/i.test(word);
    return !(ambiguous && /\p{Lu}/u.test(text.slice(at + 1, at + 4).trimStart()[0] ?? ''));
  }
  return /^\p{Lu}$/u.test(word) || (at - word.length === from && /^\d{1,3}$/.test(word));
}

/** Spans that follow one another without gap. Line breaks do not end a sentence. Linear in the length of `text`. */
export function sentenceSpans(text: string): [start: number, end: number][] {
  const spans: [number, number][] = [];
  const pattern = new RegExp(TERMINATOR);
  let from = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [char] = match;
    let end = match.index + 1;
    while (end < text.length && TERMINATORS.includes(text[end] ?? '')) end++;
    const isSingleStop = char === '.' && end === match.index + 1;
    while (end < text.length && CLOSERS.includes(text[end] ?? '')) end++;
    pattern.lastIndex = end;
    const isWide = WIDE_TERMINATORS.includes(char);
    if (!isWide && (!isBlankAt(text, end) || (isSingleStop && closesWord(text, match.index, from)))) continue;
    while (end < text.length && isBlankAt(text, end)) end++;
    pattern.lastIndex = end;
    spans.push([from, end]);
    from = end;
  }
  if (from < text.length) spans.push([from, text.length]);
  return spans;
}

export function sentences(text: string): string[] {
  return sentenceSpans(text)
    .map(([start, end]) => text.slice(start, end).trim())
    .filter((sentence) => sentence !== '');
}
