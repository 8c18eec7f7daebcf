/** The read-only connections to organisations' files: open files, and copies in memory while the disk refuses what SQLite needs. */
import { statSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import type { Connection, SqlValue, Statement } from '../sqlite/connection.ts';
import { OPEN_WAIT_MAX_MS, openReader, openSnapshot, type ReaderOptions, retryWhileBusy } from '../sqlite/database.ts';
import { logBytes } from '../sqlite/log-emptying.ts';
import { isRefusedByDisk } from '../sqlite/storage-error.ts';
import { openUnmade, requireOrganisationFile, requireReadable } from './organisation-file.ts';
import type { OrganisationFiles } from './organisation-files.ts';

/** Copies in memory take no more than this together. */
const SNAPSHOTS_MAX_BYTES = 256 * 1024 * 1024;

export interface OpenFile {
  readonly connection: Connection;
  /** Bytes in memory; 0: it reads the file. */
  readonly bytes: number;
  isStale(): boolean;
}

/** Any change alters one of these. */
function stateOf(path: string): string {
  const { size, mtimeMs } = statSync(path);
  return `${size} ${mtimeMs} ${logBytes(path)}`;
}

function openCopy(path: string, options: ReaderOptions): OpenFile {
  const state = stateOf(path);
  return { connection: openSnapshot(path, options), bytes: statSync(path).size, isStale: () => stateOf(path) !== state };
}

/** The file, or a copy in memory when the disk refuses what SQLite needs (`note`). @throws FileProblemError; SQLite's error; StorageError io. */
export function openReadable(path: string, options: ReaderOptions, note: (error: unknown) => void): OpenFile {
  try {
    // Another process may be reading the log anew, or closing the file as the last one.
    return retryWhileBusy(OPEN_WAIT_MAX_MS, () => {
      const connection = openReader(path, options);
      try {
        // The first read creates the log's index, or fails to.
        connection.statement('SELECT count(*) FROM sqlite_schema').get();
      } catch (error) {
        connection.close();
        throw error;
      }
      return { connection, bytes: 0, isStale: () => false };
    });
  } catch (error) {
    if (!isRefusedByDisk(error)) throw error;
    requireReadable(path);
    note(error);
    return openCopy(path, options);
  }
}

/** Reads one file through whichever connection is open for it, so that it can be held across an await. */
export class CurrentReader implements Connection {
  readonly path: string;
  readonly #open: () => Connection;

  constructor(path: string, open: () => Connection) {
    this.path = path;
    this.#open = open;
  }

  statement(sql: string): Statement {
    return this.#open().statement(sql);
  }

  tuples(sql: string): Statement<readonly SqlValue[]> {
    return this.#open().tuples(sql);
  }

  exec(sql: string): void {
    this.#open().exec(sql);
  }

  close(): void {}
}

interface ReadersOptions {
  readonly files: OrganisationFiles;
  readonly pathOf: (organisationId: string) => string;
  readonly vectors: boolean;
  readonly openMax: number;
  note(error: unknown, organisationId: string): void;
}

export class OrganisationReaders {
  readonly #options: ReadersOptions;
  readonly #open: LRUCache<string, OpenFile>;
  /** By organisation: whoever holds one reads through whichever connection is open. */
  readonly #current: LRUCache<string, CurrentReader>;
  #unmade: Connection | undefined;

  constructor(options: ReadersOptions) {
    this.#options = options;
    this.#current = new LRUCache({ max: options.openMax });
    this.#open = new LRUCache({
      max: options.openMax,
      maxSize: SNAPSHOTS_MAX_BYTES,
      sizeCalculation: ({ bytes }) => Math.max(1, bytes),
      dispose: ({ connection }) => connection.close(),
    });
  }

  /** @throws StorageError unavailable; what the disk refuses with. */
  get(organisationId: string): Connection {
    let file = this.#open.get(organisationId);
    if (file?.isStale() === true) {
      this.#open.delete(organisationId);
      file = undefined;
    }
    if (file === undefined) {
      file = this.#openFile(organisationId);
      this.#open.set(organisationId, file);
    }
    return file.connection;
  }

  /** As `get`, to be held across an await. */
  current(organisationId: string): Connection {
    this.get(organisationId);
    let reader = this.#current.get(organisationId);
    if (reader === undefined) {
      reader = new CurrentReader(this.#options.pathOf(organisationId), () => this.get(organisationId));
      this.#current.set(organisationId, reader);
    }
    return reader;
  }

  #openFile(organisationId: string): OpenFile {
    const { files, pathOf, vectors } = this.#options;
    const note = (error: unknown) => this.#options.note(error, organisationId);
    const path = pathOf(organisationId);
    const options = { vectors, onError: (error: unknown) => files.refuse(organisationId, error) };
    // The first write makes the file: an organisation that has nothing takes nothing.
    if (files.isUnmade(organisationId)) {
      const connection = new CurrentReader(path, () => this.#openUnmade());
      return { connection, bytes: 0, isStale: () => !files.isUnmade(organisationId) };
    }
    try {
      files.prepare(organisationId);
      return openReadable(path, options, note);
    } catch (error) {
      if (!isRefusedByDisk(error)) throw files.refuse(organisationId, error);
      note(error);
    }
    return this.#openUnprepared(organisationId, path, options);
  }

  #openUnmade(): Connection {
    this.#unmade ??= openUnmade(this.#options);
    return this.#unmade;
  }

  /** Opens a file that cannot be migrated because the disk refuses writes; it must have this program's schema already. */
  #openUnprepared(organisationId: string, path: string, options: ReaderOptions): OpenFile {
    const { files } = this.#options;
    const note = (error: unknown) => this.#options.note(error, organisationId);
    const file = openReadable(path, options, note);
    try {
      requireOrganisationFile(file.connection, path, organisationId);
    } catch (error) {
      file.connection.close();
      throw files.refuse(organisationId, error);
    }
    files.admit(organisationId);
    return file;
  }

  forget(organisationId: string): void {
    this.#open.delete(organisationId);
  }

  /** Closes all; the next read of each opens it again. Also needed when the disk takes writes again: what was open is a copy, or cannot lock. */
  close(): void {
    this.#open.clear();
    this.#unmade?.close();
    this.#unmade = undefined;
  }
}
