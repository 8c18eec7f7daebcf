/** A worker's process that does not respond, on a clock that is moved by hand. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import pino from 'pino';
import type { Restarts } from '../../../program/workers/restarts.ts';
import { Worker } from '../../../program/workers/worker.ts';
import { atEnd, temporaryDir } from '../../support/temporary-dir.ts';

const STUCK_MS = 40_000;

/** Says once that it lives, and then nothing until its channel closes. */
const ENTRY = `
  process.send({ kind: 'alive' });
  process.send({ kind: 'listening', port: 1, publicUrl: '' });
  process.on('disconnect', () => process.exit(0));
`;

test('RUN-21: time in which the supervisor stood still itself does not count against a worker', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const entry = join(temporaryDir(t), 'entry.cjs');
  writeFileSync(entry, ENTRY);
  const said: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void said.push(JSON.parse(line).msg) });
  const restarts = { place: () => ({ starting() {}, serving() {}, away() {}, ended: () => 0 }) } as unknown as Restarts;
  const worker = new Worker({
    name: 'n-1',
    entry,
    env: () => ({}),
    log,
    times: { stopMs: 60_000, stuckMs: STUCK_MS },
    restarts,
    gather: async () => [],
  });
  atEnd(t, () => worker.stop('SIGKILL'));
  assert.equal((await worker.start()).outcome, 'listening');

  // One look comes late, by whichever clock.
  const wokenMs = performance.now() + 2 * STUCK_MS;
  t.mock.method(performance, 'now', () => wokenMs);
  t.mock.method(Date, 'now', () => wokenMs);
  t.mock.timers.tick(STUCK_MS / 10);
  assert.deepEqual(said, []);
  t.mock.timers.tick(STUCK_MS);
  assert.deepEqual(said, ['a worker does not respond: killing it']);
});
