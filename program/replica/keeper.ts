/**
 * Keeps the continuous replica of a data directory (REPLICA-1 to REPLICA-4): has Litestream follow its databases, looks how far it is, and
 * tells every process of the directory. One keeper at a time: others wait for its lock. Serves nothing and writes no rows.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { basename } from 'node:path';
import type { Logger } from 'pino';
import { existingVault } from '../../storage/backup/backup-manifest.ts';
import { type DataLayout, dataLayout } from '../../storage/data-layout.ts';
import { existingSeat } from '../../storage/moving/directory-seat.ts';
import { type ReplicaStatus, writeReplicaStatus } from '../../storage/replica/replica-status.ts';
import { type ReplicatedDatabase, replicatedDatabases } from '../../storage/replica/replicated-databases.ts';
import { type DataDirLock, lockDataDir } from '../../storage/sqlite/lock.ts';
import type { ReplicaConfig } from '../config.ts';
import { type Address, WhoseAddress } from './address-holder.ts';
import { Departures } from './departures.ts';
import { Doubts, shadowPlace } from './doubts.ts';
import { FilesKeeper } from './files-keeper.ts';
import { Lags, readingsOf } from './lag.ts';
import { cutLongLog, freePort, Litestream, litestreamVersion } from './litestream.ts';
import { type LitestreamName, litestreamConfiguration, shownUrl, writeConfiguration } from './litestream-configuration.ts';
import type { Told } from './litestream-log.ts';
import { Retention } from './retention.ts';
import { type DatabaseSeals, databaseSeals } from './sealing.ts';
import { type ReplicaStore, replicaStore } from './store.ts';

interface KeeperOptions {
  readonly config: ReplicaConfig;
  readonly dataDir: string;
  readonly masterKey: string | undefined;
  readonly log: Logger;
}

/** How often it looks; a look at many databases takes long, and then pauses are longer, but not when it waited for a Litestream that hangs. */
const LOOK_MS = 1_000;
const LOOK_MAX_MS = 5_000;
/** A look costs at most this share of the time. */
const LOOK_SHARE = 0.05;
/** Litestream learns of other databases by a restart, so that changes are gathered for this long. */
const SETTLE_MS = 1_000;
const SETTLE_MAX_MS = 5_000;
const SETTLE_LOOK_MS = 100;
/** While organisations come all the time, replication has to go on between two restarts. */
const RESTART_EVERY_MS = 10_000;
const METRICS_TIMEOUT_MS = 5_000;
/** Databases that are told one by one: with thousands, a table of all would be of use to nobody. */
const WORST_SHOWN = 20;

/** Between two starts of a Litestream that stands still, doubling: its destination may be away for hours. */
const STUCK_PAUSE_MS = 10_000;
const STUCK_PAUSE_MAX_MS = 60_000;

const NOT_TAKEN = 'Litestream is sending and nothing arrives: look whether the destination answers and has room';
const UNASKED = 'the destination does not say whose it is: nothing is sent until it does';
const ONLY_DATABASES =
  'REPLICA_URL is neither an s3 nor a file address: uploads, mails and secrets are not carried there, carry them another way';

/** Begins to keep the replica of `dataDir`, as soon as no other process does. Never throws: what goes wrong is in the status and the log. */
export class Keeper {
  readonly #config: ReplicaConfig;
  readonly #layout: DataLayout;
  readonly #log: Logger;
  readonly #lags = new Lags();
  readonly #litestream: Litestream;
  /** Follows what came since the other one was started, so that first snapshots are carried at once (REPLICA-13). Two that send one database spoil it. */
  readonly #newcomers: Litestream;
  readonly #masterKey: string | undefined;
  #address: Address | undefined;
  #seals: DatabaseSeals | undefined;
  readonly #retention: Retention;
  readonly #store: ReplicaStore | undefined;
  readonly #files: FilesKeeper | undefined;
  #doubts: Doubts | undefined;
  readonly #departures: Departures | undefined;
  readonly #whoseAddress: WhoseAddress;
  #lock: DataDirLock | undefined;
  readonly #ports = { litestream: 0, newcomers: 0 };
  /** The databases that each Litestream was started with, and since when there are others. */
  #followed: ReadonlySet<string> = new Set();
  #early = '';
  #changedAtMs: number | undefined;
  #seen = '';
  #seenAtMs = 0;
  #restartedAtMs = 0;
  #stuckPauseMs = STUCK_PAUSE_MS;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #closed = false;

