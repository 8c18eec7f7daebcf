/**
 * The map of cells and placements in Redis, and its copy in the control file (CELL-6). Every cell says there how it is
 * reached and which organisations live on it, and takes over what is newer than its own copy. Redis may lose all of it: the cells
 * write it again. While Redis is away the copies are used. Values are sealed: who reads or writes Redis learns and forges nothing.
 */
import type { Logger } from 'pino';
import * as v from 'valibot';
import { CELLS_MAX, type CellRecord, listCells } from '../../storage/moving/cells.ts';
import { type KnownPlacement, listPlacementsOn, PLACEMENTS_PER_WRITE_MAX, readPlacement } from '../../storage/moving/placements.ts';
import type { Vault } from '../../storage/secrets/vault.ts';
import type { Storage } from '../../storage/storage.ts';
import type { RedisConnection } from '../cluster/bus/redis-connection.ts';
import { NameHomes } from './name-homes.ts';

/** What the map needs of a connection to Redis; its commands reject at once while Redis is away. */
export type MapRedis = Pick<RedisConnection, 'up' | 'hashSet' | 'hashEntries' | 'onUp' | 'set' | 'get'>;

export interface CellSelf {
  /** CELL_ID and CELL_URL. */
  readonly id: string;
  readonly url: string;
  /** Rises when another host takes the cell over (CELL-16). */
  readonly term: number;
  /** The address of its replica; undefined: it has none. */
  readonly replica?: string | undefined;
}

export interface CellMapOptions {
  /** Closing it is the caller's. */
  readonly redis: MapRedis;
  readonly self: CellSelf;
  /** Whether this process may say where the cell is: not once another host took it over. */
  mayPublish(): boolean;
  readonly storage: Pick<Storage, 'control' | 'vault' | 'writeControl'>;
  readonly log: Logger;
  nowMs(): number;
  /** Placements of these organisations changed in the control file. */
  readonly onPlaced?: (organisationIds: readonly string[]) => void;
}

const CELLS_KEY = 'assistant:cells';
const PLACEMENTS_KEY = 'assistant:placements';
/** How often a cell registers and reads which other cells there are. Until then a new cell is not asked for its names. */
const SEEN_EVERY_MS = 5_000;
/** How often the whole map is compared, which holds an entry for each organisation that ever moved: what was missed is mended by then. */
const SYNC_EVERY_MS = 30_000;
/** The control file notes a cell as seen this often; each note is a commit. */
const NOTED_EVERY_MS = 30_000;
/** Names of organisations elsewhere that were noted longer ago are asked for again. */
const NAMES_KEPT_MS = 30 * 24 * 3_600_000;
const FORGET_EVERY_MS = 24 * 3_600_000;
/** How often it is asked, for 2 µs, whether a name may be new. */
const NAMES_EVERY_MS = 100;

const cellSchema = v.object({
  url: v.pipe(v.string(), v.url()),
  seen_at_ms: v.number(),
  term: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  replica: v.optional(v.string()),
  /** Its names are in Redis. Cells of earlier releases do not say so, and are asked. */
  says_names: v.optional(v.boolean()),
});
export type CellEntry = v.InferOutput<typeof cellSchema>;
const placementSchema = v.object({ cell: v.string(), version: v.pipe(v.number(), v.integer(), v.minValue(0)) });

export class CellMap {
  /** When a round last succeeded; 0: never. */
  syncedAtMs = 0;
  readonly homes: NameHomes;
  readonly #options: CellMapOptions;
  /** Cells whose names are in Redis. */
  readonly #saying = new Set<string>();
  #saysNames = false;
  readonly #timers: NodeJS.Timeout[];
  #round: Promise<void> | undefined;
  #forgotAtMs = 0;
  #failing = false;
  #closed = false;

