/** `control.sqlite` as it is opened at a start: brought to this program's schema, and read also from a disk that takes no writes. */
import { existsSync } from 'node:fs';
import { controlMigrations } from '../migrations/control.ts';
import { migrate } from '../migrations/migrate.ts';
import type { Connection } from '../sqlite/connection.ts';
import { openWriter } from '../sqlite/database.ts';
import { isRefusedByDisk } from '../sqlite/storage-error.ts';
import { CurrentReader, type OpenFile, openReadable } from './organisation-readers.ts';

function upgrade(path: string): void {
  const connection = openWriter(path);
  try {
    migrate(connection, controlMigrations, 'control');
  } finally {
    connection.close();
  }
}

/** @throws Error when the file lacks what this program knows and cannot be given it. */
function requireUpgraded(db: Connection, path: string, cause: unknown): void {
  const version = db.statement('PRAGMA user_version').get()?.user_version;
  if (version === controlMigrations.length) return;
  const reason = cause instanceof Error ? cause.message : String(cause);
  throw new Error(`${path} cannot be brought to the schema of this program, because the disk refuses writes: ${reason}.`, { cause });
}

export interface ControlFile {
  /** Read-only. */
  readonly control: Connection;
  /** Opens the file afresh: what was opened on a disk that took no writes is a copy, or keeps this process from writing. */
  reopen(): void;
  close(): void;
}

/**
 * Makes or upgrades the control file and opens it for reading. `note` is told what the disk refuses.
 * @throws SchemaError for a newer file; Error when it has to be made or upgraded and the disk refuses that.
 */
export function openControl(path: string, note: (error: unknown) => void): ControlFile {
  let refusal: unknown;
  try {
    upgrade(path);
  } catch (error) {
    if (!isRefusedByDisk(error)) throw error;
    if (!existsSync(path)) {
      throw new Error(`${path} cannot be made: the disk refuses writes. Make room, or give another DATA_DIR.`, { cause: error });
    }
    refusal = error;
    note(error);
  }
  const open = (): OpenFile => openReadable(path, {}, note);
  let file = open();
  if (refusal !== undefined) requireUpgraded(file.connection, path, refusal);
  const reopen = () => {
    file.connection.close();
    file = open();
  };
  return {
    control: new CurrentReader(path, () => {
      if (file.isStale()) reopen();
      return file.connection;
    }),
    reopen,
    close: () => file.connection.close(),
  };
}
