/** The door to storage: read-only connections, named write transactions in the writer thread, and the vault. */
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type AppRecord, readApp } from './apps/apps.ts';
import { refuseLostData, requireItsKey } from './backup/lost-data.ts';
import { RecentMessages } from './conversations/conversations.ts';
import { type DataLayout, dataLayout, prepareDataDir } from './data-layout.ts';
import { Conditions } from './health/conditions.ts';
import { createDiskWatch, type DiskWatch } from './health/disk-watch.ts';
import { LongReader } from './long-reads.ts';
import { openControl } from './organisations/control-file.ts';
import { OrganisationFiles } from './organisations/organisation-files.ts';
import { OrganisationReaders } from './organisations/organisation-readers.ts';
import { type LookedThrough, NOBODY, readUseCount } from './organisations/organisation-uses.ts';
import { isHere, type Key, readKey } from './organisations/organisations.ts';
import { UsesHere } from './organisations/uses-here.ts';
import { openVault, type Vault } from './secrets/vault.ts';
import type { Connection } from './sqlite/connection.ts';
import { requireVectors } from './sqlite/database.ts';
import { logBytes } from './sqlite/log-emptying.ts';
import { isRefusedByDisk, storageErrorCodeOf } from './sqlite/storage-error.ts';
import type { WriteLease } from './sqlite/write-lease.ts';
import { Writer } from './sqlite/writer.ts';
import type { transactions } from './transactions.ts';

type Registry = typeof transactions;
type TransactionName = keyof Registry & string;

/** Open read connections: each costs a file handle and a page cache. Beyond this the least recently used closes. */
const OPEN_ORGANISATIONS_MAX = 512;

/** Cached keys, some 300 bytes each; every request looks one up. */
const KEYS_KEPT = 10_000;
/** The apps of as many; apps.ts keeps their records. */
const APPS_KEPT = 2_000;

/** What nearly every turn writes. It changes no app, so that kept ones outlive it, and nothing that was said but as its actor knows. */
const SPARES_KEPT: ReadonlySet<string> = new Set<TransactionName>([
  'openTurn',
  'commitTurn',
  'allocatePlaceholders',
  'seeDevices',
  'identify',
  'addAppHours',
]);

/** How soon a removed or restored file is noticed. */
const LOOK_AROUND_MS = 1_000;

const SILENT = { error: () => {}, warn: () => {}, info: () => {} };

export interface Storage {
  readonly layout: DataLayout;
  readonly vault: Vault;
  /** Read-only, `control.sqlite`. */
  readonly control: Connection;
  /** The key with this token; cached until any process writes to `control.sqlite`. */
  key(token: string): Key | undefined;
  /** The app as it is; cached until this process writes what may change it. With other processes its revision is looked at each time. */
  app(organisationId: string, appId: string): AppRecord | undefined;
  /** What was said last; undefined where other processes write too. Whoever has a turn change what earlier ones said has it forget that. */
  readonly recent: RecentMessages | undefined;
  readonly conditions: Conditions;
  /** Read-only; may be kept as long as the storage is open. @throws StorageError unavailable; what the disk refuses with. */
  organisation(organisationId: string): Connection;
  /** Closes the file for reading: for who read many files that others may not need. The next read opens it again. */
  closeReader(organisationId: string): void;
  /** As `countUsers` of billing, in a thread of its own. @throws StorageError `overloaded`. */
  countUsers(organisationId: string, nowMs: number): Promise<number>;
  writeControl<N extends TransactionName>(name: N, input: Parameters<Registry[N]>[1]): Promise<ReturnType<Registry[N]>>;
  write<N extends TransactionName>(organisationId: string, name: N, input: Parameters<Registry[N]>[1]): Promise<ReturnType<Registry[N]>>;
  /** This process, as the control file names who uses an organisation's file; never used again. */
  readonly process: string;
  use(organisationId: string): Promise<void>;
  /** Organisations that this process uses and has not written to for `quietMs`, at most `limit`. */
  quiet(quietMs: number, limit: number): string[];
  /**
   * Ends the use of an organisation's file and closes it. `lookThrough` reads what the control file says of it from then on; null: there is
   * work under way. False when it stays in use: because of that, or because it was written to meanwhile.
   */
  endUse(organisationId: string, lookThrough: (db: Connection) => LookedThrough | null): Promise<boolean>;
  /** @throws StorageError `fenced` while another host may have taken this cell over (CELL-17) */
  requireLease(): void;
  readonly writer: Writer<Registry>;
  stats(): ReturnType<Writer<Registry>['stats']>;
  close(): Promise<void>;
}

