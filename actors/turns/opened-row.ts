/**
 * What the commit of an opening made, for an attempt that began before it was known. The attempt holds these functions for as long as it runs,
 * and with them this alone: closures made where a turn is opened would hold all that the opening wrote.
 */
import type { OpenTurnOutput } from '../../storage/conversations/turn-openings.ts';

type Opened = Extract<OpenTurnOutput, { outcome: 'opened' }>;

export class OpenedRow {
  #opened: Opened | null = null;

  /** It is committed. */
  is(opened: Opened): void {
    this.#opened = opened;
  }

  /** The turn's row. @throws Error before it is committed */
  readonly turn = (): number => this.#known().turn;

  /** What the commit counted as left of the day. @throws Error before it is committed */
  readonly dayLeft = (): number | null => this.#known().dayLeft;

  #known(): Opened {
    if (this.#opened === null) throw new Error('a turn was used before its opening was committed');
    return this.#opened;
  }
}
