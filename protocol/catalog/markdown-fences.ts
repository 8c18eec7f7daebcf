/**
 * Which lines of a Markdown text are fenced code for certain. What a fence in a list belongs to depends on all the lines before it, so
 * only fences at the start of a line count as code; the others are followed as far as all readings agree on where they end. From the
 * first one on where they do not, nothing counts as code.
 */

/** A line that may open fenced code: blanks and the marks of lists, then the fence; the words behind backticks hold none. */
const OPENING = /^([ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?:(`{3,})[^`]*|(~{3,}).*)$/s;
/** A mark before a fence that begins an item of a list wherever it stands, with its text right behind it. */
const ITEM = /^ *(?:(?:[-*+]|1[.)]) {1,4})?$/;
const CLOSING = /^([ \t]*)(`{3,}|~{3,})[ \t]*$/;
const BLANK = /^[ \t]*$/;
/** Four columns of indentation make code by themselves: what begins there may be no fence. */
const CODE_INDENT = 4;

/** `code`: a fence at the start of a line, or within. `edge`: a fence elsewhere, which ends a paragraph and begins another. */
export type FencedLine = 'code' | 'edge' | undefined;

/** Columns of white space before the text, at least: a tab reaches to the next multiple of four. */
function indentOf(line: string): number {
  const blanks = /^ */.exec(line)?.[0].length ?? 0;
  return line.charAt(blanks) === '\t' ? blanks - (blanks % CODE_INDENT) + CODE_INDENT : blanks;
}

/** The index of the line that closes the fence opened before `from`, or undefined when there is none, or readings differ. */
function closingLine(lines: readonly string[], from: number, fence: string, indent: number): number | undefined {
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (BLANK.test(line)) continue;
    if (indentOf(line) < indent) return undefined;
    const [, blanks = '', mark = ''] = CLOSING.exec(line) ?? [];
    if (!mark.startsWith(fence)) continue;
    if (indent === 0 && indentOf(line) >= CODE_INDENT) continue;
    if (indent > 0 && (blanks.length !== indent || blanks.includes('\t'))) return undefined;
    return at;
  }
  return undefined;
}

/** What each of `lines` (without their ends) is. Linear: a fence that does not close ends the search. */
export function fencedCode(lines: readonly string[]): FencedLine[] {
  const found = new Array<FencedLine>(lines.length).fill(undefined);
  for (let at = 0; at < lines.length; at++) {
    const opening = OPENING.exec(lines[at] ?? '');
    if (opening === null) continue;
    const [, before = '', ticks, tildes = ''] = opening;
    const end = ITEM.test(before) ? closingLine(lines, at + 1, ticks ?? tildes, before.length) : undefined;
    if (end === undefined) break;
    if (before === '') found.fill('code', at, end + 1);
    else if (before.length < CODE_INDENT) found[at] = 'edge';
    // The paragraph after an indented fence begins behind its end, where a pair of backticks cannot be open any more.
    if (before !== '' && before.length < CODE_INDENT && end + 1 < lines.length) found[end + 1] = 'edge';
    at = end;
  }
  return found;
}
