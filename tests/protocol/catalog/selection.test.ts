/** Selections and submissions against the blocks they answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOG, validateBody } from '../../../protocol/catalog/catalog.ts';
import { submissionProblems } from '../../../protocol/catalog/form-submission.ts';
import { acceptsOtherText, selectableIds, selectionProblem } from '../../../protocol/catalog/selection.ts';
import { type Example, fullExample, MODEL_EXAMPLES } from './examples.ts';

function block(name: string, change: Example = {}) {
  const valid = validateBody(name, { ...fullExample(name), ...change });
  assert.ok(valid.ok, JSON.stringify(valid));
  return { block_type: name, body: valid.body };
}

const shown = (name: string, change: Example = {}) =>
  [...(selectableIds(block(name, change)) ?? [])].map(([id, { disabled }]) => (disabled ? `(${id})` : id)).join(' ');

test('BLOCK-14: Pick: each block that is answered by choosing shows its ids, disabled ones marked', () => {
  assert.equal(shown('quick_replies'), 'track return');
  assert.equal(shown('choice'), 'a (b)');
  assert.equal(shown('rating'), '1 2 3 4 5');
  assert.equal(shown('rating', { scale: 3 }), '1 2 3');
  assert.equal(shown('datetime_slots'), 'd1 (d2)');
  // Blue exists, but no variant with it can be had.
  assert.equal(shown('variant_picker'), 's40 s41 red (blue)');
});

test('BLOCK-14: Pick: no other block is answered by ids', () => {
  const answered = new Set(['quick_replies', 'choice', 'rating', 'variant_picker', 'datetime_slots']);
  for (const name of CATALOG.keys()) {
    assert.equal(selectableIds(block(name)) !== undefined, answered.has(name), name);
    if (!answered.has(name)) assert.match(selectionProblem(block(name), { ids: [] }) ?? '', /nothing to choose/);
  }
});

test('BLOCK-18: choice.other and rating.comment: own words only where the block asks for them', () => {
  assert.equal(acceptsOtherText(block('choice')), false);
  assert.equal(acceptsOtherText(block('choice', { other: { label: 'Other' } })), true);
  assert.equal(acceptsOtherText(block('rating')), true);
  assert.equal(acceptsOtherText(block('rating', { comment: false })), false);
  assert.equal(acceptsOtherText(block('form')), false);
  assert.match(selectionProblem(block('choice'), { ids: ['a'], otherText: 'mine' }) ?? '', /other_text/);
  assert.equal(selectionProblem(block('choice', { other: { label: 'Other' } }), { ids: [], otherText: 'mine' }), undefined);
});

test('BLOCK-14: Rules: an id not shown, a disabled one, an answered or superseded block are refused, a good one is not', () => {
  const problem = (ids: string[], change: Example = {}) => selectionProblem(block('choice', change), { ids }) ?? 'good';
  assert.equal(problem(['a']), 'good');
  assert.match(problem(['z']), /"z", which the block did not show/);
  assert.match(problem(['constructor']), /did not show/);
  assert.match(problem(['b']), /"b", which is not available/);
  assert.match(problem(['a'], { status: 'answered', selected_ids: ['a'] }), /already answered/);
  assert.match(problem(['a'], { status: 'superseded' }), /replaced/);
  assert.match(problem(['a', 'a'], { mode: 'multi' }), /twice/);
  assert.match(problem([]), /at least 1/);
});

test('BLOCK-14, BLOCK-18: choice: a multiple choice takes from min to max, own words counted', () => {
  const multi = { ...MODEL_EXAMPLES.choice?.[1] };
  const problem = (ids: string[], otherText?: string) => selectionProblem(block('choice', multi), { ids, otherText }) ?? 'good';
  assert.equal(problem(['late', 'broken']), 'good');
  assert.match(problem(['late', 'broken', 'wrong']), /at most 2/);
  assert.match(problem(['late', 'broken'], 'and noisy'), /at most 2/);
  assert.match(problem([], '  '), /at least 1/);
  assert.equal(selectionProblem(block('choice', { ...multi, min: 0 }), { ids: [] }), undefined);
});

test('BLOCK-14: variant_picker: one option of each axis, together a variant that is available', () => {
  const problem = (...ids: string[]) => selectionProblem(block('variant_picker'), { ids }) ?? 'good';
  assert.equal(problem('red', 's41'), 'good');
  assert.match(problem('red'), /one option of each of: Size, Colour/);
  assert.match(problem('s40', 's41'), /one option of each/);
  const sizes = { ...fullExample('variant_picker') };
  const variants = [
    { id: 'v1', option_ids: ['s40', 'red'], available: true },
    { id: 'v2', option_ids: ['s41', 'blue'], available: true },
    { id: 'v3', option_ids: ['s41', 'red'], available: false },
  ];
  const pick = (...ids: string[]) => selectionProblem(block('variant_picker', { ...sizes, variants }), { ids }) ?? 'good';
  assert.deepEqual([pick('s40', 'red'), pick('s41', 'blue')], ['good', 'good']);
  assert.match(pick('s41', 'red'), /combination that is not available/);
  assert.match(pick('s40', 'blue'), /combination that is not available/);
});

test('BLOCK-14: replies, scores and slots take exactly one', () => {
  for (const [name, one, two] of [
    ['quick_replies', 'track', 'return'],
    ['rating', '1', '5'],
  ] as const) {
    assert.equal(selectionProblem(block(name), { ids: [one] }), undefined);
    assert.match(selectionProblem(block(name), { ids: [one, two] }) ?? '', /exactly one/);
    assert.match(selectionProblem(block(name), { ids: [] }) ?? '', /exactly one/);
  }
  assert.equal(selectionProblem(block('datetime_slots'), { ids: ['d1'] }), undefined);
  assert.match(selectionProblem(block('datetime_slots'), { ids: ['d2'] }) ?? '', /not available/);
});

test('BLOCK-20: form: a submission is checked against the fields, and a bad value is named', () => {
  const { body } = block('form');
  const good = {
    name: 'Ana',
    notes: 'None',
    age: 40,
    gift: false,
    day: '2026-05-01',
    email: 'ana@example.com',
    phone: '⟦phone_1⟧',
    country: 'ES',
    topics: ['news'],
  };
  assert.deepEqual(submissionProblems(body, good), []);
  assert.deepEqual(submissionProblems(body, { name: 'Ana', country: '', topics: [] }), [], 'what is not required may be blank');
  const wrong = (change: Record<string, unknown>) => submissionProblems(body, { ...good, ...change });
  assert.deepEqual(wrong({ name: ' ' }), [{ path: 'values.name', message: 'is required' }]);
  assert.deepEqual(wrong({ shoe: 1 }), [{ path: 'values.shoe', message: 'is not a field of this form' }]);
  const bad: readonly (readonly [string, unknown])[] = [
    ['name', 'A'],
    ['name', 'a'.repeat(81)],
    ['name', 7],
    ['notes', 'n'.repeat(4_001)],
    ['age', 17],
    ['age', 121],
    ['age', '40'],
    ['gift', 'yes'],
    ['day', '2025-12-31'],
    ['day', '2027-01-01'],
    ['day', '2026-02-30'],
    ['email', 'ana'],
    ['phone', 'call me'],
    ['country', 'FR'],
    ['topics', ['news', 'news']],
    ['topics', ['news', 'sport']],
    ['topics', 'news'],
  ];
  for (const [name, value] of bad) {
    const details = wrong({ [name]: value });
    assert.deepEqual(
      details.map((detail) => detail.path),
      [`values.${name}`],
      `${name}=${JSON.stringify(value)}`,
    );
  }
  const many = Object.fromEntries(Array.from({ length: 20 }, (_unused, index) => [`x${index}`, 1]));
  assert.equal(submissionProblems(body, { ...good, ...many }).length, 12);
});
