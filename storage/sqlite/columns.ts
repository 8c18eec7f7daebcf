/**
 * Reads rows as typed objects. A reader names its columns once, with their types; the SELECT list, the TypeScript type and the check of
 * every value follow from that. Owns the conversion from SQL's snake_case to the code's camelCase. What a column means stands in the schema.
 *
 * Rows are read by position, so that the driver makes no strings of column names, which would cost more than all the checks.
 */
import type { Connection, Row, SqlValue, Statement } from './connection.ts';

export interface Column<T> {
  /** @throws TypeError when the value is not of the column's type. */
  readonly read: (value: SqlValue | undefined, name: string) => T;
  /** The SQL expression it is read from; undefined: the column of the same name, in snake_case. */
  readonly sql: string | undefined;
  from(sql: string): Column<T>;
  /** The same with a narrower type, which the writers guarantee. Nothing is checked. */
  as<U extends T>(): Column<U>;
  to<U>(make: (value: T) => U): Column<U>;
}

function column<T>(read: Column<T>['read'], sql?: string): Column<T> {
  return {
    read,
    sql,
    from: (other) => column(read, other),
    as: <U extends T>() => column(read as Column<U>['read'], sql),
    to: (make) => column((value, name) => make(read(value, name)), sql),
  };
}

function typeNameOf(value: SqlValue | undefined): string {
  if (value === null) return 'NULL';
  return value instanceof Uint8Array ? 'a blob' : typeof value;
}

/** The message leaves the value out: it may be personal data. */
function misread(name: string, expected: string, value: SqlValue | undefined): TypeError {
  return new TypeError(`column ${name} holds ${typeNameOf(value)}, not ${expected}`);
}

export const text = column<string>((value, name) => {
  if (typeof value !== 'string') throw misread(name, 'text', value);
  return value;
});

export const integer = column<number>((value, name) => {
  if (!Number.isInteger(value)) throw misread(name, 'an integer', value);
  return value as number;
});

export const real = column<number>((value, name) => {
  if (typeof value !== 'number') throw misread(name, 'a number', value);
  return value;
});

export const blob = column<Buffer>((value, name) => {
  if (!Buffer.isBuffer(value)) throw misread(name, 'a blob', value);
  return value;
});

/** A boolean, which SQLite keeps as 1 or 0. */
export const flag = column<boolean>((value, name) => {
  if (value !== 1 && value !== 0) throw misread(name, '0 or 1', value);
  return value === 1;
});

/** The value of JSON text that this program wrote. */
export function json<T>(): Column<T> {
  return text.to((value) => JSON.parse(value) as T);
}

export function orNull<T>({ read, sql }: Column<T>): Column<T | null> {
  return column((value, name) => (value === null ? null : read(value, name)), sql);
}

type RowOfShape<S> = { readonly [K in keyof S]: S[K] extends Column<infer T> ? T : never };

export type RowOf<C> = C extends Columns<infer T> ? T : never;

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

class Columns<T> {
  readonly list: string;
  readonly #columns: readonly { readonly name: string; readonly read: Column<unknown>['read'] }[];
  // Needs no bound: SQL texts are constants of the source.
  readonly #selects = new Map<string, string>();

  constructor(shape: Readonly<Record<string, Column<unknown>>>) {
    this.list = Object.entries(shape)
      .map(([name, { sql }]) => sql ?? snakeCase(name))
      .join(', ');
    this.#columns = Object.entries(shape).map(([name, { read }]) => ({ name, read }));
  }

  /** The first row of a SELECT; `from` is its text after the columns: `FROM turns WHERE id = :id`. */
  get(db: Connection, from: string, parameters?: Row): T | undefined {
    const values = db.tuples(this.#selectOf(from)).get(parameters);
    return values === undefined ? undefined : this.#read(values);
  }

  all(db: Connection, from: string, parameters?: Row): T[] {
    return db
      .tuples(this.#selectOf(from))
      .all(parameters)
      .map((values) => this.#read(values));
  }

  /** The rows that an INSERT, UPDATE or DELETE wrote; `write` is its text before RETURNING. */
  returning(db: Connection, write: string, parameters?: Row): T[] {
    return db
      .tuples(`${write} RETURNING ${this.list}`)
      .all(parameters)
      .map((values) => this.#read(values));
  }

  #selectOf(from: string): string {
    let sql = this.#selects.get(from);
    if (sql === undefined) {
      sql = `SELECT ${this.list} ${from}`;
      this.#selects.set(from, sql);
    }
    return sql;
  }

  #read(values: readonly SqlValue[]): T {
    const row: Record<string, unknown> = {};
    let position = 0;
    for (const { name, read } of this.#columns) row[name] = read(values[position++], name);
    return row as T;
  }
}

export type { Columns };

/** `columns({ id: text, createdAtMs: integer })` reads `id, created_at_ms`. @throws TypeError on a value of another type than its column's. */
export function columns<S extends Readonly<Record<string, Column<unknown>>>>(shape: S): Columns<RowOfShape<S>> {
  return new Columns(shape);
}

/** The first row's value of a statement that reads one column; undefined: there is no row. */
export function readValue<T>(db: Connection, { read }: Column<T>, select: string, parameters?: Row): T | undefined {
  const row = db.tuples(select).get(parameters);
  return row === undefined ? undefined : read(row[0], select);
}

export function readValues<T>(db: Connection, { read }: Column<T>, select: string, parameters?: Row): T[] {
  return db
    .tuples(select)
    .all(parameters)
    .map(([value]) => read(value, select));
}

/** `from`: the text after `SELECT id`. */
export function readIds(db: Connection, from: string, parameters?: Row): string[] {
  return readValues(db, text, `SELECT id ${from}`, parameters);
}

function sqlValueOf(value: unknown): SqlValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return typeof value === 'object' ? JSON.stringify(value) : (value as SqlValue);
}

/**
 * Inserts a row: its fields are the columns; `clause` is the text after the values. Truth is kept as 1 or 0, undefined as NULL, an object as
 * JSON. The text is made anew each time, some 3 µs, so the writes of a turn have theirs written out.
 */
export function insert(db: Connection, table: string, row: Readonly<Record<string, unknown>>, clause = ''): ReturnType<Statement['run']> {
  const names = Object.keys(row);
  const values = names.map((name) => `:${name}`).join(', ');
  const sql = `INSERT INTO ${table} (${names.map(snakeCase).join(', ')}) VALUES (${values}) ${clause}`;
  return db.statement(sql).run(Object.fromEntries(names.map((name) => [name, sqlValueOf(row[name])])));
}

/** `from`: the text after `SELECT count(*)`, without GROUP BY. */
export function countRows(db: Connection, from: string, parameters?: Row): number {
  return readValue(db, integer, `SELECT count(*) ${from}`, parameters) ?? 0;
}
