import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuseRankings } from '../../../storage/knowledge/knowledge-search.ts';

const ids = (rankings: readonly (readonly number[])[]) => fuseRankings(rankings).map(({ id }) => id);

test('MODEL-26: what both rankings name comes before what one of them names first', () => {
  assert.deepEqual(
    ids([
      [1, 2, 3],
      [4, 3, 5],
    ]),
    [3, 1, 4, 2, 5],
  );
});

test('MODEL-26: scores are sums of 1 / (60 + rank)', () => {
  const [first, second, third] = fuseRankings([
    [7, 8],
    [8, 9],
  ]);
  assert.deepEqual([first?.id, second?.id, third?.id], [8, 7, 9]);
  assert.ok(Math.abs((first?.score ?? 0) - (1 / 62 + 1 / 61)) < 1e-12);
  assert.ok(Math.abs((second?.score ?? 0) - 1 / 61) < 1e-12);
  assert.ok(Math.abs((third?.score ?? 0) - 1 / 62) < 1e-12);
});

test('MODEL-26: one ranking keeps its order, of equals the first ranking’s comes first, and nothing fuses to nothing', () => {
  assert.deepEqual(ids([[3, 1, 2], []]), [3, 1, 2]);
  assert.deepEqual(ids([[5], [6]]), [5, 6]);
  assert.deepEqual(ids([[], []]), []);
});
