/** The mark of an answer that says nothing is heard, and never seen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NO_ANSWER_MARK, NoAnswerFilter } from '../../assistant/no-answer-mark.ts';

function heard(pieces: readonly string[]): { said: string; begun: boolean[] } {
  const begun: boolean[] = [];
  const gate = new NoAnswerFilter((isNoAnswer) => begun.push(isNoAnswer));
  return { said: pieces.map((piece) => gate.push(piece)).join('') + gate.flush(), begun };
}

const cut = fc.array(fc.nat(60), { maxLength: 6 });
function pieces(text: string, places: readonly number[]): string[] {
  const cuts = [0, ...places.map((place) => Math.min(place, text.length)).sort((one, other) => one - other), text.length];
  return cuts.slice(1).map((end, index) => text.slice(cuts[index], end));
}

test('MODEL-12: however it is cut, the mark is taken out of the beginning and heard', () => {
  fc.assert(
    fc.property(cut, (places) => {
      const marked = `\n ${NO_ANSWER_MARK} Dazu weiß ich nichts.`;
      assert.deepEqual(heard(pieces(marked, places)), { said: 'Dazu weiß ich nichts.', begun: [true] });
      const plain = `[[not]] Two days. ${NO_ANSWER_MARK}`;
      assert.deepEqual(heard(pieces(plain, places)), { said: plain, begun: [false] });
    }),
  );
});

test('MODEL-12: what only begins like the mark is said, and each answer begins anew', () => {
  assert.deepEqual(heard(['[[not']), { said: '[[not', begun: [] });
  const gate = new NoAnswerFilter(() => {});
  assert.equal(gate.push(`${NO_ANSWER_MARK} No.`) + gate.flush(), 'No.');
  assert.equal(gate.push('[[Nothing]]') + gate.push(' Nada.') + gate.push(' De nada.') + gate.flush(), 'Nada. De nada.');
});
