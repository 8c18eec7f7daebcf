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
  ['A\n  [form] Your return: Name\n[choice] Which?\nB', 'A\nB'],
  ['[section]\nkey = 1', '[section]\nkey = 1'],
  ['[map](https://a.example) shows it', '[map](https://a.example) shows it'],
  ['[1] first\n[text] it is\n[not_one] x', '[1] first\n[text] it is\n[not_one] x'],
  ['See [quick_replies] there', 'See [quick_replies] there'],
  ['[quick_replies] ', '[quick_replies] '],
  ['Log:\n```\n[map] tiles loaded\n```\n[map] Berlin\nB', 'Log:\n```\n[map] tiles loaded\n```\nB'],
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
  for (const delta of '[choice] Which size:\n[quick_replies] S, M, L') filter.push(delta);
  assert.equal(filter.flush() + filter.leftOut, 'Which size:\nS, M, L');
});
