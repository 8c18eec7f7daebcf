/**
 * What the control file holds of one organisation: read for a copy, put in place elsewhere, and kept still from the moment its
 * own file is sealed, as a key that is made after the copy would be lost (CELL-10).
 */
import { columns, text } from '../sqlite/columns.ts';
import type { Connection, Row } from '../sqlite/connection.ts';
import { SEALED_MESSAGE } from '../sqlite/storage-error.ts';

interface ControlTable {
  readonly table: string;
  /** SQL: the organisation's rows. */
  readonly where: string;
  /** SQL: the organisation of the row `NEW`. */
  readonly organisationOfNew: string;
}

function byOrganisation(table: string, column = 'organisation_id'): ControlTable {
  return { table, where: `${column} = :organisationId`, organisationOfNew: `NEW.${column}` };
}

/** Each after those that its rows refer to. */
export const CONTROL_TABLES: readonly ControlTable[] = [
  byOrganisation('organisations', 'id'),
  // The plans it has been on: `plans:` and its id.
  { table: 'installation', where: "name = 'plans:' || :organisationId", organisationOfNew: 'substr(NEW.name, 7)' },
  byOrganisation('app_directory'),
  byOrganisation('app_keys'),
  byOrganisation('setup_codes'),
  byOrganisation('setup_tokens'),
  byOrganisation('proposal_directory'),
  byOrganisation('pairing_directory'),
];

/** From the copy on, and for ever: the rows of an organisation that has moved only tell whose a name was. */
const STILL = "('sealed', 'copied', 'shipped', 'switched', 'unsealed', 'done')";

/** Rows by table. Texts and numbers only, so that they can travel as JSON. */
export type ControlRows = Readonly<Record<string, readonly Row[]>>;

export function readControlRows(control: Connection, organisationId: string): ControlRows {
  const rows = CONTROL_TABLES.map(({ table, where }) => [
    table,
    control.statement(`SELECT * FROM ${table} WHERE ${where}`).all({ organisationId }),
  ]);
  return Object.fromEntries(rows);
}

const columnName = columns({ name: text });

/** Puts these rows in the place of those that there are of the organisation. @throws Error for a column that is none. */
export function replaceControlRows(db: Connection, organisationId: string, rows: ControlRows): void {
  for (const { table, where } of CONTROL_TABLES.toReversed()) db.statement(`DELETE FROM ${table} WHERE ${where}`).run({ organisationId });
  for (const { table } of CONTROL_TABLES) {
    const known = new Set(columnName.all(db, `FROM pragma_table_info('${table}')`).map(({ name }) => name));
    for (const row of rows[table] ?? []) {
      const names = Object.keys(row);
      // The rows come from another process: their names become SQL.
      if (!names.every((name) => known.has(name))) throw new Error(`rows of ${table} have other columns than this program's`);
      db.statement(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `:${name}`).join(', ')})`).run(row);
    }
  }
}

/**
 * Lets this connection, the one that writes the control file, change no row of an organisation that is being moved or has moved
 * (StorageError `sealed`). Rows may go: what is deleted is too old for anybody to ask for. Does nothing to other files.
 */
export function keepMovingRowsStill(connection: Connection): void {
  const isControl =
    connection.statement("SELECT 1 AS found FROM sqlite_schema WHERE type = 'table' AND name = 'moves'").get() !== undefined;
  if (!isControl) return;
  for (const { table, organisationOfNew } of CONTROL_TABLES) {
    for (const change of ['INSERT', 'UPDATE']) {
      // Of the connection and not of the file: the file stays as its migrations made it.
      connection.exec(
        `CREATE TEMP TRIGGER still_${table}_${change} BEFORE ${change} ON main.${table}
         WHEN EXISTS (SELECT 1 FROM moves WHERE organisation_id = ${organisationOfNew} AND step IN ${STILL})
         BEGIN SELECT RAISE(ABORT, '${SEALED_MESSAGE}'); END`,
      );
    }
  }
}