  constructor(options: CellMapOptions) {
    this.#options = options;
    const { redis, self, storage, nowMs } = options;
    this.homes = new NameHomes({ redis, self: self.id, storage, nowMs });
    redis.onUp(() => void this.#arrive());
    this.#timers = [
      setInterval(() => void this.#attempt(() => this.homes.publish()), NAMES_EVERY_MS).unref(),
      setInterval(() => void this.#attempt(() => this.#meet()), SEEN_EVERY_MS).unref(),
      setInterval(() => void this.sync(), SYNC_EVERY_MS).unref(),
    ];
    void this.#noteHere().then(() => this.#arrive());
  }

  /** Tells the others where the organisation lives now, as this control file says, without waiting for the next round. Never throws. */
  async publish(organisationId: string): Promise<void> {
    const placement = readPlacement(this.#options.storage.control, organisationId);
    if (placement === undefined) return;
    this.homes.again();
    await this.#attempt(() => this.#sayPlaced([{ organisationId, cell: placement.cell, version: placement.version }]));
  }

  /** One round: publishes what is known here and copies what is newer there. Never throws; does nothing while Redis is away. */
  sync(): Promise<void> {
    this.#round ??= this.#attempt(() => this.#compare()).finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  /** Whether the names of the cell are in Redis, as it said last. */
  covers(cell: string): boolean {
    return this.#saying.has(cell);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#round;
  }

  /** At the start, and when Redis is there, perhaps empty. */
  async #arrive(): Promise<void> {
    // A round that was under way when the connection broke is of the Redis that was.
    await this.#round;
    // An empty one has no names: until their cells have said them, and that they have, they are asked.
    this.#saying.clear();
    this.#saysNames = false;
    this.homes.again();
    await this.sync();
  }

  /** Also without Redis the list of cells has this one. */
  async #noteHere(): Promise<void> {
    const { storage, self, log, nowMs } = this.#options;
    try {
      const { id: cell, url, term } = self;
      await storage.writeControl('seeCells', { cells: [{ cell, url, seenAtMs: nowMs(), term }] });
    } catch (error) {
      log.warn({ err: error }, 'recording this cell in its control file failed: cells are listed without it while Redis is away');
    }
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    if (this.#closed || !this.#options.redis.up || !this.#options.mayPublish()) return;
    try {
      await work();
      this.#failing = false;
    } catch (error) {
      // Said once: a Redis that is away is away for many rounds.
      if (!this.#failing && !this.#closed)
        this.#options.log.warn({ err: error }, 'updating the map of cells in Redis failed: the copy in the control file is used');
      this.#failing = true;
    }
  }

  async #compare(): Promise<void> {
    const { nowMs, storage } = this.#options;
    await this.homes.publish();
    this.#saysNames = true;
    await this.#meet();
    const there = await this.#takeOverPlacements();
    await this.#sayAllPlaced(there);
    if (nowMs() - this.#forgotAtMs >= FORGET_EVERY_MS) {
      this.#forgotAtMs = nowMs();
      await storage.writeControl('forgetForeignNames', { beforeMs: nowMs() - NAMES_KEPT_MS });
    }
    this.syncedAtMs = nowMs();
  }

  async #meet(): Promise<void> {
    const { redis, self, nowMs } = this.#options;
    const { id, url, term, replica } = self;
    if (this.#saysNames && !(await this.homes.isThere())) {
      // Somebody emptied Redis, or it let go of them: the cell is asked itself until it has said them again.
      this.#saysNames = false;
      this.homes.again();
      void this.sync();
    }
    const entry: CellEntry = { url, seen_at_ms: nowMs(), term, ...(replica !== undefined && { replica }), says_names: this.#saysNames };
    await redis.hashSet(CELLS_KEY, { [id]: this.#seal(cellPurpose(id), entry) });
    await this.#takeOverCells();
  }

  /** The version stays readable, so that what is known already need not be opened; the sealed one is what counts. */
  async #sayPlaced(placements: readonly KnownPlacement[]): Promise<void> {
    const fields = placements.map(({ organisationId, cell, version }) => [
      organisationId,
      `${version}.${this.#seal(`placements ${organisationId}`, { cell, version })}`,
    ]);
    if (fields.length > 0) await this.#options.redis.hashSet(PLACEMENTS_KEY, Object.fromEntries(fields));
  }

  async #takeOverCells(): Promise<void> {
    const { storage, redis } = this.#options;
    const known = new Map(listCells(storage.control).map((record) => [record.cell, record]));
    const news: CellRecord[] = [];
    for await (const [cell, value] of redis.hashEntries(CELLS_KEY)) {
      const said = openCellEntry(storage.vault, cell, value);
      if (said === undefined) continue;
      const { url, seen_at_ms: seenAtMs, term } = said;
      if (said.says_names === true) this.#saying.add(cell);
      else this.#saying.delete(cell);
      const before = known.get(cell);
      const isNews = before === undefined || before.url !== url || before.term < term || seenAtMs - before.seenAtMs >= NOTED_EVERY_MS;
      if (isNews && (before !== undefined || known.size + news.length < CELLS_MAX)) news.push({ cell, url, seenAtMs, term });
    }
    if (news.length > 0) await storage.writeControl('seeCells', { cells: news });
  }

  async #takeOverPlacements(): Promise<Map<string, number>> {
    const { redis, storage } = this.#options;
    const there = new Map<string, number>();
    let newer: KnownPlacement[] = [];
    for await (const [organisationId, value] of redis.hashEntries(PLACEMENTS_KEY)) {
      const dot = value.indexOf('.');
      const claimed = Number(value.slice(0, dot));
      const known = readPlacement(storage.control, organisationId)?.version ?? -1;
      if (claimed <= known) {
        there.set(organisationId, claimed);
        continue;
      }
      const said = v.safeParse(placementSchema, opened(storage.vault, `placements ${organisationId}`, value.slice(dot + 1)));
      if (!said.success) continue;
      there.set(organisationId, said.output.version);
      if (said.output.version > known) newer.push({ organisationId, ...said.output });
      if (newer.length < PLACEMENTS_PER_WRITE_MAX) continue;
      await this.#keep(newer);
      newer = [];
    }
    await this.#keep(newer);
    return there;
  }

  async #keep(placements: readonly KnownPlacement[]): Promise<void> {
    if (placements.length === 0) return;
    const { storage, nowMs, onPlaced } = this.#options;
    const changed = await storage.writeControl('takeOverPlacements', { placements, nowMs: nowMs() });
    if (changed.length > 0) onPlaced?.(changed);
  }

  /** What the map lacks of the organisations that were placed here. */
  async #sayAllPlaced(there: ReadonlyMap<string, number>): Promise<void> {
    const { storage, self } = this.#options;
    const next = (after: string) => listPlacementsOn(storage.control, self.id, after, PLACEMENTS_PER_WRITE_MAX);
    for (let page = next(''); page.length > 0; page = next(page.at(-1)?.organisationId ?? '')) {
      await this.#sayPlaced(page.filter(({ organisationId, version }) => version > (there.get(organisationId) ?? -1)));
    }
  }

