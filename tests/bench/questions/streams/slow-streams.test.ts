/** Open streams are divided by those that were open, and no more of them than fit. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findingOf, stepsTo } from '../../../../bench/questions/streams/more-streams.ts';
import { streamsThatFit, type Watched } from '../../../../bench/questions/streams/slow-streams.ts';

/** A round with 100 and 1,000 streams open. */
function round(cpuUs: number, kb: number, broken: number): Watched {
  const looks = [
    { streams: 100, rssBytes: 100e6, cpuUsPerDelta: 10 },
    { streams: 1_000, rssBytes: 100e6 + 900 * kb * 1e3, cpuUsPerDelta: cpuUs },
  ];
  const times = { first_ms: [], whole_ms: [], wall_s: 1 };
  const counts = { streams: 1_000, ok: 1_000 - broken, broken, refused: 0, deltas: 1, chars: 1, bytes: 1 };
  return { looks, results: [{ ...counts, ...times, stalled: false, reasons: [] }] };
}

describe('BENCH-10: open streams', () => {
  test('each size is reached from the one before', () => {
    assert.deepEqual(
      stepsTo([100, 1_000, 4_000], 1).map(({ streams }) => streams),
      [100, 900, 3_000],
    );
  });

  test('no more streams are opened than the limit of open files allows', () => {
    const limits = 'Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 20000                files\n';
    assert.equal(streamsThatFit(10_000, limits), 9_750);
    assert.equal(streamsThatFit(4_000, limits), 4_000);
    assert.equal(streamsThatFit(10_000, 'Max open files  unlimited  unlimited  files'), 10_000);
  });

  test('a finding has a curve of each cost, and names what grows and what broke', () => {
    const { curves, tables, warnings } = findingOf([round(20, 30, 0), round(22, 32, 7)]);
    assert.deepEqual(
      curves?.map(({ lines }) => lines[0]?.points.map(({ x, y }) => [x, Math.round(y)])),
      [
        [
          [100, 10],
          [1_000, 21],
        ],
        [[1_000, 31]],
      ],
    );
    assert.equal(tables[0]?.rows.length, 2);
    assert.deepEqual(warnings, [
      'CPU time of a delta grows with the open streams: 21.0 µs at 1,000 is 2.1 times the 10.0 µs at 100.',
      'In all: 7 streams were not whole.',
    ]);
  });
});
