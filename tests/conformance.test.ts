/** docs/conformance.md maps every rule of the runtime interface to its tests: here it is held against the tests that there are. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ERROR_TABLE } from '../protocol/errors.ts';

// From dist/tests as from tests, the project is two or one folders up; sources are read, because titles stand there.
const PROJECT = new URL(import.meta.url.includes('/dist') ? '../../' : '../', import.meta.url);

interface Row {
  readonly section: string;
  readonly rule: string;
  readonly proofs: readonly { readonly file: string; readonly title: string }[];
}

function rowsOf(page: string): Row[] {
  let section = '';
  return page.split('\n').flatMap((line) => {
    if (line.startsWith('## ')) section = line.slice(3);
    const [, rule = '', , proven = ''] = line.split(' | ').length === 3 ? ['', ...line.replace(/^\| | \|$/g, '').split(' | ')] : [];
    if (rule === '' || rule === 'rule') return [];
    const proofs = proven.split('<br>').flatMap((proof) => {
      const [, file, title] = /^`([^`]+\.test\.ts)` · (.+)$/.exec(proof) ?? [];
      return file === undefined || title === undefined ? [] : [{ file, title }];
    });
    return [{ section, rule, proofs }];
  });
}

/** Titles as they are written, generated ones with their `${…}`. */
function titlesOf(file: string): string[] {
  const source = readFileSync(new URL(`tests/${file}`, PROJECT), 'utf8');
  const found = source.matchAll(/\b(?:test|it)\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g);
  return Array.from(found, ([, single, double, template]) => (single ?? double ?? template ?? '').replaceAll("\\'", "'"));
}

const THREATS = readFileSync(new URL('docs/threat-model.md', PROJECT), 'utf8');
const PAGE = readFileSync(new URL('docs/conformance.md', PROJECT), 'utf8');
const ROWS = rowsOf(PAGE);

test('docs/conformance.md: every row names a test', () => {
  assert.ok(ROWS.length > 100, String(ROWS.length));
  for (const { section, rule, proofs } of ROWS) assert.ok(proofs.length > 0, `${section}: ${rule} has no test`);
});

test('docs/conformance.md: every test that is named exists', () => {
  const titles = new Map<string, string[]>();
  const missing: string[] = [];
  for (const { section, rule, proofs } of ROWS) {
    for (const { file, title } of proofs) {
      try {
        if (!titles.has(file)) titles.set(file, titlesOf(file));
      } catch {
        titles.set(file, []);
      }
      if (!titles.get(file)?.some((known) => known.startsWith(title))) missing.push(`${section}: ${rule}: ${file} · ${title}`);
    }
  }
  assert.deepEqual(missing, []);
});

/** Codes of the setup and console interfaces, which have tests of their own. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  ...['unknown_code', 'code_used', 'code_expired', 'app_not_found', 'not_started', 'already_claimed', 'app_live', 'draft_invalid'],
  ...['session_closed', 'empty_file', 'unsupported_type', 'invalid_json', 'invalid_body', 'missing_token', 'invalid_token'],
  ...['invalid_csrf', 'not_found', 'conflict', 'too_large', 'invalid_appearance', 'invalid_experience', 'method_not_allowed'],
]);

test('docs/conformance.md: every error code of the runtime interface has a row', () => {
  const rows = new Set(ROWS.filter(({ section }) => section.startsWith('Codes')).map(({ rule }) => rule));
  const codes = Object.keys(ERROR_TABLE).filter((code) => !ELSEWHERE.has(code));
  assert.deepEqual([...rows].sort(), codes.sort());
});

/** Rules that the specification numbers, by section. */
const NUMBERED: Readonly<Record<string, readonly number[]>> = {
  'What the service does': [2, 3, 4, 5, 7],
  Authentication: [1, 2, 3, 4, 5, 6],
  Events: [1, 2, 3, 4, 5, 7],
  'Client handling': [1, 2, 3, 4, 5, 6, 7, 8],
  Versioning: [1, 2, 4, 5],
};

test('docs/conformance.md: every numbered rule has a row', () => {
  for (const [section, rules] of Object.entries(NUMBERED)) {
    assert.deepEqual(
      ROWS.filter((row) => row.section === section).map(({ rule }) => Number(rule)),
      rules,
      section,
    );
  }
  const caps = ROWS.filter(({ section, rule }) => section === 'The five caps' && rule.startsWith('Rule ')).map(({ rule }) => rule.slice(5));
  assert.deepEqual(caps.map(Number), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('docs/threat-model.md: every threat names a test, and every test that is named exists', () => {
  const threats = THREATS.slice(THREATS.indexOf('## Threats and defences'), THREATS.indexOf('## What is left to you'))
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| threat '));
  assert.ok(threats.length > 20);
  const missing = threats.flatMap((line) => {
    const named = Array.from(line.matchAll(/`([a-z/-]+\.test\.ts)`/g), ([, file = '']) => file);
    return named.length === 0 ? [line] : named.filter((file) => !existsSync(new URL(`tests/${file}`, PROJECT)));
  });
  assert.deepEqual(missing, []);
});
