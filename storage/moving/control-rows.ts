/**
 * One organisation's rows of the control file: read for a copy, and inserted on another cell. They are frozen from the moment its own file
 * is sealed, because a key created after the copy would be lost (CELL-10).
 */
import type { Manifest } from '../backup/backup-manifest.ts';
import { columns, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { SEALED_MESSAGE } from '../sqlite/storage-error.ts';

interface ControlTable {
  readonly table: string;
  readonly where: string;
  readonly organisationOfNew: string;
}

function byOrganisation(table: string, column = 'organisation_id'): ControlTable {
  return { table, where: `${column} = :organisationId`, organisationOfNew: `NEW.${column}` };
}

/** Each after those that its rows refer to. */
export const CONTROL_TABLES: readonly ControlTable[] = [
  byOrganisation('organisations', 'id'),
  // Its plan history, under `plans:` and its id.
  { table: 'installation', where: "name = 'plans:' || :organisationId", organisationOfNew: 'substr(NEW.name, 7)' },
  byOrganisation('app_directory'),
  byOrganisation('app_keys'),
  byOrganisation('setup_codes'),
  byOrganisation('setup_tokens'),
  byOrganisation('proposal_directory'),
  byOrganisation('pairing_directory'),
];

/** Steps in which rows are frozen. After the move, the rows only show whose a name was. */
const STILL = "('sealed', 'switched', 'done')";

/** Rows by table; texts and numbers only, so that they can be sent as JSON. */
export type ControlRows = NonNullable<Manifest['move']>['control_rows'];

export function readControlRows(control: Connection, organisationId: string): ControlRows {
  const rows = CONTROL_TABLES.map(({ table, where }) => [
    table,
    control.statement(`SELECT * FROM ${table} WHERE ${where}`).all({ organisationId }),
  ]);
  return Object.fromEntries(rows) as ControlRows;
}

const columnName = columns({ name: text });

/** Replaces the organisation's rows by these. @throws Error for an unknown column. */
export function replaceControlRows(db: Connection, organisationId: string, rows: ControlRows): void {
  for (const { table, where } of CONTROL_TABLES.toReversed()) db.statement(`DELETE FROM ${table} WHERE ${where}`).run({ organisationId });
  for (const { table } of CONTROL_TABLES) {
    const known = new Set(columnName.all(db, `FROM pragma_table_info('${table}')`).map(({ name }) => name));
    for (const row of rows[table] ?? []) {
      const names = Object.keys(row);
      // The rows come from another process, and their column names become SQL.
      if (!names.every((name) => known.has(name))) throw new Error(`rows of ${table} have other columns than this program's`);
      db.statement(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `:${name}`).join(', ')})`).run(row);
    }
  }
}

/**
 * Makes this connection, the one that writes the control file, refuse to change rows of an organisation that is moving or has moved
 * (StorageError `sealed`). Rows may be deleted, because only expired ones are. Does nothing for other files.
 */
export function keepMovingRowsStill(connection: Connection): void {
  const isControl =
    connection.statement("SELECT 1 AS found FROM sqlite_schema WHERE type = 'table' AND name = 'moves'").get() !== undefined;
  if (!isControl) return;
  for (const { table, organisationOfNew } of CONTROL_TABLES) {
    for (const change of ['INSERT', 'UPDATE']) {
      // Temporary triggers of the connection: the file's schema stays as its migrations made it.
      connection.exec(
        `CREATE TEMP TRIGGER still_${table}_${change} BEFORE ${change} ON main.${table}
         WHEN EXISTS (SELECT 1 FROM moves WHERE organisation_id = ${organisationOfNew} AND step IN ${STILL})
         BEGIN SELECT RAISE(ABORT, '${SEALED_MESSAGE}'); END`,
      );
    }
  }
}
