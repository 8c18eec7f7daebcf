/** Asks the destination what it has of the databases that seem to be behind (REPLICA-2), one after the other and beside the keeper's looks. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DataLayout } from '../../storage/data-layout.ts';
import { replicaName } from '../../storage/replica/replicated-databases.ts';
import { indexOf, type Lags, type Place, positionOf } from './lag.ts';
import { unpackedLength } from './lz4-length.ts';
import { inParallel, Rounds } from './rounds.ts';
import { type DatabaseSeal, type DatabaseSeals, openPiece } from './sealing.ts';
import type { ReplicaStore } from './store.ts';

/** Between two rounds: while the destination is away every database is in doubt, and asking costs requests. */
const ROUND_MS = 5_000;
/** At once: at a start it is asked for every database. */
const AT_ONCE = 4;
const GENERATION = /^[0-9a-f]{16}$/;
const COPY = /^([0-9a-f]{8})\.wal$/;
const SEGMENT = /_([0-9a-f]{8})\.wal\.lz4$/;

/**
 * Where Litestream 0.3 has read the database at `path` up to, from the copy of the log that it keeps beside it; undefined when there is none.
 * Its metrics go on telling the size of the copy before once it began another one, and tell no generation.
 */
export function shadowPlace(path: string): Place | undefined {
  const dir = join(dirname(path), `.${basename(path)}-litestream`);
  try {
    const generation = readFileSync(join(dir, 'generation'), 'utf8').trim();
    if (!GENERATION.test(generation)) return undefined;
    const logs = join(dir, 'generations', generation, 'wal');
    const newest = readdirSync(logs).sort().at(-1) ?? '';
    const [, index] = COPY.exec(newest) ?? [];
    if (index === undefined) return undefined;
    return { generation, position: positionOf(Number.parseInt(index, 16), statSync(join(logs, newest)).size) };
  } catch {
    // It begins a new one at this moment: the next look finds it.
    return undefined;
  }
}

/**
 * The end of what arrived of the segment in which `read` is, of the database `name`; undefined: nothing of it.
 * @throws Error when the destination refuses or is away.
 */
async function arrivedPlace(
  store: ReplicaStore,
  name: string,
  seal: DatabaseSeal,
  { generation, position }: Place,
): Promise<Place | undefined> {
  const index = indexOf(position);
  const segments = await store.list(`${name}/generations/${generation}/wal/${index.toString(16).padStart(8, '0')}_`);
  const newest =
    segments
      .map((segment) => segment.name)
      .sort()
      .at(-1) ?? '';
  const [, offset] = SEGMENT.exec(newest) ?? [];
  const bytes = offset === undefined ? undefined : await store.get(newest);
  if (offset === undefined || bytes === undefined) return undefined;
  return { generation, position: positionOf(index, Number.parseInt(offset, 16) + unpackedLength(await openPiece(seal, bytes))) };
}

export class Doubts {
  readonly #store: ReplicaStore;
  readonly #layout: DataLayout;
  readonly #lags: Lags;
  readonly #seals: DatabaseSeals;
  readonly #rounds = new Rounds();
  #endedMs = Number.NEGATIVE_INFINITY;

  constructor(store: ReplicaStore, layout: DataLayout, lags: Lags, seals: DatabaseSeals) {
    this.#store = store;
    this.#seals = seals;
    this.#layout = layout;
    this.#lags = lags;
  }

  /** Why the destination did not answer when it was asked last; undefined: it did, or nobody asked. */
  get problem(): string | undefined {
    return this.#rounds.problem;
  }

  ask(nowMs: number): void {
    if (this.#rounds.isUnderWay || performance.now() - this.#endedMs < ROUND_MS) return;
    const left = this.#lags.doubtful(nowMs);
    if (left.length === 0) {
      this.#rounds.problem = undefined;
      return;
    }
    this.#rounds.begin(async () => {
      try {
        // After one that failed the others would be answered the same.
        await inParallel(left, AT_ONCE, (path) => this.#askFor(path));
      } finally {
        this.#endedMs = performance.now();
      }
    });
  }

  async #askFor(path: string): Promise<void> {
    const read = shadowPlace(path);
    if (read === undefined) return;
    const name = replicaName(this.#layout, path);
    const arrived = await arrivedPlace(this.#store, name, this.#seals(name), read);
    if (arrived !== undefined) this.#lags.arrived(path, arrived, Date.now());
  }

  end(): Promise<void> {
    return this.#rounds.end();
  }
}
