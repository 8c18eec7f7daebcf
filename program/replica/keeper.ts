/**
 * Keeps the continuous replica of a data directory (REPLICA-1 to REPLICA-4): has Litestream follow its databases, looks how far it is, and
 * tells every process of the directory. One keeper at a time: others wait for its lock. Serves nothing and writes no rows.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { basename } from 'node:path';
import type { Logger } from 'pino';
import { type DataLayout, dataLayout } from '../../storage/data-layout.ts';
import { isOvertaken, ownSeat } from '../../storage/moving/directory-seat.ts';
import { type ReplicaStatus, writeReplicaStatus } from '../../storage/replica/replica-status.ts';
import { replicatedDatabases } from '../../storage/replica/replicated-databases.ts';
import { type DataDirLock, lockDataDir } from '../../storage/sqlite/lock.ts';
import type { ReplicaConfig } from '../config.ts';
import { isAnothers } from './address-holder.ts';
import { Departures } from './departures.ts';
import { Doubts } from './doubts.ts';
import { FilesCarrier } from './files-carrier.ts';
import { FilesKeeper } from './files-keeper.ts';
import { freePort } from './free-port.ts';
import { Lags, readingsOf } from './lag.ts';
import { Litestream, litestreamVersion } from './litestream.ts';
import { litestreamConfiguration, shownUrl, writeConfiguration } from './litestream-configuration.ts';
import { cutLongLog } from './long-log.ts';
import { Retention } from './retention.ts';
import { shadowPlace } from './shadow-log.ts';
import { type ReplicaStore, replicaStore } from './store.ts';

export interface Keeper {
  /** Ends Litestream, which sends what is left. Called after the last write. */
  close(): Promise<void>;
}

