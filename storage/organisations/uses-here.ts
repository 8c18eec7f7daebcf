/** Which organisations' files this process uses: each from before its first write until it was looked through (organisation-uses.ts). */

interface Use {
  writes: number;
  endedAtMs: number;
  isNoted: boolean;
  noting: Promise<unknown> | undefined;
}

export class UsesHere {
  readonly #note: (organisationId: string) => Promise<unknown>;
  readonly #uses = new Map<string, Use>();

  /** `note` writes into the control file that this process uses the organisation's file. */
  constructor(note: (organisationId: string) => Promise<unknown>) {
    this.#note = note;
  }

  /**
   * Before a write to the file, with `end` after it, also when this fails. A promise: the write waits until it is noted that this process uses
   * it. Concurrent callers wait for one note, and keep their order.
   */
  begin(organisationId: string): Promise<void> | undefined {
    let use = this.#uses.get(organisationId);
    if (use === undefined) {
      use = { writes: 0, endedAtMs: 0, isNoted: false, noting: undefined };
      this.#uses.set(organisationId, use);
    }
    use.writes += 1;
    return use.isNoted ? undefined : this.#noted(organisationId, use);
  }

  end(organisationId: string): void {
    const use = this.#uses.get(organisationId);
    if (use === undefined) return;
    use.writes -= 1;
    use.endedAtMs = performance.now();
    if (!use.isNoted && use.writes === 0) this.#uses.delete(organisationId);
  }

  async #noted(organisationId: string, use: Use): Promise<void> {
    use.noting ??= this.#note(organisationId);
    try {
      await use.noting;
      // Set by those who waited, so that a later caller does not overtake them.
      use.isNoted = true;
    } catch (error) {
      use.noting = undefined;
      throw error;
    }
  }

  /** Organisations to which this process has not written for `quietMs`, at most `limit`. */
  quiet(quietMs: number, limit: number): string[] {
    const before = performance.now() - quietMs;
    const ids: string[] = [];
    for (const [id, { writes, endedAtMs, isNoted }] of this.#uses) {
      if (ids.length >= limit) break;
      if (isNoted && writes === 0 && endedAtMs <= before) ids.push(id);
    }
    return ids;
  }

  /** From now on a write has to be noted anew. False while one is under way, and when the file is not in use here. */
  leave(organisationId: string): boolean {
    const use = this.#uses.get(organisationId);
    if (use?.isNoted !== true || use.writes > 0) return false;
    return this.#uses.delete(organisationId);
  }

  /** After `leave`: the control file still says that this process uses it. */
  stay(organisationId: string): void {
    if (this.#uses.has(organisationId)) return;
    this.#uses.set(organisationId, { writes: 0, endedAtMs: performance.now(), isNoted: true, noting: undefined });
  }
}
