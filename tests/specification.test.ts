/** The specification is whole: every rule has one id and a test, and whoever cites a rule cites one that exists. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ERROR_TABLE } from '../protocol/errors.ts';
import { broken, readBreaks } from '../tools/breaks.ts';
import { CONFORMANCE_FILE, conformancePage } from '../tools/conformance-page.ts';
import { idsOfTitle, readChapters, readLines, readTests, rulesOf, unnamedTests } from '../tools/specification.ts';
import { projectRoot } from './support/project-root.ts';
import { ROOMS } from './support/rooms.ts';

const chapters = readChapters();
const rules = chapters.flatMap((chapter) => chapter.rules.map((rule) => ({ ...rule, chapter: chapter.name })));
const known = new Set(rules.map(({ id }) => id));
const tests = readTests();
const lines = readLines([...ROOMS, 'tests', 'bench', 'tools', 'docs']);

function prefixOf(id: string): string {
  return id.slice(0, id.indexOf('-'));
}

describe('HOUSE-8: the reader of the specification', () => {
  test('a rule is a list item that begins with its id', () => {
    const page = '# Chat\n\n- **CHAT-1** One thing,\n  told on two lines.\n- Not a rule.\n- **CHAT-2** Another.\n';
    assert.deepEqual(rulesOf(page), [
      { id: 'CHAT-1', text: 'One thing, told on two lines.' },
      { id: 'CHAT-2', text: 'Another.' },
    ]);
  });

  test('a title names the rules that it begins with', () => {
    assert.deepEqual(idsOfTitle('CHAT-1, STREAM-12: the answer ends'), ['CHAT-1', 'STREAM-12']);
    assert.deepEqual(idsOfTitle('the answer of CHAT-1: ends'), []);
  });

  test('a test without a rule stands in a group that names one, or is a group of tests that do', () => {
    const at = (column: number, title: string) => ({ file: 'a.test.ts', title, ids: idsOfTitle(title), column });
    const tests = [
      at(0, 'CHAT-1: turns'),
      at(2, 'one'),
      at(0, 'a group'),
      at(2, 'CHAT-2: two'),
      at(0, 'three'),
      at(0, 'four'),
      at(2, 'five'),
    ];
    assert.deepEqual(
      unnamedTests(tests).map(({ title }) => title),
      ['three', 'four', 'five'],
    );
  });
});

test('HOUSE-8: every id is one rule, and every prefix belongs to one chapter', () => {
  const twice = rules.map(({ id }) => id).filter((id, index, ids) => ids.indexOf(id) !== index);
  assert.deepEqual(twice, []);
  const homes = new Set(rules.map(({ id, chapter }) => `${prefixOf(id)} in ${chapter}`));
  assert.equal(homes.size, new Set(rules.map(({ id }) => prefixOf(id))).size, [...homes].join(', '));
});

test('HOUSE-8: every id that is cited is a rule', () => {
  const prefixes = new Set([...known].map(prefixOf));
  const unknown = lines.flatMap(({ place, text }) =>
    (text.match(/(?<![\w-])[A-Z]+-\d+(?![\w-])/g) ?? [])
      .filter((id) => prefixes.has(prefixOf(id)) && !known.has(id))
      .map((id) => `${place}: ${id}`),
  );
  assert.deepEqual(unknown, []);
  const misnamed = tests.filter(({ ids }) => ids.some((id) => !known.has(id)));
  assert.deepEqual(
    misnamed.map(({ title }) => title),
    [],
    'a title that begins with an id names a rule',
  );
  const untold = tests.filter(({ ids }) => ids.some((id) => !known.has(id)));
  assert.deepEqual(untold, []);
});

test('HOUSE-8: every rule is named by a test', () => {
  const proven = new Set(tests.flatMap(({ ids }) => ids));
  assert.deepEqual(
    [...known].filter((id) => !proven.has(id)),
    [],
  );
});

test('HOUSE-8: every test names a rule, itself or by its group', () => {
  assert.deepEqual(
    unnamedTests(tests).map(({ file, title }) => `${file}: ${title}`),
    [],
  );
});

test('HTTP-18, HTTP-19: every error code stands in a rule, with its status', () => {
  const untold = Object.entries(ERROR_TABLE).filter(
    ([code, { status }]) => !rules.some(({ text }) => text.includes(`\`${code}\` ${status}`) || text.includes(`${status} \`${code}\``)),
  );
  assert.deepEqual(untold, []);
});

test('HOUSE-8: nothing cites a document that is not here', () => {
  const elsewhere = /\bservice\.md\b|\bhouse\.md\b|\b[Dd]ecisions(?:\.md)?,? §|(?<!docs\/)\bcatalog\.md[ :]|\(catalog\.md[):,]/;
  assert.deepEqual(
    lines.filter(({ text }) => elsewhere.test(text)).map(({ place, text }) => `${place}: ${text.trim()}`),
    [],
  );
});

test('HOUSE-8: docs/conformance.md is what npm run conformance writes', () => {
  const page = readFileSync(CONFORMANCE_FILE, 'utf8').split('\n');
  const wanted = conformancePage(chapters, tests).split('\n');
  // By lines, and the first few only: comparing two texts of this size takes the assertion library minutes.
  const stale = [...new Set(wanted)].filter((line) => !page.includes(line));
  assert.deepEqual(stale.slice(0, 5), [], 'run npm run conformance');
  assert.equal(page.length, wanted.length, 'run npm run conformance');
});

test('HOUSE-16: every break is of a rule, and what it replaces stands once in its file', () => {
  const breaks = readBreaks();
  assert.deepEqual(
    breaks.filter(({ rule }) => !known.has(rule)),
    [],
  );
  for (const one of breaks) assert.doesNotThrow(() => broken(one, readFileSync(join(projectRoot(), one.file), 'utf8')));
  const one = { rule: 'CHAT-1', breaks: '', file: 'a.ts', replace: 'a', by: 'b' };
  assert.equal(broken(one, 'cat'), 'cbt');
  for (const source of ['cut', 'data']) assert.throws(() => broken(one, source), /CHAT-1.*stands \d times in a\.ts/);
});
