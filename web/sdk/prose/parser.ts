/**
 * The parser, and the blocks of a text while it grows (WIDGET-7). What CommonMark and GitHub's tables say is markdown-it's; this keeps blocks
 * that are closed, so that only the end of the text is read again.
 */
import MarkdownIt from 'markdown-it';

/** How deep a text may nest lists (two each) and quotes (one each): deeper ones are written flat. */
export const DEPTH_MAX = 24;

type Parser = InstanceType<typeof MarkdownIt>;

export type Token = ReturnType<Parser['parse']>[number];

/** As many brackets as are opened are closed within an address; what ends a sentence ends it. */
function addressAt(text: string): { readonly url: string } | null {
  const [found] = /^https:\/\/[^\s<>"]{1,2000}/i.exec(text) ?? [];
  if (found === undefined) return null;
  let end = found.length;
  let unopened = found.split(')').length - found.split('(').length;
  for (; end > 0; end -= 1) {
    const last = found.charAt(end - 1);
    if (last === ')' && unopened > 0) unopened -= 1;
    else if (!/[?!.,:;*_~'\]]/.test(last)) break;
  }
  return { url: found.slice(0, end) };
}

/** Escapes what an address may not have, and leaves what is escaped. */
function encoded(address: string): string {
  try {
    return encodeURI(address).replaceAll(/%25([0-9a-f]{2})/gi, '%$1');
  } catch {
    // Half of a pair is all that has come of a letter.
    return address;
  }
}

function newParser(): Parser {
  // Raw HTML is read so that it can be told as it was written.
  const parser = new MarkdownIt({ html: true, linkify: true });
  // Which addresses are followed is asked where they are drawn.
  parser.validateLink = () => true;
  parser.normalizeLink = encoded;
  parser.normalizeLinkText = (address) => address;
  Object.assign(parser.linkify, { matchAtStart: addressAt, test: () => false });
  const { block } = parser;
  const tokenize = block.tokenize.bind(block);
  block.tokenize = (state, from, to) => {
    if (state.level < DEPTH_MAX) return tokenize(state, from, to);
    let end = from;
    while (end < to && (state.isEmpty(end) || (state.sCount[end] ?? 0) >= state.blkIndent)) end += 1;
    state.push('paragraph_open', 'p', 1).map = [from, end];
    state.push('text', '', 0).content = state.getLines(from, end, state.blkIndent, false).trim();
    state.push('paragraph_close', 'p', -1);
    state.line = end;
  };
  return parser;
}

const parser = newParser();

/** One block of the top level. Its identity stays while nothing of it changes. */
export interface TextBlock {
  readonly source: string;
  readonly tokens: readonly Token[];
  /** More may come to it. */
  readonly isOpen: boolean;
}

type References = Record<string, { title: string; href: string }>;

/** What is parsed, by block of the top level; `to`: the line behind it. */
function blocksIn(text: string, references: References) {
  const blocks: { tokens: Token[]; from: number; to: number }[] = [];
  let open: Token[] = [];
  for (const token of parser.parse(text, { references })) {
    open.push(token);
    if (token.level > 0 || token.nesting > 0) continue;
    const [from, to] = open[0]?.map ?? [0, 0];
    blocks.push({ tokens: open, from, to });
    open = [];
  }
  return blocks;
}

export class GrowingBlocks {
  #text = '';
  #closed: TextBlock[] = [];
  #open: TextBlock[] = [];
  /** Where what is read again begins. */
  #at = 0;
  /** What the closed blocks define. */
  readonly #references: References = {};
  /** What all definitions came to when the blocks were read. */
  #defined = '{}';

  /** False: `text` does not go on from what was read; begin anew. */
  goesOnTo(text: string): boolean {
    return text.startsWith(this.#text);
  }

  /** Blocks of the whole text. `isGrowing`: its last line may be half a line. */
  read(text: string, isGrowing: boolean): readonly TextBlock[] {
    this.#text = text;
    const rest = text.replaceAll(/\r\n?/g, '\n').slice(this.#at);
    const starts = [0, ...[...rest.matchAll(/\n/g)].map(({ index }) => index + 1)];
    const place = (line: number) => starts[line] ?? rest.length;
    const references = { ...this.#references };
    const found = blocksIn(rest, references);
    const defined = JSON.stringify(references);
    const isSame = defined === this.#defined;
    if (!isSame) this.#closed = this.#closed.map((block) => this.#again(block, references));
    this.#defined = defined;
    // Half a line may still go on from what is above it, and a line of a table makes the one above it its head: what follows counts when two
    // lines of it are whole.
    const whole = starts.length - 1;
    const closed = found.filter((_, at) => isGrowing && (found[at + 1]?.from ?? whole) + 1 < whole).length;
    const blocks = found.map(({ tokens, from, to }, at): TextBlock => {
      const source = rest.slice(place(from), place(to));
      const before = this.#open[at];
      const isOpen = isGrowing && at === found.length - 1;
      return isSame && before?.source === source && before.isOpen === isOpen ? before : { source, tokens, isOpen };
    });
    this.#closed.push(...blocks.slice(0, closed));
    this.#open = blocks.slice(closed);
    const end = place(found[closed - 1]?.to ?? 0);
    if (end > 0) parser.parse(rest.slice(0, end), { references: this.#references });
    this.#at += end;
    return [...this.#closed, ...this.#open];
  }

  /** A definition says what brackets above it mean. */
  #again(block: TextBlock, references: References): TextBlock {
    if (!block.source.includes('[')) return block;
    return { ...block, tokens: parser.parse(block.source, { references: { ...references } }) };
  }
}
