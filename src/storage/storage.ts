/** The door to storage: read-only connections, named write transactions in the writer thread, and the vault. */
import { LRUCache } from 'lru-cache';
import type { Connection, Statement } from './connection.ts';
import { openReader, openWriter, requireVectors } from './database.ts';
import { type DataLayout, dataLayout, prepareDataDir } from './files-layout.ts';
import { controlMigrations } from './migrations/control.ts';
import { migrate } from './migrations/migrate.ts';
import { organisationMigrations } from './migrations/organisation.ts';
import { type Key, readKey } from './organisations.ts';
import type { transactions } from './transactions.ts';
import { openVault, type Vault } from './vault.ts';
import { createWriter, type Writer } from './writer.ts';

type Registry = typeof transactions;
export type TransactionName = keyof Registry & string;

/** Open read connections cost a file handle and a page cache each; beyond this many the least used closes. */
const OPEN_ORGANISATIONS_MAX = 512;

/** Every request looks its key up; one takes some 300 bytes. */
const KEYS_KEPT = 10_000;

export interface Storage {
  readonly layout: DataLayout;
  readonly vault: Vault;
  /** Read-only, `control.sqlite`. */
  readonly control: Connection;
  /** The key with this token; kept in memory until `control.sqlite` is written to, by whichever process. */
  key(token: string): Key | undefined;
  /** Read-only, the organisation's file; may be kept as long as the storage is open. @throws when the organisation has none. */
  organisation(organisationId: string): Connection;
  writeControl<N extends TransactionName>(name: N, input: Parameters<Registry[N]>[1]): Promise<ReturnType<Registry[N]>>;
  write<N extends TransactionName>(organisationId: string, name: N, input: Parameters<Registry[N]>[1]): Promise<ReturnType<Registry[N]>>;
  stats(): ReturnType<Writer<Registry>['stats']>;
  close(): Promise<void>;
}

export interface StorageOptions {
  readonly dataDir: string;
  /** 32 bytes, base64; minted into the data directory when undefined. */
  readonly masterKey: string | undefined;
  /** Searches by meaning will be asked for. */
  readonly vectors?: boolean;
  /** Other processes write to the directory too (decisions §10). */
  readonly shared?: boolean;
  /** Read connections kept open; 512 unless told. */
  readonly openOrganisationsMax?: number;
  /** The writer thread died: nothing can be acknowledged any more. */
  onFatal(error: Error): void;
}

function upgrade(path: string, kind: 'control' | 'organisation'): void {
  const connection = openWriter(path);
  try {
    migrate(connection, kind === 'control' ? controlMigrations : organisationMigrations, kind);
  } finally {
    connection.close();
  }
}

/**
 * Reads of one organisation, whichever connection is open for it at the moment: whoever holds this across an await must
 * not be left with one that was closed because others were used more.
 */
class OrganisationReader implements Connection {
  readonly path: string;
  readonly #open: () => Connection;

  constructor(path: string, open: () => Connection) {
    this.path = path;
    this.#open = open;
  }

  statement(sql: string): Statement {
    return this.#open().statement(sql);
  }

  exec(sql: string): void {
    this.#open().exec(sql);
  }

  /** Connections are closed by the storage. */
  close(): void {}
}

/**
 * Keys as they were read, until `forget`, or with `shared` until anybody has written to the control file: SQLite counts such
 * commits for each connection, and asking it (2 µs) costs a third of reading a key.
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
      // Before the row is read: what is written after this counts as unseen.
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

/**
 * Opens (and creates or upgrades) the data directory.
 * @throws SchemaError when a file was written by a newer version; Error when the directory cannot be used, or vectors
 * cannot be compared.
 */
export function openStorage(options: StorageOptions): Storage {
  const { vectors = false, shared = false } = options;
  if (vectors) requireVectors();
  prepareDataDir(options.dataDir);
  const layout = dataLayout(options.dataDir);
  const vault = openVault(layout.masterKey, options.masterKey);
  upgrade(layout.control, 'control');
  const control = openReader(layout.control);
  const writer: Writer<Registry> = createWriter({
    registryUrl: new URL('./transactions.js', import.meta.url),
    onFatal: options.onFatal,
  });
  const readers = new LRUCache<string, Connection>({
    max: options.openOrganisationsMax ?? OPEN_ORGANISATIONS_MAX,
    dispose: (connection) => connection.close(),
  });
  const keys = keysOf(control, shared);
  const prepared = new Set<string>();

  /** Creates or upgrades the file, once per process: neither the writer nor a reader may meet an older schema. */
  const prepareOrganisation = (organisationId: string) => {
    if (prepared.has(organisationId)) return;
    upgrade(layout.organisation(organisationId), 'organisation');
    prepared.add(organisationId);
  };

  const readerOf = (organisationId: string): Connection => {
    let reader = readers.get(organisationId);
    if (reader === undefined) {
      prepareOrganisation(organisationId);
      reader = openReader(layout.organisation(organisationId), { vectors });
      readers.set(organisationId, reader);
    }
    return reader;
  };

  return {
    layout,
    vault,
    control,
    organisation(organisationId) {
      readerOf(organisationId);
      return new OrganisationReader(layout.organisation(organisationId), () => readerOf(organisationId));
    },
    key: (token) => keys.read(token),
    async writeControl(name, input) {
      try {
        return await writer.write(layout.control, name, input);
      } finally {
        keys.forget();
      }
    },
    write(organisationId, name, input) {
      prepareOrganisation(organisationId);
      return writer.write(layout.organisation(organisationId), name, input);
    },
    stats: () => writer.stats(),
    async close() {
      await writer.close();
      readers.clear();
      control.close();
    },
  };
}
