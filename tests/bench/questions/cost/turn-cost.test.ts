/** What a turn costs besides time: counts of small programs whose statements, commits and writes are known. */
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { describe, type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { countTokens, firstTurnTokens } from '../../../../bench/meters/request-tokens.ts';
import { StatementCounter } from '../../../../bench/meters/statement-counts.ts';
import { storedBytes } from '../../../../bench/meters/stored.ts';
import { writtenBetween, writtenBy } from '../../../../bench/meters/written.ts';
import { turnCostTable } from '../../../../bench/questions/cost/turn-cost-table.ts';
import { relay } from '../../../../bench/servers/candidate.ts';
import { projectRoot } from '../../../support/project-root.ts';
import { temporaryDir } from '../../../support/temporary-dir.ts';

/**
 * Nine statements in the main thread: a table, a transaction of two rows, a row of its own, a read by get, one by iterate; then five in a
 * worker: a transaction of one row in a savepoint, which is rolled back. Three commits: the table, the transaction, the lone row.
 */
const PROGRAM = `
  const { isMainThread, Worker, workerData } = require('node:worker_threads');
  const file = workerData ?? process.argv[2];
  const db = new (require('better-sqlite3'))(file);
  const run = (...all) => all.forEach((sql) => db.prepare(sql).run());
  if (isMainThread) {
    run('CREATE TABLE t (x)', 'BEGIN', 'INSERT INTO t VALUES (1)', 'INSERT INTO t VALUES (2)', 'COMMIT', 'INSERT INTO t VALUES (3)');
    db.prepare('SELECT x FROM t').get();
    db.prepare('SELECT x FROM t').all();
    for (const row of db.prepare('SELECT x FROM t').iterate()) void row;
    new Worker(__filename, { workerData: file }).on('exit', () => console.log('done'));
    setInterval(() => {}, 1000);
  } else {
    run('BEGIN IMMEDIATE', 'SAVEPOINT one', 'INSERT INTO t VALUES (4)', 'RELEASE one');
    db.exec('ROLLBACK');
  }`;

/** Stores nothing. */
const IDLE = `console.log('ready'); setInterval(() => {}, 1000);`;

/** Writes three times 1,000 bytes on the main thread and twice 500 in a worker, once it is told to. */
const WRITING = `
  const fs = require('node:fs');
  const { isMainThread, Worker, workerData } = require('node:worker_threads');
  if (isMainThread) {
    const fd = fs.openSync(process.argv[2], 'w');
    process.stdin.once('data', () => {
      for (let at = 0; at < 3; at++) fs.writeSync(fd, 'x'.repeat(1000));
      new Worker(__filename, { workerData: fd }).on('exit', () => console.log('done'));
    });
    console.log('ready');
  } else {
    for (let at = 0; at < 2; at++) fs.writeSync(workerData, 'x'.repeat(500));
  }`;

/** Starts a program, told a file of its own, and waits until it says something. It finds its packages as another build does. */
async function started(t: TestContext, program: string, env: Readonly<Record<string, string>> = {}) {
  const dir = temporaryDir(t);
  symlinkSync(join(projectRoot(), 'node_modules'), join(dir, 'node_modules'));
  writeFileSync(join(dir, 'program.cjs'), program);
  const args = [join(dir, 'program.cjs'), join(dir, 'file')];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await said(child);
  return child;
}

/** Waits until a program says something. @throws when it ends */
async function said(child: ChildProcessByStdio<Writable, Readable, null>): Promise<void> {
  const [what] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  if (!Buffer.isBuffer(what)) throw new Error(`the program ended: ${String(what)}`);
}

describe('BENCH-8: counts', () => {
  test('statements and commits of all threads are counted', async (t) => {
    const counter = await StatementCounter.create();
    await started(t, PROGRAM, counter.env);
    assert.deepEqual(await counter.counts(), { statements: 14, onLoop: 9, control: 6, commits: 3 });
  });

  test('a program whose statements are not seen is an error and no program without statements', async (t) => {
    const counter = await StatementCounter.create();
    await started(t, IDLE, counter.env);
    await assert.rejects(counter.counts(), /^Error: the statements of a server are not seen/);
  });

  test('bytes and write calls are told by thread', async (t) => {
    const child = await started(t, WRITING);
    const before = writtenBy(child.pid ?? 0);
    child.stdin.write('go');
    await said(child);
    const { loop, others } = writtenBetween(before, writtenBy(child.pid ?? 0));
    // Threads that wake one another write eight bytes for it.
    assert.ok(loop.bytes >= 3_000 && loop.bytes < 3_200 && loop.calls >= 3, JSON.stringify(loop));
    assert.ok(others.bytes >= 1_000 && others.bytes < 1_200 && others.calls >= 2, JSON.stringify(others));
  });

  test('what is kept on disk is what the files have after a checkpoint', (t) => {
    const dir = temporaryDir(t);
    const file = join(dir, 'a.sqlite');
    const database = new Database(file);
    t.after(() => database.close());
    database.pragma('journal_mode = WAL');
    database.exec('CREATE TABLE t (x)');
    for (let at = 0; at < 100; at++) database.prepare('INSERT INTO t VALUES (?)').run('x'.repeat(1_000));
    writeFileSync(join(dir, 'b'), 'four');
    const bytes = storedBytes(dir);
    assert.ok(bytes > 100_000);
    database.pragma('wal_checkpoint(TRUNCATE)');
    assert.equal(bytes, statSync(file).size + 4);
    assert.equal(storedBytes(dir), bytes);
  });

  test('tokens are those of the request that was sent, messages and tool definitions apart', async (t) => {
    const tools = [{ type: 'function', function: { name: 'show', parameters: { type: 'object' } } }];
    const hello = [{ role: 'user', content: 'Hello' }];
    const { messages, tools: ofTools, tool_definitions } = await countTokens({ messages: hello, tools });
    // One of the text, the rest frames it and opens the answer.
    assert.equal(messages, 8);
    assert.equal(tool_definitions, 1);
    assert.ok(ofTools > 10 && ofTools < 30, `${ofTools}`);
    const ofRelay = await firstTurnTokens(relay, { streams: 1, outDir: temporaryDir(t) });
    assert.deepEqual({ ...ofRelay, bytes: 0 }, { bytes: 0, messages: 8, tools: 0, tool_definitions: 0 });
  });

  test('the table has a column for each server, and what a turn costs in medians by the turn', () => {
    const written = { loop: { bytes: 100, calls: 20, disk_bytes: 0 }, others: { bytes: 5_000, calls: 50, disk_bytes: 4_000 } };
    const round = { turns: 10, broken: 1, cpu_ns: 2e6, sent_bytes: 8_000, written, stored_bytes: undefined };
    const counts = { statements: 200, onLoop: 50, control: 40, commits: 2, turns: 10, broken: 0, syncs: 3 };
    const { columns, rows } = turnCostTable([
      { server: 'relay', rounds: [round, { ...round, cpu_ns: 4e6 }] },
      { server: 'service', rounds: [{ ...round, stored_bytes: 30_000 }], counts: { busy: counts, alone: { ...counts, commits: 20 } } },
    ]);
    assert.deepEqual(columns, ['a turn costs', 'relay', 'service']);
    const rowOf = (what: string) => rows.find(([first]) => first === what)?.slice(1);
    assert.deepEqual(rowOf('CPU µs'), ['300', '200']);
    assert.deepEqual(rowOf('bytes to the disk'), ['400', '400']);
    assert.deepEqual(rowOf('bytes kept on disk'), ['', '3,000']);
    assert.deepEqual(rowOf('commits, 64 at a time / one client'), ['', '0.20 / 2.00']);
    assert.deepEqual(rowOf('broken'), ['2', '1']);
  });
});
