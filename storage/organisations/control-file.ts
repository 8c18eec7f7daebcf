/** Opens `control.sqlite` at a start: migrated to this program's schema, and readable even when the disk takes no writes. */
import { existsSync } from 'node:fs';
import { controlMigrations } from '../migrations/control.ts';
import { migrate } from '../migrations/migrate.ts';
import type { Connection } from '../sqlite/connection.ts';
import { retryWhileBusy } from '../sqlite/database.ts';
import { settleFile, writing } from '../sqlite/log-emptying.ts';
import { isRefusedByDisk } from '../sqlite/storage-error.ts';
import { CurrentReader, type OpenFile, openReadable } from './organisation-readers.ts';

/** Other processes write to it meanwhile, for some milliseconds each. */
const UPGRADE_WAIT_MAX_MS = 2_000;

function upgrade(path: string): void {
  const settle = (db: Connection) => {
    const isCurrent = db.statement('PRAGMA user_version').get()?.user_version === controlMigrations.length;
    migrate(db, controlMigrations, 'control');
    if (!isCurrent) settleFile(db);
  };
  retryWhileBusy(UPGRADE_WAIT_MAX_MS, () => writing(path, settle));
}

function requireUpgraded(db: Connection, path: string, cause: unknown): void {
  const version = db.statement('PRAGMA user_version').get()?.user_version;
  if (version === controlMigrations.length) return;
  const reason = cause instanceof Error ? cause.message : String(cause);
  throw new Error(`${path} cannot be brought to the schema of this program, because the disk refuses writes: ${reason}.`, { cause });
}

/**
 * Creates or migrates the control file and opens it for reading only. `note` receives errors of the disk. `reopen` opens it again: a
 * connection opened while the disk took no writes is a copy, or blocks writes of this process.
 * @throws SchemaError for a newer file; Error when it must be created or migrated and the disk refuses.
 */
export function openControl(path: string, note: (error: unknown) => void) {
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
  const open = () => openReadable(path, {}, note);
  let file: OpenFile = open();
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