  #seal(purpose: string, value: object): string {
    return this.#options.storage.vault.seal(`cell map ${purpose}`, Buffer.from(JSON.stringify(value))).toString('base64url');
  }
}

function cellPurpose(cell: string): string {
  return `cells ${cell}`;
}

/** Undefined for what no cell with this master key wrote. */
function opened(vault: Pick<Vault, 'open'>, purpose: string, sealed: string): unknown {
  try {
    return JSON.parse(vault.open(`cell map ${purpose}`, Buffer.from(sealed, 'base64url')).toString('utf8'));
  } catch {
    return undefined;
  }
}

function openCellEntry(vault: Pick<Vault, 'open'>, cell: string, sealed: string): CellEntry | undefined {
  const said = v.safeParse(cellSchema, opened(vault, cellPurpose(cell), sealed));
  return said.success ? said.output : undefined;
}

/** What the map in Redis says of a cell; undefined: nothing. @throws while Redis is away */
export async function readCellEntry(
  redis: Pick<RedisConnection, 'hashGet'>,
  vault: Pick<Vault, 'open'>,
  cell: string,
): Promise<CellEntry | undefined> {
  const sealed = await redis.hashGet(CELLS_KEY, cell);
  return sealed === undefined ? undefined : openCellEntry(vault, cell, sealed);
}
