import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EACH_SECOND_MIN, RETRY_AFTER_MAX_S, RetrySchedule } from '../../gateway/overload.ts';

test('LIMIT-10: who is refused is told a second that still has room, so that not all come back at once', () => {
  let nowMs = 10_500;
  const times = new RetrySchedule(() => nowMs);
  const told = Array.from({ length: 3 * EACH_SECOND_MIN }, () => times.next());
  assert.deepEqual(
    [1, 2, 3].map((second) => told.filter((each) => each === second).length),
    [EACH_SECOND_MIN, EACH_SECOND_MIN, EACH_SECOND_MIN],
  );
  nowMs += 1_000;
  assert.equal(times.next(), 3, 'the two seconds after this one are taken');
  nowMs += 60_000;
  assert.equal(times.next(), 1);
  // More than there are places: nobody is sent away for longer, and they are spread nevertheless.
  const late = Array.from({ length: 2 * RETRY_AFTER_MAX_S * EACH_SECOND_MIN }, () => times.next()).slice(
    RETRY_AFTER_MAX_S * EACH_SECOND_MIN,
  );
  assert.ok(late.every((second) => second >= 8 && second <= RETRY_AFTER_MAX_S));
  assert.ok(new Set(late).size > 4);
  nowMs += 60_000;
  const quick = Array.from({ length: 300 }, () => times.next(200));
  assert.deepEqual(new Set(quick), new Set([1]), 'as many as can be begun, and some more');
});
