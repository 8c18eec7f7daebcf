/** What the model said for the person in one round, for the next round to be told of: held while it is little, read from rows when it is much. */

/** Hardly any round that calls something says as much. */
const HELD_CHARS = 2_000;

export class RoundWords {
  /** Null once it is too much. */
  #text: string | null = '';
  #firstBlock = 0;

  /** A round begins, with this block of the answer. */
  begin(firstBlock: number): void {
    this.#text = '';
    this.#firstBlock = firstBlock;
  }

  heard(delta: string): void {
    this.#text = this.#text === null || this.#text.length + delta.length > HELD_CHARS ? null : this.#text + delta;
  }

  /** All of it; `written` reads what is stored from a block on. */
  all(written: (fromBlock: number) => string): string {
    return this.#text ?? written(this.#firstBlock);
  }
}
