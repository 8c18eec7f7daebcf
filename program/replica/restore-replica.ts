/**
 * Restores from a continuous replica (REPLICA-7, REPLICA-8): a whole data directory, or one organisation beside others that stay. Litestream
 * fetches the databases, several at a time; each is verified before anything is moved into place.
 */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { loseAnswers } from '../../actors/calls/lost-answers.ts';
import type { ProgressLog } from '../../storage/backup/backup.ts';
import { existingVault, isRestored } from '../../storage/backup/backup-manifest.ts';
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
import { openReader, openWriter } from '../../storage/sqlite/database.ts';
import { DamagedDatabase, type DatabaseFacts, syncPath, verifyDatabase } from '../../storage/sqlite/database-copy.ts';
import type { ReplicaConfig } from '../config.ts';
import { runLitestream, versionProblem } from './litestream.ts';
import { litestreamReplica, shownUrl } from './litestream-configuration.ts';
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

export class Fetcher {
  readonly #options: ReplicaRestoreOptions;
  readonly #seals: DatabaseSeals;
  readonly #folder = mkdtempSync(join(tmpdir(), 'assistant-restore-'));
  #rows = 0;
  #unknownCalls = 0;
  #oldest: { readonly name: string; readonly atMs: number } | undefined;

  constructor(options: ReplicaRestoreOptions, seals: DatabaseSeals) {
    this.#options = options;
    this.#seals = seals;
  }

