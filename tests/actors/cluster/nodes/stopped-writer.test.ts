/** A process that was stopped while it kept a file locked is killed, because nobody can do anything behind its lock. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pino from 'pino';
import { locksOthersOut, watchStoppedWriters } from '../../../../actors/cluster/nodes/stopped-writer.ts';
import { openWriter } from '../../../../storage/sqlite/database.ts';
import { temporaryDir } from '../../../support/temporary-dir.ts';

const WRITER = `
  const { openWriter } = await import(process.argv[1]);
  const db = openWriter(process.argv[2]);
  db.exec('CREATE TABLE IF NOT EXISTS t (x)');
  if (process.argv[3] === 'hold') db.exec('BEGIN IMMEDIATE; INSERT INTO t VALUES (1)');
  process.stdout.write('ready');
  // What nobody refers to any more is collected, and closes its file.
  setInterval(() => db, 1_000);
`;
const DATABASE = fileURLToPath(new URL('../../../../storage/sqlite/database.js', import.meta.url));

async function stoppedProcess(t: TestContext, path: string, mode: 'hold' | 'idle') {
  const child = spawn(process.execPath, ['--input-type=module', '-e', WRITER, DATABASE, path, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  for (let said = ''; !said.includes('ready'); ) said += String((await once(child.stdout, 'data'))[0]);
  child.kill('SIGSTOP');
  return { pid: child.pid as number, exited };
}

test('CLUSTER-11: a stopped node that keeps a file locked is killed, and the others write again', {
  skip: process.platform !== 'linux' && '/proc/locks is of Linux',
}, async (t) => {
  const path = join(temporaryDir(t), 'file.sqlite');
  const { pid, exited } = await stoppedProcess(t, path, 'hold');
  let lose: (node: string, liveness: 'silent' | 'gone', pid: number) => void = () => {};
  const end = watchStoppedWriters(
    {
      onLost(listener) {
        lose = listener;
      },
      liveness: () => 'silent',
    },
    pino({ level: 'silent' }),
  );
  t.after(end);
  lose('n1~0123abcd', 'silent', pid);
  const [, signal] = await exited;
  assert.equal(signal, 'SIGKILL');
  const db = openWriter(path);
  db.exec('BEGIN IMMEDIATE; INSERT INTO t VALUES (2); COMMIT');
  assert.deepEqual(db.statement('SELECT x FROM t').all(), [{ x: 2 }], 'what it had not committed is gone');
  db.close();
});

test('CLUSTER-11: a stopped node that holds nothing is no holder, and neither is a reader', {
  skip: process.platform !== 'linux' && '/proc/locks is of Linux',
}, async (t) => {
  const { pid } = await stoppedProcess(t, join(temporaryDir(t), 'file.sqlite'), 'idle');
  assert.equal(locksOthersOut(readFileSync('/proc/locks', 'utf8'), pid), false);
  const line = (kind: string, from: number, to = from) => `7: POSIX  ADVISORY  ${kind} ${pid} fe:00:2410097 ${from} ${to}`;
  assert.equal(locksOthersOut([line('READ', 120), line('WRITE', 124)].join('\n'), pid), false);
  assert.equal(locksOthersOut([line('READ', 124), line('WRITE', 120)].join('\n'), pid), true);
  assert.equal(locksOthersOut(line('WRITE', 120), pid + 1), false);
  assert.equal(locksOthersOut(line('WRITE', 120, 121), pid), true, 'a checkpoint that lets nobody write');
  assert.equal(locksOthersOut(line('WRITE', 121), pid), false, 'a checkpoint beside which others write');
  assert.equal(locksOthersOut(line('WRITE', 120, 122), pid), true, 'a log is recovered');
  assert.equal(locksOthersOut(line('WRITE', 128), pid), true, 'a log is opened for the first time');
  const closing = line('WRITE', 1_073_741_826, 1_073_742_335);
  assert.equal(locksOthersOut(closing, pid), true, 'nobody can open a file that is being closed');
  assert.equal(locksOthersOut(closing.replace('WRITE', 'READ'), pid), false, 'every node has a share of the lock of the directory');
});
