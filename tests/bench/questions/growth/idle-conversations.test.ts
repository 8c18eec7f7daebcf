/** A1: lives are told apart by turns that wait and turns that follow, and idle conversations are measured by size. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { idleConversations, type Lives, livesCost, livesFinding } from '../../../../bench/questions/growth/idle-conversations.ts';
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

  test('all turns are whole on the running service', async (t) => {
    const scene = { outDir: temporaryDir(t), quick: true, rounds: 1, candidates: [], seconds: undefined, onStep: () => {} };
    const { tables } = await idleConversations.measure(scene);
    assert.equal(tables[0]?.rows[0]?.[4], '0');
  });
});
