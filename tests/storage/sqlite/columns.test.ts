import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import {
  blob,
  columns,
  countRows,
  flag,
  insert,
  integer,
  json,
  orNull,
  readIds,
  readValue,
  real,
  text,
} from '../../../storage/sqlite/columns.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

function openRows(t: TestContext): Connection {
  const db = openWriter(`${temporaryDir(t)}/rows.sqlite`);
  t.after(() => db.close());
  db.exec(`CREATE TABLE things (id TEXT NOT NULL, created_at_ms INTEGER NOT NULL, score REAL, is_new INTEGER, note TEXT, data BLOB)`);
  db.exec(`INSERT INTO things VALUES ('a', 17, 0.5, 1, '{"x":[1]}', x'01ff'), ('b', 18, 2, 0, NULL, NULL)`);
  return db;
}

const thing = columns({
  id: text,
  createdAtMs: integer,
  score: real,
  isNew: flag,
  note: orNull(json<{ x: number[] }>()),
  bytes: orNull(blob).from('data'),
  size: integer.from('coalesce(length(data), 0)'),
});

test('HOUSE-12: rows are read as typed objects: snake_case becomes camelCase, and each column what it stands for', (t) => {
  const db = openRows(t);
  assert.equal(thing.list, 'id, created_at_ms, score, is_new, note, data, coalesce(length(data), 0)');
  const first = { id: 'a', createdAtMs: 17, score: 0.5, isNew: true, note: { x: [1] }, bytes: Buffer.from([1, 255]), size: 2 };
  const second = { id: 'b', createdAtMs: 18, score: 2, isNew: false, note: null, bytes: null, size: 0 };
  assert.deepEqual(thing.all(db, 'FROM things ORDER BY id'), [first, second]);
  assert.deepEqual(thing.get(db, 'FROM things WHERE id = :id', { id: 'b' }), second);
  assert.equal(thing.get(db, 'FROM things WHERE id = :id', { id: 'c' }), undefined);
});

test('HOUSE-12: rows that a write made are read the same way', (t) => {
  const db = openRows(t);
  const marked = columns({ id: text, isNew: flag });
  const write = 'UPDATE things SET is_new = 1 WHERE id = :id';
  assert.deepEqual(marked.returning(db, write, { id: 'b' }), [{ id: 'b', isNew: true }]);
  assert.deepEqual(marked.returning(db, write, { id: 'c' }), []);
  assert.deepEqual([readIds(db, 'FROM things ORDER BY id'), countRows(db, 'FROM things WHERE is_new')], [['a', 'b'], 2]);
});

test('HOUSE-12: a row is written by its names: truth as 1 or 0, an object as JSON, what is left out as NULL', (t) => {
  const db = openRows(t);
  const row = { id: 'c', createdAtMs: 19, score: 1.5, isNew: true, note: { x: [2] }, data: Uint8Array.of(7) };
  assert.equal(insert(db, 'things', row).changes, 1);
  const { data: bytes, ...read } = row;
  assert.deepEqual(thing.get(db, "FROM things WHERE id = 'c'"), { ...read, bytes: Buffer.from(bytes), size: 1 });
  insert(db, 'things', { id: 'd', createdAtMs: 20, isNew: false, note: undefined });
  const kinds = "SELECT typeof(note) || ' ' || typeof(is_new) FROM things WHERE id = :id";
  assert.deepEqual([readValue(db, text, kinds, { id: 'd' }), readValue(db, text, kinds, { id: 'e' })], ['null integer', undefined]);
});

test('HOUSE-12: a value of another type than its column is refused, by the column’s name and without the value', (t) => {
  const db = openRows(t);
  const refusals = [
    [columns({ id: integer }), 'column id holds string, not an integer'],
    [columns({ createdAtMs: text }), 'column createdAtMs holds number, not text'],
    [columns({ createdAtMs: flag }), 'column createdAtMs holds number, not 0 or 1'],
    [columns({ score: integer }), 'column score holds number, not an integer'],
    [columns({ id: real }), 'column id holds string, not a number'],
    [columns({ id: blob }), 'column id holds string, not a blob'],
    [columns({ note: text.from('NULL') }), 'column note holds NULL, not text'],
    [columns({ data: orNull(text) }), 'column data holds a blob, not text'],
  ] as const;
  for (const [reader, message] of refusals) {
    assert.throws(() => reader.get(db, `FROM things WHERE id = 'a'`), new TypeError(message));
  }
});
