/** How a named transaction takes back its rows without failing. */

/** Thrown by a transaction of the writer: its rows are rolled back, and the write resolves with `output`. */
export class Withdrawal<Output> extends Error {
  readonly output: Output;

  constructor(output: Output) {
    super('the write was withdrawn');
    this.output = output;
  }
}
