/** Work in the background for a replica: several things at a time, and one round at a time. */

/** Works off `items`, so many at a time. Begins none after the first error, and throws it once nothing runs that would still write. */
export async function inParallel<Item>(items: readonly Item[], atOnce: number, work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    try {
      for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
    } catch (error) {
      left.length = 0;
      throw error;
    }
  };
  for (const end of await Promise.allSettled(Array.from({ length: atOnce }, worker))) if (end.status === 'rejected') throw end.reason;
}

/** Rounds of which one runs at a time, and none throws. */
export class Rounds {
  #round: Promise<void> | undefined;
  /** Why the last one failed; undefined: it did not, or there was none. */
  problem: string | undefined;

  get isUnderWay(): boolean {
    return this.#round !== undefined;
  }

  begin(round: () => Promise<void>): void {
    this.#round ??= round()
      .then(
        () => {
          this.problem = undefined;
        },
        (error: unknown) => {
          this.problem = error instanceof Error ? error.message : String(error);
        },
      )
      .finally(() => {
        this.#round = undefined;
      });
  }

  async end(): Promise<void> {
    await this.#round;
  }
}
