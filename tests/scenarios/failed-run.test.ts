/** What stays of a test that fails: the traces of its machines, which replay to the same steps. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MACHINES } from '../../machines/index.ts';
import { replay } from '../../machines/replay.ts';
import { readTraceFile } from '../../machines/trace-file.ts';

const FAILING = fileURLToPath(new URL('../support/failing-run.js', import.meta.url));

test('TRACE-16: a test that fails names files with the traces of its run, and each replays to the same steps', (t) => {
  // A runner inside a runner would report to the outer one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout, status } = spawnSync(process.execPath, ['--test', FAILING], { env, encoding: 'utf8', timeout: 60_000 });
  assert.equal(status, 1, stdout);
  const files = stdout.match(/\S*failed-run-\S+\.json/g) ?? [];
  const [first] = files;
  assert.ok(first, stdout);
  t.after(() => rmSync(dirname(first), { recursive: true, force: true }));
  const machines = files.map((file) => {
    const { machine: name, input, steps } = readTraceFile(readFileSync(file, 'utf8'));
    const machine = MACHINES.find((listed) => listed.name === name)?.machine;
    assert.ok(machine, name);
    assert.deepEqual(replay(machine, input === undefined ? { steps } : { input, steps }), { same: steps.length, difference: null });
    return name;
  });
  assert.deepEqual(machines.sort(), ['app-lifecycle', 'chat-turn']);
});
