/** What a server used, its children included. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { cpuNs, peakRssBytes, rssBytes } from '../../../bench/meters/cpu.ts';

/** A process that says something when its child has worked for a while, and then waits. */
const CHILD = `while (process.cpuUsage().user < 200_000); console.log('done'); setInterval(() => {}, 1000);`;
const PARENT = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(CHILD)}], { stdio: 'inherit' }); setInterval(() => {}, 1000);`;

async function ended(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

test('BENCH-4: CPU time and memory of a child count for its parent', async (t) => {
  const parent = spawn(process.execPath, ['-e', PARENT], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const { pid } = parent;
  assert.ok(pid !== undefined);
  t.after(() => {
    process.kill(-pid, 'SIGKILL');
  });
  await once(parent.stdout, 'data');
  assert.ok(cpuNs(pid) > 150e6, 'the child alone worked for longer');
  // Two Node processes take more than one can.
  assert.ok(rssBytes(pid) > 60e6);
  assert.ok(peakRssBytes(pid) >= rssBytes(pid) * 0.9);
});

test('BENCH-4: a process that is gone is no process without work', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const { pid } = child;
  assert.ok(pid !== undefined);
  await ended(child);
  assert.throws(() => cpuNs(pid));
  assert.throws(() => rssBytes(pid));
});
