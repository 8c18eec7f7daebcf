/** Reads JSON that a model wrote with slips, for what it says: cut off, with commas or quotes too many or too few. Never a reason to call anything. */

/** Deeper than anything that is read of it. */
const DEPTH_MAX = 32;

class Loose {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  #skip(blank: RegExp): void {
    while (this.#at < this.#text.length && blank.test(this.#text.charAt(this.#at))) this.#at++;
  }

  value(depth: number): unknown {
    this.#skip(/[\s,:]/);
    const char = this.#text.charAt(this.#at);
    if (char === '"' || char === "'") return this.#string(char);
    // A name without a value: the object ends here.
    if (char === '}' || char === ']') return null;
    if ((char !== '{' && char !== '[') || depth > DEPTH_MAX) return this.#bare();
    this.#at++;
    const values: unknown[] = [];
    const fields: [string, unknown][] = [];
    for (;;) {
      this.#skip(/[\s,:]/);
      if (this.#at >= this.#text.length) break;
      if (/[\]}]/.test(this.#text.charAt(this.#at))) {
        this.#at++;
        break;
      }
      if (char === '[') values.push(this.value(depth + 1));
      else fields.push([this.#key(), this.value(depth + 1)]);
    }
    return char === '[' ? values : Object.fromEntries(fields);
  }

  #string(quote: string): string {
    const begin = ++this.#at;
    while (this.#at < this.#text.length && this.#text.charAt(this.#at) !== quote) this.#at += this.#text.charAt(this.#at) === '\\' ? 2 : 1;
    const raw = this.#text.slice(begin, this.#at++);
    return raw.replaceAll(/\\u([0-9a-fA-F]{4})|\\(.?)/gs, (_, hex: string | undefined, char: string | undefined) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      return char === 'n' || char === 'r' || char === 't' ? ' ' : (char ?? '');
    });
  }

  #key(): string {
    const char = this.#text.charAt(this.#at);
    return char === '"' || char === "'" ? this.#string(char) : this.#word();
  }

  #word(): string {
    const begin = this.#at;
    while (this.#at < this.#text.length && !/[\s,:{}[\]"]/.test(this.#text.charAt(this.#at))) this.#at++;
    if (this.#at === begin) this.#at++;
    return this.#text.slice(begin, this.#at);
  }

  /** A word without quotes is none that people read. */
  #bare(): unknown {
    const word = this.#word();
    if (word === 'true' || word === 'false') return word === 'true';
    return word !== '' && Number.isFinite(Number(word)) ? Number(word) : null;
  }
}

/** The first object or list of `text`, as far as it can be made out; undefined where it has none. Never throws. */
export function looseJson(text: string): unknown {
  const begin = text.search(/[[{]/);
  return begin < 0 ? undefined : new Loose(text.slice(begin)).value(0);
}
