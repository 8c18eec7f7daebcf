/** What the guides say of variables, settings, the catalog, log lines, messages and files is what the code says. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import * as v from 'valibot';
import { ConfigError, readConfig } from '../program/config.ts';
import { environment } from '../program/settings.ts';
import { CATALOG } from '../protocol/catalog/catalog.ts';
import { appSettingsEntries, DEFAULT_APP_SETTINGS, settingsToWire } from '../protocol/console/app-settings.ts';
import { CATALOG_VERSION } from '../protocol/limits.ts';
import { WEB_SDK_VERSION } from '../protocol/runtime/web-sdk.ts';
import { projectRoot } from './support/project-root.ts';
import { isOfProgram } from './support/rooms.ts';

const root = projectRoot();
const FILES = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => !/^(?:node_modules|dist|\.git)\//.test(path));
const SOURCES = FILES.filter((path) => path.endsWith('.ts') && isOfProgram(path)).map((path) => readFileSync(join(root, path), 'utf8'));
const GUIDES = ['README.md', ...FILES.filter((path) => /^docs\/[^/]+\.md$/.test(path))];

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The cells of each row of the tables below `heading`, up to the next heading. */
function rowsBelow(path: string, heading: string): string[][] {
  const page = read(path);
  const start = page.indexOf(`\n## ${heading}\n`);
  assert.ok(start >= 0, `${path} has no heading "${heading}"`);
  const section = page.slice(start + 1).split('\n## ')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|') && !line.startsWith('|---'));
  return lines.map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

function quoted(cell = ''): string[] {
  return Array.from(cell.matchAll(/`([^`]+)`/g), ([, text = '']) => text);
}

function numbersIn(text: string): string[] {
  return text.replaceAll(/(?<=\d),(?=\d{3})/g, '').match(/\d+(?:\.\d+)?/g) ?? [];
}

/** What a variable may hold, as the refusals of wrong values say it. */
function refusalsOf(variable: string): string[] {
  return ['\u0001', '\u0001'.repeat(300)].flatMap((value) => {
    try {
      readConfig({ [variable]: value });
      return [];
    } catch (error) {
      assert.ok(error instanceof ConfigError, String(error));
      return [error.message.slice(error.message.indexOf(', but '))];
    }
  });
}

describe('HOUSE-14: variables in docs/operations.md', () => {
  const INTERNAL = new Set(['SUPERVISED', 'BANNER']);
  const rows = new Map(
    rowsBelow('docs/operations.md', 'Environment variables').map(([name = '', ...cells]) => [quoted(name)[0] ?? '', cells]),
  );
  const variables = Object.entries(environment.entries).filter(([name]) => !INTERNAL.has(name));

  test('each has a row, and each row is one', () => {
    assert.deepEqual([...rows.keys()].filter((name) => name !== '').sort(), variables.map(([name]) => name).sort());
  });

  for (const [name, schema] of variables) {
    test(`${name}: its default and its bounds`, () => {
      const [byDefault = '', meaning = ''] = rows.get(name) ?? [];
      const fallback = v.getDefault(schema);
      if (fallback !== undefined) assert.equal(byDefault, `\`${String(fallback)}\``);
      for (const message of refusalsOf(name).filter((text) => !text.includes('it may be true or false'))) {
        const told = numbersIn(meaning);
        for (const bound of numbersIn(message)) assert.ok(told.includes(bound), `${name}: the row does not say ${bound}, but ${message}`);
      }
    });
  }
});

describe('HOUSE-14: settings of an app in docs/console.md', () => {
  const rows = new Map(rowsBelow('docs/console.md', 'Apps').map(([name = '', ...cells]) => [quoted(name)[0] ?? '', cells]));
  const defaults = Object.entries(settingsToWire(DEFAULT_APP_SETTINGS));

  test('each has a row, and each row is one', () => {
    assert.deepEqual([...rows.keys()].filter((name) => name !== '').sort(), defaults.map(([name]) => name).sort());
  });

  for (const [name, fallback] of defaults) {
    test(`${name}: its default and its bounds`, () => {
      const [byDefault = '', meaning = ''] = rows.get(name) ?? [];
      if (name !== 'intake') assert.equal(byDefault.replaceAll('`', ''), JSON.stringify(fallback));
      const schema = appSettingsEntries[name as keyof typeof appSettingsEntries];
      const tooMany = Array.from({ length: 1_000 }, (_, index) => `h${index}.example`);
      const tooLong = { links: tooMany.map((host) => `https://${host}`), description: 'x'.repeat(10_000) };
      const perPlatform = Object.fromEntries(tooMany.map((_, index) => [`p${index}`, '1.0.0']));
      const told = numbersIn(meaning);
      for (const wrong of [-1, 1e12, tooMany, tooLong, perPlatform]) {
        const result = v.safeParse(schema as v.GenericSchema, wrong);
        const messages = result.success ? [] : result.issues.map(({ message }) => message);
        for (const message of messages.filter((text) => /whole number|at most|more than/.test(text))) {
          for (const bound of numbersIn(message)) assert.ok(told.includes(bound), `${name}: the row does not say ${bound}: ${message}`);
        }
      }
    });
  }
});

test('HOUSE-14: every log line and every message that docs/operations.md explains is in the code', () => {
  const tables = [
    ...rowsBelow('docs/operations.md', 'Logs').map(([line]) => line),
    ...rowsBelow('docs/operations.md', 'Find out why a request failed').flatMap(([message, line]) => [message, line]),
    ...rowsBelow('docs/operations.md', 'Several processes').flatMap(([line, level]) =>
      /^(?:info|warn|error)$/.test(level ?? '') ? [line] : [],
    ),
  ];
  const phrases = tables
    .flatMap(quoted)
    .flatMap((line) => line.split('…').map((part) => part.trim()))
    .filter((part) => part.includes(' '));
  assert.ok(phrases.length > 50);
  const missing = phrases.filter((phrase) => !SOURCES.some((text) => text.includes(phrase)));
  assert.deepEqual(missing, []);
});

test('HOUSE-14: the guides name the version of the catalog and the number of its components', () => {
  const named = (path: string, pattern: RegExp) => Array.from(read(path).matchAll(pattern), ([, found]) => found);
  for (const path of ['README.md', 'docs/catalog.md', 'docs/runtime.md']) assert.ok(read(path).includes(CATALOG_VERSION), path);
  assert.notEqual(named('README.md', /(\d+) components/g).length, 0);
  for (const path of GUIDES) {
    for (const version of named(path, /\b(20\d\d-\d\d\.[a-z])\b/g)) assert.equal(version, CATALOG_VERSION, path);
    for (const count of named(path, /\b(\d+) components/g)) assert.equal(Number(count), CATALOG.size, path);
  }
});

test('VERSION-9: docs/upgrades.md has a notice for this release first, and no release twice', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const notices = [...read('docs/upgrades.md').matchAll(/^## (.+)$/gm)].map(([, title]) => title);
  assert.equal(notices[0], `${version} (web SDK ${WEB_SDK_VERSION}, catalog ${CATALOG_VERSION})`);
  assert.equal(new Set(notices).size, notices.length);
});

test('HOUSE-14: every source file and document that a guide names exists', () => {
  const missing = GUIDES.flatMap((path) =>
    quoted(read(path).replaceAll(/```.*?```/gs, ''))
      .filter((name) => /^(?!PUBLIC_URL)[\w./-]+\.(?:ts|md)$/.test(name))
      .filter((name) => !FILES.some((file) => file === name || file.endsWith(`/${name}`)))
      .map((name) => `${path}: ${name}`),
  );
  assert.deepEqual(missing, []);
});
