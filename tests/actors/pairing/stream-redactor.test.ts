/** Who watches a turn is shown no personal data of the model's own while words stream. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { StreamRedactor } from '../../../actors/pairing/stream-redactor.ts';

function shown(...deltas: string[]): string {
  const words = new StreamRedactor();
  const events = deltas.map((text_delta, seq) => JSON.stringify({ type: 'block.delta', v: 1, seq, index: 0, text_delta }));
  return [...events, '{"type":"block.ready"}']
    .flatMap((event) => words.shown(event))
    .slice(0, -1)
    .map((event) => (JSON.parse(event) as { text_delta: string }).text_delta)
    .join('');
}

test('PRIVACY-9: words with a digit or an @ are hidden, however they are cut; placeholders stay', () => {
  const said = 'Call 415 555 2671 or ada.lovelace@example.org, ⟦email_1⟧, within 30 days. ';
  const hidden = 'Call ⟦text⟧ or ⟦text⟧ ⟦email_1⟧, within ⟦text⟧ days. ';
  assert.equal(shown(said), hidden);
  fc.assert(
    fc.property(fc.array(fc.nat(said.length), { maxLength: 8 }), (cuts) => {
      const places = [0, ...cuts.sort((one, other) => one - other), said.length];
      const told = shown(...places.slice(1).map((end, index) => said.slice(places[index], end)));
      assert.doesNotMatch(told.replaceAll('⟦email_1⟧', ''), /[\d@]|lovelace|example/);
      assert.match(told, /^Call ⟦text⟧ .*⟦email_1⟧, within ⟦text⟧ days\. $/s);
    }),
  );
});

test('PRIVACY-9: words that may go on come one event later, each once, and any other event behind them as it is', () => {
  const words = new StreamRedactor();
  const delta = (text_delta: string, seq = 0) => JSON.stringify({ type: 'block.delta', v: 1, seq, index: 0, text_delta });
  const ready = '{"type":"block.ready","v":1}';
  assert.deepEqual(words.shown(delta('To ⟦ema', 1)), []);
  assert.deepEqual(words.shown(delta('il_1⟧', 2)), [delta('To ', 1)]);
  assert.deepEqual(words.shown(delta('.', 3)), []);
  assert.deepEqual(words.shown(ready), [delta('⟦email_1⟧.', 3), ready]);
  assert.deepEqual(words.shown(delta('Next block.')), []);
  assert.deepEqual(words.shown(ready), [delta('Next block.'), ready]);
  assert.deepEqual(words.shown(ready), [ready]);
  assert.deepEqual(words.shown(delta('Whole words. ')), [delta('Whole words. ')]);
  assert.deepEqual(words.shown(delta('x'.repeat(300))), []);
  assert.deepEqual(words.shown(delta('y')), [delta('x'.repeat(300))]);
});
