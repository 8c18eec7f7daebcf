/** One opening line. What closes it is looked for as a plain string: an expression that does both is quadratic. */
const OPENING = /<<data:([0-9a-f]{1,64})(?: [^\n<>]{0,200})?>>\n/g;
/** A message has a fence for each passage, result and attachment; one that is never closed costs a look at all that follows. */
const FENCES_MAX = 256;

export interface Fenced {
  /** Where the opening line begins and the closing mark ends, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly body: string;
}

export function fencesOf(text: string): Fenced[] {
  const fences: Fenced[] = [];
  let from = 0;
  let seen = 0;
  for (const match of text.matchAll(OPENING)) {
    if (++seen > FENCES_MAX) break;
    if (match.index < from) continue;
    const closing = `<<end:${match[1]}>>`;
    const bodyStart = match.index + match[0].length;
    const bodyEnd = text.indexOf(closing, bodyStart);
    if (bodyEnd === -1) continue;
    from = bodyEnd + closing.length;
    fences.push({ start: match.index, end: from, body: text.slice(bodyStart, bodyEnd).replace(/\n$/, '') });
  }
  return fences;
}

export function withoutFences(text: string): string {
  let rest = '';
  let from = 0;
  for (const { start, end } of fencesOf(text)) {
    rest += `${text.slice(from, start)} `;
    from = end;
  }
  return rest + text.slice(from);
}