  constructor({ config, dataDir, masterKey, log }: KeeperOptions) {
    this.#config = config;
    this.#layout = dataLayout(dataDir);
    this.#retention = new Retention(this.#layout);
    this.#log = log;
    const store = replicaStore(config);
    this.#store = store;
    this.#whoseAddress = new WhoseAddress(this.#layout, store === undefined ? false : undefined);
    this.#files = store && new FilesKeeper({ ...config, store, layout: this.#layout, masterKey });
    this.#departures = store && new Departures(store, this.#layout);
    this.#masterKey = masterKey;
    const told = (told: Told) => {
      if (told.kind === 'sent') this.#lags.arrived(told.path, told.place, Date.now());
      else this.#lags.beganAnew(told.path);
    };
    const common = { bin: config.bin, layout: this.#layout, started: () => this.#lags.restarted(), told };
    this.#litestream = new Litestream({ ...common, name: 'litestream', configure: () => this.#configureAll() });
    this.#newcomers = new Litestream({ ...common, name: 'newcomers', configure: () => this.#configureNewcomers() });
    this.#begin();
  }

  async #configureAll(): Promise<void> {
    await this.#endNewcomers();
    const databases = replicatedDatabases(this.#layout);
    this.#followed = new Set(databases.map(({ path }) => path));
    this.#changedAtMs = undefined;
    this.#restartedAtMs = performance.now();
    const names = databases.map(({ name }) => name);
    this.#departures?.note(names, Date.now());
    await this.#configure('litestream', databases, this.#retention.begin(Date.now()));
  }

  async #configureNewcomers(): Promise<void> {
    const databases = replicatedDatabases(this.#layout).filter(({ path }) => !this.#followed.has(path));
    this.#early = databases.map(({ path }) => path).join('\n');
    await this.#configure('newcomers', databases, undefined);
  }

  async #configure(name: LitestreamName, databases: readonly ReplicatedDatabase[], retentionCheckS: number | undefined): Promise<void> {
    this.#ports[name] = await freePort();
    for (const { path } of databases) await cutLongLog(path);
    if (this.#seals === undefined) return;
    const told = { databases, seals: this.#seals, metrics: `127.0.0.1:${this.#ports[name]}`, retentionCheckS };
    writeConfiguration(this.#layout, name, litestreamConfiguration(this.#config, told));
  }

  #endNewcomers(): Promise<void> {
    this.#early = '';
    return this.#newcomers.stop(this.#whoseAddress.isLost || this.#newcomers.isStuck(Date.now()) ? 'SIGKILL' : 'SIGTERM');
  }

  #each(): readonly Litestream[] {
    return [this.#litestream, this.#newcomers];
  }

  #begin(): void {
    this.#looking = this.#look().catch((error: unknown) => {
      this.#log.error({ err: error }, 'keeping the replica failed: trying again');
    });
    const startedMs = performance.now();
    void this.#looking.then(() => {
      if (this.#closed) return;
      const tookMs = performance.now() - startedMs;
      this.#timer = setTimeout(() => this.#begin(), Math.min(Math.max(LOOK_MS, tookMs / LOOK_SHARE), LOOK_MAX_MS)).unref();
    });
  }

  async #look(): Promise<void> {
    if (!this.#isKeeper()) return;
    const nowMs = Date.now();
    const isAnothers = await this.#whose(nowMs);
    if (isAnothers === true) return;
    const databases = replicatedDatabases(this.#layout);
    this.#lags.follow(new Set(databases.map(({ path }) => path)), nowMs);
    if (isAnothers === undefined) {
      writeReplicaStatus(this.#layout, this.#status(nowMs));
      return;
    }
    await this.#follow(databases.map(({ path }) => path));
    if (this.#litestream.isRunning) {
      await this.#readMetrics(this.#ports.litestream);
      if (this.#newcomers.isRunning) await this.#readMetrics(this.#ports.newcomers);
      this.#doubts?.ask(Date.now());
      if (this.#retention.isDone(Date.now())) await this.#litestream.restart();
    }
    await this.#unstick(Date.now());
    this.#files?.carry(nowMs, this.#lagMaxS(nowMs));
    this.#departures?.look(nowMs);
    writeReplicaStatus(this.#layout, this.#status(Date.now()));
  }

  /** Whether this process keeps the replica, or does from now on. */
  #isKeeper(): boolean {
    if (this.#lock !== undefined) return true;
    if (!existsSync(this.#layout.control)) return false;
    const vault = existingVault(this.#layout, this.#masterKey);
    if (vault === undefined) return false;
    mkdirSync(this.#layout.replica, { recursive: true, mode: 0o700 });
    try {
      this.#lock = lockDataDir(this.#layout.replica);
    } catch {
      // Another process of this directory keeps it.
      return false;
    }
    this.#seals = databaseSeals(vault);
    this.#address = this.#store && { store: this.#store, vault };
    this.#doubts = this.#store && new Doubts(this.#store, this.#layout, this.#lags, this.#seals);
    for (const each of this.#each()) each.endLeftOver();
    this.#log.info({ to: shownUrl(this.#config.url) }, 'keeping the replica');
    if (this.#files === undefined) this.#log.warn(ONLY_DATABASES);
    void litestreamVersion(this.#config.bin).then((version) => version && this.#log.info({ version }, 'Litestream was found'));
    return true;
  }

  /** Whose the address is (CELL-16); undefined: nobody could say yet. Ends both Litestreams where nothing may be carried there. */
  async #whose(nowMs: number): Promise<boolean | undefined> {
    const was = this.#whoseAddress.isAnothers;
    // Before anything is carried; later a destination that does not answer must not keep the databases from being looked at.
    await this.#whoseAddress.ask(this.#address, existingSeat(this.#layout), nowMs, this.#litestream.starts === 0);
    const { isAnothers } = this.#whoseAddress;
    if (isAnothers === true && was !== true) {
      const to = shownUrl(this.#config.url);
      this.#log.error({ to }, 'this address is of another host or directory: nothing is carried there');
    }
    if (!this.#whoseAddress.isLost) return isAnothers;
    await this.#endNewcomers();
    await this.#litestream.stop('SIGKILL');
    return true;
  }

  #fresh(paths: readonly string[]): string[] {
    return paths.filter((path) => !this.#followed.has(path));
  }

  /** Starts Litestream, and anew once other databases have settled. */
  async #follow(paths: readonly string[]): Promise<void> {
    const nowMs = performance.now();
    if (this.#litestream.isStopped) {
      await this.#litestream.restart();
      return;
    }
    const fresh = this.#fresh(paths);
    if (fresh.length === 0 && paths.length === this.#followed.size) {
      this.#changedAtMs = undefined;
      return;
    }
    this.#changedAtMs ??= nowMs;
    const seen = paths.join('\n');
    if (seen !== this.#seen) {
      this.#seen = seen;
      this.#seenAtMs = nowMs;
    }
    const hasSettled = nowMs - this.#seenAtMs >= SETTLE_MS || nowMs - this.#changedAtMs >= SETTLE_MAX_MS;
    if (!hasSettled || nowMs - this.#restartedAtMs < RESTART_EVERY_MS) {
      const isDue = fresh.length > 0 && fresh.join('\n') !== this.#early;
      if (isDue && this.#litestream.isRunning && !this.#newcomers.isStuck(Date.now())) await this.#newcomers.restart();
      return;
    }
    this.#log.info({ databases: paths.length }, 'organisations came or went: starting Litestream anew');
    await this.#litestream.restart(this.#lags.standsStill(Date.now(), this.#config.lagMaxS) ? 'SIGKILL' : 'SIGTERM');
  }

  /**
   * Litestream 0.3 may stand still for good after its destination refused it once, and then does not end by itself either. A fresh one goes on
   * from where the replica is.
   */
  async #unstick(nowMs: number): Promise<void> {
    if (!this.#lags.standsStill(nowMs, this.#config.lagMaxS)) {
      this.#stuckPauseMs = STUCK_PAUSE_MS;
      return;
    }
    if (!this.#litestream.isRunning || performance.now() - this.#restartedAtMs < this.#stuckPauseMs) return;
    this.#stuckPauseMs = Math.min(2 * this.#stuckPauseMs, STUCK_PAUSE_MAX_MS);
    this.#log.warn({ starts: this.#litestream.starts }, 'Litestream stands still: starting it anew');
    await this.#litestream.restart('SIGKILL');
  }

  async #readMetrics(port: number): Promise<void> {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(METRICS_TIMEOUT_MS) });
      const atMs = Date.now();
      this.#lags.look(readingsOf(await answer.text()), atMs, shadowPlace);
    } catch {
      // It starts or hangs: what is behind stays behind, and shows.
    }
  }

  #lagMaxS(nowMs: number): number {
    return this.#lags.worst(nowMs, 1)[0]?.lagS ?? 0;
  }

  #problem(nowMs: number): string | undefined {
    const parts = [this.#litestream.complaint(nowMs), this.#newcomers.complaint(nowMs)];
    const said = parts.find(Boolean) ?? this.#doubts?.problem ?? this.#files?.problem ?? this.#departures?.problem;
    if (said === undefined && this.#whoseAddress.isAnothers === undefined) return UNASKED;
    return said ?? (this.#each().some((each) => each.isStuck(nowMs)) ? NOT_TAKEN : undefined);
  }

  #status(nowMs: number): ReplicaStatus {
    const worst = this.#lags.worst(nowMs, WORST_SHOWN).map(({ path, lagS }) => ({ file: basename(path), lag_s: lagS }));
    return {
      at_ms: nowMs,
      files: this.#lags.size,
      lag_max_s: worst[0]?.lag_s ?? 0,
      worst,
      files_lag_s: this.#files?.lagS(nowMs) ?? 0,
      problem: this.#problem(nowMs) ?? null,
      starts: this.#litestream.starts,
    };
  }

  /** Litestream sends what is left of databases that it has looked at: a fresh one is given the time for that. */
  async #settle(): Promise<void> {
    const paths = replicatedDatabases(this.#layout).map(({ path }) => path);
    this.#lags.follow(new Set(paths), Date.now());
    if (paths.length !== this.#followed.size || this.#fresh(paths).length > 0) await this.#litestream.restart();
    const endMs = performance.now() + SETTLE_MAX_MS;
    const isFresh = () => this.#litestream.isRunning && performance.now() - this.#restartedAtMs < SETTLE_MAX_MS;
    while (isFresh() && performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, SETTLE_LOOK_MS));
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#looking;
    if (this.#lock !== undefined && this.#litestream.isRunning && !this.#whoseAddress.isLost) await this.#settle();
    await this.#endNewcomers();
    await this.#litestream.stop(this.#whoseAddress.isLost ? 'SIGKILL' : 'SIGTERM');
    if (this.#lock !== undefined && this.#whoseAddress.isAnothers === false && !this.#whoseAddress.isLost)
      await this.#files?.finish(this.#lagMaxS(Date.now()));
    else await this.#files?.end();
    await Promise.all([this.#doubts?.end(), this.#departures?.end()]);
    this.#lock?.release();
  }
}
