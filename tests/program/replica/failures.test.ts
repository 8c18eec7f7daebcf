/** What may befall a Litestream and its disk: the service goes on, says so and catches up, and what had been replicated is there. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { isAlive, startReplicated } from '../../support/replica.ts';
import { ALL, CATCH_UP_MS, COMMON, caughtUp, LAG_MAX_S, restored, startBehindFront } from './failing.ts';

function isMounted(folder: string, size: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

// They wait most of the time.
describe('REPLICA-2, REPLICA-4: a replica whose service goes on', { concurrency: 3 }, () => {
  test('a Litestream that is stopped is told and started anew', async (t) => {
    const { service, storage, env } = await startBehindFront(t);
    const stopped = await service.litestreamPid();
    process.kill(stopped, 'SIGSTOP');
    const meanwhile = await service.addOrganisation('Meanwhile');
    await eventually(async () => (await service.behind()) !== undefined, CATCH_UP_MS);
    await caughtUp(service, storage.folder, meanwhile);
    assert.equal(isAlive(stopped), false);
    assert.equal(await service.stop(), 0);
    assert.deepEqual(await restored(t, storage.url, env), ALL);
  });

  test('after a start the destination is asked about databases to which nothing is written', async (t) => {
    const { service, front, storage, env, first } = await startBehindFront(t);
    assert.equal(await service.stop(), 0);
    front.mood = 'denies';
    const refused = await startReplicated(t, storage.url, { dataDir: service.dataDir, env });
    await eventually(async () => (await refused.behind()) !== undefined);
    await refused.stop('SIGKILL');
    front.mood = 'passes';
    const next = await startReplicated(t, storage.url, { dataDir: service.dataDir, env });
    await caughtUp(next, storage.folder, first);
  });

  test('a folder on a disk that is full is told, and the replica catches up when there is room', async (t) => {
    const target = mkdtempSync(join(tmpdir(), 'assistant-test-disk-'));
    if (!isMounted(target, '24m')) return t.skip('this machine lets nobody mount a small disk');
    t.after(() => {
      execFileSync('umount', ['--lazy', target]);
      rmSync(target, { recursive: true });
    });
    const service = await startReplicated(t, `file://${target}`, { env: { ...COMMON, REPLICA_LAG_MAX_S: LAG_MAX_S } });
    await caughtUp(service, target, await service.addOrganisation('First'));
    const filler = join(target, 'filler');
    const bytes = Buffer.alloc(4_096);
    assert.throws(() => {
      for (;;) writeFileSync(filler, bytes, { flag: 'a' });
    }, /ENOSPC/);
    const meanwhile = await service.addOrganisation('Meanwhile');
    await eventually(
      async () => /no space left/.test((await service.behind()) ?? ''),
      CATCH_UP_MS,
      () => service.output().stderr.slice(-2_000),
    );
    rmSync(filler);
    await caughtUp(service, target, meanwhile);
    assert.equal(await service.stop(), 0);
    assert.deepEqual(await restored(t, `file://${target}`, COMMON), ALL);
  });
});
