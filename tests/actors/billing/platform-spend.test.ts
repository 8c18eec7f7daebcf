import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { PlatformSpend } from '../../../actors/billing/platform-spend.ts';
import { openFixture } from './fixture.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const USD = 1_000_000;
const log = pino({ level: 'silent' });

test('LIMIT-19: the ceiling is reached at its amount, counts what rows hold at the start, and starts again at midnight UTC', async (t) => {
  const fixture = await openFixture(t);
  fixture.spend(1);
  const nowMs = fixture.nowMs();
  const midnightMs = (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
  const spend = new PlatformSpend({ storage: fixture.storage, log }, 3 * USD, nowMs);
  assert.equal(spend.isReached(nowMs), false);
  spend.add(2 * USD - 1, nowMs);
  assert.equal(spend.isReached(nowMs), false);
  spend.add(1, nowMs);
  assert.equal(spend.isReached(nowMs), true);
  assert.equal(spend.isReached(midnightMs - 1), true);
  assert.equal(spend.isReached(midnightMs), false);
  spend.add(3 * USD, midnightMs - 1);
  assert.equal(spend.isReached(midnightMs), false, 'a charge of yesterday that is heard of late is yesterday’s');
  spend.add(3 * USD, midnightMs);
  assert.equal(spend.isReached(midnightMs), true);
});

test('LIMIT-19: a ceiling of 0 stops everything, and no ceiling stops nothing', async (t) => {
  const fixture = await openFixture(t);
  fixture.spend(1_000);
  assert.equal(new PlatformSpend({ storage: fixture.storage, log }, 0, fixture.nowMs()).isReached(fixture.nowMs()), true);
  const none = new PlatformSpend({ storage: fixture.storage, log }, null, fixture.nowMs());
  none.add(10_000 * USD, fixture.nowMs());
  assert.equal(none.isReached(fixture.nowMs()), false);
});
