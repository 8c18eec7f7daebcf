import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
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
