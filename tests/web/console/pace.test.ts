/** When credit and caps will be used up, and how numbers of use are written and drawn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { latestSpend, roundTop, todayOf, usd, usedUpAtMs } from '../../../web/console/usage/pace.ts';

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

test('PAGE-11: money has one form, and says something where it is less than a cent', () => {
  assert.deepEqual([0, 4.2, 1_234.5, -3, 0.0019, 0.000_123_4].map(usd), [
    ...['0.00 USD', '4.20 USD', '1,234.50 USD', '-3.00 USD', '0.0019 USD', '0.00012 USD'],
  ]);
});

test('SPEND-1: the highest bar fills three quarters of its plot or more', () => {
  assert.deepEqual([0, 1.12, 1.3, 3, 7, 11, 45, 0.031].map(roundTop), [1, 1.2, 1.6, 3, 8, 12, 50, 0.04]);
  for (let most = 1; most < 2_000; most += 1) {
    const top = roundTop(most);
    assert.ok(top >= most && most / top >= 0.75, `${most} of ${top}`);
  }
});
