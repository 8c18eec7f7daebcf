/** What the system refuses about one organisation's file is that organisation's trouble: no process ends, and no disk is blamed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryDir } from '../../support/temporary-dir.ts';

test('STORE-9: files that may not be read make their organisations unavailable, end no process, blame no disk, and are noticed when they are back', (t) => {
  const worker = fileURLToPath(new URL('./unreadable-worker.js', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [worker, temporaryDir(t)], { encoding: 'utf8', timeout: 60_000 });
  assert.equal(status, 0, stderr);
  const { detail, ...met } = JSON.parse(stdout);
  assert.match(detail, /org_\w+\.sqlite cannot be read: EACCES.*owner and the mode/);
  const done = ['done', 'done'];
  const alone = ['organisation_unavailable first'];
  assert.deepEqual(met, {
    folderAway: ['organisation_unavailable first', 'organisation_unavailable second'],
    folderBack: [],
    served: [done, done],
    replaced: alone,
    replacedUse: [['unavailable', 'unavailable'], done],
    replacedAfterUse: alone,
    restored: [],
    restoredUse: done,
    closed: [true, 0],
  });
});
