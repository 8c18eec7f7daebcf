/** Removes what an upstream's error message repeats of a request: the message may be logged, people's text may not. */

/** Shorter than this, words in common are the language's. A stretch of one and a half times as many characters is found wherever it begins. */
const ECHO_MIN_CHARS = 12;
const STEP_CHARS = ECHO_MIN_CHARS / 2;
/** A message of a word or two is looked for as a whole. */
const WHOLE_MIN_CHARS = 4;
const LEFT_OUT = '[...]';

interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** How far `said` agrees with `text` around the place where both have the same `ECHO_MIN_CHARS` characters. */
function agreeing(said: string, at: number, text: string, found: number): Stretch {
  let before = 0;
  while (at - before > 0 && found - before > 0 && said[at - before - 1] === text[found - before - 1]) before += 1;
  let length = ECHO_MIN_CHARS;
  while (at + length < said.length && found + length < text.length && said[at + length] === text[found + length]) length += 1;
  return { start: at - before, end: at + length };
}

/** Small letters throughout, each in its place: what grows when it is made small stays as it is. */
function folded(text: string): string {
  const small = text.toLowerCase();
  if (small.length === text.length) return small;
  return Array.from(text, (letter) => (letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter)).join('');
}

function stretchesOf(said: string, text: string): Stretch[] {
  const whole = text.trim();
  const found: Stretch[] = [];
  if (whole.length >= WHOLE_MIN_CHARS && whole.length < 2 * ECHO_MIN_CHARS) {
    const start = said.indexOf(whole);
    if (start >= 0) found.push({ start, end: start + whole.length });
  }
  for (let at = 0; at + ECHO_MIN_CHARS <= said.length; at += STEP_CHARS) {
    const place = text.indexOf(said.slice(at, at + ECHO_MIN_CHARS));
    if (place >= 0) found.push(agreeing(said, at, text, place));
  }
  return found;
}

/** `said`, some hundred characters, without every longer stretch that one of `texts` has as well, great letters or small. */
export function withoutEcho(said: string, texts: readonly string[]): string {
  // What is written as JSON within JSON has its line breaks as blanks by now.
  const small = folded(said);
  const stretches = texts
    .flatMap((text) => stretchesOf(small, folded(text).replaceAll(/\s/g, ' ')))
    .sort((one, other) => one.start - other.start);
  let out = '';
  let from = 0;
  for (const { start, end } of stretches) {
    if (end <= from) continue;
    if (start >= from) out += `${said.slice(from, start)}${LEFT_OUT}`;
    from = end;
  }
  return out + said.slice(from);
}
