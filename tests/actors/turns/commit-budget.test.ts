/** However many long answers come in at once, few characters of them are on their way into rows at a time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommitBudget, UNDER_WAY_MAX_COMMITS } from '../../../actors/turns/commit-budget.ts';
import { WRITES_QUEUED_MAX } from '../../../storage/sqlite/writer.ts';

function commits(room: CommitBudget) {
  const begun: number[] = [];
  const ends: ((isMade: boolean) => void)[] = [];
  const commit = (chars: number) => {
    const at = ends.length + begun.length;
    return room.within(chars, () => {
      begun.push(chars);
      return new Promise<void>((resolve, reject) => ends.push((isMade) => (isMade ? resolve() : reject(new Error(`no ${at}`)))));
    });
  };
  return { begun, ends, commit };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test('STREAM-19: beyond the bound long pieces wait in their order, short ones never do; a commit that fails makes room as well', async () => {
  const { begun, ends, commit } = commits(new CommitBudget(10_000));
  const all = [6_001, 6_002, 6_003, 6_004].map((chars) => commit(chars).catch(() => {}));
  all.push(commit(100));
  await settled();
  assert.deepEqual(begun, [6_001, 6_002, 100]);
  ends[0]?.(false);
  await settled();
  assert.deepEqual(begun, [6_001, 6_002, 100, 6_003]);
  for (const end of ends) end(true);
  await settled();
  for (const end of ends) end(true);
  await Promise.all(all);
  assert.deepEqual(begun, [6_001, 6_002, 100, 6_003, 6_004]);
});

test('STREAM-19: of thousands that end at once as many are under way as the writer takes, and none is refused', async () => {
  const { begun, ends, commit } = commits(new CommitBudget(10_000, 2));
  const all = [1, 2, 3, 4].map((chars) => commit(chars));
  await settled();
  assert.deepEqual(begun, [1, 2]);
  ends[0]?.(true);
  await settled();
  assert.deepEqual(begun, [1, 2, 3]);
  for (const end of ends) end(true);
  await settled();
  for (const end of ends) end(true);
  await Promise.all(all);
  assert.deepEqual(begun, [1, 2, 3, 4]);
});

test('STREAM-19: fewer commits of answers are under way than writes may wait', () => {
  assert.ok(UNDER_WAY_MAX_COMMITS <= WRITES_QUEUED_MAX / 2);
});
