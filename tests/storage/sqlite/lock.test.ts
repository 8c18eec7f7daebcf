import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { lockDataDir } from '../../../storage/sqlite/lock.ts';
import { atEnd, temporaryDir } from '../../support/temporary-dir.ts';

/** Starts a process that tries for the lock; returns it and the line it printed: `held`, or the refusal. */
async function contender(t: TestContext, dir: string, mode: 'alone' | 'shared'): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./lock-worker.js', import.meta.url)), dir, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atEnd(t, () => child.kill('SIGKILL'));
  const [said] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, said };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('CLUSTER-1: without Redis a second process refuses, says why and names the first', async (t) => {
  const dir = temporaryDir(t);
  const lock = lockDataDir(dir);
  const second = await contender(t, dir, 'alone');
  assert.ok(second.said.includes(dir) && second.said.includes(`process ${process.pid}.`) && second.said.includes('DATA_DIR'), second.said);
  lock.release();
  lock.release();
  assert.equal((await contender(t, dir, 'alone')).said, 'held');
});

test('CLUSTER-1: the lock of a process killed with -9 is free', async (t) => {
  const dir = temporaryDir(t);
  const first = await contender(t, dir, 'alone');
  assert.equal(first.said, 'held');
  assert.throws(() => lockDataDir(dir), new RegExp(`process ${first.child.pid}\\.`));
  await kill(first.child);
  lockDataDir(dir).release();
});

test('CLUSTER-1: the same process cannot take the lock twice', (t) => {
  const dir = temporaryDir(t);
  const lock = lockDataDir(dir);
  assert.throws(() => lockDataDir(dir), /is in use by process/);
  // The failed try must not have dropped the lock that is held.
  assert.throws(() => lockDataDir(dir), /is in use by process/);
  lock.release();
});

test('CLUSTER-1: nodes of a cell share the directory, but not with a process that must be alone', async (t) => {
  const dir = temporaryDir(t);
  const first = await contender(t, dir, 'shared');
  const second = await contender(t, dir, 'shared');
  assert.deepEqual([first.said, second.said], ['held', 'held']);
  assert.throws(() => lockDataDir(dir, 'alone'), /Only one process may use a data directory/);
  await kill(first.child);
  assert.throws(() => lockDataDir(dir, 'alone'), /Only one process may use a data directory/);
  await kill(second.child);
  const lock = lockDataDir(dir, 'alone');
  assert.match((await contender(t, dir, 'shared')).said, /runs without REDIS_URL and so must be alone/);
  lock.release();
});

test('CLUSTER-1: a pid file that holds nonsense does not hide the refusal', (t) => {
  const dir = temporaryDir(t);
  const lock = lockDataDir(dir);
  writeFileSync(join(dir, 'lock.pid'), 'nonsense');
  assert.throws(() => lockDataDir(dir), /is in use by another process\./);
  lock.release();
});
