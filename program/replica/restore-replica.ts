/**
 * Restores from a continuous replica (REPLICA-7, REPLICA-8): a whole data directory, or one organisation beside others that stay. Litestream
 * fetches the databases, several at a time; each is verified before anything is moved into place.
 */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { loseAnswers } from '../../actors/calls/invocation-deadlines.ts';
import type { ProgressLog } from '../../storage/backup/backup.ts';
import { existingVault } from '../../storage/backup/backup-manifest.ts';
import { restoreInto } from '../../storage/backup/restore.ts';
import { type DataLayout, dataLayout } from '../../storage/data-layout.ts';
import { controlMigrations } from '../../storage/migrations/control.ts';
import { type DatabaseKind, migrate } from '../../storage/migrations/migrate.ts';
import { organisationMigrations } from '../../storage/migrations/organisation.ts';
import { type CellTerm, raiseCellTerm } from '../../storage/moving/cell-term.ts';
import { isFileNoted } from '../../storage/organisations/organisation-files.ts';
import { organisationIds } from '../../storage/organisations/organisations.ts';
import {
  filesAt,
  organisationManifest,
  parseManifest,
  type ReplicaManifest,
  SERVICE_MANIFEST,
  sealPurpose,
  storedName,
} from '../../storage/replica/replica-manifest.ts';
import { replicaName } from '../../storage/replica/replicated-databases.ts';
import type { Vault } from '../../storage/secrets/vault.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { reading } from '../../storage/sqlite/database.ts';
import { DamagedDatabase, putInPlace, syncPath, verifyDatabase } from '../../storage/sqlite/database-copy.ts';
import { writing } from '../../storage/sqlite/log-emptying.ts';
import type { ReplicaConfig } from '../config.ts';
import { runLitestream, versionProblem } from './litestream.ts';
import { litestreamReplica, shownUrl } from './litestream-configuration.ts';
import { inParallel } from './rounds.ts';
import { type DatabaseSeals, databaseSeals } from './sealing.ts';
import { type ReplicaStore, replicaStore } from './store.ts';

export interface ReplicaRestoreOptions {
  readonly config: Pick<ReplicaConfig, 'url' | 's3' | 'bin'>;
  readonly dataDir: string;
  /** The moment that is restored; undefined: the newest. Epoch ms. */
  readonly atMs: number | undefined;
  /** MASTER_KEY that the service will have, when it is set. */
  readonly masterKey: string | undefined;
  /** What the directory becomes the next term of; absent: it stays what it was. */
  readonly raised?: (CellTerm & { readonly nowMs: number }) | undefined;
  readonly log: ProgressLog;
}

export interface ReplicaRestoreReport {
  readonly dataDir: string;
  readonly organisations: number;
  readonly rows: number;
  readonly files: number;
  /** Calls of apps' backends whose outcome the replica may lack: they are unknown now (REPLICA-9). */
  readonly unknownCalls: number;
  /** Organisations that the control file notes and the replica lacks: they came in the last seconds. */
  readonly missing: readonly string[];
  /** Everything that was committed before is restored; RFC 3339. Null: the replica does not say. */
  readonly completeUpTo: string | null;
  /** The database whose newest piece before `--at` says so; undefined: the replica as a whole does. */
  readonly oldest?: string | undefined;
  readonly seconds: number;
}

/** Litestream fetches, unpacks and applies logs: two for each core keep both the network and the cores busy. */
const AT_ONCE = 2 * availableParallelism();
/** Litestream reads a log up to this long before the piece with it is there. */
const PIECE_TAKES_MS = 1_000;

/** Fetches what belongs to the moment out of the replica, verifies it, and keeps count of it. */
export class Fetcher {
  readonly #options: ReplicaRestoreOptions;
  readonly #store: ReplicaStore | undefined;
  readonly #vault: Vault;
  readonly #seals: DatabaseSeals;
  readonly #folder = mkdtempSync(join(tmpdir(), 'assistant-restore-'));
  readonly #startedMs = performance.now();
  readonly #counts = { rows: 0, files: 0, unknownCalls: 0 };
  #oldest: { readonly name: string; readonly atMs: number } | undefined;
  #own: ReplicaManifest | undefined;

