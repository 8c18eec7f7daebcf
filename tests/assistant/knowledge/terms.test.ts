/** Proves what counts as a word that carries meaning, and where sentences end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sentenceSpans, sentences } from '../../../assistant/knowledge/sentences.ts';
import { CONTENT_TERMS_MAX, contentStems, contentTerms, stem, stemsFoundIn } from '../../../assistant/knowledge/terms.ts';

test('SEARCH-4: lowercase words without stop words, each once, in order', () => {
  assert.deepEqual(contentTerms("What's the Refund policy? Is the REFUND quick, or isn't it?"), ['refund', 'policy', 'quick']);
  assert.deepEqual(contentTerms('How can you help me?'), []);
});

test('SEARCH-4: words of any script; scripts without blanks as pairs', () => {
  assert.deepEqual(contentTerms('Rückgabe für Ärzte, возврат'), ['rückgabe', 'für', 'ärzte', 'возврат']);
  assert.deepEqual(contentTerms('返品方法'), ['返品', '品方', '方法']);
  assert.deepEqual(contentTerms('A-1042 and 7'), ['1042', '7']);
});

test('SEARCH-4: a text has 64 terms at most, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (text) => {
      const terms = contentTerms(text);
      assert.ok(terms.length <= CONTENT_TERMS_MAX);
      assert.equal(new Set(terms).size, terms.length);
      for (const term of terms) assert.match(term, /[\p{L}\p{N}]/u);
    }),
  );
  assert.equal(contentTerms(Array.from({ length: 500 }, (_, i) => `word${i}`).join(' ')).length, CONTENT_TERMS_MAX);
});

test('SEARCH-4: the forms of a word share a stem, different words do not', () => {
  for (const forms of [
    'ship ships shipping shipped shipment',
    'order orders ordered ordering',
    'deliver delivery deliveries delivered',
    'price prices priced',
  ]) {
    assert.equal(new Set(forms.split(' ').map(stem)).size, 1, forms);
  }
  assert.equal(stem('status'), 'status');
  assert.equal(new Set(contentStems('return refund receipt reset')).size, 4);
});

test('SEARCH-4: finding stems in a text agrees with stemming all of it', () => {
  const words = fc.array(
    fc.constantFrom(
      'refund',
      'Refunds',
      'refunding',
      'ＲＥＦＵＮＤ',
      "O'Brien",
      'Ärzte',
      '返品方法',
      'prefund',
      'A-1042',
      'delivery',
      'deliver',
    ),
  );
  fc.assert(
    fc.property(words, words, (asked, said) => {
      const stems = contentStems(asked.join(' '));
      const all = contentStems(said.join(' '));
      assert.deepEqual(
        stemsFoundIn(said.join(' '), stems),
        stems.filter((each) => all.includes(each)),
      );
    }),
  );
});

test('SEARCH-1: sentences end at stops, not at abbreviations, initials, decimals or list numbers', () => {
  assert.deepEqual(sentences('It costs 3.50 EUR, e.g. for J. Smith. Really?! “Yes.” He said no. Then he left… 1. First'), [
    'It costs 3.50 EUR, e.g. for J. Smith.',
    'Really?!',
    '“Yes.”',
    'He said no.',
    'Then he left…',
    '1. First',
  ]);
  assert.deepEqual(sentences('返品できます。三十日以内です。'), ['返品できます。', '三十日以内です。']);
});

test('SEARCH-1: the spans of sentences follow one another without gap', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', 'B', '.', ' ', '\n', '!', '。', '"', '1', 'no.', '🎁') }), (text) => {
      let end = 0;
      for (const [from, to] of sentenceSpans(text)) {
        assert.equal(from, end);
        assert.ok(to > from);
        end = to;
      }
      assert.equal(end, text.length);
    }),
  );
});
