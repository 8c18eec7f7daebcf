/** SQLite as the rest of storage sees it: a connection that prepares each statement once. */

export type SqlValue = string | number | bigint | Buffer | null;
export type Row = Record<string, SqlValue>;

export interface Statement<T = Row> {
  get(parameters?: Row): T | undefined;
  all(parameters?: Row): T[];
  run(parameters?: Row): { changes: number; lastInsertRowid: number | bigint };
}

export interface Connection {
  readonly path: string;
  /** Prepares `sql` the first time and returns the same statement afterwards. Parameters are named (`:id`). */
  statement(sql: string): Statement;
  /** The same for reading rows by position (see columns.ts), in the order of the SELECT list. */
  tuples(sql: string): Statement<readonly SqlValue[]>;
  exec(sql: string): void;
  close(): void;
}
