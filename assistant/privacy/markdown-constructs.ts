/**
 * The constructs of Markdown that hold an address: links, images, definitions, raw HTML. They err on one side: one lasts at least as long
 * as CommonMark, and a browser that is shown the HTML, could take it to last. Where it may begin is for the caller to see.
 */

export interface Construct {
  /** Whether a placeholder that comes next would be within it. */
  readonly takesNext: boolean;
  /** Takes the next character; 'ended' when it is over with it, 'endless' when nothing can end it any more. */
  step(char: string): 'goes on' | 'ended' | 'markup' | 'endless';
  /** A blank line came; `isStrict`: blank also outside of a quote. */
  blankLine(isStrict: boolean): 'goes on' | 'ended' | 'endless';
}

const isSpace = (char: string) => char === ' ' || char === '\t' || char === '\n' || char === '\r' || char === '\v' || char === '\f';
const isControl = (char: string) => char < ' ' || char === '\x7f';
const CLOSING_QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '(': ')' };

/** After `](` of a link or image, or after `]:` of a definition: blanks, a destination, blanks, a title, and what closes it. */
export class Destination implements Construct {
  readonly #isDefinition: boolean;
  #state: 'lead' | 'bare' | 'angle' | 'after' | 'title' | 'closing' | 'broken' = 'lead';
  #brackets = 0;
  #closingQuote = '';
  #isEscaped = false;
  /** Only blanks and marks of quotes since the line began: what a quote's line begins with is none of the construct. */
  #isLineStart = false;

  constructor(isDefinition: boolean) {
    this.#isDefinition = isDefinition;
  }

  /** What follows a definition's destination is its title only in quotes; in a link laxer readers take it as it is. */
  get takesNext(): boolean {
    return !this.#isDefinition || (this.#state !== 'after' && this.#state !== 'closing');
  }

  blankLine(): 'ended' {
    return 'ended';
  }

  step(char: string): 'goes on' | 'ended' {
    if (this.#isEscaped) {
      this.#isEscaped = false;
      return 'goes on';
    }
    if (this.#isLineStart && (char === '>' || isSpace(char))) return 'goes on';
    this.#isLineStart = char === '\n';
    switch (this.#state) {
      case 'lead':
        return this.#lead(char);
      case 'bare':
        return this.#bare(char);
      case 'angle':
        return this.#angle(char);
      case 'after':
        return this.#after(char);
      case 'title':
        return this.#title(char);
      case 'closing':
        return this.#closing(char);
      case 'broken':
        return char === ')' || char === '\n' ? 'ended' : 'goes on';
    }
  }

  #lead(char: string): 'goes on' | 'ended' {
    if (isSpace(char)) return 'goes on';
    this.#state = char === '<' ? 'angle' : 'bare';
    return char === '<' ? 'goes on' : this.#bare(char);
  }

  #bare(char: string): 'goes on' | 'ended' {
    if (isSpace(char)) this.#state = 'after';
    else if (isControl(char)) this.#state = 'broken';
    else if (char === '\\') this.#isEscaped = true;
    else if (char === '(') this.#brackets++;
    else if (char === ')' && !this.#isDefinition && this.#brackets-- === 0) return 'ended';
    return 'goes on';
  }

  #angle(char: string): 'goes on' {
    if (char === '\\') this.#isEscaped = true;
    else if (char === '>') this.#state = 'after';
    else if (char === '<' || char === '\n') this.#state = 'broken';
    return 'goes on';
  }

  #after(char: string): 'goes on' | 'ended' {
    if (isSpace(char)) return 'goes on';
    const closing = CLOSING_QUOTES[char];
    if (closing === undefined) return this.#broken(char);
    this.#closingQuote = closing;
    this.#state = 'title';
    return 'goes on';
  }

  #title(char: string): 'goes on' {
    if (char === '\\') this.#isEscaped = true;
    else if (char === this.#closingQuote) this.#state = 'closing';
    return 'goes on';
  }

  #closing(char: string): 'goes on' | 'ended' {
    if (isSpace(char)) return this.#isDefinition && char === '\n' ? 'ended' : 'goes on';
    return this.#broken(char);
  }

  #broken(char: string): 'goes on' | 'ended' {
    if (this.#isDefinition || char === ')') return 'ended';
    this.#state = 'broken';
    return 'goes on';
  }
}

