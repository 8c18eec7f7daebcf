import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Refusal } from '../../../protocol/errors.ts';
import { openReader, openWriter } from '../../../storage/sqlite/database.ts';
import { StorageError } from '../../../storage/sqlite/storage-error.ts';
import { Writer, type WriterOptions } from '../../../storage/sqlite/writer.ts';
import { each } from '../../support/each.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { open, type transactions } from './writer-registry.ts';

const registryUrl = new URL('./writer-registry.js', import.meta.url);

function setUp(t: TestContext, options: Partial<WriterOptions> = {}): { writer: Writer<typeof transactions>; path: string } {
  const path = join(temporaryDir(t), 'a.sqlite');
  const writer = new Writer<typeof transactions>({ registryUrl, ...options });
  t.after(() => writer.close());
  return { writer, path };
}

function texts(path: string): unknown[] {
  const reader = openReader(path);
  const rows = reader.statement('SELECT text FROM notes ORDER BY id').all();
  reader.close();
  return rows.map((row) => row.text);
}

function storageError(code: string, retryable: boolean) {
  return (error: unknown): boolean => error instanceof StorageError && error.code === code && error.retryable === retryable;
}

test('STORE-1: the writer runs with synchronous=FULL, WAL, foreign keys and an untrusted schema', async (t) => {
  const { writer, path } = setUp(t);
  assert.equal(await writer.write(path, 'pragma', { name: 'synchronous' }), 2);
  assert.equal(await writer.write(path, 'pragma', { name: 'journal_mode' }), 'wal');
  assert.equal(await writer.write(path, 'pragma', { name: 'foreign_keys' }), 1);
  assert.equal(await writer.write(path, 'pragma', { name: 'trusted_schema' }), 0);
});

test('STORE-2: 1,000 concurrent writes commit in the order of the calls, in few transactions', async (t) => {
  const { writer, path } = setUp(t);
  const wanted = Array.from({ length: 1_000 }, (_, n) => `note ${n}`);
  const answers = await Promise.all(wanted.map((text) => writer.write(path, 'addNote', { text })));
  assert.deepEqual(
    each(answers, 'id'),
    wanted.map((_, n) => n + 1),
  );
  assert.deepEqual(texts(path), wanted);
  const stats = writer.stats();
  assert.equal(stats.succeeded, 1_000);
  assert.equal(stats.outstanding, 0);
  assert.ok(stats.commits < 10, `${stats.commits} commits`);
});

