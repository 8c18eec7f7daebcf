/**
 * How far behind each database's replica is: the last moment at which the destination had all that was written by then. What arrived is told
 * from outside, by what Litestream finished sending or by a look at the destination; that nothing was sent proves nothing. Pure; time comes
 * with each call.
 */

/** A place in the log of one database. Litestream begins another generation when it lost track of the log; their places do not compare. */
export interface Place {
  readonly generation: string;
  readonly position: number;
}

interface Entry {
  inStepAtMs: number;
  /** The oldest place that is waited for, and when it was read. */
  pending: { readonly place: Place; readonly atMs: number } | undefined;
  /** The last place that is known to be at the destination, and since when. */
  arrived: Place | undefined;
  arrivedAtMs: number;
  errors: number;
  syncs: number;
  syncsAtMs: number;
  /** What Litestream had read when all of that had arrived; undefined: has to be looked at. */
  settledAt: number | undefined;
}

/** One database, as one look at the metrics shows it. */
export interface Reading {
  /** Where Litestream has read up to, though it may tell the place before; undefined before it has read anything. */
  readonly read: number | undefined;
  readonly syncs: number;
  readonly errors: number;
}

/** More than any segment of a log holds, so that index and offset make one number. */
const SEGMENT_BYTES = 2 ** 40;

/** A place in a log of many segments as one number that grows. */
export function positionOf(index: number, offset: number): number {
  return index * SEGMENT_BYTES + offset;
}

export function indexOf(position: number): number {
  return Math.floor(position / SEGMENT_BYTES);
}

const LINE = /^litestream_(shadow_wal_index|shadow_wal_size|sync_count|sync_error_count)\{db="([^"]+)"[^}]*\} ([0-9.e+]+)$/;

export function readingsOf(text: string): Map<string, Reading> {
  const found = new Map<string, Record<string, number>>();
  for (const line of text.split('\n')) {
    const [, name, path, value] = LINE.exec(line) ?? [];
    if (name === undefined || path === undefined) continue;
    const values = found.get(path) ?? {};
    values[name] = Number(value);
    found.set(path, values);
  }
  return new Map(
    [...found].map(([path, { shadow_wal_index: index, shadow_wal_size: size, sync_count: syncs = 0, sync_error_count: errors = 0 }]) => [
      path,
      { read: index === undefined || size === undefined ? undefined : positionOf(index, size), syncs, errors },
    ]),
  );
}

/** Syncs of a database, one a second, after which what it had to read at the start was read. */
const SYNCS_MIN = 3;
const SYNC_MAX_MS = 5_000;
/** Sending takes milliseconds: when nothing arrived for this long, the destination is asked. */
const DOUBT_MS = 5_000;

function covers(arrived: Place | undefined, place: Place): boolean {
  return arrived !== undefined && arrived.generation === place.generation && arrived.position >= place.position;
}

export class Lags {
  // Bounded by the databases of the data directory.
  readonly #files = new Map<string, Entry>();

  follow(paths: ReadonlySet<string>, nowMs: number): void {
    for (const path of this.#files.keys()) if (!paths.has(path)) this.#files.delete(path);
    for (const path of paths) {
      if (this.#files.has(path)) continue;
      const counts = { errors: 0, syncs: 0, syncsAtMs: nowMs, settledAt: undefined };
      this.#files.set(path, { inStepAtMs: nowMs, pending: undefined, arrived: undefined, arrivedAtMs: nowMs, ...counts });
    }
  }

  /** Litestream starts anew: it counts its syncs and errors from zero. */
  restarted(): void {
    for (const entry of this.#files.values()) {
      entry.errors = 0;
      entry.syncs = 0;
      entry.settledAt = undefined;
    }
  }

  /** All up to this place is at the destination. */
  arrived(path: string, place: Place, nowMs: number): void {
    const entry = this.#files.get(path);
    if (entry === undefined || covers(entry.arrived, place)) return;
    entry.arrived = place;
    entry.arrivedAtMs = nowMs;
    entry.settledAt = undefined;
  }

  /** Another generation of this database has begun, so that what arrived says nothing any more. */
  beganAnew(path: string): void {
    const entry = this.#files.get(path);
    if (entry !== undefined) entry.settledAt = undefined;
  }

  /** One look at the metrics, made at `nowMs`. `readUpTo`: the end of what Litestream has read of the log of a database. */
  look(readings: ReadonlyMap<string, Reading>, nowMs: number, readUpTo: (path: string) => Place | undefined): void {
    for (const [path, entry] of this.#files) {
      const reading = readings.get(path);
      if (reading === undefined) continue;
      const hasFailed = reading.errors > entry.errors;
      entry.errors = reading.errors;
      if (reading.syncs !== entry.syncs) entry.syncsAtMs = nowMs;
      entry.syncs = reading.syncs;
      // At first it has not looked at the file.
      if (hasFailed || entry.syncs < SYNCS_MIN || nowMs - entry.syncsAtMs > SYNC_MAX_MS) continue;
      if (reading.read !== undefined) this.#compare(entry, reading.read, nowMs, () => readUpTo(path));
    }
  }

  #compare(entry: Entry, told: number, nowMs: number, readUpTo: () => Place | undefined): void {
    if (entry.settledAt === told) {
      entry.inStepAtMs = nowMs;
      return;
    }
    const read = readUpTo();
    if (read === undefined) return;
    if (covers(entry.arrived, read)) {
      entry.inStepAtMs = nowMs;
      entry.pending = undefined;
      entry.settledAt = told;
      return;
    }
    const { pending } = entry;
    const isThere = pending !== undefined && covers(entry.arrived, pending.place);
    if (isThere) entry.inStepAtMs = pending.atMs;
    // A place of another generation is never reached.
    if (isThere || pending?.place.generation !== read.generation) entry.pending = { place: read, atMs: nowMs };
  }

  /** Seconds behind of the worst files, the worst first, and of all the largest. */
  worst(nowMs: number, count: number): { readonly path: string; readonly lagS: number }[] {
    return [...this.#files]
      .map(([path, { inStepAtMs }]) => ({ path, lagS: Math.max(0, nowMs - inStepAtMs) / 1_000 }))
      .sort((one, other) => other.lagS - one.lagS)
      .slice(0, count);
  }

  /** Whether a file has been behind for `maxS` seconds and nothing of it has arrived for as long. */
  standsStill(nowMs: number, maxS: number): boolean {
    return this.#behindFor(nowMs, maxS * 1_000).length > 0;
  }

  /** Files of which only the destination can tell whether they are behind. */
  doubtful(nowMs: number): string[] {
    return this.#behindFor(nowMs, DOUBT_MS);
  }

  #behindFor(nowMs: number, ms: number): string[] {
    const before = nowMs - ms;
    return [...this.#files].flatMap(([path, { inStepAtMs, arrivedAtMs }]) => (inStepAtMs < before && arrivedAtMs < before ? [path] : []));
  }

  get size(): number {
    return this.#files.size;
  }
}
