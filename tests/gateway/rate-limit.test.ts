import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { perMinute, RateBuckets } from '../../gateway/rate-limit.ts';
import type { RateLimit, RuntimeCaller } from '../../gateway/route.ts';
import { messagesPool, sharedPool } from '../../gateway/runtime/pools.ts';
import { DEFAULT_APP_SETTINGS } from '../../protocol/console/app-settings.ts';
import { Refusal } from '../../protocol/errors.ts';

function caller(deviceId: string, appId = 'app_1', perMinute = 20): RuntimeCaller {
  const app = { id: appId, settings: { ...DEFAULT_APP_SETTINGS, messagesPerMinute: perMinute } };
  return { app, deviceId, organisationId: 'org_1', channel: 'live', person: null } as unknown as RuntimeCaller;
}

/** How many of `requests` pass at once. */
function passed(buckets: RateBuckets, limits: readonly RateLimit[], who: RuntimeCaller, requests: number): number {
  let count = 0;
  for (let i = 0; i < requests; i++) {
    try {
      buckets.pass(limits, who);
      count += 1;
    } catch (error) {
      assert.ok(error instanceof Refusal);
    }
  }
  return count;
}

function refusal(buckets: RateBuckets, limits: readonly RateLimit[], who: RuntimeCaller): Refusal {
  try {
    buckets.pass(limits, who);
  } catch (error) {
    assert.ok(error instanceof Refusal);
    return error;
  }
  assert.fail('the request passed');
}

test('LIMIT-1: 20 a minute per (app, device), then 429 with the seconds to wait, and room again after them', () => {
  let nowMs = 1_000_000;
  const buckets = new RateBuckets(() => nowMs);
  const limits = [messagesPool('chat')];
  assert.equal(passed(buckets, limits, caller('d1'), 25), 20);
  const refused = refusal(buckets, limits, caller('d1'));
  assert.equal(refused.code, 'rate_limited');
  assert.equal(refused.status, 429);
  assert.equal(refused.retryAfterS, 3);
  nowMs += 3_000;
  assert.equal(passed(buckets, limits, caller('d1'), 5), 1);
});

test('LIMIT-38: 6,000 files a minute for an address, and others of another one', () => {
  let nowMs = 0;
  const buckets = new RateBuckets(() => nowMs);
  for (let files = 0; files < 6_000; files += 1) buckets.passFile('192.0.2.1');
  assert.throws(() => buckets.passFile('192.0.2.1'), { code: 'rate_limited', retryAfterS: 1 });
  buckets.passFile('192.0.2.2');
  nowMs += 1_000;
  buckets.passFile('192.0.2.1');
});

test('LIMIT-1: each pool, each device and each app has its own bucket', () => {
  const buckets = new RateBuckets(() => 0);
  assert.equal(passed(buckets, [messagesPool('chat')], caller('d1'), 30), 20);
  assert.equal(passed(buckets, [messagesPool('feedback')], caller('d1'), 30), 20);
  assert.equal(passed(buckets, [messagesPool('chat')], caller('d2'), 30), 20);
  assert.equal(passed(buckets, [messagesPool('chat')], caller('d1', 'app_2'), 30), 20);
});

test('LIMIT-2: buckets that nobody filled for ten minutes make room for those of others, and none that is in use does', () => {
  let nowMs = 0;
  const buckets = new RateBuckets(() => nowMs);
  const limits = [messagesPool('chat')];
  assert.equal(passed(buckets, limits, caller('stays'), 25), 20);
  for (let minute = 0; minute < 60; minute++) {
    for (let device = 0; device < 50; device++) buckets.pass(limits, caller(`${minute} ${device}`));
    nowMs += 30_000;
    assert.equal(passed(buckets, limits, caller('stays'), 20), 10);
    nowMs += 30_000;
    assert.equal(passed(buckets, limits, caller('stays'), 20), 10);
  }
  assert.equal(passed(buckets, limits, caller('59 0'), 25), 20);
  const ofTenMinutes = 10 * 50 + 1;
  assert.ok(buckets.held('device') >= ofTenMinutes && buckets.held('device') <= ofTenMinutes + 50, `${buckets.held('device')} are held`);
});

