/** When credit and caps will be used up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { latestSpend, todayOf, usedUpAtMs } from '../../../web/console/usage/pace.ts';

const HOUR_MS = 3_600_000;
const NOON_MS = Date.UTC(2026, 10, 20, 12);

test('SPEND-1: what is used evenly is used up when the rest has gone at the same pace', () => {
  const day = todayOf(NOON_MS);
  assert.deepEqual([new Date(day.sinceMs).toISOString(), day.untilMs - day.sinceMs], ['2026-11-20T00:00:00.000Z', 24 * HOUR_MS]);
  const half = { used: 60, left: 40, nowMs: NOON_MS, ...day };
  assert.equal(usedUpAtMs(half), NOON_MS + 8 * HOUR_MS);
  assert.equal(usedUpAtMs({ ...half, used: 40, left: 60 }), null);
  assert.equal(usedUpAtMs({ ...half, used: 0 }), null);
  assert.equal(usedUpAtMs({ ...half, left: 0 }), null);
  assert.equal(usedUpAtMs({ ...half, nowMs: day.sinceMs + 60_000 }), null);
});

test('SPEND-1: the pace of credit is that of the last seven days, and of those of the month alone', () => {
  const days = ['2026-11-01', '2026-11-13', '2026-11-14', '2026-11-20'].map((day, at) => ({ day, spent_usd: 10 ** at }));
  assert.deepEqual(latestSpend(days, NOON_MS), { usd: 1_100, sinceMs: Date.UTC(2026, 10, 14) });
  assert.deepEqual(latestSpend(days, Date.UTC(2026, 10, 2, 12)), { usd: 1_111, sinceMs: Date.UTC(2026, 10, 1) });
});