interface KeeperOptions {
  readonly config: ReplicaConfig;
  readonly dataDir: string;
  /** MASTER_KEY, when it is set. */
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

/** The destination is asked this often whether another host took over from here. */
const ASK_CLOSED_MS = 10_000;
/** Between two starts of a Litestream that stands still, doubling: its destination may be away for hours. */
const STUCK_PAUSE_MS = 10_000;
const STUCK_PAUSE_MAX_MS = 60_000;

const NOT_TAKEN = 'Litestream is sending and nothing arrives: look whether the destination answers and has room';
const UNASKED = 'the destination does not say whose it is: nothing is sent until it does';
const ONLY_DATABASES =
  'REPLICA_URL is neither an s3 nor a file address: uploads, mails and secrets are not carried there, carry them another way';

class ReplicaKeeper {
  readonly #config: ReplicaConfig;
  readonly #layout: DataLayout;
  readonly #log: Logger;
  readonly #lags = new Lags();
  readonly #litestream: Litestream;
  readonly #retention: Retention;
  readonly #store: ReplicaStore | undefined;
  readonly #files: FilesCarrier | undefined;
  readonly #doubts: Doubts | undefined;
  readonly #departures: Departures | undefined;
  /** Undefined: nobody could say yet. */
  #isAnothers: boolean | undefined;
  #asked: Promise<void> | undefined;
  #askedAtMs = 0;
  #lock: DataDirLock | undefined;
  #port = 0;
  /** The databases that Litestream was started with, and since when there are others. */
  #followed = '';
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
    this.#isAnothers = store === undefined ? false : undefined;
    const { url, includeKey } = config;
    this.#files = store && new FilesCarrier(new FilesKeeper({ store, layout: this.#layout, url, includeKey, masterKey }));
    this.#doubts = store && new Doubts(store, this.#layout, this.#lags);
    this.#departures = store && new Departures(store, this.#layout);
    this.#litestream = new Litestream({
      bin: config.bin,
      layout: this.#layout,
      configure: () => this.#configure(),
      started: () => this.#lags.restarted(),
      told: (told) => {
        if (told.kind === 'sent') this.#lags.arrived(told.path, told.place, Date.now());
        else this.#lags.beganAnew(told.path);
      },
    });
  }

  async #configure(): Promise<void> {
    this.#port = await freePort();
    const databases = replicatedDatabases(this.#layout);
    this.#followed = databases.map(({ path }) => path).join('\n');
    this.#changedAtMs = undefined;
    this.#restartedAtMs = performance.now();
    this.#departures?.note(
      databases.map(({ name }) => name),
      Date.now(),
    );
    for (const { path } of databases) cutLongLog(path);
    const retentionCheckS = this.#retention.begin(Date.now());
    const told = { databases, metrics: `127.0.0.1:${this.#port}`, retentionCheckS };
    writeConfiguration(this.#layout, litestreamConfiguration(this.#config, told));
  }

  begin(): void {
    this.#looking = this.#look().catch((error: unknown) => {
      this.#log.error({ err: error }, 'keeping the replica failed: trying again');
    });
    const startedMs = performance.now();
    void this.#looking.then(() => {
      if (this.#closed) return;
      const tookMs = performance.now() - startedMs;
      this.#timer = setTimeout(() => this.begin(), Math.min(Math.max(LOOK_MS, tookMs / LOOK_SHARE), LOOK_MAX_MS)).unref();
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
    await this.#follow(databases.map(({ path }) => path).join('\n'));
    if (this.#litestream.isRunning) {
      await this.#readMetrics();
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
    mkdirSync(this.#layout.replica, { recursive: true, mode: 0o700 });
    try {
      this.#lock = lockDataDir(this.#layout.replica);
    } catch {
      // Another process of this directory keeps it.
      return false;
    }
    this.#litestream.endLeftOver();
    this.#log.info({ to: shownUrl(this.#config.url) }, 'keeping the replica');
    if (this.#files === undefined) this.#log.warn(ONLY_DATABASES);
    void litestreamVersion(this.#config.bin).then((version) => version && this.#log.info({ version }, 'Litestream was found'));
    return true;
  }

  /**
   * Whether the address is another directory's, or another host took over (CELL-16): then nothing is carried there. Undefined: nobody could
   * say yet, and it may be.
   */
  async #whose(nowMs: number): Promise<boolean | undefined> {
    const seat = ownSeat(this.#layout);
    if (this.#asked === undefined && this.#store !== undefined && nowMs - this.#askedAtMs >= ASK_CLOSED_MS) {
      this.#askedAtMs = nowMs;
      this.#asked = isAnothers(this.#store, seat).then((said) => {
        this.#asked = undefined;
        const was = this.#isAnothers;
        // A directory that never was a cell has nobody to share an address with.
        this.#isAnothers = said ?? was ?? (seat === undefined ? false : undefined);
        const to = shownUrl(this.#config.url);
        if (said === true && was !== true)
          this.#log.error({ to }, 'this address is of another host or directory: nothing is carried there');
      });
      // Before anything is carried; later a destination that does not answer must not keep the databases from being looked at.
      if (this.#litestream.starts === 0) await this.#asked;
    }
    if (this.#isAnothers !== true && !isOvertaken(this.#layout)) return this.#isAnothers;
    await this.#litestream.stop();
    return true;
  }

  /** Starts Litestream, and anew once other databases have settled. */
  async #follow(paths: string): Promise<void> {
    const nowMs = performance.now();
    if (this.#litestream.starts === 0) {
      await this.#litestream.start();
      return;
    }
    if (paths === this.#followed) {
      this.#changedAtMs = undefined;
      return;
    }
    this.#changedAtMs ??= nowMs;
    if (paths !== this.#seen) {
      this.#seen = paths;
      this.#seenAtMs = nowMs;
    }
    const hasSettled = nowMs - this.#seenAtMs >= SETTLE_MS || nowMs - this.#changedAtMs >= SETTLE_MAX_MS;
    if (!hasSettled || nowMs - this.#restartedAtMs < RESTART_EVERY_MS) return;
    this.#log.info({ databases: paths.split('\n').length }, 'organisations came or went: starting Litestream anew');
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

  async #readMetrics(): Promise<void> {
    try {
      const answer = await fetch(`http://127.0.0.1:${this.#port}/metrics`, { signal: AbortSignal.timeout(METRICS_TIMEOUT_MS) });
      const atMs = Date.now();
      const isTroubled = (path: string) => this.#litestream.isTroubled(path, atMs);
      this.#lags.look(readingsOf(await answer.text()), atMs, { readUpTo: shadowPlace, isTroubled });
    } catch {
      // It starts or hangs: what is behind stays behind, and shows.
    }
  }

  #lagMaxS(nowMs: number): number {
    return this.#lags.worst(nowMs, 1)[0]?.lagS ?? 0;
  }

  #problem(nowMs: number): string | undefined {
    const said = this.#litestream.complaint(nowMs) ?? this.#doubts?.problem ?? this.#files?.problem ?? this.#departures?.problem;
    if (said === undefined && this.#isAnothers === undefined) return UNASKED;
    return said ?? (this.#litestream.isStuck(nowMs) ? NOT_TAKEN : undefined);
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
    if (paths.join('\n') !== this.#followed) await this.#litestream.restart();
    const endMs = performance.now() + SETTLE_MAX_MS;
    const isFresh = () => this.#litestream.isRunning && performance.now() - this.#restartedAtMs < SETTLE_MAX_MS;
    while (isFresh() && performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, SETTLE_LOOK_MS));
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#looking;
    if (this.#lock !== undefined && this.#litestream.isRunning) await this.#settle();
    await this.#litestream.stop();
    if (this.#lock !== undefined && this.#isAnothers === false) await this.#files?.finish(this.#lagMaxS(Date.now()));
    else await this.#files?.end();
    await this.#doubts?.end();
    await this.#departures?.end();
    this.#lock?.release();
  }
}

/** Begins to keep the replica of `dataDir`, as soon as no other process does. Never throws: what goes wrong is in the status and the log. */
export function keepReplica(options: KeeperOptions): Keeper {
  const keeper = new ReplicaKeeper(options);
  keeper.begin();
  return keeper;
}
