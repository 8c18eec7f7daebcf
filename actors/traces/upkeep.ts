/** Keeps the definitions that traces are made with, and deletes the oldest beyond TRACE-5. Nodes may do it at the same time. */
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { organisationsUsedBy } from '../../storage/organisations/organisation-uses.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';
import { oldestTraceAt, readTraceSizes, type TraceTable } from '../../storage/traces/trace-bounds.ts';
import { missingDefinitions } from '../../storage/traces/traces.ts';
import { forEachOrganisation } from '../for-each-organisation.ts';
import { currentDefinitions } from './definitions.ts';

export interface TraceBounds {
  readonly days: number;
  readonly bytes: number;
}

interface UpkeepServices {
  readonly storage: Storage;
  readonly log: Logger;
  nowMs(): number;
}

/** A crash in the first minute of a release loses the definitions of the traces of that minute. */
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Organisations with work in an hour, of one process. */
const LOOKED_KEPT = 1_000;
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

async function keepDefinitions({ storage }: Pick<UpkeepServices, 'storage'>, organisationId: string): Promise<void> {
  const definitions = missingDefinitions(storage.organisation(organisationId), currentDefinitions());
  if (definitions.length > 0) await storage.write(organisationId, 'keepMachineDefinitions', { definitions });
}

async function trimTraces(
  { storage, nowMs }: Pick<UpkeepServices, 'storage' | 'nowMs'>,
  organisationId: string,
  bounds: TraceBounds,
  isClosed: () => boolean,
): Promise<void> {
  const db = () => storage.organisation(organisationId);
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

/** The upkeep of a process: of the files that it uses each minute, and of each before it is closed (organisation-upkeep.ts). */
export class TraceUpkeep {
  readonly #services: UpkeepServices;
  readonly #bounds: TraceBounds;
  /** When an organisation's traces were held against their bounds here last. One that is forgotten is looked at sooner. */
  readonly #looked = new LRUCache<string, number>({ max: LOOKED_KEPT });
  readonly #isClosed = () => this.#closed;
  #timer: NodeJS.Timeout | undefined;
  #passing: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(services: UpkeepServices, bounds: TraceBounds) {
    this.#services = services;
    this.#bounds = bounds;
  }

  begin(): void {
    this.#timer = setInterval(() => {
      this.#passing = this.#passing.then(() => this.#pass());
    }, MINUTE_MS).unref();
  }

  async #pass(): Promise<void> {
    const { storage } = this.#services;
    const ids = organisationsUsedBy(storage.control, storage.process);
    const options = { ids, isClosed: this.#isClosed, breathe };
    await forEachOrganisation(this.#services, 'deleting old traces of machines', (id) => this.tidy(id), options);
  }

  /** Keeps what the traces of one organisation need, and holds them against their bounds once an hour and when one is too old. @throws StorageError */
  async tidy(organisationId: string): Promise<void> {
    const { nowMs, storage } = this.#services;
    await keepDefinitions(this.#services, organisationId);
    const lookedAtMs = this.#looked.get(organisationId);
    const dueAtMs = this.next(organisationId);
    const isDue = dueAtMs !== null && dueAtMs <= nowMs();
    if (!isDue && lookedAtMs !== undefined && nowMs() - lookedAtMs < HOUR_MS) return;
    await trimTraces({ storage, nowMs }, organisationId, this.#bounds, this.#isClosed);
    this.#looked.set(organisationId, nowMs());
  }

  next(organisationId: string): number | null {
    const oldest = oldestTraceAt(this.#services.storage.organisation(organisationId));
    return oldest === null ? null : oldest + this.#bounds.days * DAY_MS + 1;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#passing;
  }
}