interface StorageOptions {
  readonly dataDir: string;
  /** 32 bytes, base64; minted into the data directory when undefined. */
  readonly masterKey: string | undefined;
  readonly vectors?: boolean;
  /** Other processes write to the directory too (CLUSTER-1). */
  readonly shared?: boolean;
  /** Another program replicates the files, and makes their checkpoints (REPLICA-3). */
  readonly replicated?: boolean;
  /** Writes are made while it holds only (CELL-17); absent: always. */
  readonly lease?: WriteLease | undefined;
  /** Read connections kept open; default 512. */
  readonly openOrganisationsMax?: number;
  /** Names this process for other processes of the directory; absent: it is minted. */
  readonly process?: string;
  /** Absent: conditions are not recorded. */
  readonly conditions?: Conditions;
  /** Another of this process, whose writer thread this one uses until it is closed, which comes first. */
  readonly beside?: Storage | undefined;
  /** The writer thread died: nothing can be acknowledged any more. */
  onFatal(error: Error): void;
}

/**
 * A cache of keys, valid until `forget` or, with `shared`, until another process commits to the control file. SQLite counts such commits per
 * connection, and reading that count (2 µs) costs a third of reading a key.
 */
function keysOf(control: Connection, shared: boolean) {
  const keys = new LRUCache<string, Key>({ maxSize: KEYS_KEPT, sizeCalculation: () => 1 });
  let version: unknown;
  const noticeOthers = () => {
    const now = control.statement('PRAGMA data_version').get()?.data_version;
    if (now !== version) keys.clear();
    version = now;
  };
  return {
    read(token: string): Key | undefined {
      // Before the row is read, so that a later write counts as unseen.
      if (shared) noticeOthers();
      let key = keys.get(token);
      if (key === undefined) {
        key = readKey(control, token);
        if (key !== undefined) keys.set(token, key);
      }
      return key;
    },
    forget: () => keys.clear(),
  };
}

/** A cache of apps and of what was said, valid until `forget`; with `shared` none. */
function appsOf(readers: OrganisationReaders, shared: boolean) {
  const apps = new LRUCache<string, AppRecord>({ max: APPS_KEPT });
  const recent = shared ? undefined : new RecentMessages();
  return {
    recent,
    read(organisationId: string, appId: string): AppRecord | undefined {
      const known = apps.get(appId);
      if (known !== undefined) return known;
      const app = readApp(readers.get(organisationId), appId, organisationId);
      if (app !== undefined && !shared) apps.set(appId, app);
      return app;
    },
    forget() {
      apps.clear();
      recent?.forget();
    },
  };
}

interface Parts {
  readonly layout: DataLayout;
  readonly control: Connection;
  readonly writer: Writer<Registry>;
  readonly disk: DiskWatch;
  readonly files: OrganisationFiles;
  readonly readers: OrganisationReaders;
  readonly uses: UsesHere;
  readonly keys: ReturnType<typeof keysOf>;
  readonly apps: ReturnType<typeof appsOf>;
  readonly process: string;
  /** Closes what is open for the organisation. */
  forget(organisationId: string): void;
}

/** What a failed write tells of the disk and of the file is noted. */
function writesOf({ layout, writer, disk, files, uses, keys, apps }: Parts): Pick<Storage, 'writeControl' | 'write' | 'use'> {
  const toFile = async <Value>(organisationId: string, write: () => Promise<Value>): Promise<Value> => {
    try {
      files.prepare(organisationId);
      const noting = uses.begin(organisationId);
      try {
        if (noting !== undefined) await noting;
        return await write();
      } finally {
        uses.end(organisationId);
      }
    } catch (error) {
      disk.note(error, organisationId);
      // The file may be gone or replaced.
      if (isRefusedByDisk(error) || storageErrorCodeOf(error) === 'corrupt') files.doubt(organisationId);
      throw files.refuse(organisationId, error);
    }
  };
  return {
    async writeControl(name, input) {
      try {
        return await writer.write(layout.control, name, input);
      } catch (error) {
        disk.note(error);
        throw error;
      } finally {
        keys.forget();
        apps.forget();
      }
    },
    write(organisationId, name, input) {
      const written = toFile(organisationId, () => writer.write(layout.organisation(organisationId), name, input));
      return SPARES_KEPT.has(name) ? written : written.finally(apps.forget);
    },
    use: (organisationId) => toFile(organisationId, async () => {}),
  };
}

