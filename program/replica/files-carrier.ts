/** When files are carried into the replica (REPLICA-6): every so often and in the background, since a large one takes long. */
import type { FilesKeeper } from './files-keeper.ts';

/** Files are looked through this often. */
const CARRY_MS = 10_000;

export class FilesCarrier {
  readonly #files: FilesKeeper;
  /** When the last round began that went well. */
  #carriedAtMs = Date.now();
  #beganAtMs = 0;
  #problem: string | undefined;
  #round: Promise<void> | undefined;

  constructor(files: FilesKeeper) {
    this.#files = files;
  }

  /** Why the last round failed; undefined: it did not. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Seconds, beyond the time that is left between two rounds anyway. */
  lagS(nowMs: number): number {
    return Math.max(0, nowMs - this.#carriedAtMs - CARRY_MS) / 1_000;
  }

  /** Begins a round when one is due. `lagMaxS`: how far behind the databases are. Never throws. */
  carry(nowMs: number, lagMaxS: number): void {
    if (this.#round === undefined && nowMs - this.#beganAtMs >= CARRY_MS) this.#begin(nowMs, lagMaxS);
  }

  #begin(nowMs: number, lagMaxS: number): void {
    this.#beganAtMs = nowMs;
    this.#round = this.#files
      .carry(nowMs, lagMaxS)
      .then(() => {
        this.#carriedAtMs = nowMs;
        this.#problem = undefined;
      })
      .catch((error: unknown) => {
        this.#problem = error instanceof Error ? error.message : String(error);
      })
      .finally(() => {
        this.#round = undefined;
      });
  }

  /** Carries what is left, after the last write. Never throws. */
  async finish(lagMaxS: number): Promise<void> {
    await this.#round;
    this.#begin(Date.now(), lagMaxS);
    await this.#round;
  }

  /** Waits for the round that is under way. */
  async end(): Promise<void> {
    await this.#round;
  }
}
