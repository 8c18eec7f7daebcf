/** The stall watch: it counts and names stretches of the event loop, and tells own work from a busy machine. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { note, passing, section, takeSections } from '../../watch/sections.ts';
import { watchStalls } from '../../watch/stall-watch.ts';
import { threadClock } from '../../watch/thread-time.ts';

interface Line {
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

/** A watch whose clocks the test moves; `stretch` passes time of each kind and looks. */
function watched(t: TestContext) {
  const lines: Line[] = [];
  const clock = { atMs: 0, ranMs: 0, waitedMs: 0 };
  const watch = watchStalls({
    stallMs: 200,
    log: { warn: (fields, message) => void lines.push({ fields: fields as Line['fields'], message }) },
    nowMs: () => clock.atMs,
    threadTime: () => ({ ranMs: clock.ranMs, waitedMs: clock.waitedMs }),
  });
  t.after(() => watch.close());
  takeSections();
  const stretch = (wallMs: number, ranMs: number, waitedMs = 0) => {
    clock.atMs += wallMs;
    clock.ranMs += ranMs;
    clock.waitedMs += waitedMs;
    watch.look();
  };
  return { watch, lines, stretch };
}

test('RUN-13: a stretch over 200 ms of own work is logged with what ran, and counted by both clocks', (t) => {
  const { watch, lines, stretch } = watched(t);
  note('POST /v1/chat', 'req_1', 250);
  note('SELECT 1\n   FROM somewhere', '', 240);
  passing('writes were answered');
  stretch(300, 280);
  assert.deepEqual(lines, [
    {
      message: 'the event loop was blocked by its own work',
      fields: {
        late_ms: 280,
        cpu_ms: 280,
        waited_for_cpu_ms: 0,
        ran: [
          { what: 'POST /v1/chat', id: 'req_1', ms: 250 },
          { what: 'SELECT 1 FROM somewhere', id: '', ms: 240 },
        ],
        last: { what: 'writes were answered', id: '' },
      },
    },
  ]);
  const { stalls, lastStall, lateMaxS, longestCpuS } = watch.stats();
  assert.deepEqual(stalls, { wall: 1, cpu: 1 });
  assert.deepEqual(lastStall, { cpuS: 0.28, what: 'POST /v1/chat' });
  assert.ok(Math.abs(lateMaxS - 0.28) < 0.001, String(lateMaxS));
  assert.equal(longestCpuS, 0.28);
});

test('RUN-13: a stretch in which others had the processor is told apart, and is no stall by processor time', (t) => {
  const { watch, lines, stretch } = watched(t);
  stretch(2_000, 30, 1_900);
  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.message, 'the event loop was delayed by the machine');
  assert.equal(lines[0]?.fields.waited_for_cpu_ms, 1_900);
  assert.deepEqual(watch.stats().stalls, { wall: 1, cpu: 0 });
  assert.equal(watch.stats().lastStall, null);
});

test('RUN-13: what is short is not logged, and p99 and the longest are of the last one to two minutes', (t) => {
  const { watch, lines, stretch } = watched(t);
  stretch(160, 150);
  for (let look = 0; look < 300; look++) stretch(12, 1);
  assert.equal(lines.length, 0);
  assert.ok(watch.stats().lateP99S < 0.01);
  assert.ok(watch.stats().lateMaxS >= 0.139);
  for (let look = 0; look < 3; look++) stretch(60_000, 1, 60_000);
  for (let look = 0; look < 13_000; look++) stretch(10, 1);
  assert.ok(watch.stats().lateMaxS < 0.01, 'two windows later it is forgotten');
  assert.ok(watch.stats().longestCpuS < 0.01);
});

test('RUN-13: a section hands on what its work returns and throws, and only a long one is noted', () => {
  takeSections();
  assert.equal(
    section('short', 'a', () => 7),
    7,
  );
  assert.throws(
    () =>
      section('broken', 'b', () => {
        throw new Error('it broke');
      }),
    /it broke/,
  );
  assert.deepEqual(takeSections(), { ran: [], last: { what: 'broken', id: 'b' } });
  section('long', 'c', () => {
    for (const endMs = performance.now() + 15; performance.now() < endMs; );
  });
  assert.deepEqual(
    takeSections().ran.map(({ what, id }) => [what, id]),
    [['long', 'c']],
  );
  for (let at = 0; at < 100; at++) note('many', String(at), 20);
  assert.equal(takeSections().ran.length, 16, 'no more are kept than a line shows');
});

test('RUN-13: the clock of a thread counts what the thread ran, and goes on while it works', () => {
  const clock = threadClock();
  const before = clock().ranMs;
  const startedMs = performance.now();
  // However little a busy machine gives it: in the end the clock has come on, and never by more than has passed.
  while (clock().ranMs - before < 20 && performance.now() - startedMs < 30_000);
  const ranMs = clock().ranMs - before;
  assert.ok(ranMs >= 20);
  assert.ok(ranMs <= performance.now() - startedMs + 10);
});
