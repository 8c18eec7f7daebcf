import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { SilenceWatch, type Watched } from '../../../../assistant/models/stream/silence-watch.ts';

interface Probe extends Watched {
  paused: boolean;
  silences: number;
}

function probe(): Probe {
  return {
    heard: false,
    paused: false,
    quietMs: 0,
    silences: 0,
    fallSilent() {
      this.silences++;
    },
  };
}

/** A watch on a clock that moves with the mocked timers. */
function watchOn(t: TestContext, silenceMs: number): { watch: SilenceWatch; pass(ms: number): void; jump(ms: number): void } {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 5_000;
  return {
    watch: new SilenceWatch(silenceMs, () => now),
    pass(ms) {
      for (let i = 0; i < ms / 10; i++) {
        now += 10;
        t.mock.timers.tick(10);
      }
    },
    jump(ms) {
      now += ms;
    },
  };
}

describe('MODEL-17: an upstream that is silent for 30 s has broken off', () => {
  test('silence is noticed after the limit and at most two sweeps more', (t) => {
    const { watch, pass } = watchOn(t, 30_000);
    const run = probe();
    watch.add(run);
    pass(29_900);
    assert.equal(run.silences, 0);
    pass(1_100);
    assert.ok(run.silences >= 1);
  });

  test('bytes begin the time anew', (t) => {
    const { watch, pass } = watchOn(t, 30_000);
    const run = probe();
    watch.add(run);
    pass(29_000);
    run.heard = true;
    pass(29_900);
    assert.equal(run.silences, 0);
    pass(1_700);
    assert.ok(run.silences >= 1);
  });

  test('a run that began between two sweeps gets its whole time', (t) => {
    const { watch, pass } = watchOn(t, 1_000);
    watch.add(probe());
    pass(240);
    const late = probe();
    watch.add(late);
    pass(990);
    assert.equal(late.silences, 0);
    pass(300);
    assert.ok(late.silences >= 1);
  });

  test('silence does not count while paused', (t) => {
    const { watch, pass } = watchOn(t, 1_000);
    const run = probe();
    watch.add(run);
    run.paused = true;
    pass(10_000);
    assert.equal(run.silences, 0);
    run.paused = false;
    pass(1_500);
    assert.ok(run.silences >= 1);
  });

  test('time in which the process stood still is not silence of the upstream', (t) => {
    const { watch, pass, jump } = watchOn(t, 30_000);
    const run = probe();
    watch.add(run);
    jump(60_000);
    pass(1_000);
    assert.equal(run.silences, 0);
  });

  test('the timer runs only while there are runs, and removing is idempotent', (t) => {
    const { watch, pass } = watchOn(t, 1_000);
    const [first, second] = [probe(), probe()];
    const set = t.mock.method(globalThis, 'setInterval');
    const cleared = t.mock.method(globalThis, 'clearInterval');
    watch.add(first);
    watch.add(second);
    watch.remove(first);
    assert.deepEqual([set.mock.callCount(), cleared.mock.callCount(), watch.size], [1, 0, 1]);
    watch.remove(second);
    watch.remove(second);
    assert.deepEqual([set.mock.callCount(), cleared.mock.callCount(), watch.size], [1, 1, 0]);
    pass(5_000);
    assert.deepEqual([first.silences, second.silences], [0, 0]);
  });
});