  constructor(options: ReplicaRestoreOptions, vault: Vault) {
    this.#options = options;
    this.#store = replicaStore(options.config);
    this.#vault = vault;
    this.#seals = databaseSeals(vault);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  report(organisations: number, missing: readonly string[]): ReplicaRestoreReport {
    const { dir } = dataLayout(this.#options.dataDir);
    const seconds = (performance.now() - this.#startedMs) / 1_000;
    return { dataDir: dir, organisations, ...this.#counts, missing, ...this.#upTo(), seconds };
  }

  /** Up to when what was fetched is complete, as the service's manifest and the pieces before `--at` say. */
  #upTo(): Pick<ReplicaRestoreReport, 'completeUpTo' | 'oldest'> {
    const service = this.#own?.service;
    if (service === undefined) return { completeUpTo: null };
    const { atMs } = this.#options;
    const knownMs = Math.min(service.at_ms - service.lag_max_s * 1_000, atMs ?? Number.POSITIVE_INFINITY);
    if (this.#oldest === undefined || this.#oldest.atMs >= knownMs) return { completeUpTo: new Date(knownMs).toISOString() };
    return { completeUpTo: new Date(this.#oldest.atMs).toISOString(), oldest: this.#oldest.name };
  }

  /**
   * Where a database changed after `--at`, what is restored ends with its newest piece before: what came between is in the next one. One that
   * did not is as it was then.
   */
  async #notePieces(name: string): Promise<void> {
    const { atMs } = this.#options;
    if (atMs === undefined) return;
    const pieces = (await this.#store?.list(`${name}/generations/`)) ?? [];
    const before = pieces.map(({ putAtMs }) => putAtMs).filter((putAtMs) => putAtMs <= atMs);
    if (before.length === pieces.length || before.length === 0) return;
    const endMs = before.reduce((newest, putAtMs) => Math.max(newest, putAtMs), 0) - PIECE_TAKES_MS;
    if (this.#oldest === undefined || endMs < this.#oldest.atMs) this.#oldest = { name, atMs: endMs };
  }

  /** Fetches one database to `path` and verifies it; false when the replica has none. @throws Error naming what is wrong with it. */
  async database(name: string, path: string): Promise<boolean> {
    const { bin, ...config } = this.#options.config;
    const configuration = join(this.#folder, `${name.replaceAll('/', '-')}.yml`);
    writeFileSync(configuration, JSON.stringify({ dbs: [{ path, replicas: [litestreamReplica(config, name, this.#seals(name))] }] }), {
      mode: 0o600,
    });
    const { atMs } = this.#options;
    const common = ['-no-expand-env', '-config', configuration];
    const at = atMs === undefined ? [] : ['-timestamp', new Date(atMs).toISOString()];
    await runLitestream(name, bin, ['restore', ...common, '-if-replica-exists', ...at, path]);
    if (!existsSync(path) && atMs !== undefined) {
      // Litestream 0.3 finds nothing for a time after the last change: what was then is what that change left.
      // It tells of a database that is there only.
      writeFileSync(path, '');
      const table = await runLitestream(name, bin, ['generations', ...common, path]).finally(() => rmSync(path));
      const generation = lastGenerationBefore(table, atMs);
      if (generation !== undefined) await runLitestream(name, bin, ['restore', ...common, '-generation', generation, path]);
    }
    if (!existsSync(path)) return false;
    chmodSync(path, 0o600);
    syncPath(path);
    const kind = name === 'control.sqlite' ? 'control' : 'organisation';
    this.#counts.rows += Object.values(rowsOf(name, path, kind)).reduce((sum, count) => sum + count, 0);
    await this.#notePieces(name);
    if (kind === 'organisation') this.#counts.unknownCalls += changeRestored(kind, path, (db) => loseAnswers(db, Date.now()));
    return true;
  }

  /** The same, of one that has to be there. */
  async requireDatabase(name: string, path: string, what = name): Promise<void> {
    if (await this.database(name, path)) return;
    const { config, atMs } = this.#options;
    throw new Error(`There is no replica of ${what} at ${shownUrl(config.url)}${atMs === undefined ? '' : ' of that time'}.`);
  }

  async #manifest(name: string): Promise<ReplicaManifest | undefined> {
    const bytes = await this.#store?.get(name);
    return bytes === undefined ? undefined : parseManifest(this.#vault, name, bytes);
  }

  /** Fetches the service's own manifest, and into `layout`, where given, the files that it lists. */
  async service(layout?: DataLayout): Promise<void> {
    this.#own = await this.#manifest(SERVICE_MANIFEST);
    if (layout !== undefined) await this.#files(this.#own, layout);
  }

  /**
   * Fetches an organisation's uploads, once `service` was fetched.
   * @throws Error when the service's own manifest is away, or the organisation's although that one names it.
   */
  async uploads(id: string, layout: DataLayout): Promise<void> {
    if (this.#store !== undefined && this.#own === undefined)
      throw new Error(`${SERVICE_MANIFEST} is not in the replica, nothing was restored.`);
    const name = organisationManifest(id);
    const uploads = await this.#manifest(name);
    if (uploads === undefined && this.#own?.service?.manifests.includes(name) === true)
      throw new Error(`${name} was in the replica and is not there, nothing was restored.`);
    await this.#files(uploads, layout);
  }

  /** Fetches the files of a manifest that belong to the moment. @throws Error naming one that is damaged or away. */
  async #files(manifest: ReplicaManifest | undefined, layout: DataLayout): Promise<void> {
    const wanted = filesAt(manifest?.files ?? [], this.#options.atMs);
    await inParallel(wanted, AT_ONCE, async ({ path, sha256, sealed }) => {
      const target = join(layout.dir, path);
      if (existsSync(target)) return;
      const bytes = await this.#store?.get(storedName(path));
      if (bytes === undefined) throw new Error(`${path} is listed in the replica and is not there, nothing was restored.`);
      if (createHash('sha256').update(bytes).digest('hex') !== sha256)
        throw new Error(`${path} in the replica has other bytes than were sent, nothing was restored.`);
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
      const plain = sealed === true ? this.#vault.open(sealPurpose(path), bytes) : bytes;
      putInPlace(target, (unfinished) => writeFileSync(unfinished, plain, { mode: 0o600 }));
    });
    this.#counts.files += wanted.length;
  }
}

function rowsOf(name: string, path: string, kind: DatabaseKind): Readonly<Record<string, number>> {
  try {
    return verifyDatabase(path, kind).rows;
  } catch (error) {
    if (!(error instanceof DamagedDatabase)) throw error;
    throw new Error(`${name} in the replica ${error.what}, nothing was restored. Give an earlier --at, or restore a backup.`);
  }
}

function changeRestored<Value>(kind: DatabaseKind, path: string, change: (db: Connection) => Value): Value {
  const work = (db: Connection) => {
    migrate(db, kind === 'control' ? controlMigrations : organisationMigrations, kind);
    db.exec('BEGIN IMMEDIATE');
    const value = change(db);
    db.exec('COMMIT');
    return value;
  };
  return writing(path, work, { mustExist: true });
}

/** The generation that ended last before `atMs`, of a table with name, generation, lag, start and end. */
function lastGenerationBefore(table: string, atMs: number): string | undefined {
  const ended = table.split('\n').flatMap((line) => {
    const [, generation, , , end] = line.trim().split(/ +/);
    const endMs = Date.parse(end ?? '');
    return generation !== undefined && /^[0-9a-f]{16}$/.test(generation) && endMs <= atMs ? [{ generation, endMs }] : [];
  });
  return ended.sort((one, other) => other.endMs - one.endMs)[0]?.generation;
}

/** The vault of what is restored. @throws Error when nobody could open it, or Litestream would not look whether it is sealed. */
async function vaultOf(layout: DataLayout, { config, masterKey, log }: ReplicaRestoreOptions, store?: ReplicaStore) {
  const problem = await versionProblem(config.bin);
  if (problem !== undefined) throw new Error(`${problem}. Nothing was restored.`);
  const key = masterKey === undefined ? await store?.get(storedName(basename(layout.masterKey))) : undefined;
  if (key !== undefined) {
    writeFileSync(layout.masterKey, key, { mode: 0o600, flush: true });
    log.warn({}, 'the master key comes from the replica itself, so nothing proves that the service sent what is restored: set MASTER_KEY');
  }
  const vault = existingVault(layout, masterKey);
  if (vault === undefined) throw new Error('The replica does not hold the master key: set MASTER_KEY to the key that the service had.');
  return vault;
}

function notedOrganisations(control: string): { readonly id: string; readonly isNoted: boolean }[] {
  return reading(control, (db) => [...organisationIds(db)].map((id) => ({ id, isNoted: isFileNoted(db, id) })));
}

/**
 * Restores the replica into the empty directory `dataDir`.
 * @throws Error with one sentence for the operator: the directory is in use or not empty, the replica is not there or damaged, the key is
 * missing or another. Then nothing was restored.
 */
export async function restoreReplica(options: ReplicaRestoreOptions): Promise<ReplicaRestoreReport> {
  const { config, dataDir, raised, log } = options;
  return restoreInto(dataDir, log, async (staging) => {
    const fetcher = new Fetcher(options, await vaultOf(staging, options, replicaStore(config)));
    try {
      await fetcher.service(staging);
      await fetcher.requireDatabase('control.sqlite', staging.control);
      if (raised !== undefined) changeRestored('control', staging.control, (db) => raiseCellTerm(db, raised));
      const organisations = notedOrganisations(staging.control);
      const missing: string[] = [];
      await inParallel(organisations, AT_ONCE, async ({ id, isNoted }) => {
        const path = staging.organisation(id);
        if (!(await fetcher.database(replicaName(staging, path), path)) && isNoted) missing.push(id);
        await fetcher.uploads(id, staging);
      });
      return fetcher.report(organisations.length, missing);
    } finally {
      fetcher.close();
    }
  });
}

/**
 * Restores the file and the uploads of one organisation, whose file must be away; others stay as they are, and the service may run: it
 * notices the file within seconds.
 * @throws Error with one sentence for the operator; then nothing was changed.
 */
export async function restoreOrganisation(options: ReplicaRestoreOptions, id: string): Promise<ReplicaRestoreReport> {
  const layout = dataLayout(options.dataDir);
  const path = layout.organisation(id);
  const inTheWay = [path, `${path}-wal`, `${path}-shm`].find((file) => existsSync(file));
  if (inTheWay !== undefined) throw new Error(`${inTheWay} is there, nothing was restored. Move it away first, with -wal and -shm.`);
  if (!existsSync(layout.control)) throw new Error(`${layout.dir} is no data directory: restore all of it, without --org.`);
  if (!notedOrganisations(layout.control).some((organisation) => organisation.id === id))
    throw new Error(`There is no organisation ${id}.`);
  const fetcher = new Fetcher(options, await vaultOf(layout, options));
  const staged = `${path}.restored`;
  try {
    rmSync(staged, { force: true });
    await fetcher.requireDatabase(replicaName(layout, path), staged, id);
    await fetcher.service();
    await fetcher.uploads(id, layout);
    renameSync(staged, path);
    syncPath(layout.organisations);
    return fetcher.report(1, []);
  } finally {
    rmSync(staged, { force: true });
    fetcher.close();
  }
}
