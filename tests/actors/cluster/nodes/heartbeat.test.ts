/** When silence counts, with a clock of the test's own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HEARTBEAT_TIMES, Heartbeat, OwnClock } from '../../../../actors/cluster/nodes/heartbeat.ts';

const { pingMs, silentMs } = HEARTBEAT_TIMES;

test('CLUSTER-8: a node that stops answering at any time counts as silent within 3 s, once, and as alive with its next answer', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 0, max: pingMs - 1 }), (answered, lateMs) => {
      const clock = new OwnClock(HEARTBEAT_TIMES, 0);
      const heartbeat = new Heartbeat(HEARTBEAT_TIMES, 0);
      const pausedAtMs = answered * pingMs + lateMs;
      const silentAt: number[] = [];
      for (let nowMs = pingMs; nowMs <= pausedAtMs + 6_000; nowMs += pingMs) {
        if (heartbeat.fellSilent(nowMs, clock.tick(nowMs))) silentAt.push(nowMs);
        if (nowMs + 1 <= pausedAtMs) heartbeat.heard(nowMs + 1);
      }
      assert.equal(silentAt.length, 1);
      const noticedMs = (silentAt[0] ?? 0) - pausedAtMs;
      assert.ok(noticedMs > silentMs - pingMs && noticedMs <= 3_000, `${noticedMs} ms`);
      heartbeat.heard(pausedAtMs + 7_000);
      assert.equal(heartbeat.isSilent, false);
    }),
  );
});

test('CLUSTER-9: a process that was paused itself gives its neighbours the time that they had left', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 60_000 }), (pauseMs) => {
      const clock = new OwnClock(HEARTBEAT_TIMES, 0);
      const heartbeat = new Heartbeat(HEARTBEAT_TIMES, 0);
      assert.equal(heartbeat.fellSilent(pingMs, clock.tick(pingMs)), false);
      heartbeat.heard(pingMs);
      const wokenMs = 2 * pingMs + pauseMs;
      assert.equal(heartbeat.fellSilent(wokenMs, clock.tick(wokenMs)), false);
      // Its answer was not in the socket: now the silence is its own.
      let nowMs = wokenMs;
      while (!heartbeat.isSilent) {
        nowMs += pingMs;
        heartbeat.fellSilent(nowMs, clock.tick(nowMs));
      }
      assert.equal(nowMs - wokenMs, silentMs - pingMs);
    }),
  );
});
