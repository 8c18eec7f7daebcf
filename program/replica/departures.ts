/**
 * Removes from the replica what is no longer here (REPLICA-10). An organisation that moved to another cell leaves its file's replica behind,
 * and Litestream forgets nothing of a database that it is not told of. It stays for as long as everything else that was deleted does, so that
 * `--at` still finds it; and for good while the control file knows the organisation, because then its file was lost, not moved.
 */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as v from 'valibot';
import { type DataLayout, replaceFile } from '../../storage/data-layout.ts';
import { isOrganisationKnown } from '../../storage/moving/placements.ts';
import { reading } from '../../storage/sqlite/database.ts';
import { GONE_KEPT_MS } from './files-keeper.ts';
import { Rounds } from './rounds.ts';
import type { ReplicaStore } from './store.ts';

/** Between two looks: one removes the files of one database, which is a request for each at an S3 server. */
const LOOK_EVERY_MS = 60_000;

/** Names of databases below the destination; when each went, null while it is here. */
const namesSchema = v.record(v.string(), v.nullable(v.number()));

export class Departures {
  readonly #store: ReplicaStore;
  readonly #layout: DataLayout;
  readonly #path: string;
  readonly #rounds = new Rounds();
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(store: ReplicaStore, layout: DataLayout) {
    this.#store = store;
    this.#layout = layout;
    this.#path = join(layout.replica, 'databases.json');
  }

  /** Why the last one could not be removed; undefined: it was, or nothing is due. */
  get problem(): string | undefined {
    return this.#rounds.problem;
  }

  /** Notes which databases are here now, by their names below the destination. */
  note(here: readonly string[], nowMs: number): void {
    const known = this.#known();
    const gone = Object.entries(known).map(([name, wentAtMs]) => [name, wentAtMs ?? nowMs] as const);
    const next = { ...Object.fromEntries(gone), ...Object.fromEntries(here.map((name) => [name, null])) };
    replaceFile(this.#path, JSON.stringify(next));
  }

  /** Begins to remove one that went long enough ago, where there is one. Never throws. */
  look(nowMs: number): void {
    if (this.#rounds.isUnderWay || nowMs - this.#lookedAtMs < LOOK_EVERY_MS) return;
    this.#lookedAtMs = nowMs;
    const due = Object.entries(this.#known()).filter(([, wentAtMs]) => wentAtMs !== null && nowMs - wentAtMs > GONE_KEPT_MS);
    const name = due.map(([each]) => each).find((each) => !this.#isLost(each));
    if (name !== undefined) this.#rounds.begin(() => this.#remove(name));
  }

  end(): Promise<void> {
    return this.#rounds.end();
  }

  #known(): Record<string, number | null> {
    try {
      const read = v.safeParse(namesSchema, JSON.parse(readFileSync(this.#path, 'utf8')));
      if (read.success) return read.output;
    } catch {
      // None was written yet, or somebody wrote into it: it begins anew with what is here.
    }
    return {};
  }

  /** Whether the cell still has the organisation: then its replica is what is left of it. */
  #isLost(name: string): boolean {
    return reading(this.#layout.control, (db) => isOrganisationKnown(db, basename(name, '.sqlite')));
  }

  async #remove(name: string): Promise<void> {
    for (const file of await this.#store.list(`${name}/`)) await this.#store.remove(file.name);
    const { [name]: _, ...others } = this.#known();
    replaceFile(this.#path, JSON.stringify(others));
  }
}
