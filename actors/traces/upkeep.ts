/**
 * Looks after the traces of all organisations: keeps the definitions that they are made with, and deletes the oldest beyond the bounds of
 * TRACE-5. Runs at the start and once an hour, beside everything else. Several nodes may do it at the same time: each deletes what it finds.
 */
import type { Logger } from 'pino';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';
import { readTraceSizes, type TraceTable } from '../../storage/traces/trace-bounds.ts';
import { missingDefinitions } from '../../storage/traces/traces.ts';
import { forEachOrganisation } from '../for-each-organisation.ts';
import { currentDefinitions } from './definitions.ts';

/** Bounds of one organisation's traces. */
export interface TraceBounds {
  readonly days: number;
  readonly bytes: number;
}

interface UpkeepServices {
  readonly storage: Storage;
  readonly log: Logger;
  nowMs(): number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Turns whose sizes are read without a pause: some milliseconds of the event loop. */
const SIZES_PER_READ = 1_000;
/** Deleted in one transaction: other writes wait meanwhile. */
const PIECES_PER_TRIM = 500;

/** Turns are many and their traces small; everything else of an organisation together is not as large. */
const SHARES: readonly (readonly [TraceTable, number])[] = [
  ['turn_traces', 0.75],
  ['traces', 0.25],
];

const breathe = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The newest trace that is not kept: all from there on are over the bounds. Null when all are kept, or `isClosed`. */
async function newestOver(
  db: () => Connection,
  table: TraceTable,
  { beforeMs, bytes }: { readonly beforeMs: number; readonly bytes: number },
  isClosed: () => boolean,
): Promise<number | null> {
  let sum = 0;
  let before = Number.MAX_SAFE_INTEGER;
  while (!isClosed()) {
    const sizes = readTraceSizes(db(), table, before, SIZES_PER_READ);
    for (const size of sizes) {
      sum += size.bytes;
      if (sum > bytes || size.atMs < beforeMs) return size.key;
      before = size.key;
    }
    if (sizes.length < SIZES_PER_READ) return null;
    await breathe();
  }
  return null;
}

/** Does it for one organisation. @throws StorageError */
export async function keepTraces(
  { storage, nowMs }: Pick<UpkeepServices, 'storage' | 'nowMs'>,
  organisationId: string,
  bounds: TraceBounds,
  isClosed: () => boolean = () => false,
): Promise<void> {
  const db = () => storage.organisation(organisationId);
  const definitions = missingDefinitions(db(), currentDefinitions());
  if (definitions.length > 0) await storage.write(organisationId, 'keepMachineDefinitions', { definitions });
  for (const [table, share] of SHARES) {
    const beforeMs = nowMs() - bounds.days * DAY_MS;
    const upTo = await newestOver(db, table, { beforeMs, bytes: bounds.bytes * share }, isClosed);
    if (upTo === null) continue;
    let deleted = PIECES_PER_TRIM;
    while (deleted === PIECES_PER_TRIM && !isClosed()) {
      deleted = await storage.write(organisationId, 'trimTraces', { table, upTo, limit: PIECES_PER_TRIM });
    }
  }
}

/** Begins the upkeep. `close` ends it after the current transaction. */
export function startTraceUpkeep(services: UpkeepServices, bounds: TraceBounds): { close(): Promise<void> } {
  let closed = false;
  const isClosed = () => closed;
  const pass = async () => {
    const keep = (organisationId: string) => keepTraces(services, organisationId, bounds, isClosed);
    await forEachOrganisation(services, 'deleting old traces of machines', keep, { isClosed });
  };
  let passing: Promise<void> = pass();
  const hourly = setInterval(() => {
    // A pass may take longer than an hour where a bound was lowered: the next one begins behind it.
    passing = passing.then(pass);
  }, HOUR_MS).unref();
  return {
    async close() {
      closed = true;
      clearInterval(hourly);
      await passing;
    },
  };
}
