/**
 * Markdown as elements (WIDGET-7). Text becomes text nodes alone; nothing is loaded; a link leads to https, mailto or tel, and any other stays
 * as its words. Nodes of closed blocks stay the same while the text grows.
 */
import type { ComponentChild, VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { BlockSurroundings } from '../../blocks/block-view.ts';
import { CodeFrame } from '../../blocks/parts/code-frame.tsx';
import { isFollowed, Link } from '../../blocks/parts/link.tsx';
import proseCss from '../../look/prose.css';
import { asWritten } from '../as-written.ts';
import { DEPTH_MAX, GrowingBlocks, type TextBlock, type Token } from '../parser.ts';

export const LATER_CSS = proseCss;

type Around = Pick<BlockSurroundings, 'ask' | 'words' | 'linkSchemes' | 'autolinks'>;

/** The panel's title is the second level: what an answer has is below it. */
const HEADINGS: Readonly<Record<string, string>> = { h1: 'h3', h2: 'h3', h3: 'h4', h4: 'h4', h5: 'h5', h6: 'h5' };
/** Each has the direction of its own words. */
const SPEAKS = new Set(['p', 'li', 'h3', 'h4', 'h5', 'td', 'th']);
/** What holds those has the direction of the first letter in it: `auto` would look past all that have one of their own. */
const HOLDS = new Set(['ul', 'ol', 'blockquote', 'table']);
const RIGHT_TO_LEFT = /^[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
/** Elements in one block: 8,000 characters may be a table of 65,000 cells. What is beyond is written into the last of them. */
const ELEMENTS_MAX = 5_000;
const TASK = /^\[([ x])\]\s/i;

/** An element that is open. */
interface Open {
  readonly token: Token;
  readonly tag: string;
  readonly children: ComponentChild[];
  /** What stands in it so far, as text. */
  words: string;
}

/** Words for a picture: nothing is loaded from elsewhere. */
function wordsOf(tokens: readonly Token[]): string {
  return tokens
    .map(({ type, content, children }) => (type.endsWith('break') ? '\n' : children?.length ? wordsOf(children) : content))
    .join('');
}

function directionOf(words: string): 'rtl' | 'ltr' | 'auto' {
  const [letter] = /\p{L}/u.exec(words) ?? [];
  if (letter === undefined) return 'auto';
  return RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
}

class Drawing {
  readonly #around: Around;
  readonly #isOpen: boolean;
  readonly #stack: Open[] = [];
  /** Elements that are open beyond the deepest, or the last, that is written. */
  #deeper = 0;
  #elements = 0;

  constructor(around: Around, isOpen: boolean) {
    this.#around = around;
    this.#isOpen = isOpen;
  }

  drawn(tokens: readonly Token[]): ComponentChild[] {
    const root: Open = { token: tokens[0] as Token, tag: '', children: [], words: '' };
    this.#stack.push(root);
    this.#drawAll(tokens);
    return root.children;
  }

  #drawAll(tokens: readonly Token[]): void {
    for (const token of tokens) {
      // Paragraphs of a list whose items stand close.
      if (token.type === 'inline' || token.hidden) this.#drawAll(token.children ?? []);
      else if (token.nesting > 0) this.#begin(token);
      else if (token.nesting < 0) this.#end();
      else this.#add(...this.#leaf(token));
    }
  }

  #begin(token: Token): void {
    this.#elements += 1;
    if (this.#deeper > 0 || this.#stack.length > DEPTH_MAX * 2 || this.#elements > ELEMENTS_MAX) this.#deeper += 1;
    else this.#stack.push({ token, tag: HEADINGS[token.tag] ?? token.tag, children: [], words: '' });
  }

  #end(): void {
    if (this.#deeper > 0) {
      this.#deeper -= 1;
      return;
    }
    const open = this.#stack.pop() as Open;
    this.#add(this.#element(open), open.words);
  }

  #add(child: ComponentChild, words: string): void {
    const top = this.#stack.at(-1) as Open;
    const last = top.children.length - 1;
    // One text node for all of a text that follows itself.
    if (typeof child === 'string' && typeof top.children[last] === 'string') top.children[last] += child;
    else if (child !== '') top.children.push(child);
    top.words += words;
  }

  /** What has nothing in it, and how it reads. */
  #leaf({ type, tag, info, content, children }: Token): [ComponentChild, string] {
    if (type === 'fence' || type === 'code_block') {
      const language = info.trim().split(/\s/)[0] ?? '';
      return [<CodeFrame language={language} code={content} isGrowing={this.#isOpen} around={this.#around} />, content];
    }
    if (type === 'html_block')
      return [
        <p class="as-written" dir="auto">
          {content.replace(/\n+$/, '')}
        </p>,
        content,
      ];
    if (type === 'code_inline') return [<code>{content}</code>, content];
    if (type === 'image') return this.#plain(wordsOf(children ?? []));
    if (type === 'softbreak') return this.#plain('\n');
    const Tag = tag as 'br' | 'hr';
    return tag === '' ? this.#plain(content) : [<Tag />, '\n'];
  }

  #plain(text: string): [string, string] {
    const words = asWritten(text);
    const item = this.#stack.findLast(({ tag }) => tag !== 'p');
    const [mark, state] = item?.tag === 'li' && item.words === '' && this.#stack.at(-1)?.words === '' ? (TASK.exec(words) ?? []) : [];
    if (item === undefined || mark === undefined) return [words, words];
    const { words: said } = this.#around;
    this.#add(<input type="checkbox" disabled checked={state !== ' '} aria-label={state === ' ' ? said.upcoming : said.done} />, '');
    return [words.slice(mark.length), words];
  }

  #element({ token, tag, children, words }: Open): ComponentChild {
    if (token.type === 'link_open') {
      const href = String(token.attrGet('href') ?? '');
      const isWord = token.info === 'auto' && token.markup === 'linkify';
      if (!isFollowed(href, this.#around) || (isWord && this.#around.autolinks === false)) return <>{children}</>;
      return (
        <Link href={href} words={words} around={this.#around}>
          {children}
        </Link>
      );
    }
    const Tag = tag as 'p';
    const align = /center|left|right/.exec(String(token.attrGet('style') ?? ''))?.[0];
    const start = token.attrGet('start');
    return (
      <Tag
        {...(SPEAKS.has(tag) ? { dir: 'auto' } : HOLDS.has(tag) ? { dir: directionOf(words) } : {})}
        {...(align === undefined ? {} : { class: `is-${align}` })}
        {...(start === null ? {} : { start })}
      >
        {children}
      </Tag>
    );
  }
}

/** Drawings of blocks that did not change since the last time: what is the same is not looked at again. */
class Drawn {
  readonly #blocks = new WeakMap<TextBlock, VNode>();
  text = new GrowingBlocks();

  of(block: TextBlock, around: Around): VNode {
    const drawn = this.#blocks.get(block) ?? <>{new Drawing(around, block.isOpen).drawn(block.tokens)}</>;
    this.#blocks.set(block, drawn);
    return drawn;
  }
}

interface MarkdownProps {
  readonly md: string;
  /** More of it is coming. */
  readonly isGrowing: boolean;
  readonly around: Around;
}

export function Markdown({ md, isGrowing, around }: MarkdownProps) {
  const drawn = useRef(new Drawn()).current;
  if (!drawn.text.goesOnTo(md)) drawn.text = new GrowingBlocks();
  return <>{drawn.text.read(md, isGrowing).map((block) => drawn.of(block, around))}</>;
}
