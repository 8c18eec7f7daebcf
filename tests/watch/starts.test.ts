/** The line in front of what is begun, on a clock and a loop of the test's own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPENING_AT_ONCE_MAX, START_WAIT_MAX_MS, STARTS_OF_ONE_MAX, STARTS_WAITING_MAX, Starts } from '../../watch/starts.ts';

function line() {
  const now = { ms: 0 };
  const turns: (() => void)[] = [];
  const lines: string[] = [];
  const log = { warn: (_: object, text: string) => void lines.push(text), info: (_: object, text: string) => void lines.push(text) };
  const starts = new Starts({ log, nowMs: () => now.ms, later: (work) => void turns.push(work), threadTime: () => ({ ranMs: now.ms }) });
  const begun: string[] = [];
  /** A start of 1 ms. */
  const enter = (organisation: string) =>
    starts.enter(organisation, () => {
      now.ms += 1;
      begun.push(organisation);
    });
  /** Loop ticks, which have nothing else to do. */
  const turn = (count = 1) => {
    for (let n = 0; n < count; n++) for (const work of turns.splice(0)) work();
  };
  return { now, starts, begun, enter, turn, lines };
}

test('RUN-17: while nothing waits a start begins at once; of a burst each loop tick does a slice', () => {
  const { starts, begun, enter, turn } = line();
  enter('one');
  assert.equal(begun.length, 1);
  turn(2);
  for (let n = 0; n < 50; n++) enter('one');
  assert.equal(begun.length, 11, 'ten milliseconds of them');
  turn();
  assert.equal(begun.length, 21, 'and again');
  enter('one');
  assert.equal(begun.length, 21, 'nobody goes before those that wait');
  turn(10);
  assert.deepEqual([begun.length, starts.stats().waiting, starts.stats().perSecond], [52, 0, 52]);
});

test('RUN-17: who waits too long, or behind too many, is told to come again, and others find room', () => {
  const { now, starts, enter, turn, lines } = line();
  const send = (organisation: string) => {
    const isIn = starts.admits(organisation);
    if (isIn) enter(organisation);
    return isIn;
  };
  const taken = Array.from({ length: STARTS_WAITING_MAX }, () => send('loud')).filter(Boolean).length;
  assert.equal(taken, 10 + STARTS_OF_ONE_MAX);
  assert.deepEqual([send('quiet'), starts.admits()], [true, true]);
  let others = 0;
  while (send(`another ${others}`)) others += 1;
  assert.equal(STARTS_OF_ONE_MAX + 1 + others, STARTS_WAITING_MAX);
  assert.deepEqual([starts.stats().isRefusing, lines.length], [true, 1], 'said once');
  turn(300);
  assert.deepEqual([starts.stats().waiting, send('loud')], [0, true]);

  for (let n = 0; n < 20; n++) enter('slow');
  now.ms += START_WAIT_MAX_MS + 1;
  assert.deepEqual([send('slow'), send('quick')], [false, true], 'a short line that does not move is as good as a long one');
});

test('RUN-17: while streams fill the loop starts get a third of it', () => {
  const { now, begun, enter, turn } = line();
  for (let n = 0; n < 200; n++) enter('one');
  turn();
  const before = begun.length;
  for (let n = 0; n < 3; n++) {
    now.ms += 50;
    turn();
  }
  assert.equal(begun.length - before, 75);
});

test('RUN-17: no more are entered than can be begun: the line waits for those that wait for their rows', () => {
  const opening = { count: OPENING_AT_ONCE_MAX };
  const turns: (() => void)[] = [];
  const starts = new Starts({ later: (work) => void turns.push(work), opening: () => opening.count });
  let begun = 0;
  starts.enter('one', () => {
    begun += 1;
  });
  assert.deepEqual([begun, starts.stats().waiting], [0, 1]);
  opening.count -= 1;
  for (const work of turns.splice(0)) work();
  assert.deepEqual([begun, starts.stats().waiting], [1, 0]);
});

test('RUN-17: organisations alternate: one that sends little is not behind one that sends much', () => {
  const { begun, enter, turn } = line();
  for (let n = 0; n < 100; n++) enter('loud');
  enter('quiet');
  enter('quiet');
  turn();
  assert.deepEqual(begun.filter((name) => name === 'quiet').length, 2);
});
