/** A DOM subtree → Markdown to read and to cut into chunks. Emphasis, addresses and images are left out: noise in a search. */

/** What is used of a DOM node, so that no DOM library's types show outside. */
export interface DomNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly nodeValue: string | null;
  readonly textContent: string | null;
  readonly childNodes: Iterable<DomNode>;
  getAttribute?(name: string): string | null;
}

const ELEMENT = 1;
const TEXT = 3;
/** Documents of people nest a few dozen levels; below this, what is left is taken as plain text. */
export const RENDERED_DEPTH_MAX = 200;

const DROPPED = new Set(
  'SCRIPT STYLE NOSCRIPT TEMPLATE IFRAME OBJECT EMBED SVG MATH CANVAS AUDIO VIDEO PICTURE IMG BUTTON INPUT SELECT TEXTAREA DIALOG HEAD TITLE META LINK'.split(
    ' ',
  ),
);
const INLINE = new Set(
  'A ABBR B BDI BDO CITE CODE DATA DEL DFN EM FONT I INS KBD LABEL MARK OUTPUT Q S SAMP SMALL SPAN STRONG SUB SUP TIME TT U VAR WBR'.split(
    ' ',
  ),
);
/** Inside a cell these do not fit on one line: such a table is there for the layout. */
const BLOCK_IN_CELL = new Set('TABLE UL OL DL H1 H2 H3 H4 H5 H6 PRE BLOCKQUOTE SECTION ARTICLE'.split(' '));

/** Upper case, also in documents that are XHTML. */
function nameOf(node: DomNode): string {
  return node.nodeName.toUpperCase();
}

function isHidden(node: DomNode): boolean {
  const get = (name: string) => node.getAttribute?.(name) ?? null;
  return (
    get('hidden') !== null || get('aria-hidden') === 'true' || /(?:^|;)\s*display\s*:\s*none\b/i.test(get('style')?.slice(0, 500) ?? '')
  );
}

function isDropped(node: DomNode): boolean {
  return node.nodeType !== TEXT && (node.nodeType !== ELEMENT || DROPPED.has(nameOf(node)) || isHidden(node));
}

/** One blank for any white space, as a browser shows it. */
function collapsed(text: string): string {
  return text.replace(/[\s\u00A0]+/g, ' ');
}