test('LIMIT-2: those of a time when the clock was hours ahead make room too, once it is set right', () => {
  let nowMs = 0;
  const buckets = new RateBuckets(() => nowMs);
  const come = (name: string) => {
    for (let device = 0; device < 50; device++) buckets.pass([messagesPool('chat')], caller(`${name} ${device}`));
  };
  nowMs = 2 * 3_600_000;
  come('ahead');
  nowMs = 0;
  for (let minute = 0; minute < 20; minute++, nowMs += 60_000) come(`${minute}`);
  assert.ok(buckets.held('device') <= 11 * 50, `${buckets.held('device')} are held`);
});

test('LIMIT-3: a changed per-app limit takes effect on the next request, both ways', () => {
  const buckets = new RateBuckets(() => 0);
  const limits = [messagesPool('chat')];
  assert.equal(passed(buckets, limits, caller('d1'), 30), 20);
  assert.equal(passed(buckets, limits, caller('d1', 'app_1', 25), 30), 5);
  assert.equal(passed(buckets, limits, caller('d1', 'app_1', 10), 30), 0);
  assert.equal(passed(buckets, limits, caller('d1', 'app_1', 0), 1), 0);
});

test('LIMIT-4: the app-wide bucket holds when the device header changes on every request', () => {
  const buckets = new RateBuckets(() => 0);
  const limits = [perMinute('config', 'device', 12), perMinute('config', 'app', 600)];
  let count = 0;
  for (let i = 0; i < 120_000; i++) count += passed(buckets, limits, caller(`d${i}`), 1);
  assert.equal(count, 600);
});

test('LIMIT-2: what is said to be left in a minute is what then passes, whatever came before', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 30 }), (rate, pausesMs) => {
      let nowMs = 1_000_000;
      const buckets = new RateBuckets(() => nowMs);
      for (const scope of ['device', 'app'] as const) {
        const limit = perMinute('p', scope, rate);
        for (const pauseMs of pausesMs) {
          nowMs += pauseMs;
          passed(buckets, [limit], caller('d'), 2);
        }
        const left = buckets.left(limit, caller('d'));
        assert.equal(buckets.left(limit, caller('d')), left, 'asking counts nothing');
        assert.equal(passed(buckets, [limit], caller('d'), rate + 5), left);
        assert.equal(buckets.left(limit, caller('d')), 0);
      }
    }),
  );
});

test('LIMIT-2: over any pattern of arrivals a bucket passes at most its capacity and its rate', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.array(fc.integer({ min: -500, max: 20_000 }), { maxLength: 60 }), (rate, pausesMs) => {
      let nowMs = 1_000_000;
      let elapsedMs = 0;
      let count = 0;
      const buckets = new RateBuckets(() => nowMs);
      for (const pauseMs of pausesMs) {
        nowMs += pauseMs;
        elapsedMs += Math.max(0, pauseMs);
        count += passed(buckets, [perMinute('p', 'device', rate)], caller('d'), 3);
      }
      assert.ok(count <= rate + (elapsedMs * rate) / 60_000 + 1e-6);
    }),
  );
});

test('LIMIT-5: in no minute does a session have more than 120 requests, however they are spread', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2_000 }), { minLength: 300, maxLength: 600 }), (gaps) => {
      let nowMs = 0;
      const buckets = new RateBuckets(() => nowMs);
      const passedAt: number[] = [];
      for (const gap of gaps) {
        nowMs += gap;
        try {
          buckets.passSession('ses_1');
          passedAt.push(nowMs);
        } catch (error) {
          assert.ok(error instanceof Refusal && error.code === 'rate_limited' && (error.retryAfterS ?? 0) >= 1);
        }
      }
      passedAt.forEach((atMs, n) => {
        const before = passedAt[n - 120];
        assert.ok(before === undefined || atMs - before >= 60_000);
      });
    }),
    { numRuns: 50 },
  );
});

test('LIMIT-9: of an app’s bucket something is kept for modest addresses, and a bound for all of them together', () => {
  const buckets = new RateBuckets(() => 0);
  const limits = [sharedPool('manifest', 100, 2)];
  const from = (address: string) => ({ ...caller('d'), address });
  assert.equal(passed(buckets, limits, from('loud'), 300), 100);
  assert.equal(passed(buckets, limits, from('modest'), 5), 2);
  let kept = 0;
  for (let n = 0; n < 200; n++) kept += passed(buckets, limits, from(`2001:db8:0:${n}::/64`), 1);
  assert.equal(kept, 98, 'somebody with many networks gets no further');
});
