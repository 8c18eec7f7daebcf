/**
 * Brings a SQLite file to the schema this program knows: numbered steps, each in a transaction of its own, counted in
 * `PRAGMA user_version`; `PRAGMA application_id` says which kind of file it is. Refuses files it does not understand.
 */
import { columns, integer, type RowOf } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { retryWhileBusy, rollBack } from '../sqlite/database.ts';

export interface Migration {
  /** 1, 2, 3, … without gaps; a released number never changes its SQL. */
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

export type DatabaseKind = 'control' | 'organisation';

/**
 * ASCII "AS1C" and "AS1O": what `file(1)` and this program tell the two kinds apart by. Not "ASvC" and "ASvO": states before the first
 * release wrote those, with steps of other contents under the same numbers.
 */
export const APPLICATION_IDS: Readonly<Record<DatabaseKind, number>> = {
  control: 0x41_53_31_43,
  organisation: 0x41_53_31_4f,
};

/** How long to wait for another process that migrates the same file; one that takes longer hangs. */
const OTHER_MIGRATION_MAX_MS = 30_000;

/** The file cannot be used by this program: made by a newer one, of another kind, or a migration failed on it. The message names the file. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

const head = columns({
  version: integer.from('user_version'),
  applicationId: integer,
  objects: integer.from('(SELECT count(*) FROM sqlite_schema)'),
});
/** All of it in one statement, which reads one state of the file, also while another process migrates it. */
const HEAD = 'FROM pragma_user_version, pragma_application_id';

/** The file's version; 0 for an empty file. Throws SchemaError for a foreign or a newer one. */
function understoodVersion(connection: Connection, kind: DatabaseKind, knownVersion: number): number {
  const { version, applicationId, objects } = head.get(connection, HEAD) as RowOf<typeof head>;
  if (applicationId !== APPLICATION_IDS[kind]) {
    if (applicationId === 0 && version === 0 && objects === 0) return 0;
    const found = `application_id ${applicationId}, version ${version}`;
    const wanted = `application_id ${APPLICATION_IDS[kind]}, up to version ${knownVersion}`;
    const message = `${connection.path} is not a database of kind "${kind}" of this service: it has ${found}; this program knows ${wanted}. A state before release 0.1.0 wrote others (docs/upgrades.md).`;
    throw new SchemaError(message);
  }
  if (version > knownVersion) {
    const message =
      `${connection.path} has schema version ${version}, made by a newer release; ` +
      `this program knows up to version ${knownVersion}. Start the newer release, or restore a backup made before the upgrade.`;
    throw new SchemaError(message);
  }
  return version;
}

/**
 * SQLite keeps the text of each table in the file and parses it for each connection, so it goes there without comments and indentation.
 * No literal of a schema holds two hyphens or spaces.
 */
function withoutComments(sql: string): string {
  return sql.replace(/--.*$/gm, '').replace(/\s+/g, ' ');
}

/** Applies one migration unless another process was first; returns the file's version afterwards. */
function advance(connection: Connection, migration: Migration, kind: DatabaseKind, knownVersion: number): number {
  retryWhileBusy(OTHER_MIGRATION_MAX_MS, () => connection.exec('BEGIN IMMEDIATE'));
  try {
    // Read again under the lock: two processes that start together both saw the old version before it.
    const version = understoodVersion(connection, kind, knownVersion);
    if (version >= migration.version) {
      connection.exec('ROLLBACK');
      return version;
    }
    connection.exec(withoutComments(migration.sql));
    connection.exec(`PRAGMA application_id = ${APPLICATION_IDS[kind]}; PRAGMA user_version = ${migration.version}`);
    connection.exec('COMMIT');
    return migration.version;
  } catch (error) {
    rollBack(connection);
    if (error instanceof SchemaError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${connection.path}: migration ${migration.version} (${migration.name}) failed and was rolled back: ${reason}`;
    throw new SchemaError(message, { cause: error });
  }
}

/**
 * Applies what `migrations` holds and the file lacks. Safe to call from several processes at once and on every open:
 * a file that is up to date costs one read and no lock. Blocks the thread. Throws SchemaError.
 */
export function migrate(connection: Connection, migrations: readonly Migration[], kind: DatabaseKind): void {
  migrations.forEach((migration, index) => {
    if (migration.version !== index + 1)
      throw new Error(`migration "${migration.name}" is number ${index + 1} but says ${migration.version}`);
  });
  let version = understoodVersion(connection, kind, migrations.length);
  for (const migration of migrations) {
    if (migration.version > version) version = advance(connection, migration, kind, migrations.length);
  }
}