/** A paragraph that only happens to begin like Markdown is no heading and opens no code. */
function guarded(line: string): string {
  return /^(?:#{1,6} |```|~~~)/.test(line) ? `\\${line}` : line;
}

/** Says the level of a heading whose element was replaced by another (see `readable-html.ts`). */
export const LEVEL_ATTRIBUTE = 'data-heading-level';

function headingLevel(name: string, node: DomNode): number | undefined {
  const level = /^H([1-6])$/.exec(name)?.[1];
  return level === undefined ? undefined : Number(/^[1-6]$/.exec(node.getAttribute?.(LEVEL_ATTRIBUTE) ?? '')?.[0] ?? level);
}

function hung(text: string, indent: string): string {
  return text.replaceAll('\n', `\n${indent}`).replace(/^[ ]+$/gm, '');
}

export interface MarkdownOptions {
  /** Left out with all that is below them. */
  readonly skip: ReadonlySet<DomNode>;
  /** Rendering stops soon after so many characters of text. */
  readonly maxChars: number;
}

interface Budget {
  readonly skip: ReadonlySet<DomNode>;
  charsLeft: number;
}

class Renderer {
  readonly #budget: Budget;
  readonly #blocks: string[] = [];
  #inline = '';

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  get text(): string {
    this.#flush();
    return this.#blocks.join('\n\n');
  }

  #flush(): void {
    const lines = this.#inline.split('\n').map((line) => guarded(collapsed(line).trim()));
    this.#inline = '';
    const paragraph = lines
      .join('\n')
      .replace(/\n{2,}/g, '\n')
      .trim();
    if (paragraph !== '') this.#blocks.push(paragraph);
  }

  #push(block: string): void {
    this.#flush();
    if (block.trim() !== '') this.#blocks.push(block);
  }

  children(node: DomNode, depth: number): void {
    for (const child of node.childNodes) {
      if (this.#budget.charsLeft <= 0) return;
      this.node(child, depth + 1);
    }
  }

  #rendered(node: DomNode, depth: number): string {
    return rendered(node, depth, this.#budget);
  }

  node(node: DomNode, depth: number): void {
    if (isDropped(node) || this.#budget.skip.has(node)) return;
    if (node.nodeType === TEXT || depth > RENDERED_DEPTH_MAX) {
      const text = (node.nodeType === TEXT ? node.nodeValue : node.textContent) ?? '';
      // Before the blanks are collapsed: that is what a text of 10 MB would spend its time on.
      this.#inline += collapsed(text.slice(0, this.#budget.charsLeft));
      this.#budget.charsLeft -= text.length;
      return;
    }
    const name = nameOf(node);
    if (name === 'BR') this.#inline += '\n';
    else if (name === 'CODE' || name === 'KBD') this.#code(node);
    else if (INLINE.has(name)) this.children(node, depth);
    else this.#block(name, node, depth);
  }

  #code(node: DomNode): void {
    const code = collapsed(node.textContent ?? '').trim();
    this.#inline += code === '' || code.includes('`') ? code : `\`${code}\``;
  }

  #block(name: string, node: DomNode, depth: number): void {
    const heading = headingLevel(name, node);
    if (heading !== undefined) {
      const title = collapsed(this.#rendered(node, depth).replace(/^\\/, '')).trim();
      this.#push(title === '' ? '' : `${'#'.repeat(heading)} ${title}`);
    } else if (name === 'PRE') this.#fence(node.textContent ?? '');
    else if (name === 'UL' || name === 'OL' || name === 'MENU') this.#list(node, name === 'OL', depth);
    else if (name === 'TABLE') this.#table(node, depth);
    else if (name === 'BLOCKQUOTE') {
      const quoted = this.#rendered(node, depth);
      this.#push(quoted === '' ? '' : `> ${quoted.replaceAll('\n', '\n> ').replace(/^> $/gm, '>')}`);
    } else if (name === 'DD') this.#push(`: ${hung(this.#rendered(node, depth), '  ')}`.replace(/^: $/, ''));
    else {
      this.#flush();
      this.children(node, depth);
      this.#flush();
    }
  }

  #fence(code: string): void {
    const body = code.replace(/^\n+/, '').trimEnd();
    let longest = 2;
    for (const [run] of body.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
    const fence = '`'.repeat(longest + 1);
    this.#push(body === '' ? '' : `${fence}\n${body}\n${fence}`);
  }

  #list(node: DomNode, ordered: boolean, depth: number): void {
    const items: string[] = [];
    for (const child of node.childNodes) {
      if (isDropped(child) || this.#budget.skip.has(child)) continue;
      const item = child.nodeType === TEXT ? collapsed(child.nodeValue ?? '').trim() : this.#rendered(child, depth + 1);
      const text = item.replaceAll('\n\n', '\n');
      if (text === '') continue;
      const marker = ordered ? `${items.length + 1}. ` : '- ';
      items.push(marker + hung(text, ' '.repeat(marker.length)));
    }
    this.#push(items.join('\n'));
  }

  #table(node: DomNode, depth: number): void {
    const cells = cellsOf(node);
    if (cells === undefined) {
      this.#flush();
      this.children(node, depth);
      this.#flush();
      return;
    }
    for (const child of node.childNodes) if (nameOf(child) === 'CAPTION') this.#push(this.#rendered(child, depth + 1));
    const rows = cells.map((row) =>
      row.map((cell) =>
        collapsed(this.#rendered(cell, depth + 3))
          .trim()
          .replaceAll('|', '\\|'),
      ),
    );
    const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
    const lines = rows
      .filter((row) => row.some((cell) => cell !== ''))
      .map((row) => `| ${Array.from({ length: width }, (_, at) => row[at] ?? '').join(' | ')} |`);
    if (lines.length > 1) lines.splice(1, 0, `|${' --- |'.repeat(width)}`);
    this.#push(lines.join('\n'));
  }
}

/** Columns that are shown; a wider table is cut, and one row stays one line. */
const COLUMNS_MAX = 50;
const ROW_GROUPS = new Set(['THEAD', 'TBODY', 'TFOOT']);

/** The cells of a table by row; undefined for one that is there for the layout: a single column, or cells with blocks inside. */
function cellsOf(table: DomNode): DomNode[][] | undefined {
  const rows: DomNode[][] = [];
  for (const part of table.childNodes) {
    if (isDropped(part)) continue;
    for (const row of ROW_GROUPS.has(nameOf(part)) ? part.childNodes : [part]) {
      if (isDropped(row) || nameOf(row) !== 'TR') continue;
      const cells = [...row.childNodes].filter((cell) => cell.nodeType === ELEMENT && !isDropped(cell)).slice(0, COLUMNS_MAX);
      if (cells.some((cell) => holdsBlock(cell, 0))) return undefined;
      rows.push(cells);
    }
  }
  return rows.some((row) => row.length > 1) ? rows : undefined;
}

function holdsBlock(node: DomNode, depth: number): boolean {
  if (depth > RENDERED_DEPTH_MAX) return true;
  for (const child of node.childNodes) {
    if (child.nodeType === ELEMENT && (BLOCK_IN_CELL.has(nameOf(child)) || holdsBlock(child, depth + 1))) return true;
  }
  return false;
}

function rendered(node: DomNode, depth: number, budget: Budget): string {
  const renderer = new Renderer(budget);
  renderer.children(node, depth);
  return renderer.text;
}

/** The Markdown of what is below `node`. Never throws for its shape: what nests too deep becomes plain text. */
export function htmlMarkdown(node: DomNode, { skip, maxChars }: MarkdownOptions): string {
  return rendered(node, 0, { skip, charsLeft: maxChars });
}
