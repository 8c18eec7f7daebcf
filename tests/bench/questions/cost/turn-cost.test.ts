/** What a turn costs besides time: counts of small programs whose writes are known. */
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { describe, type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { countTokens, firstTurnTokens } from '../../../../bench/meters/request-tokens.ts';
import { storedBytes, writing } from '../../../../bench/meters/written.ts';
import { type Found, turnCostTable } from '../../../../bench/questions/cost/turn-cost.ts';
import { relay } from '../../../../bench/servers/candidate.ts';
import { atEnd, temporaryDir } from '../../../support/temporary-dir.ts';

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

/** Starts a program, told a file of its own, and waits until it says something. */
async function started(t: TestContext, program: string) {
  const dir = temporaryDir(t);
  writeFileSync(join(dir, 'program.cjs'), program);
  const args = [join(dir, 'program.cjs'), join(dir, 'file')];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  atEnd(t, () => child.kill('SIGKILL'));
  await said(child);
  return child;
}

/** Waits until a program says something. @throws when it ends */
async function said(child: ChildProcessByStdio<Writable, Readable, null>): Promise<void> {
  const [what] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  if (!Buffer.isBuffer(what)) throw new Error(`the program ended: ${String(what)}`);
}

describe('BENCH-8: counts', () => {
  test('bytes and write calls are told by thread', async (t) => {
    const child = await started(t, WRITING);
    const running = { pid: child.pid ?? 0, check: () => {}, stop: async () => {} };
    const wrote = writing({ process: running });
    child.stdin.write('go');
    await said(child);
    const { loop, others } = wrote();
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
    const wrote = { loop: { bytes: 100, calls: 20, disk_bytes: 0 }, others: { bytes: 5_000, calls: 50, disk_bytes: 4_000 } };
    const round = { ok: 10, broken: 1, cpu_ns: 2e6, bytes: 8_000, wrote } as Found['busy'][number];
    const stored = { ...round, wrote: { ...wrote, stored_bytes: 30_000, syncs: 2 } };
    const { columns, rows } = turnCostTable([
      { server: 'relay', busy: [round, { ...round, cpu_ns: 4e6 }], alone: [{ ...round, broken: 0 }] },
      { server: 'service', busy: [stored], alone: [{ ...stored, broken: 0, wrote: { ...wrote, syncs: 20 } }] },
    ]);
    assert.deepEqual(columns, ['a turn costs', 'relay', 'service']);
    const rowOf = (what: string) => rows.find(([first]) => first === what)?.slice(1);
    assert.deepEqual(rowOf('CPU µs'), ['300', '200']);
    assert.deepEqual(rowOf('bytes to the disk'), ['400', '400']);
    assert.deepEqual(rowOf('bytes kept on disk'), ['', '3,000']);
    assert.deepEqual(rowOf('syncs, 64 at a time / one client'), ['', '0.20 / 2.00']);
    assert.deepEqual(rowOf('broken'), ['2', '1']);
  });
});
