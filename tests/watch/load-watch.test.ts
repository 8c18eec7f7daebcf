/** When a process is overloaded, on a clock and with measures of the test's own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LATE_MAX_MS, OPENING_MAX, WRITE_AGE_MAX_MS, WRITES_WAITING_MAX, watchLoad } from '../../watch/load-watch.ts';

function watched() {
  const now = { ms: 0, writeAgeMs: 0, writes: WRITES_WAITING_MAX };
  const lines: string[] = [];
  const log = {
    warn: (_fields: object, line: string) => void lines.push(line),
    info: (_fields: object, line: string) => void lines.push(line),
  };
  const watch = watchLoad({ nowMs: () => now.ms, writes: () => ({ outstanding: now.writes, oldestMs: now.writeAgeMs }), log });
  /** The loop looks every 10 ms and is late each time, for as long as that. */
  const run = (forMs: number, lateMs: number) => {
    for (const endMs = now.ms + forMs; now.ms < endMs; ) {
      now.ms += 10 + lateMs;
      watch.looked({ lateMs, hadMs: 10 + lateMs });
    }
  };
  return { now, lines, watch, run };
}

test('RUN-15: a process whose loop is late at most moments of some seconds is overloaded; a single long stretch is not', () => {
  const { watch, run } = watched();
  run(4_000, 5);
  assert.equal(watch.overloaded, false);
  run(10, 1_000);
  run(500, 1);
  assert.equal(watch.overloaded, false, 'one garbage collection');
  run(2_000, LATE_MAX_MS + 1);
  assert.equal(watch.overloaded, true);
});

test('RUN-15: overload is over after a second in which everything waits at most half as long as the bound, and does not flap around it', () => {
  const { watch, run, lines } = watched();
  run(2_000, LATE_MAX_MS + 1);
  assert.equal(watch.overloaded, true);
  // Just below the bound, and back, for a long time.
  for (let round = 0; round < 20; round++) {
    run(500, LATE_MAX_MS - 5);
    run(500, LATE_MAX_MS + 5);
  }
  assert.deepEqual([watch.overloaded, watch.stats().overloads], [true, 1]);
  run(900, 0);
  assert.equal(watch.overloaded, true, 'not yet');
  // Nobody asks meanwhile.
  run(1_500, 0);
  assert.equal(watch.overloaded, false);
  assert.deepEqual([watch.stats().overloads, lines.length], [1, 2]);
});

test('RUN-15: writes that wait long for their commit overload a process whose loop is idle', () => {
  const { now, watch, run } = watched();
  run(1_000, 0);
  now.writeAgeMs = WRITE_AGE_MAX_MS;
  run(100, 0);
  assert.equal(watch.overloaded, true);
  now.writes = 1;
  run(1_200, 0);
  assert.equal(watch.overloaded, false, 'one long write, or a slow disk');
  now.writes = WRITES_WAITING_MAX;
  run(100, 0);
  assert.equal(watch.overloaded, true);
  now.writeAgeMs = WRITE_AGE_MAX_MS / 2;
  run(1_200, 0);
  assert.equal(watch.overloaded, false);
});

test('RUN-15: a burst of turns is bounded within one loop tick; those that wait for something else soon do not count', () => {
  const { now, watch, run } = watched();
  run(1_000, 0);
  const begun: (() => void)[] = [];
  let refused = 0;
  for (let turn = 0; turn < 2 * OPENING_MAX; turn++) {
    if (watch.overloaded) refused += 1;
    else begun.push(watch.opening());
  }
  assert.deepEqual([begun.length, refused], [OPENING_MAX, OPENING_MAX]);
  for (const done of begun) done();
  run(1_200, 0);
  assert.equal(watch.overloaded, false);

  // Documents that are read for minutes, turns behind other turns.
  for (let turn = 0; turn < OPENING_MAX - 1; turn++) watch.opening();
  now.ms += 1_000;
  run(100, 0);
  assert.deepEqual([watch.overloaded, watch.stats().turnsOpening], [false, 0]);
});
