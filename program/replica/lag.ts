/**
 * How far behind each database's replica is, from what Litestream's metrics say. Of each file it keeps the last moment at which the replica
 * had all that was read by then, and the oldest position that the replica has not reached. Pure; time comes with each look.
 */

/** A place in a database's log, as a number that grows. */
interface Pending {
  readonly position: number;
  readonly atMs: number;
}

interface Entry {
  /** What came before is in the replica. */
  inStepAtMs: number;
  pending: Pending | undefined;
  errors: number;
  /** Where the replica was at the last look, and since when. */
  sent: number | undefined;
  sentAtMs: number;
}

/** One database, as one look at the metrics shows it. */
export interface Reading {
  /** Where Litestream has read up to, and where the replica is; undefined in a version that does not say. */
  readonly read: number | undefined;
  readonly sent: number | undefined;
  /** Syncs that it tried, and that failed. */
  readonly syncs: number;
  readonly errors: number;
}

/** More than any segment of a log holds, so that index and offset make one number. */
const SEGMENT_BYTES = 2 ** 40;

/** A place in a log of many segments as one number that grows. */
export function placeOf(index: number, offset: number): number {
  return index * SEGMENT_BYTES + offset;
}

const LINE =
  /^litestream_(shadow_wal_index|shadow_wal_size|replica_wal_index|replica_wal_offset|sync_count|sync_error_count)\{db="([^"]+)"[^}]*\} ([0-9.e+]+)$/;

/** The databases in Litestream's metrics, by path. */
export function readingsOf(text: string): Map<string, Reading> {
  const found = new Map<string, Record<string, number>>();
  for (const line of text.split('\n')) {
    const [, name, path, value] = LINE.exec(line) ?? [];
    if (name === undefined || path === undefined) continue;
    const values = found.get(path) ?? {};
    values[name] = Number(value);
    found.set(path, values);
  }
  const place = (index: number | undefined, offset: number | undefined) =>
    index === undefined || offset === undefined ? undefined : placeOf(index, offset);
  return new Map(
    [...found].map(([path, values]) => [
      path,
      {
        read: place(values.shadow_wal_index, values.shadow_wal_size),
        sent: place(values.replica_wal_index, values.replica_wal_offset),
        syncs: values.sync_count ?? 0,
        errors: values.sync_error_count ?? 0,
      },
    ]),
  );
}

/** Syncs of a database, one a second, after which what it had to send at the start was tried. */
const SYNCS_MIN = 3;

/** What is known beside the metrics. */
export interface MoreKnown {
  /** Where Litestream is in a log, for files that seem to be behind. */
  readUpTo(path: string): number | undefined;
  /** Whether Litestream's log tells of trouble with the file. */
  isTroubled(path: string): boolean;
}

export class Lags {
  // Bounded by the databases of the data directory.
  readonly #files = new Map<string, Entry>();

  /** Which databases there are; one that is new begins now. */
  follow(paths: ReadonlySet<string>, nowMs: number): void {
    for (const path of this.#files.keys()) if (!paths.has(path)) this.#files.delete(path);
    for (const path of paths)
      if (!this.#files.has(path))
        this.#files.set(path, { inStepAtMs: nowMs, pending: undefined, errors: 0, sent: undefined, sentAtMs: nowMs });
  }

  /** Litestream starts anew: it counts its syncs and errors from zero. */
  restarted(): void {
    for (const entry of this.#files.values()) {
      entry.pending = undefined;
      entry.errors = 0;
    }
  }

  /** One look at the metrics, made at `nowMs`. */
  look(readings: ReadonlyMap<string, Reading>, nowMs: number, more: MoreKnown): void {
    for (const [path, entry] of this.#files) {
      const reading = readings.get(path);
      if (reading === undefined) continue;
      const { read, sent } = reading;
      const seemsBehind = read !== undefined && sent !== undefined && sent < read;
      this.#note(entry, seemsBehind ? { ...reading, read: more.readUpTo(path) ?? read } : reading, nowMs, () => more.isTroubled(path));
    }
  }

  #note(entry: Entry, { read, sent, syncs, errors }: Reading, nowMs: number, isTroubled: () => boolean): void {
    if (sent !== entry.sent) {
      entry.sent = sent;
      entry.sentAtMs = nowMs;
    }
    const hasFailed = errors > entry.errors;
    entry.errors = errors;
    // At first it has not looked at the file, or not at its replica.
    if (hasFailed || syncs < SYNCS_MIN) return;
    if (read === undefined || sent === undefined || sent >= read) {
      // Without a place of the replica there was nothing to send since the start, or it cannot be sent.
      if ((read !== undefined && sent !== undefined) || !isTroubled()) entry.inStepAtMs = nowMs;
      entry.pending = undefined;
      return;
    }
    const { pending } = entry;
    if (pending !== undefined && sent >= pending.position) entry.inStepAtMs = pending.atMs;
    // A new generation counts from zero, so what was waited for is never reached.
    const isOver = pending === undefined || sent >= pending.position || read < pending.position;
    if (isOver) entry.pending = { position: read, atMs: nowMs };
  }

  /** Seconds behind of the worst files, the worst first, and of all the largest. */
  worst(nowMs: number, count: number): { readonly path: string; readonly lagS: number }[] {
    return [...this.#files]
      .map(([path, { inStepAtMs }]) => ({ path, lagS: Math.max(0, nowMs - inStepAtMs) / 1_000 }))
      .sort((one, other) => other.lagS - one.lagS)
      .slice(0, count);
  }

  /** Whether a file has been behind for `maxS` seconds and its replica has not moved for as long. */
  standsStill(nowMs: number, maxS: number): boolean {
    const before = nowMs - maxS * 1_000;
    for (const { inStepAtMs, sentAtMs } of this.#files.values()) if (inStepAtMs < before && sentAtMs < before) return true;
    return false;
  }

  get size(): number {
    return this.#files.size;
  }
}
