/** Open streams are divided by those that were open, and no more of them than fit. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { streamsThatFit } from '../../../../bench/questions/streams/open-streams.ts';

describe('BENCH-10: open streams', () => {
  test('no more streams are opened than the limit of open files allows', () => {
    const limits = 'Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 20000                files\n';
    assert.equal(streamsThatFit(10_000, limits), 9_750);
    assert.equal(streamsThatFit(4_000, limits), 4_000);
    assert.equal(streamsThatFit(10_000, 'Max open files  unlimited  unlimited  files'), 10_000);
  });
});
