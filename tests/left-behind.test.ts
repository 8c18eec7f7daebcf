import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { endLeftBehind, testFolder } from './support/left-behind.ts';
import { atEnd, MADE_FOR, temporaryDir } from './support/temporary-dir.ts';

const NO_GROUP = -1;

test('HOUSE-17: a process that tests left is found though it left their group, is named with its test, and ended', async (t) => {
  const folder = testFolder(temporaryDir(t));
  const dir = join(folder, 'of-a-test');
  appendFileSync(join(folder, MADE_FOR), `${dir}\tCHAT-1: a test\n`);
  assert.deepEqual(await endLeftBehind(NO_GROUP, folder), []);
  const program = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1_000)'], {
    env: { DATA_DIR: dir },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  atEnd(t, () => program.kill('SIGKILL'));
  await once(program.stdout, 'data');
  const ended = once(program, 'exit');
  const left = await endLeftBehind(NO_GROUP, folder, 0);
  assert.deepEqual(
    left.map((each) => [each.pid, each.test]),
    [[program.pid, 'CHAT-1: a test']],
  );
  assert.deepEqual(await ended, [null, 'SIGKILL']);
});

test('HOUSE-7: a test that fails with a message of a megabyte is reported, and so are those behind it', async (t) => {
  const file = join(temporaryDir(t), 'long.test.mjs');
  const long = "test('long', () => { throw new Error('x'.repeat(1_000_000)); });";
  writeFileSync(file, `import { test } from 'node:test';\n${long}\ntest('last', () => {});\n`);
  const seed = join(import.meta.dirname, 'support', 'seed.js');
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const flags = ['--import', seed, '--test', '--test-force-exit', '--test-reporter=tap'];
  const run = spawn(process.execPath, [...flags, file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  atEnd(t, () => run.kill('SIGKILL'));
  const report = await text(run.stdout);
  assert.deepEqual(report.match(/^(?:not )?ok .*$/gm), ['not ok 1 - long', 'ok 2 - last']);
});
