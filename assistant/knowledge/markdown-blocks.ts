/** The block structure of Markdown as far as cutting needs it. What is no Markdown comes out as paragraphs. */

export interface MarkdownBlock {
  readonly kind: 'heading' | 'fence' | 'list' | 'table' | 'paragraph';
  /** `[start, end)` in the source; begins at the start of a line, ends before a line break. */
  readonly start: number;
  readonly end: number;
  readonly level: number;
  readonly title: string;
}

interface OpenBlock {
  kind: Exclude<MarkdownBlock['kind'], 'heading'>;
  start: number;
  end: number;
  lines: number;
}

/** A longer "heading" is a paragraph that begins with a hash: it would be repeated with every chunk below it. */
const HEADING_MAX_CHARS = 200;
/** What the classifying patterns look at: enough for a marker, and a line of 200,000 characters costs no more. */
const LINE_START_CHARS = 40;
/** CommonMark lets a paragraph of any length become a heading by a line of dashes below; people mean a title. */
const SETEXT_LINES_MAX = 2;

const ATX = /^ {0,3}(#{1,6})[ \t]/;
const FENCE = /^[ \t]*(`{3,}|~{3,})/;
const BULLET = /^[ \t]*[-*+•][ \t]/;
const NUMBERED = /^[ \t]*(\d{1,9})[.)][ \t]/;
const SETEXT = /^ {0,3}(=+|-+)[ \t]*$/;

/** What an item of a list begins with: most lines are told from one by their first character. */
const ITEM_STARTS = '-*+•0123456789';

export function startsItem(line: string): boolean {
  if (!ITEM_STARTS.includes(line.trimStart()[0] ?? 'x')) return false;
  const head = line.slice(0, LINE_START_CHARS);
  return BULLET.test(head) || NUMBERED.test(head);
}

function atxTitle(line: string): { level: number; title: string } | undefined {
  const marks = ATX.exec(line.slice(0, LINE_START_CHARS))?.[1];
  if (marks === undefined || line.length > HEADING_MAX_CHARS) return undefined;
  const title = line
    .trim()
    .slice(marks.length)
    .trim()
    .replace(/(?:^|[ \t])#+$/, '')
    .trim();
  return title === '' ? undefined : { level: marks.length, title };
}

/** The marker of a fence that `line` opens; the info string of a backtick fence holds no backtick. */
function opensFence(line: string): string | undefined {
  const marker = FENCE.exec(line.slice(0, LINE_START_CHARS))?.[1];
  if (marker === undefined) return undefined;
  return marker.startsWith('`') && line.trimStart().slice(marker.length).includes('`') ? undefined : marker;
}

function closesFence(line: string, marker: string): boolean {
  const trimmed = line.trim();
  return trimmed.startsWith(marker) && trimmed.length <= LINE_START_CHARS && trimmed === (marker[0] ?? '').repeat(trimmed.length);
}

function kindOfLine(line: string, first: string, open: OpenBlock | undefined): OpenBlock['kind'] {
  if (first === '|') return 'table';
  if (ITEM_STARTS.includes(first)) {
    const head = line.slice(0, LINE_START_CHARS);
    if (BULLET.test(head)) return 'list';
    const number = NUMBERED.exec(head)?.[1];
    // A line of a paragraph may begin with "1984. "; only a list that starts at one interrupts it.
    if (number !== undefined && (open?.kind !== 'paragraph' || number === '1')) return 'list';
  }
  return open?.kind === 'list' ? 'list' : 'paragraph';
}

class BlockScan {
  readonly blocks: MarkdownBlock[] = [];
  readonly #source: string;
  #open: OpenBlock | undefined;
  #fence: string | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  line(start: number, end: number): void {
    const line = this.#source.slice(start, end);
    const first = line.trimStart()[0];
    if (this.#fence !== undefined && this.#open !== undefined) {
      this.#open.end = end;
      if (first !== undefined && this.#fence.startsWith(first) && closesFence(line, this.#fence)) this.close();
      return;
    }
    if (first === undefined) {
      this.close();
      return;
    }
    const fence = first === '`' || first === '~' ? opensFence(line) : undefined;
    if (fence !== undefined) {
      this.close();
      this.#fence = fence;
      this.#open = { kind: 'fence', start, end, lines: 1 };
      return;
    }
    const atx = first === '#' ? atxTitle(line) : undefined;
    if (atx !== undefined) {
      this.close();
      this.blocks.push({ kind: 'heading', start, end, ...atx });
      return;
    }
    const underlines = (first === '=' || first === '-') && this.#underlines(line, end);
    if (!underlines) this.#extend(kindOfLine(line, first, this.#open), start, end);
  }

  close(): void {
    if (this.#open !== undefined) {
      const { kind, start, end } = this.#open;
      this.blocks.push({ kind, start, end, level: 0, title: '' });
    }
    this.#open = undefined;
    this.#fence = undefined;
  }

  /** A setext underline turns the paragraph above it into a heading. */
  #underlines(line: string, end: number): boolean {
    const open = this.#open;
    if (open?.kind !== 'paragraph' || open.lines > SETEXT_LINES_MAX || open.end - open.start > HEADING_MAX_CHARS) return false;
    if (line.length > HEADING_MAX_CHARS || !SETEXT.test(line)) return false;
    const title = this.#source.slice(open.start, open.end).trim().replace(/\s+/g, ' ');
    this.blocks.push({ kind: 'heading', start: open.start, end, level: line.trimStart().startsWith('=') ? 1 : 2, title });
    this.#open = undefined;
    return true;
  }

  #extend(kind: OpenBlock['kind'], start: number, end: number): void {
    if (this.#open?.kind === kind) {
      this.#open.end = end;
      this.#open.lines++;
      return;
    }
    this.close();
    this.#open = { kind, start, end, lines: 1 };
  }
}

/** Together with blank lines they cover `source`, whose line breaks are LF. Linear in the length of `source`. */
export function markdownBlocks(source: string): readonly MarkdownBlock[] {
  const scan = new BlockScan(source);
  for (let start = 0; start <= source.length; ) {
    const found = source.indexOf('\n', start);
    const end = found === -1 ? source.length : found;
    scan.line(start, end);
    start = end + 1;
  }
  scan.close();
  return scan.blocks;
}