function endingsOf({ layout, control, writer, readers, uses, process, forget }: Parts): Pick<Storage, 'process' | 'quiet' | 'endUse'> {
  const end = async (organisationId: string, lookThrough: (db: Connection) => LookedThrough | null): Promise<boolean> => {
    if (!isHere(control, organisationId)) {
      // It moved to another cell, and what is due in it is that cell's.
      await writer.write(layout.control, 'forgetUses', { organisationId, processes: [process] });
      return true;
    }
    // Before the file is read: see organisation-uses.ts.
    const before = readUseCount(control, organisationId);
    const findings = lookThrough(readers.get(organisationId));
    if (before === undefined || findings === null) return false;
    return writer.write(layout.control, 'endUse', { organisationId, usedBy: process, uses: before, ...findings });
  };
  return {
    process,
    quiet: (quietMs, limit) => uses.quiet(quietMs, limit),
    async endUse(organisationId, lookThrough) {
      if (!uses.leave(organisationId)) return false;
      let hasEnded = false;
      try {
        hasEnded = await end(organisationId, lookThrough);
      } finally {
        if (!hasEnded) uses.stay(organisationId);
      }
      if (hasEnded) forget(organisationId);
      return hasEnded;
    },
  };
}

/**
 * Opens the data directory, and creates or migrates it. On a disk that takes no writes it is opened for reading.
 * @throws SchemaError when the control file is of a newer version; Error when the directory cannot be used, its data was lost or sealed with
 * another key, or vectors cannot be compared.
 */
export function openStorage(options: StorageOptions): Storage {
  const { vectors = false, shared = false, process = randomUUID(), conditions = new Conditions(SILENT, Date.now) } = options;
  if (vectors) requireVectors();
  prepareDataDir(options.dataDir);
  const layout = dataLayout(options.dataDir);
  refuseLostData(layout, options.masterKey);
  const vault = openVault(layout.masterKey, options.masterKey);
  const disk = createDiskWatch({ dir: layout.dir, conditions, onOver: () => openAfresh(), onLow: () => writer.makeRoom() });
  const { control, ...controlFile } = openControl(layout.control, disk.note);
  try {
    requireItsKey(layout, control, vault, options.masterKey);
  } catch (error) {
    disk.close();
    controlFile.close();
    throw error;
  }
  const writer = new Writer<Registry>({
    registryUrl: new URL('./transactions.js', import.meta.url),
    onFatal: options.onFatal,
    replicated: options.replicated ?? false,
    lease: options.lease,
    beside: options.beside?.writer,
  });
  if (logBytes(layout.control) > 0) writer.doubtLog(layout.control);
  const noteUse = (organisationId: string, usedBy: string) => writer.write(layout.control, 'beginUse', { organisationId, usedBy });
  const forget = (organisationId: string) => {
    // The reader first: the last connection to close removes the log, and only one that writes can.
    readers.forget(organisationId);
    apps.forget();
    writer.forget(layout.organisation(organisationId));
  };
  const files = new OrganisationFiles({
    ...{ layout, control, conditions },
    note: (organisationId) => writer.write(layout.control, 'noteOrganisationFile', { organisationId, nowMs: Date.now() }),
    doubtLog: (organisationId) => writer.doubtLog(layout.organisation(organisationId)),
    noteReturn: (organisationId) => noteUse(organisationId, NOBODY),
    forget,
  });
  const uses = new UsesHere(async (organisationId) => {
    if (!files.isNoted(organisationId)) await files.note(organisationId);
    await noteUse(organisationId, process);
  });
  const readers = new OrganisationReaders({
    ...{ files, vectors, pathOf: layout.organisation, note: disk.note },
    openMax: options.openOrganisationsMax ?? OPEN_ORGANISATIONS_MAX,
  });
  const apps = appsOf(readers, shared);
  const openAfresh = () => {
    readers.close();
    apps.forget();
    controlFile.reopen();
  };
  const longReader = new LongReader();
  const parts: Parts = { layout, control, writer, disk, files, readers, uses, keys: keysOf(control, shared), apps, process, forget };
  const looks = setInterval(() => files.lookAround(), LOOK_AROUND_MS).unref();

  return {
    ...{ layout, vault, control, conditions, writer },
    requireLease: () => options.lease?.require('nothing was tried'),
    organisation: (organisationId) => readers.current(organisationId),
    closeReader: (organisationId) => readers.forget(organisationId),
    ...{ key: parts.keys.read, app: apps.read, recent: apps.recent },
    async countUsers(organisationId, nowMs) {
      // Fails as every other read does, also on a disk that takes no writes.
      readers.get(organisationId);
      if (files.isUnmade(organisationId)) return 0;
      try {
        return await longReader.countUsers(layout.organisation(organisationId), nowMs);
      } catch (error) {
        throw files.refuse(organisationId, error);
      }
    },
    ...writesOf(parts),
    ...endingsOf(parts),
    stats: () => writer.stats(),
    async close() {
      clearInterval(looks);
      disk.close();
      await longReader.close();
      await writer.close();
      readers.close();
      controlFile.close();
    },
  };
}
