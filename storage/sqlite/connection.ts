/** The one shape in which the rest of storage sees SQLite: a connection that prepares each statement once. */

export type SqlValue = string | number | bigint | Buffer | null;
export type Row = Record<string, SqlValue>;

export interface Statement {
  get(parameters?: Row): Row | undefined;
  all(parameters?: Row): Row[];
  run(parameters?: Row): { changes: number; lastInsertRowid: number | bigint };
}

export interface Connection {
  /** The file, for messages. */
  readonly path: string;
  /** Prepares `sql` the first time and answers the same statement afterwards. Parameters are named (`:id`). */
  statement(sql: string): Statement;
  exec(sql: string): void;
  close(): void;
}
