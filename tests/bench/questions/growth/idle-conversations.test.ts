/** A1: lives are told apart by turns that wait and turns that follow, and idle conversations are measured by size. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  findingOf,
  idleConversations,
  type Lives,
  livesCost,
  livesFinding,
} from '../../../../bench/questions/growth/idle-conversations.ts';
import { temporaryDir } from '../../../support/temporary-dir.ts';

function lives(together: readonly number[], apart: readonly number[], broken = 0): [Lives, Lives] {
  const rounds = (of: readonly number[]) => of.map((cpu_us) => ({ cpu_us, first_p50_ms: 1, ok: 4, broken }));
  return [
    { kind: 'together', rounds: rounds(together) },
    { kind: 'apart', rounds: rounds(apart) },
  ];
}

describe('BENCH-15: idle conversations', () => {
  test('four turns apart have three lives more than four together', () => {
    assert.deepEqual(livesCost(lives([1_000, 1_000], [1_075, 1_150])), [100, 200]);
  });

  test('a difference that a round contradicts is not told', () => {
    const { tables, warnings } = livesFinding(lives([1_000, 1_000, 1_000], [990, 1_150, 1_150]));
    assert.equal(tables[0]?.rows[0]?.[2], 'not told apart');
    assert.deepEqual(warnings, []);
  });

  test('a missed aim and broken turns are named', () => {
    const { warnings } = livesFinding(lives([1_000, 1_000, 1_000], [1_150, 1_150, 1_150], 2));
    assert.deepEqual(warnings, ['Activating and passivating takes 200 µs (aim: 150).', '12 sets of turns were not whole.']);
  });

  test('what idle conversations take is told for each, and named when it is too much', () => {
    const size = (count: number, mb: number) => ({
      size: count,
      rss: { x: count, y: mb, low: mb, high: mb },
      rounds: [{ cpu_us: 1_000, first_p50_ms: 1, ok: 4, broken: 0 }],
    });
    const { tables, warnings } = findingOf([size(1_000, 100), size(11_000, 150)]);
    assert.deepEqual(
      tables[0]?.rows.map(([count, rss, each]) => [count, rss, each]),
      [
        ['1,000', '100', ''],
        ['11,000', '150', '5000'],
      ],
    );
    assert.match(warnings?.[0] ?? '', /^Memory of the service grows with the idle conversations: 150 MB at 11,000 is 1\.5 times/);
  });

  test('all turns are whole on the running service', async (t) => {
    const scene = { outDir: temporaryDir(t), quick: true, rounds: 1, candidates: [], seconds: undefined, onStep: () => {} };
    const { tables } = await idleConversations.measure(scene);
    assert.equal(tables[0]?.rows[0]?.[4], '0');
    assert.deepEqual(
      tables[1]?.rows.map((row) => [row[0], row.at(-1)]),
      [
        ['500', '0'],
        ['2,000', '0'],
      ],
    );
  });
});