test('STORE-2: writes of different ticks and files keep their order per file', async (t) => {
  const { writer, path } = setUp(t);
  const paths = [path, `${path}-2`, `${path}-3`];
  const pending: Promise<unknown>[] = [];
  for (let n = 0; n < 300; n++) {
    pending.push(writer.write(paths[n % 3] ?? path, 'addNote', { text: String(n) }));
    if (n % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
    if (n % 11 === 0) await Promise.resolve();
  }
  await Promise.all(pending);
  for (const [index, file] of paths.entries()) {
    assert.deepEqual(
      texts(file),
      Array.from({ length: 100 }, (_, n) => String(n * 3 + index)),
    );
  }
});

test('STORE-2: a write that throws takes back its own rows and no others', async (t) => {
  const { writer, path } = setUp(t);
  const results = await Promise.allSettled([
    writer.write(path, 'addNote', { text: 'before' }),
    writer.write(path, 'addThenThrow', { text: 'thrown' }),
    writer.write(path, 'addNote', { text: 'between' }),
    writer.write(path, 'addNote', { text: 'before' }),
    writer.write(path, 'addThenRefuse', { text: 'refused' }),
    writer.write(path, 'asynchronous', { text: 'late' }),
    writer.write(path, 'addNote', { text: 'after' }),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status === 'fulfilled'),
    [true, false, true, false, false, false, true],
  );
  assert.deepEqual(texts(path), ['before', 'between', 'after']);
  assert.equal(writer.stats().commits, 1);
});

test('STORE-2: a write that is withdrawn takes back its own rows and resolves with what it says', async (t) => {
  const { writer, path } = setUp(t);
  const results = await Promise.all([
    writer.write(path, 'addNote', { text: 'before' }),
    writer.write(path, 'addThenWithdraw', { text: 'after' }),
    writer.write(path, 'addNote', { text: 'after' }),
  ]);
  assert.deepEqual(results, [{ id: 1 }, 'withdrew after', { id: 2 }]);
  assert.deepEqual(texts(path), ['before', 'after']);
});

test('STORE-5: the write-ahead log stays bounded however many writes there are, and its pages reach the file meanwhile', async (t) => {
  const { writer, path } = setUp(t);
  const batch = (from: number) =>
    Promise.all(Array.from({ length: 500 }, (_, n) => writer.write(path, 'addNote', { text: `${from + n} ${'x'.repeat(4_000)}` })));
  await batch(0);
  const early = statSync(path).size;
  for (let from = 500; from < 8_000; from += 500) await batch(from);
  assert.ok(statSync(path).size > early + 16 * 1024 * 1024);
  assert.ok(statSync(`${path}-wal`).size < 36 * 1024 * 1024);
});

test('STORE-2: message, stack and kind cross the thread', async (t) => {
  const { writer, path } = setUp(t);
  await assert.rejects(writer.write(path, 'addThenThrow', { text: 'x' }), (error: unknown) => {
    assert.ok(error instanceof StorageError);
    assert.equal(error.message, 'no to x');
    assert.match(error.stack ?? '', /addThenThrow/);
    return error.code === 'failed' && !error.retryable;
  });
  await assert.rejects(writer.write(path, 'addThenRefuse', { text: 'x' }), (error: unknown) => {
    assert.ok(error instanceof Refusal);
    assert.deepEqual(
      [error.code, error.status, error.message, error.details, error.retryAfterS],
      ['conflict', 409, 'Choose another text.', [], 7],
    );
    return true;
  });
  await writer.write(path, 'addNote', { text: 'x' });
  await assert.rejects(
    writer.write(path, 'addNote', { text: 'x' }),
    (error: unknown) => error instanceof StorageError && error.sqliteCode === 'SQLITE_CONSTRAINT_UNIQUE',
  );
});

test('STORE-2: a COMMIT that fails rejects every write of its group and of no other file', async (t) => {
  const { writer, path } = setUp(t);
  const results = await Promise.allSettled([
    writer.write(path, 'addNote', { text: 'a' }),
    writer.write(path, 'breakCommit', null),
    writer.write(path, 'addNote', { text: 'b' }),
    writer.write(`${path}-2`, 'addNote', { text: 'c' }),
  ]);
  assert.deepEqual(each(results, 'status'), ['rejected', 'rejected', 'rejected', 'fulfilled']);
  assert.deepEqual(texts(path), []);
  assert.deepEqual(await writer.write(path, 'addNote', { text: 'later' }), { id: 1 });
});

test('STORE-16: a full disk rejects as disk_full, which may be tried again', async (t) => {
  const { writer, path } = setUp(t);
  await assert.rejects(writer.write(path, 'fillDisk', null), storageError('disk_full', true));
  assert.deepEqual(texts(path), []);
});

test('STORE-3: a file that cannot be opened or is no database rejects; the thread goes on', async (t) => {
  const { writer, path } = setUp(t);
  await assert.rejects(writer.write(join(path, 'no', 'such', 'folder.sqlite'), 'addNote', { text: 'a' }), StorageError);
  await assert.rejects(writer.write(registryUrl.pathname, 'addNote', { text: 'a' }), storageError('corrupt', false));
  assert.deepEqual(await writer.write(path, 'addNote', { text: 'a' }), { id: 1 });
});

test('RUN-36: a writer beside another has its thread for other files, counts apart, and closes them without it', async (t) => {
  const { writer, path } = setUp(t);
  const beside = setUp(t, { beside: writer as never });
  const notes = (of: typeof beside) => Promise.all(['a', 'b', 'c'].map((text) => of.writer.write(of.path, 'addNote', { text })));
  await Promise.all([notes({ writer, path }), notes(beside)]);
  await assert.rejects(beside.writer.write(join(beside.path, 'no', 'such'), 'addNote', { text: 'd' }), StorageError);
  await beside.writer.close();
  assert.deepEqual(await writer.write(path, 'addNote', { text: 'e' }), { id: 4 });
  assert.equal(existsSync(`${beside.path}-wal`), false, 'its connection is closed');
  assert.deepEqual([texts(path).length, texts(beside.path).length], [4, 3]);
  const { succeeded, failed } = writer.stats();
  assert.deepEqual([succeeded, failed, beside.writer.stats().succeeded, beside.writer.stats().failed], [4, 0, 3, 1]);
});

test('STORE-2: input or output that cannot be cloned fails alone', async (t) => {
  const { writer, path } = setUp(t);
  const results = await Promise.allSettled([
    writer.write(path, 'addNote', { text: 'a' }),
    writer.write(path, 'echo', () => {}),
    writer.write(path, 'uncloneable', { text: 'b' }),
    writer.write(path, 'addNote', { text: 'c' }),
  ]);
  assert.deepEqual(each(results, 'status'), ['fulfilled', 'rejected', 'rejected', 'fulfilled']);
  assert.deepEqual(texts(path), ['a', 'b', 'c']);
  assert.equal(writer.stats().outstanding, 0);
});

test('STORE-3: a lock held elsewhere rejects as retryable after bounded tries, other files go on, and the file recovers', async (t) => {
  const { writer, path } = setUp(t);
  const holder = open(path);
  holder.exec('BEGIN IMMEDIATE');
  const order: string[] = [];
  const stuck = [writer.write(path, 'addNote', { text: 'a' }), writer.write(path, 'addNote', { text: 'b' })].map((promise) =>
    assert.rejects(promise, storageError('busy', true)).then(() => order.push('stuck')),
  );
  await writer.write(`${path}-2`, 'addNote', { text: 'c' }).then(() => order.push('other file'));
  await Promise.all(stuck);
  assert.deepEqual(order, ['other file', 'stuck', 'stuck']);
  holder.exec('ROLLBACK');
  holder.close();
  assert.deepEqual(await writer.write(path, 'addNote', { text: 'd' }), { id: 1 });
});

test('STORE-3: a lock that is given free within the tries is waited for, and the order holds', async (t) => {
  const { writer, path } = setUp(t);
  const holder = open(path);
  holder.exec('BEGIN IMMEDIATE');
  const first = writer.write(path, 'addNote', { text: 'a' });
  // The other file's answer comes after the first try for the locked one, so the lock was met.
  await writer.write(`${path}-2`, 'addNote', { text: 'x' });
  const second = writer.write(path, 'addNote', { text: 'b' });
  holder.exec('COMMIT');
  assert.deepEqual(await Promise.all([first, second]), [{ id: 1 }, { id: 2 }]);
  assert.ok(writer.stats().busyRetries >= 1);
  holder.close();
});

test('STORE-3: a write beyond the bound of the queue rejects at once as overloaded, and the queue recovers', async (t) => {
  const { writer, path } = setUp(t, { maxQueued: 4 });
  const accepted = ['a', 'b', 'c', 'd'].map((text) => writer.write(path, 'addNote', { text }));
  await assert.rejects(writer.write(path, 'addNote', { text: 'e' }), storageError('overloaded', true));
  assert.equal(writer.stats().outstanding, 4);
  await Promise.all(accepted);
  await writer.write(path, 'addNote', { text: 'f' });
  assert.deepEqual(texts(path), ['a', 'b', 'c', 'd', 'f']);
  assert.equal(writer.stats().overloaded, 1);
});

test('STORE-4: a reader opened before sees a write as soon as its promise resolves, and cannot write', async (t) => {
  const { writer, path } = setUp(t);
  await writer.write(path, 'addNote', { text: '0' });
  const reader = openReader(path);
  for (let n = 1; n <= 50; n++) {
    await writer.write(path, 'addNote', { text: String(n) });
    assert.deepEqual(reader.statement('SELECT max(id) AS id, count(*) AS notes FROM notes').get(), { id: n + 1, notes: n + 1 });
  }
  assert.throws(() => reader.exec('DELETE FROM notes'), /readonly/);
  assert.equal(reader.statement('SELECT 1'), reader.statement('SELECT 1'));
  reader.close();
});

test('STORE-4: opening a file that does not exist fails and creates nothing', (t) => {
  const path = join(temporaryDir(t), 'missing.sqlite');
  assert.throws(() => openReader(path), { code: 'SQLITE_CANTOPEN' });
  assert.equal(existsSync(path), false);
});

test('STORE-6: more files than the writer keeps open all stay correct', async (t) => {
  const { writer, path } = setUp(t);
  const paths = Array.from({ length: 70 }, (_, n) => `${path}-${n}`);
  await Promise.all(paths.map((file) => writer.write(file, 'addNote', { text: 'a' })));
  await Promise.all(paths.map((file) => writer.write(file, 'addNote', { text: 'b' })));
  for (const file of paths) assert.deepEqual(texts(file), ['a', 'b']);
});

test('STORE-5: what is outstanding commits, the WAL is emptied, later writes reject', async (t) => {
  const { writer, path } = setUp(t);
  const pending = writer.write(path, 'addNote', { text: 'a' });
  const closed = writer.close();
  await assert.rejects(writer.write(path, 'addNote', { text: 'b' }), storageError('closed', false));
  assert.deepEqual(await pending, { id: 1 });
  await closed;
  assert.equal(existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : 0, 0);
  assert.deepEqual(texts(path), ['a']);
});

test('STORE-5: a close that reaches the thread together with a file to forget ends it', { timeout: 120_000 }, async () => {
  const writer = new Writer<typeof transactions>({ registryUrl });
  // The thread is still starting, so it takes both from its port at once.
  writer.forget('/nowhere.sqlite');
  await writer.close();
});

test('STORE-5: a dead thread rejects what is outstanding and all later writes, and says so once', async (t) => {
  const fatal: StorageError[] = [];
  const { writer, path } = setUp(t, { onFatal: (error) => fatal.push(error) });
  await writer.write(path, 'addNote', { text: 'a' });
  const results = await Promise.allSettled([writer.write(path, 'addNote', { text: 'b' }), writer.write(path, 'crash', null)]);
  assert.ok(results.every((result) => result.status === 'rejected' && storageError('writer_dead', false)(result.reason)));
  await assert.rejects(writer.write(path, 'addNote', { text: 'c' }), storageError('writer_dead', false));
  assert.equal(fatal.length, 1);
  assert.deepEqual(texts(path), ['a']);
  await writer.close();
});

test('STORE-5: a registry that cannot be imported is a dead thread with its reason', async (t) => {
  const { writer, path } = setUp(t, { registryUrl: new URL('./no-such-registry.js', import.meta.url) });
  await assert.rejects(writer.write(path, 'addNote', { text: 'a' }), /writer thread has died: Cannot find module/);
});

test('STORE-2: an unknown name fails in the thread as it does in the compiler', async (t) => {
  const { writer, path } = setUp(t);
  // @ts-expect-error: the registry has no such transaction
  await assert.rejects(writer.write(path, 'toString', null), /no transaction is named toString/);
  // @ts-expect-error: the input must be a note
  await assert.rejects(writer.write(path, 'addNote', { words: 1 }), StorageError);
});

test('STORE-1: openWriter sees the rows of a file whose WAL was left behind', (t) => {
  const path = join(temporaryDir(t), 'a.sqlite');
  const left = open(path);
  left.exec("INSERT INTO notes (text) VALUES ('in the WAL')");
  const second = openWriter(path);
  assert.deepEqual(second.statement('SELECT text FROM notes').all(), [{ text: 'in the WAL' }]);
  second.close();
  left.close();
});

test('STORE-23: with little room the log of a replicated file is cut once its replicator has moved it into the file, and no earlier', async (t) => {
  const { writer, path } = setUp(t, { replicated: true });
  const log = () => statSync(`${path}-wal`).size;
  for (let n = 0; n < 8; n += 1) await writer.write(path, 'addNote', { text: `${n}${'x'.repeat(500_000)}` });
  writer.makeRoom();
  await writer.write(path, 'addNote', { text: 'before' });
  assert.ok(log() > 4_000_000, 'its replicator has not read it');
  const replicator = openWriter(path);
  replicator.statement('PRAGMA wal_checkpoint(PASSIVE)').get();
  replicator.close();
  await writer.write(path, 'addNote', { text: 'after' });
  assert.ok(log() <= 1024 * 1024, `${log()} bytes`);
  assert.deepEqual(texts(path).slice(8), ['before', 'after']);
});
