/** Whether a text, said in pieces, is within an address. What is said is looked at when asked for, or when enough has come. */
import { appended } from '../growing-text.ts';
import { type Construct, Declaration, Destination, Tag, Until } from './markdown-constructs.ts';

/** Kept unread at most: a hundred deltas. */
const UNREAD_MAX_CHARS = 4_096;
/** Nobody's text has more of them open at once; from there on all of it counts as one address. */
const CONSTRUCTS_MAX = 16;
/** As long as addresses may be: what goes on without a blank for longer counts as one. */
const RUN_MAX_CHARS = 2_048;
/** Overlap with the text read before, in which an address may have begun. */
const RUN_OVERLAP_CHARS = 128;

/** An address in running text, its entities and escapes read: with slashes, `www.`, a host with a path, or of mail. */
const ADDRESS = /:\/|\/\/|www\.|(?:mailto|xmpp):|\.[\p{L}\p{N}-]{1,63}(?::\d{1,5})?[/?#]/iu;
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(colon|sol|period));/gi;
const NAMED: Readonly<Record<string, string>> = { colon: ':', sol: '/', period: '.' };
const ESCAPE = /\\([!-/:-@[-`{-~])/g;
/** What ends an address in running text; brackets and quotes do not (GitHub's flavour). */
const BOUNDARIES = new Set(Array.from(' \t\n\v\f\r<', (char) => char.charCodeAt(0)));

function characterOf(_entity: string, decimal: string | undefined, hex: string | undefined, name: string | undefined): string {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? '';
  const code = Number.parseInt(decimal ?? hex ?? '', decimal === undefined ? 16 : 10);
  return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : '';
}

function holdsAddress(run: string): boolean {
  return ADDRESS.test(run.includes('&') || run.includes('\\') ? run.replace(ENTITY, characterOf).replace(ESCAPE, '$1') : run);
}

function lastBoundary(text: string): number {
  for (let at = text.length - 1; at >= 0; at--) if (BOUNDARIES.has(text.charCodeAt(at))) return at;
  return -1;
}

export class AddressScan {
  #unread = '';
  #constructs: Construct[] = [];
  /** Something was begun that nothing ends. */
  #isEndless = false;
  #isMarkup = false;
  #last = '';
  /** State of the present line: only blanks so far; only blanks and quote marks; only what may precede a block. */
  #isBlank = true;
  #isQuoteBlank = true;
  #isLineStart = true;
  /** Without a blank up to here, as far as it was not looked at. */
  #run = '';
  #runChars = 0;
  #isRunAddress = false;
  /** It began with `<`, and no `>` has come. */
  #isInAngles = false;

  said(text: string): void {
    if (this.#isEndless) return;
    this.#unread = appended(this.#unread, text);
    if (this.#unread.length > UNREAD_MAX_CHARS) this.#read();
  }

  isInside(): boolean {
    this.#read();
    if (this.#isEndless || this.#isMarkup || this.#constructs.some(({ takesNext }) => takesNext)) return true;
    // A value may begin with the bracket of a destination, or make a tag or an address of mail of what stands in angle brackets.
    return this.#last === ']' || this.#isInAngles || this.#isInRunningAddress();
  }

  #isInRunningAddress(): boolean {
    if (!this.#isRunAddress && this.#run !== '') {
      this.#isRunAddress = this.#runChars > RUN_MAX_CHARS || holdsAddress(this.#run);
      this.#run = this.#run.slice(-RUN_OVERLAP_CHARS);
    }
    return this.#isRunAddress;
  }

  #read(): void {
    const text = this.#unread;
    if (text === '') return;
    this.#unread = '';
    this.#readRun(text);
    for (let at = 0; at < text.length; at++) this.#readChar(text.charAt(at));
  }

  #readRun(text: string): void {
    const boundary = lastBoundary(text);
    if (boundary >= 0) {
      this.#run = '';
      this.#runChars = 0;
      this.#isRunAddress = false;
      this.#isInAngles = text.charAt(boundary) === '<';
    }
    const rest = text.slice(boundary + 1);
    if (rest.includes('>')) this.#isInAngles = false;
    this.#runChars += rest.length;
    // Longer, it counts as an address whatever it holds.
    this.#run = this.#runChars > RUN_MAX_CHARS ? '.' : this.#run + rest;
  }

  #readChar(char: string): void {
    if (this.#constructs.length > 0) this.#step(char);
    const last = this.#last;
    this.#last = char;
    if (last === ']' && char === '(') this.#begin(new Destination(false));
    else if (last === ']' && char === ':') this.#begin(new Destination(true));
    else if (last === '<') this.#beginMarkup(char);
    if (char === '\n') this.#endLine();
    else if (char !== ' ' && char !== '\t' && char !== '\r' && char !== '<') {
      this.#isBlank = false;
      if (char !== '>') this.#isQuoteBlank = false;
      if (!'>*+-.)0123456789'.includes(char)) this.#isLineStart = false;
    } else if (char === '<') {
      this.#isBlank = false;
      this.#isQuoteBlank = false;
    }
  }

  #beginMarkup(char: string): void {
    if (char === '!') this.#begin(new Declaration());
    else if (char === '?') this.#begin(new Until('?>'));
    else if (char === '/' || /[a-z]/i.test(char)) this.#begin(new Tag(char, this.#isLineStart));
  }

  #begin(construct: Construct): void {
    this.#constructs.push(construct);
    if (this.#constructs.length > CONSTRUCTS_MAX) this.#neverEnds();
  }

  #neverEnds(): void {
    this.#isEndless = true;
    this.#constructs = [];
  }

  #step(char: string): void {
    let kept = 0;
    for (const construct of this.#constructs) {
      const outcome = construct.step(char);
      if (outcome === 'goes on') this.#constructs[kept++] = construct;
      else if (outcome === 'markup') {
        this.#isMarkup = true;
        const raw = construct instanceof Tag ? construct.rawName : null;
        if (raw !== null) this.#constructs[kept++] = new Until(`</${raw}`);
      }
    }
    this.#constructs.length = kept;
  }

  #endLine(): void {
    if (this.#isQuoteBlank) {
      if (this.#isBlank) this.#isMarkup = false;
      const outcomes = this.#constructs.map((construct) => construct.blankLine(this.#isBlank));
      if (outcomes.includes('endless')) this.#neverEnds();
      else this.#constructs = this.#constructs.filter((_, index) => outcomes[index] === 'goes on');
    }
    this.#isBlank = true;
    this.#isQuoteBlank = true;
    this.#isLineStart = true;
  }
}
