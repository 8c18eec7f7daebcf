/**
 * Markdown into elements while it grows (WIDGET-7): streaming-markdown reads each character once, and this writes what it finds. Text becomes
 * text nodes alone; nothing is loaded; a link leads to https, mailto or tel, and any other stays as its words.
 */
import * as smd from 'streaming-markdown';
import { isHttpsUrl } from '../../../protocol/catalog/text-checks.ts';
import { unsaidHost } from '../blocks/parts/unsaid-host.ts';

/** What a link may lead to beside pages. */
const FOLLOWED = /^(?:mailto:\S|tel:[+\d])/i;
/** Blocks in lists in quotes: deeper ones are written flat. */
const DEPTH_MAX = 24;

export interface LinkWishes {
  /** True: the app has opened it itself. */
  openLink(address: string): boolean;
}

/** The address as it may stand in a link; undefined when it leads elsewhere, or is none. */
function followed(address: string): string | undefined {
  const trimmed = address.trim();
  return isHttpsUrl(trimmed) || (FOLLOWED.test(trimmed) && URL.canParse(trimmed)) ? trimmed : undefined;
}

const TAGS: Readonly<Partial<Record<smd.Token, string>>> = {
  [smd.PARAGRAPH]: 'p',
  // The panel's title is the second level: what an answer has is below it.
  [smd.HEADING_1]: 'h3',
  [smd.HEADING_2]: 'h3',
  [smd.HEADING_3]: 'h4',
  [smd.HEADING_4]: 'h4',
  [smd.HEADING_5]: 'h5',
  [smd.HEADING_6]: 'h5',
  [smd.CODE_BLOCK]: 'pre',
  [smd.CODE_FENCE]: 'pre',
  [smd.EQUATION_BLOCK]: 'pre',
  [smd.CODE_INLINE]: 'code',
  [smd.EQUATION_INLINE]: 'code',
  [smd.ITALIC_AST]: 'em',
  [smd.ITALIC_UND]: 'em',
  [smd.STRONG_AST]: 'strong',
  [smd.STRONG_UND]: 'strong',
  [smd.STRIKE]: 's',
  [smd.LINK]: 'a',
  [smd.RAW_URL]: 'a',
  // Nothing is loaded from elsewhere: a picture is the words for it.
  [smd.IMAGE]: 'span',
  [smd.BLOCKQUOTE]: 'blockquote',
  [smd.LINE_BREAK]: 'br',
  [smd.RULE]: 'hr',
  [smd.LIST_UNORDERED]: 'ul',
  [smd.LIST_ORDERED]: 'ol',
  [smd.LIST_ITEM]: 'li',
  [smd.CHECKBOX]: 'input',
  [smd.TABLE]: 'table',
  [smd.TABLE_ROW]: 'tr',
  [smd.TABLE_CELL]: 'td',
};

class Elements {
  readonly #open: Element[];
  readonly #wishes: LinkWishes;
  /** Tokens that are open beyond the deepest that is written. */
  #deeper = 0;

  constructor(root: Element, wishes: LinkWishes) {
    this.#open = [root];
    this.#wishes = wishes;
  }

  get #last(): Element {
    return this.#open.at(-1) as Element;
  }

  add(type: smd.Token): void {
    if (type === smd.DOCUMENT) return;
    const tag = TAGS[type];
    if (tag === undefined || this.#open.length > DEPTH_MAX) {
      this.#deeper += 1;
      return;
    }
    const name =
      tag === 'td' && this.#last.parentElement?.tagName === 'TABLE' && this.#last === this.#last.parentElement.firstElementChild
        ? 'th'
        : tag;
    const element = document.createElement(name);
    if (name === 'input') {
      element.setAttribute('type', 'checkbox');
      element.setAttribute('disabled', '');
    }
    this.#last.append(element);
    this.#open.push(element);
  }

  end(): void {
    if (this.#deeper > 0) this.#deeper -= 1;
    else if (this.#open.length > 1) {
      const element = this.#open.pop();
      if (element?.tagName === 'A') this.#tellHost(element as HTMLAnchorElement);
    }
  }

  #tellHost(link: HTMLAnchorElement): void {
    const host = unsaidHost(link.href, link.textContent);
    if (host === undefined) return;
    const told = document.createElement('small');
    told.textContent = `(${host})`;
    link.append(' ', told);
  }

  text(text: string): void {
    if (this.#last.tagName !== 'INPUT') this.#last.append(text);
  }

  set(attribute: smd.Attr, value: string): void {
    const element = this.#last;
    if (this.#deeper > 0) return;
    if (attribute === smd.HREF && element.tagName === 'A') this.#lead(element as HTMLAnchorElement, value);
    if (attribute === smd.CHECKED) element.setAttribute('checked', '');
    if (attribute === smd.START && element.tagName === 'OL' && /^\d{1,9}$/.test(value)) element.setAttribute('start', value);
  }

  #lead(link: HTMLAnchorElement, address: string): void {
    const href = followed(address);
    if (href === undefined) return;
    link.href = href;
    link.className = 'link';
    if (isHttpsUrl(href)) {
      link.target = '_blank';
      link.rel = 'noopener noreferrer';
    }
    link.addEventListener('click', (event) => {
      if (this.#wishes.openLink(href)) event.preventDefault();
    });
  }
}

export class GrowingMarkdown {
  readonly #root: Element;
  readonly #wishes: LinkWishes;
  #parser: smd.Parser;
  #written = '';
  #isOver = false;

  constructor(root: Element, wishes: LinkWishes) {
    this.#root = root;
    this.#wishes = wishes;
    this.#parser = this.#begun();
  }

  /** Shows `md`. Only what is new of it is read, as long as it goes on from what is shown. */
  show(md: string, isGrowing: boolean): void {
    if (this.#isOver ? md !== this.#written : !md.startsWith(this.#written)) {
      this.#root.replaceChildren();
      this.#parser = this.#begun();
      this.#written = '';
      this.#isOver = false;
    }
    if (md.length > this.#written.length) smd.parser_write(this.#parser, md.slice(this.#written.length));
    this.#written = md;
    if (isGrowing || this.#isOver) return;
    this.#isOver = true;
    smd.parser_end(this.#parser);
  }

  #begun(): smd.Parser {
    return smd.parser({
      data: new Elements(this.#root, this.#wishes),
      add_token: (elements, type) => elements.add(type),
      end_token: (elements) => elements.end(),
      add_text: (elements, text) => elements.text(text),
      set_attr: (elements, attribute, value) => elements.set(attribute, value),
    } satisfies smd.Renderer<Elements>);
  }
}
