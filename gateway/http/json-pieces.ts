/** Large JSON answers, rendered piece by piece: rendering 16 MB in one go keeps the event loop for 40 ms. */
import { setImmediate as breathe } from 'node:timers/promises';

/** Text that is rendered without a pause: about a millisecond of work. */
const PIECE_BYTES = 256 * 1024;

const COMMA = Buffer.from(',');

/** Items of a list as JSON text that is rendered already, without the brackets. */
export class RenderedItems {
  readonly #pages: Buffer[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** Puts a page behind the others, or, with `first`, in front of them. */
  add(items: readonly unknown[], place: 'first' | 'last' = 'last'): void {
    if (items.length === 0) return;
    const page = Buffer.from(JSON.stringify(items).slice(1, -1));
    this.#bytes += page.length;
    if (place === 'first') this.#pages.unshift(page);
    else this.#pages.push(page);
  }

  /** The pages with commas in between. */
  pieces(): Buffer[] {
    return this.#pages.flatMap((page, index) => (index === 0 ? [page] : [COMMA, page]));
  }
}

class Pieces {
  readonly #pieces: Buffer[] = [];
  #text = '';
  #sinceBreath = 0;

  add(text: string): void {
    this.#text += text;
    this.#sinceBreath += text.length;
  }

  addItems(items: RenderedItems): void {
    this.#flush();
    this.#pieces.push(...items.pieces());
  }

  async breathe(): Promise<void> {
    if (this.#sinceBreath < PIECE_BYTES) return;
    this.#flush();
    this.#sinceBreath = 0;
    await breathe();
  }

  whole(): Buffer {
    this.#flush();
    return Buffer.concat(this.#pieces);
  }

  #flush(): void {
    if (this.#text !== '') this.#pieces.push(Buffer.from(this.#text));
    this.#text = '';
  }
}

function holdsOthers(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Objects and lists down to `depth` are rendered member by member, what lies deeper in one go. */
async function render(value: unknown, depth: number, into: Pieces): Promise<void> {
  if (value instanceof RenderedItems) {
    into.add('[');
    into.addItems(value);
    into.add(']');
  } else if (!holdsOthers(value) || depth === 0) {
    into.add(JSON.stringify(value) ?? 'null');
    await into.breathe();
  } else {
    const isList = Array.isArray(value);
    const members = Object.entries(value).filter(([, member]) => isList || member !== undefined);
    into.add(isList ? '[' : '{');
    for (const [index, [name, member]] of members.entries()) {
      into.add(`${index === 0 ? '' : ','}${isList ? '' : `${JSON.stringify(name)}:`}`);
      await render(member, depth - 1, into);
    }
    into.add(isList ? ']' : '}');
  }
}

/** As `JSON.stringify` would. Members down to `depth` one by one, each below must be small. Large lists are `RenderedItems`. */
export async function renderInPieces(value: unknown, depth: number): Promise<Buffer> {
  const pieces = new Pieces();
  await render(value, depth, pieces);
  return pieces.whole();
}
