/** The door to storage: read-only connections, named write transactions in the writer thread, and the vault. */
import { LRUCache } from 'lru-cache';
import { refuseLostData } from './backup/lost-data.ts';
import { type DataLayout, dataLayout, prepareDataDir } from './data-layout.ts';
import { type Conditions, createConditions } from './health/conditions.ts';
import { createDiskWatch, type DiskWatch } from './health/disk-watch.ts';
import { createLongReader, type LongRead, type LongReadName, type LongReads } from './long-reads.ts';
import { openControl } from './organisations/control-file.ts';
import { OrganisationFiles } from './organisations/organisation-files.ts';
import { CurrentReader, OrganisationReaders } from './organisations/organisation-readers.ts';
import { type Key, readKey } from './organisations/organisations.ts';
import { openVault, type Vault } from './secrets/vault.ts';
import type { Connection } from './sqlite/connection.ts';
import { requireVectors } from './sqlite/database.ts';
import { isRefusedByDisk, storageErrorCodeOf } from './sqlite/storage-error.ts';
import { createWriter, type Writer } from './sqlite/writer.ts';
import type { transactions } from './transactions.ts';

type Registry = typeof transactions;
export type TransactionName = keyof Registry & string;

/** Open read connections: each costs a file handle and a page cache. Beyond this the least recently used closes. */
const OPEN_ORGANISATIONS_MAX = 512;

/** Cached keys, some 300 bytes each; every request looks one up. */
const KEYS_KEPT = 10_000;

/** How soon a removed or restored file is noticed. */
const LOOK_AROUND_MS = 1_000;

const SILENT = { error: () => {}, info: () => {} };

export interface Storage {
  readonly layout: DataLayout;
  readonly vault: Vault;
  /** Read-only, `control.sqlite`. */
  readonly control: Connection;
  /** The key with this token; cached until any process writes to `control.sqlite`. */
  key(token: string): Key | undefined;
  /** What is wrong with this node now. */
  readonly conditions: Conditions;
  /**
   * Read-only, the organisation's file; may be kept as long as the storage is open.
   * @throws StorageError unavailable when its file is missing or was replaced; the disk's error.
   */
  organisation(organisationId: string): Connection;
  /**
   * A named read that is too long for the event loop, made in its own thread. Waiting reads of the same file and `key` are made once.
   * @throws StorageError `overloaded`.
   */
  longRead<N extends LongReadName>(
    organisationId: string,
    name: N,
    input: LongRead<N>['input'],
    key: string,
  ): Promise<ReturnType<LongReads[N]>>;
  writeControl<N extends TransactionName>(name: N, input: Parameters<Registry[N]>[1]): Promise<ReturnType<Registry[N]>>;
  write<N extends TransactionName>(organisationId: string, name: N, input: Parameters<Registry[N]>[1]): Promise<ReturnType<Registry[N]>>;
  stats(): ReturnType<Writer<Registry>['stats']>;
  close(): Promise<void>;
}

export interface StorageOptions {
  readonly dataDir: string;
  /** 32 bytes, base64; minted into the data directory when undefined. */
  readonly masterKey: string | undefined;
  /** Whether searches by meaning will be made. */
  readonly vectors?: boolean;
  /** Other processes write to the directory too (CLUSTER-1). */
  readonly shared?: boolean;
  /** Read connections kept open; default 512. */
  readonly openOrganisationsMax?: number;
  /** Absent: conditions are not recorded. */
  readonly conditions?: Conditions;
  /** The writer thread died: nothing can be acknowledged any more. */
  onFatal(error: Error): void;
}

/**
 * A cache of keys, valid until `forget` or, with `shared`, until another process commits to the control file. SQLite counts such commits per
 * connection, and reading that count (2 µs) costs a third of reading a key.
 */
function keysOf(control: Connection, shared: boolean) {
  const keys = new LRUCache<string, Key>({ max: KEYS_KEPT });
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

interface Writes {
  readonly layout: DataLayout;
  readonly writer: Writer<Registry>;
  readonly disk: DiskWatch;
  readonly files: OrganisationFiles;
  readonly keys: ReturnType<typeof keysOf>;
}

/** What a failed write tells of the disk and of the file is noted. */
function writesOf({ layout, writer, disk, files, keys }: Writes): Pick<Storage, 'writeControl' | 'write'> {
  return {
    async writeControl(name, input) {
      try {
        return await writer.write(layout.control, name, input);
      } catch (error) {
        disk.note(error);
        throw error;
      } finally {
        keys.forget();
      }
    },
    async write(organisationId, name, input) {
      try {
        files.prepare(organisationId);
        if (!files.isNoted(organisationId)) await files.note(organisationId);
        return await writer.write(layout.organisation(organisationId), name, input);
      } catch (error) {
        disk.note(error, organisationId);
        // The file may be gone or replaced.
        if (isRefusedByDisk(error) || storageErrorCodeOf(error) === 'corrupt') files.doubt(organisationId);
        throw files.refuse(organisationId, error);
      }
    },
  };
}

/**
 * Opens the data directory, and creates or migrates it. On a disk that takes no writes it is opened for reading.
 * @throws SchemaError when the control file is of a newer version; Error when the directory cannot be used, its data was lost, or vectors
 * cannot be compared.
 */
export function openStorage(options: StorageOptions): Storage {
  const { vectors = false, shared = false, conditions = createConditions(SILENT, Date.now) } = options;
  if (vectors) requireVectors();
  prepareDataDir(options.dataDir);
  const layout = dataLayout(options.dataDir);
  refuseLostData(layout, options.masterKey);
  const vault = openVault(layout.masterKey, options.masterKey);
  const disk = createDiskWatch({ dir: layout.dir, conditions, onOver: () => openAfresh() });
  const { control, ...controlFile } = openControl(layout.control, disk.note);
  const writer: Writer<Registry> = createWriter({
    registryUrl: new URL('./transactions.js', import.meta.url),
    onFatal: options.onFatal,
  });
  const files = new OrganisationFiles({
    ...{ layout, control, conditions },
    note: (organisationId) => writer.write(layout.control, 'noteOrganisationFile', { organisationId, nowMs: Date.now() }),
    forget(organisationId) {
      readers.forget(organisationId);
      writer.forget(layout.organisation(organisationId));
    },
  });
  const readers = new OrganisationReaders({
    ...{ files, vectors, pathOf: layout.organisation, note: disk.note },
    openMax: options.openOrganisationsMax ?? OPEN_ORGANISATIONS_MAX,
  });
  const openAfresh = () => {
    readers.close();
    controlFile.reopen();
  };
  const longReader = createLongReader();
  const keys = keysOf(control, shared);
  const looks = setInterval(() => files.lookAround(), LOOK_AROUND_MS).unref();

  return {
    ...{ layout, vault, control, conditions },
    organisation(organisationId) {
      readers.get(organisationId);
      return new CurrentReader(layout.organisation(organisationId), () => readers.get(organisationId));
    },
    key: (token) => keys.read(token),
    async longRead(organisationId, name, input, key) {
      // Fails as every other read does, also on a disk that takes no writes.
      readers.get(organisationId);
      try {
        return await longReader.read({ path: layout.organisation(organisationId), read: name, input }, key);
      } catch (error) {
        throw files.refuse(organisationId, error);
      }
    },
    ...writesOf({ layout, writer, disk, files, keys }),
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
