/** Looking for personal data costs what a request may cost, whatever it holds, and lets nothing through. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { redactCoarsely, redactText, rewriteStrings } from '../../../assistant/privacy/placeholder-table.ts';
import { RedactionWork } from '../../../assistant/privacy/redaction-work.ts';

const BODY_CHARS = 250_000;
/** Far more than it takes on a slow machine; without bounds these took from half a minute up. */
const CPU_MAX_MS = 5_000;

function cpuMs(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The value as one request has it redacted. */
function redact(value: unknown): string {
  const work = new RedactionWork();
  return JSON.stringify(
    rewriteStrings(value, (text, label) => redactText(text, { regions: ['DE'], label, work }, (kind) => `⟦${kind}⟧`), true),
  );
}

function filled(piece: string, chars: number): string {
  return piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars);
}

const PIECES = [
  '030 12345678 ',
  '01701234567, ',
  '4111 1111 1111 1112 ',
  '4111111111111111',
  'DE12 3456 7890 1234 5678 90 ',
  'a.b-c@d.ef ',
  '%%%%%%@',
  '@a.',
  '5551234 tel ',
  '(030) 901820 / ',
  '0 ',
  '٠',
  '⟦email_1⟧',
  '注文0ー1です',
  '"a\\"@',
  '๐คือ',
  'あ＠ａ．あ',
  'a@b。',
  '\u200ba@b\u00ad.c',
  '1111-\n',
  '4111、',
  '090〜',
];

describe('PRIVACY-6: hostile requests', () => {
  for (const label of [` order${filled('#', 4_300)}x`, filled('\tid', 4_300), filled('telef', 4_300), filled('id ', 4_300)]) {
    test(`a name of 4,300 characters over hundreds of numbers: ${JSON.stringify(label.slice(0, 10))}…`, () => {
      const numbers = Array.from({ length: 380 }, (_, index) => 1_000_000 + index);
      const spent = cpuMs(() => redact({ [label]: numbers }));
      assert.ok(spent < CPU_MAX_MS, `${spent} ms`);
    });
  }

  for (const piece of PIECES) {
    test(`250 KB of ${JSON.stringify(piece)}, as one text and as a list: in bounded time, and nothing of it is let through`, () => {
      const values = { one: filled(piece, BODY_CHARS), many: Array.from({ length: BODY_CHARS / 16 }, () => filled(piece, 16)) };
      for (const value of [values.one, values.many]) {
        let redacted = '';
        const spent = cpuMs(() => {
          redacted = redact(value);
        });
        assert.ok(spent < CPU_MAX_MS, `${spent} ms`);
        assert.doesNotMatch(redacted, /\b0(?:30|170) ?1234567|a\.b-c@d|4111 ?1111 ?1111 ?1111/);
      }
    });
  }

  test('what comes after the work is spent is hidden by the word, and the words between stay', () => {
    const work = new RedactionWork();
    const place = { regions: ['DE'], label: '', work };
    const nameOf = (kind: string) => `⟦${kind}_1⟧`;
    while (work.take('01234567890123456789', 3));
    assert.equal(redactText('Write to anna@example.com or 030 901 820 now', place, nameOf), 'Write to ⟦text⟧ or ⟦text⟧ now');
    assert.equal(redactText('Nothing to hide at 5 o’clock', place, nameOf), 'Nothing to hide at 5 o’clock');
  });

  test('the coarser way leaves no digit, no @ and no bracket but its own, and no other word changes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const redacted = redactCoarsely(text);
        assert.doesNotMatch(redacted.replaceAll('⟦text⟧', ''), /[\p{N}@⟦⟧]/u);
        const harmless = text.split(/\s+/).filter((word) => word !== '' && !/[\p{N}@⟦⟧]/u.test(word));
        const kept = redacted.split(/\s+/).filter((word) => word !== '' && word !== '⟦text⟧');
        assert.deepEqual(kept, harmless);
      }),
    );
  });
});
