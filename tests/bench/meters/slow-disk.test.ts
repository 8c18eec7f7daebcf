/** A disk that takes longer for each sync. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { UsageError } from '../../../bench/arguments.ts';
import { SlowDisk, syncDelayUs } from '../../../bench/meters/slow-disk.ts';
import { projectRoot } from '../../support/project-root.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const COMMITS = 5;

/** Writes a row by so many commits, each of which is one sync, and prints how long all of them took in milliseconds. */
const COMMITTING = `
  const [file, commits] = process.argv.slice(1);
  const db = new (require('better-sqlite3'))(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE t (x)');
  const insert = db.prepare('INSERT INTO t VALUES (1)');
  const startedMs = performance.now();
  for (let at = 0; at < Number(commits); at++) insert.run();
  console.log(performance.now() - startedMs);
  process.kill(process.pid, 'SIGKILL');`;

/** Milliseconds that the commits of a program took on this disk. */
function committed(disk: SlowDisk, file: string, commits: number): number {
  const args = ['-e', COMMITTING, file, String(commits)];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: projectRoot(),
    env: { ...process.env, ...disk.env },
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
  return Number(stdout);
}

describe('BENCH-8: a slow disk', () => {
  test('every commit of SQLite waits for the delay, and is counted, also of a program that is killed', (t) => {
    const dir = temporaryDir(t);
    const none = new SlowDisk(dir, 'none', 0);
    committed(none, join(dir, 'none.sqlite'), 0);
    const disk = new SlowDisk(dir, 'slow', 20_000);
    const tookMs = committed(disk, join(dir, 'slow.sqlite'), COMMITS);
    assert.ok(tookMs >= COMMITS * 20, `${tookMs} ms`);
    assert.equal(disk.syncs().count - none.syncs().count, COMMITS);
    assert.ok(disk.syncs().meanUs >= 20_000);
    disk.check();
  });

  test('a delay that nothing met is an error that names the server', (t) => {
    const disk = new SlowDisk(temporaryDir(t), 'service', 1_000);
    assert.throws(() => disk.check(), /^Error: service should have met a disk .* none of its syncs went through the C library$/);
  });

  test('SYNC_DELAY_US is a whole number of microseconds up to a second', () => {
    const given = [undefined, '', '0', '1000', '1000000'];
    assert.deepEqual(
      given.map((SYNC_DELAY_US) => syncDelayUs({ SYNC_DELAY_US })),
      [0, 0, 0, 1_000, 1_000_000],
    );
    for (const SYNC_DELAY_US of ['-1', '1.5', '1ms', '1000001', ' ', '1e3']) {
      assert.throws(() => syncDelayUs({ SYNC_DELAY_US }), UsageError);
    }
  });

  test('the program refuses any other in one line, and exits with 2', () => {
    const program = join(import.meta.dirname, '../../../bench/run.js');
    const { status, stderr } = spawnSync(process.execPath, [program], { env: { ...process.env, SYNC_DELAY_US: '1ms' }, encoding: 'utf8' });
    assert.equal(status, 2);
    assert.equal(stderr, 'bench: SYNC_DELAY_US takes a whole number of microseconds from 0 to 1000000\n');
  });
});