/** As long as an address may be: what has not ended by then is no `<https://…>`. */
const TOKEN_MAX_CHARS = 2_048;
const AUTOLINK = /^(?:[a-z][a-z0-9+.-]{1,31}:[^\s<>]*|[\w.!#$%&'*+/=?^`{|}~-]+@[a-z0-9.-]+)$/i;
/** What models write between words, and browsers do nothing about. */
const PLAIN_TAG = /^\/?(?:br|wbr|b|i|u|s|em|strong|sub|sup|kbd|code|mark|small|del|ins)\/?$/i;
/** Whatever follows these is theirs until they are closed, blank lines too. */
const RAW_TAG = /^(pre|script|style|textarea|title|xmp|iframe|noembed|noframes|noscript|plaintext|svg|math|object|template)$/i;
const TAG_NAME = /^[a-z][a-z0-9-]*/i;

/** After `<` and a letter or a slash: a tag as HTML reads it, or `<https://…>`. What is within a tag that opened is read on as markup. */
export class Tag implements Construct {
  readonly takesNext = true;
  readonly #isLineStart: boolean;
  #state: 'between' | 'equals' | 'value' | 'double' | 'single' = 'between';
  #token: string | null;
  #name = '';

  constructor(firstChar: string, isLineStart: boolean) {
    this.#token = firstChar;
    this.#isLineStart = isLineStart;
  }

  /** A tag that is left open takes what follows, up to its next quote or bracket, wherever that is. */
  blankLine(isStrict: boolean): 'goes on' | 'endless' {
    return isStrict ? 'endless' : 'goes on';
  }

  /** Set once the tag has ended: the element whose end is waited for. */
  get rawName(): string | null {
    return RAW_TAG.test(this.#name) ? this.#name.toLowerCase() : null;
  }

  step(char: string): 'goes on' | 'ended' | 'markup' {
    // `<//` begins nothing.
    if (this.#token === '/' && !/[a-z]/i.test(char)) return 'ended';
    if (char === '>' && this.#state !== 'double' && this.#state !== 'single') return this.#close();
    this.#collect(char);
    switch (this.#state) {
      case 'between':
        if (char === '=') this.#state = 'equals';
        break;
      case 'equals':
        if (!isSpace(char)) this.#state = char === '"' ? 'double' : char === "'" ? 'single' : 'value';
        break;
      case 'value':
        if (isSpace(char)) this.#state = 'between';
        break;
      case 'double':
        if (char === '"') this.#state = 'between';
        break;
      case 'single':
        if (char === "'") this.#state = 'between';
        break;
    }
    return 'goes on';
  }

  #collect(char: string): void {
    if (this.#token === null) return;
    if (!isSpace(char) && char !== '<' && this.#token.length < TOKEN_MAX_CHARS) {
      this.#token += char;
      return;
    }
    this.#name = TAG_NAME.exec(this.#token)?.[0] ?? '';
    this.#token = null;
  }

  #close(): 'ended' | 'markup' {
    if (this.#token === null) return 'markup';
    if (AUTOLINK.test(this.#token) || (PLAIN_TAG.test(this.#token) && !this.#isLineStart)) return 'ended';
    this.#name = TAG_NAME.exec(this.#token)?.[0] ?? '';
    return 'markup';
  }
}

/** What lasts until certain characters have come, and then to the end of their line: comments, declarations, `<script>`. */
export class Until implements Construct {
  readonly takesNext = true;
  readonly #terminator: string;
  #skip: number;
  #tail = '';
  #isClosing = false;

  /** `terminator` in lower case; `skip`: characters that are still of the beginning. */
  constructor(terminator: string, skip = 0) {
    this.#terminator = terminator;
    this.#skip = skip;
  }

  blankLine(): 'goes on' {
    return 'goes on';
  }

  step(char: string): 'goes on' | 'ended' {
    if (this.#isClosing) return char === '\n' ? 'ended' : 'goes on';
    if (this.#skip > 0) {
      this.#skip--;
      return 'goes on';
    }
    this.#tail = (this.#tail + char.toLowerCase()).slice(-this.#terminator.length);
    this.#isClosing = this.#tail === this.#terminator;
    return 'goes on';
  }
}

export class Declaration implements Construct {
  readonly takesNext = true;
  #rest: Until | null = null;

  blankLine(): 'goes on' {
    return 'goes on';
  }

  step(char: string): 'goes on' | 'ended' {
    if (this.#rest !== null) return this.#rest.step(char);
    if (char === '-') this.#rest = new Until('-->', 1);
    else if (char === '[') this.#rest = new Until(']]>');
    else {
      this.#rest = new Until('>');
      return this.#rest.step(char);
    }
    return 'goes on';
  }
}
