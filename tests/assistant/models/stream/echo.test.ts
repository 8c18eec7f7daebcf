/** What an upstream repeats of a request does not reach the log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { withoutEcho } from '../../../../assistant/models/stream/echo.ts';

test('PRIVACY-15: what people wrote is left out wherever it stands, the rest is kept', () => {
  const texts = ['Where is my parcel? I live in Rosenweg 7.', 'hunter2'];
  assert.equal(withoutEcho('Invalid: I live in Rosenweg 7. Shorten it.', texts), 'Invalid:[...] Shorten it.');
  assert.equal(withoutEcho('Cannot read hunter2 here.', texts), 'Cannot read [...] here.');
  assert.equal(withoutEcho('The model does not exist.', texts), 'The model does not exist.');
  assert.equal(withoutEcho('a message in two lines', ['a message\nin two lines']), '[...]');
  assert.equal(withoutEcho('Invalid: I LIVE IN ROSENWEG 7. Cannot read Hunter2.', texts), 'Invalid:[...] Cannot read [...].');
  assert.equal(withoutEcho('İİİ: rosenweg 7. shorten it', ['İ live in ROSENWEG 7. Shorten']), 'İİİ:[...] it');
  assert.equal(withoutEcho('', texts), '');
});

test('PRIVACY-15: no stretch of 18 characters that was sent is left, whatever stands around it', () => {
  const words = fc.string({ minLength: 0, maxLength: 60 });
  fc.assert(
    fc.property(words, fc.string({ minLength: 18, maxLength: 80, unit: fc.constantFrom(...'abcdefgh ') }), words, (before, sent, after) => {
      const kept = withoutEcho(`${before}${sent}${after}`, [`x ${sent} y`]);
      for (let at = 0; at + 18 <= sent.length; at++) assert.ok(!kept.includes(sent.slice(at, at + 18)));
    }),
  );
});
