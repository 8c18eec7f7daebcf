import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ImitationFilter } from '../../assistant/imitation.ts';

function said(parts: readonly string[]): string {
  const filter = new ImitationFilter();
  return parts.map((part) => filter.push(part)).join('') + filter.flush();
}

const TEXTS: readonly (readonly [text: string, kept: string])[] = [
  ['[quick_replies] You can reply: Yes / No', ''],
  ['It comes tomorrow.\n\n[key_points] Two days.\nThanks.', 'It comes tomorrow.\n\nThanks.'],
  ['A\n  [order_tracker] Your return\n[form] Fill in the form.\nB', 'A\nFill in the form.\nB'],
  ['[section]\nkey = 1', '[section]\nkey = 1'],
  ['[map](https://a.example) shows it', '[map](https://a.example) shows it'],
  ['[1] first\n[text] it is\n[not_one] x', '[1] first\n[text] it is\n[not_one] x'],
  ['See [quick_replies] there', 'See [quick_replies] there'],
  ['[quick_replies] ', '[quick_replies] '],
  ['Log:\n```\n[key_value] loaded\n```\n[key_value] Berlin\nB', 'Log:\n```\n[key_value] loaded\n```\nB'],
  ['```one```\n[key_value] x\n```js [a]\n[key_value] y\n```z\n[map] w', '```one```\n```js [a]\n[key_value] y\n```z\n[map] w'],
  ['[contact] your bank first.\n[map] Berlin', 'contact your bank first.\nBerlin'],
  ['````md\n```\n[key_value] x\n```\n[key_value] y\n````\n[key_value] z', '````md\n```\n[key_value] x\n```\n[key_value] y\n````\n'],
  ['~~~ini\n[key_value] x\n~~~\n[key_value] y', '~~~ini\n[key_value] x\n~~~\n'],
  ['Set:\n\n    [key_value] x', 'Set:\n\n    [key_value] x'],
  ['`[map] x`', '`[map] x`'],
  ['\n\n  ', '\n\n  '],
];

test('MODEL-35: a line that writes a component as text is left out, however it is cut, and nothing else', () => {
  for (const [text, kept] of TEXTS) {
    assert.equal(said([text]), kept, text);
    assert.equal(said([...text]), kept, text);
    for (let at = 1; at < text.length; at++) assert.equal(said([text.slice(0, at), text.slice(at)]), kept, `${text} ${at}`);
  }
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom('[', ']', ' ', '\n', 'a', 'map', '(') })), (parts) => {
      assert.equal(said(parts), said([parts.join('')]));
    }),
  );
  fc.assert(fc.property(fc.array(fc.string()), (parts) => assert.equal(said(parts), parts.join(''))));
});

test('MODEL-35: the words of what was left out are there, for an answer that is nothing else', () => {
  const filter = new ImitationFilter();
  for (const delta of '[key_points] Which size:\n[quick_replies] S, M, L') assert.equal(filter.push(delta), '');
  assert.equal(filter.flush() + filter.leftOut, 'Which size:\nS, M, L');
});

test('MODEL-35: code that a text leaves open ends with the text', () => {
  const filter = new ImitationFilter();
  assert.equal(filter.push('```\n[key_value] x\n') + filter.flush(), '```\n[key_value] x\n');
  assert.equal(filter.push('[key_value] y\nB') + filter.flush(), 'B');
});
