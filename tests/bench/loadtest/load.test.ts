import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { arrivalTimes, type LoadPlan, runLoad, timeOfCount } from '../../../bench/loadtest/load.ts';
import { parseMix, pickKind } from '../../../bench/loadtest/slo.ts';
import { Tally } from '../../../bench/loadtest/tally.ts';
import type { Beginning } from '../../../bench/loadtest/visits.ts';

describe('LOAD-3: when visits begin', () => {
  test('even arrivals are as many as the rate says, each at its time', () => {
    const times = [...arrivalTimes({ rate: 4, rampMs: 0, durationMs: 2_000, arrivals: 'even' }, Math.random)];
    assert.deepEqual(times, [0, 250, 500, 750, 1_000, 1_250, 1_500, 1_750]);
  });

  test('a ramp rises in a straight line: half as many come in it as come afterwards in the same time', () => {
    const rates = fc.record({ rate: fc.integer({ min: 1, max: 500 }), rampMs: fc.integer({ min: 1_000, max: 60_000 }) });
    const property = fc.property(rates, ({ rate, rampMs }) => {
      const times = [...arrivalTimes({ rate, rampMs, durationMs: 1_000, arrivals: 'even' }, Math.random)];
      const inRamp = times.filter((atMs) => atMs < rampMs).length;
      assert.ok(Math.abs(inRamp - (rate * rampMs) / 2_000) <= 1);
      assert.ok(Math.abs(times.length - inRamp - rate) <= 1);
      assert.ok(times.every((atMs, at) => at === 0 || atMs > (times[at - 1] ?? 0)));
      // At every moment of the ramp as many have come as the line says.
      const half = times.filter((atMs) => atMs < rampMs / 2).length;
      assert.ok(Math.abs(half - (rate * rampMs) / 8_000) <= 1);
    });
    fc.assert(property, { numRuns: 50 });
    assert.equal(timeOfCount(10, { rate: 10, rampMs: 0 }), 1_000);
  });

  test('poisson arrivals have the same mean, and bunch', () => {
    let seed = 1;
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const times = [...arrivalTimes({ rate: 100, rampMs: 0, durationMs: 100_000, arrivals: 'poisson' }, random)];
    assert.ok(Math.abs(times.length - 10_000) < 400, `${times.length}`);
    const gaps = times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0));
    const variance = gaps.reduce((sum, gap) => sum + (gap - 10) ** 2, 0) / gaps.length;
    assert.ok(Math.abs(variance / 100 - 1) < 0.2, `${variance}`);
  });

  test('kinds come as often as the mix says', () => {
    const mix = parseMix('new=3,read=1');
    assert.deepEqual(
      [0, 0.2, 0.74, 0.76, 0.999_999].map((random) => pickKind(mix, random)),
      ['new', 'new', 'new', 'read', 'read'],
    );
  });
});

const never = new AbortController().signal;
const plan = (more: Partial<LoadPlan>): LoadPlan => ({
  load: { model: 'open', rate: 200, arrivals: 'even' },
  rampMs: 0,
  durationMs: 500,
  maxOpen: 1_000,
  mix: parseMix('new'),
  ...more,
});

describe('LOAD-3: what is played', () => {
  test('in the open model a service that answers nothing is asked as often, and each visit has its own time', async () => {
    const begun: Beginning[] = [];
    const tally = new Tally(new Map());
    const play = (beginning: Beginning): Promise<boolean> => {
      begun.push(beginning);
      return new Promise(() => {});
    };
    const open = await runLoad(plan({}), play, tally, never);
    assert.equal(begun.length, 100);
    assert.equal(open.size, 100);
    const spaced = begun.every(({ fromMs }, at) => at === 0 || Math.abs(fromMs - (begun[at - 1]?.fromMs ?? 0) - 5) < 0.001);
    assert.ok(spaced, 'their times are those of the plan, whenever they were sent');
  });

  test('LOAD-5: visits beyond --max-open are counted, and not begun', async () => {
    const tally = new Tally(new Map());
    let begun = 0;
    const play = (): Promise<boolean> => {
      begun += 1;
      return new Promise(() => {});
    };
    await runLoad(plan({ maxOpen: 10 }), play, tally, never);
    assert.equal(begun, 10);
    assert.equal(tally.notStartedCount, 90);
    assert.equal(tally.errors.get('not_started')?.count, 90);
  });

  test('in the closed model as many are open as there are clients, and one that was refused waits', async () => {
    const tally = new Tally(new Map());
    let [open, begun] = [0, 0];
    let allOpen = (): void => {};
    const wait = new Promise<void>((resolve) => {
      allOpen = resolve;
    });
    const play = async (): Promise<boolean> => {
      begun += 1;
      open += 1;
      if (open === 7) allOpen();
      await wait;
      return false;
    };
    await Promise.all(await runLoad(plan({ load: { model: 'closed', clients: 7, thinkMs: 0 } }), play, tally, never));
    assert.equal(begun, 7, 'nobody came back within half a second');
  });

  test('LOAD-7: a run that is stopped begins nothing more', async () => {
    const stop = new AbortController();
    let begun = 0;
    const play = (): Promise<boolean> => {
      begun += 1;
      if (begun === 5) stop.abort();
      return Promise.resolve(true);
    };
    await runLoad(plan({ durationMs: 60_000 }), play, new Tally(new Map()), stop.signal);
    assert.equal(begun, 5);
  });
});
