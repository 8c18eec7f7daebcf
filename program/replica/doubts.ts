/** Asks the destination what it has of the databases that seem to be behind (REPLICA-2), one after the other and beside the keeper's looks. */
import type { DataLayout } from '../../storage/data-layout.ts';
import { replicaName } from '../../storage/replica/replicated-databases.ts';
import { indexOf, type Lags, type Place, positionOf } from './lag.ts';
import { unpackedLength } from './lz4-length.ts';
import { type DatabaseSeal, type DatabaseSeals, openPiece } from './sealing.ts';
import { shadowPlace } from './shadow-log.ts';
import type { ReplicaStore } from './store.ts';

/** Between two rounds: while the destination is away every database is in doubt, and asking costs requests. */
const ROUND_MS = 5_000;
/** At once: at a start it is asked for every database. */
const AT_ONCE = 4;
const SEGMENT = /_([0-9a-f]{8})\.wal\.lz4$/;

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
  #round: Promise<void> | undefined;
  #endedMs = Number.NEGATIVE_INFINITY;
  #problem: string | undefined;

  constructor(store: ReplicaStore, layout: DataLayout, lags: Lags, seals: DatabaseSeals) {
    this.#store = store;
    this.#seals = seals;
    this.#layout = layout;
    this.#lags = lags;
  }

  /** Why the destination did not answer when it was asked last; undefined: it did, or nobody asked. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Begins a round when one is due. Never throws. */
  ask(nowMs: number): void {
    if (this.#round !== undefined || performance.now() - this.#endedMs < ROUND_MS) return;
    const left = this.#lags.doubtful(nowMs);
    if (left.length === 0) {
      this.#problem = undefined;
      return;
    }
    const worker = async () => {
      for (let path = left.pop(); path !== undefined; path = left.pop()) await this.#askFor(path);
    };
    this.#round = Promise.all(Array.from({ length: AT_ONCE }, worker))
      .then(() => {
        this.#problem = undefined;
      })
      .catch((error: unknown) => {
        // The others would be answered the same.
        left.length = 0;
        this.#problem = error instanceof Error ? error.message : String(error);
      })
      .finally(() => {
        this.#round = undefined;
        this.#endedMs = performance.now();
      });
  }

  async #askFor(path: string): Promise<void> {
    const read = shadowPlace(path);
    if (read === undefined) return;
    const name = replicaName(this.#layout, path);
    const arrived = await arrivedPlace(this.#store, name, this.#seals(name), read);
    if (arrived !== undefined) this.#lags.arrived(path, arrived, Date.now());
  }

  /** Waits for the round that is under way. */
  async end(): Promise<void> {
    await this.#round;
  }
}
