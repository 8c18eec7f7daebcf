import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { atEnd, temporaryDir } from '../../support/temporary-dir.ts';

/** Acknowledged writes to see before the kill: enough for groups of every size and a checkpoint in some of the runs. */
const ACKS_BEFORE_KILL = [1, 700, 3_000];

async function acksUntilKilled(child: ChildProcess, killAfter: number): Promise<string[]> {
  assert.ok(child.stdout);
  const acks: string[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    // The kill may cut the last line short: it is an acknowledgement when its end has come.
    rest = lines.pop() ?? '';
    acks.push(...lines);
    if (acks.length >= killAfter) child.kill('SIGKILL');
  });
  // The pipe still holds acknowledgements that were printed before the signal: they count.
  await once(child.stdout, 'close');
  return acks;
}

for (const killAfter of ACKS_BEFORE_KILL) {
  test(`STORE-1: nothing acknowledged is lost on kill -9 after ${killAfter} acknowledgements`, async (t) => {
    const path = join(temporaryDir(t), 'a.sqlite');
    const child = spawn(process.execPath, [fileURLToPath(new URL('./kill-worker.js', import.meta.url)), path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    atEnd(t, () => child.kill('SIGKILL'));
    const acks = await acksUntilKilled(child, killAfter);
    assert.ok(acks.length >= killAfter);
    const connection = openWriter(path);
    assert.deepEqual(connection.statement('PRAGMA integrity_check').all(), [{ integrity_check: 'ok' }]);
    const kept = new Set(
      connection
        .statement('SELECT text FROM notes')
        .all()
        .map((row) => row.text),
    );
    assert.deepEqual(
      acks.filter((text) => !kept.has(text)),
      [],
    );
    connection.close();
  });
}
