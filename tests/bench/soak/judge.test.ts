import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Bound, type Point, trendOf } from '../../../bench/soak/judge.ts';
import { createDice } from '../../support/seeded.ts';

const HOUR_S = 3_600;
const COUNTED: Bound = { take: 'least', share: 0.05, floor: 8 };

const series = (value: (atS: number) => number, everyS = 5): readonly Point[] =>
  Array.from({ length: HOUR_S / everyS }, (_, at) => ({ atS: at * everyS, value: value(at * everyS) }));
const isFlat = (value: (atS: number) => number, bound = COUNTED) => trendOf(series(value), bound, HOUR_S)?.isFlat;

describe('LOAD-10: a soak tells what grows from what goes up and down', () => {
  test('one descriptor that is kept each minute is found, also below a noise of twenty', () => {
    const dice = createDice();
    assert.equal(
      isFlat(() => 80 + dice.below(20)),
      true,
    );
    assert.equal(
      isFlat((atS) => 80 + atS / 60 + dice.below(20)),
      false,
    );
    const trend = trendOf(
      series((atS) => 80 + atS / 60),
      COUNTED,
      HOUR_S,
    );
    assert.equal(Math.round(trend?.growth ?? 0), 60, 'told for the whole run');
  });

  test('a warm-up, a saw-tooth, and a burst that is over are no growth', () => {
    assert.equal(
      isFlat((atS) => Math.min(100, atS / 12)),
      true,
      'caches that are full after a third',
    );
    assert.equal(
      isFlat((atS) => 50 + ((atS / 7) % 40)),
      true,
      'a heap between collections',
    );
    assert.equal(
      isFlat((atS) => (atS > 2_000 && atS < 2_600 ? 500 : 80)),
      true,
      'a burst',
    );
  });

  test('what is above its limit fails without growing, and too few samples tell nothing', () => {
    const limited: Bound = { take: 'middle', share: 0.1, floor: 50, most: 50 };
    assert.deepEqual([isFlat(() => 51, limited), isFlat(() => 49, limited)], [false, true]);
    assert.equal(trendOf([{ atS: HOUR_S, value: 1 }], COUNTED, HOUR_S), undefined);
  });
});