  get amounts(): Pick<ReplicaRestoreReport, 'rows' | 'unknownCalls'> {
    return { rows: this.#rows, unknownCalls: this.#unknownCalls };
  }

  /** Up to when what was fetched is complete, as `service` and the pieces before `--at` say. */
  upTo(service: ReplicaManifest['service']): Pick<ReplicaRestoreReport, 'completeUpTo' | 'oldest'> {
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
    const { atMs, config } = this.#options;
    if (atMs === undefined) return;
    const pieces = (await replicaStore(config)?.list(`${name}/generations/`)) ?? [];
    const before = pieces.map(({ putAtMs }) => putAtMs).filter((putAtMs) => putAtMs <= atMs);
    if (before.length === pieces.length || before.length === 0) return;
    const endMs = before.reduce((newest, putAtMs) => Math.max(newest, putAtMs), 0) - PIECE_TAKES_MS;
    if (this.#oldest === undefined || endMs < this.#oldest.atMs) this.#oldest = { name, atMs: endMs };
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
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
    const { kind, rows } = this.#verified(name, path);
    this.#rows += Object.values(rows).reduce((sum, count) => sum + count, 0);
    await this.#notePieces(name);
    if (kind === 'organisation') this.#unknownCalls += changeRestored(kind, path, (db) => loseAnswers(db, Date.now()));
    return true;
  }

  #verified(name: string, path: string): DatabaseFacts {
    try {
      const facts = verifyDatabase(path);
      const expected = name === 'control.sqlite' ? 'control' : 'organisation';
      if (facts.kind !== expected) throw new DamagedDatabase(path, `is a database of kind "${facts.kind}"`);
      return facts;
    } catch (error) {
      if (!(error instanceof DamagedDatabase)) throw error;
      throw new Error(`${name} in the replica ${error.what}, nothing was restored. Give an earlier --at, or restore a backup.`);
    }
  }
}

/** Changes a restored database, which nobody uses yet. */
function changeRestored<Value>(kind: DatabaseKind, path: string, change: (db: Connection) => Value): Value {
  const db = openWriter(path, { mustExist: true });
  try {
    migrate(db, kind === 'control' ? controlMigrations : organisationMigrations, kind);
    db.exec('BEGIN IMMEDIATE');
    const value = change(db);
    db.exec('COMMIT');
    return value;
  } finally {
    db.close();
  }
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

/** Works off `items`, `AT_ONCE` at a time. Begins none after the first error, and throws it once nothing runs that would still write. */
async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  const ended = await Promise.allSettled(
    Array.from({ length: AT_ONCE }, () =>
      worker().catch((error: unknown) => {
        left.length = 0;
        throw error;
      }),
    ),
  );
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
}

async function manifest(store: ReplicaStore | undefined, vault: Vault, name: string): Promise<ReplicaManifest | undefined> {
  const bytes = await store?.get(name);
  return bytes === undefined ? undefined : parseManifest(vault, name, bytes);
}

/** The uploads of an organisation. @throws Error when the service's own manifest is away, or the organisation's although that one names it. */
async function uploadsOf(store: ReplicaStore | undefined, vault: Vault, id: string, own: ReplicaManifest | undefined) {
  if (store !== undefined && own === undefined) throw new Error(`${SERVICE_MANIFEST} is not in the replica, nothing was restored.`);
  const name = organisationManifest(id);
  const uploads = await manifest(store, vault, name);
  if (uploads === undefined && own?.service?.manifests.includes(name) === true)
    throw new Error(`${name} was in the replica and is not there, nothing was restored.`);
  return uploads;
}

/** Fetches the files of a manifest that belong to the moment. Returns how many. @throws Error naming one that is damaged or away. */
async function fetchFiles(store: ReplicaStore, vault: Vault, { files }: ReplicaManifest, layout: DataLayout, atMs: number | undefined) {
  const wanted = filesAt(files, atMs).filter(isRestored);
  await inParallel(wanted, async ({ path, sha256, sealed }) => {
    const target = join(layout.dir, path);
    if (existsSync(target)) return;
    const bytes = await store.get(storedName(path));
    if (bytes === undefined) throw new Error(`${path} is listed in the replica and is not there, nothing was restored.`);
    if (createHash('sha256').update(bytes).digest('hex') !== sha256)
      throw new Error(`${path} in the replica has other bytes than were sent, nothing was restored.`);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    const plain = sealed === true ? vault.open(sealPurpose(path), bytes) : bytes;
    writeFileSync(`${target}.part`, plain, { mode: 0o600, flush: true });
    renameSync(`${target}.part`, target);
  });
  return wanted.length;
}

/** The vault of what is restored. @throws Error when nobody could open it, or Litestream would not look whether it is sealed. */
async function vaultOf(store: ReplicaStore | undefined, layout: DataLayout, { config, masterKey, log }: ReplicaRestoreOptions) {
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
  const db = openReader(control);
  try {
    return [...organisationIds(db)].map((id) => ({ id, isNoted: isFileNoted(db, id) }));
  } finally {
    db.close();
  }
}

/**
 * Restores the replica into the empty directory `dataDir`.
 * @throws Error with one sentence for the operator: the directory is in use or not empty, the replica is not there or damaged, the key is
 * missing or another. Then nothing was restored.
 */
export async function restoreReplica(options: ReplicaRestoreOptions): Promise<ReplicaRestoreReport> {
  const { config, dataDir, atMs, raised, log } = options;
  const startedMs = performance.now();
  const store = replicaStore(config);
  return restoreInto(dataDir, log, async (staging) => {
    const vault = await vaultOf(store, staging, options);
    const fetcher = new Fetcher(options, databaseSeals(vault));
    try {
      const own = await manifest(store, vault, SERVICE_MANIFEST);
      let files = store !== undefined && own !== undefined ? await fetchFiles(store, vault, own, staging, atMs) : 0;
      if (!(await fetcher.database('control.sqlite', staging.control)))
        throw new Error(`There is no replica of control.sqlite at ${shownUrl(config.url)}${atMs === undefined ? '' : ' of that time'}.`);
      if (raised !== undefined) changeRestored('control', staging.control, (db) => raiseCellTerm(db, raised));
      const organisations = notedOrganisations(staging.control);
      const missing: string[] = [];
      await inParallel(organisations, async ({ id, isNoted }) => {
        const path = staging.organisation(id);
        if (!(await fetcher.database(replicaName(staging, path), path)) && isNoted) missing.push(id);
        const uploads = await uploadsOf(store, vault, id, own);
        if (store !== undefined && uploads !== undefined) files += await fetchFiles(store, vault, uploads, staging, atMs);
      });
      return {
        dataDir: dataLayout(dataDir).dir,
        organisations: organisations.length,
        ...{ ...fetcher.amounts, ...fetcher.upTo(own?.service), files, missing },
        seconds: (performance.now() - startedMs) / 1_000,
      };
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
  const { config, dataDir, atMs } = options;
  const startedMs = performance.now();
  const layout = dataLayout(dataDir);
  const path = layout.organisation(id);
  const inTheWay = [path, `${path}-wal`, `${path}-shm`].find((file) => existsSync(file));
  if (inTheWay !== undefined) throw new Error(`${inTheWay} is there, nothing was restored. Move it away first, with -wal and -shm.`);
  if (!existsSync(layout.control)) throw new Error(`${layout.dir} is no data directory: restore all of it, without --org.`);
  if (!notedOrganisations(layout.control).some((organisation) => organisation.id === id))
    throw new Error(`There is no organisation ${id}.`);
  const store = replicaStore(config);
  const vault = await vaultOf(undefined, layout, options);
  const fetcher = new Fetcher(options, databaseSeals(vault));
  const staged = `${path}.restored`;
  try {
    rmSync(staged, { force: true });
    if (!(await fetcher.database(replicaName(layout, path), staged)))
      throw new Error(`There is no replica of ${id} at ${shownUrl(config.url)}${atMs === undefined ? '' : ' of that time'}.`);
    const own = await manifest(store, vault, SERVICE_MANIFEST);
    const uploads = await uploadsOf(store, vault, id, own);
    const files = store !== undefined && uploads !== undefined ? await fetchFiles(store, vault, uploads, layout, atMs) : 0;
    renameSync(staged, path);
    syncPath(layout.organisations);
    const common = { dataDir: layout.dir, organisations: 1, files, missing: [], seconds: (performance.now() - startedMs) / 1_000 };
    return { ...common, ...fetcher.amounts, ...fetcher.upTo(own?.service) };
  } finally {
    rmSync(staged, { force: true });
    fetcher.close();
  }
}
