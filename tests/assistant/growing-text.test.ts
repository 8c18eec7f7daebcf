/** Text that comes in pieces is the same text, however and whenever it is written out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { appended } from '../../assistant/growing-text.ts';

test('STREAM-4: text that grew by pieces of any length is the pieces, one behind the other', () => {
  const pieces = fc.array(fc.string({ unit: 'binary', maxLength: 200 }), { maxLength: 100 });
  fc.assert(
    fc.property(pieces, (given) => {
      assert.equal(given.reduce(appended, ''), given.join(''));
    }),
  );
});
