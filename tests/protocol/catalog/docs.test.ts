/** docs/catalog.md is what SDK authors read: its table must name every component and every field. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CATALOG } from '../../../protocol/catalog/catalog.ts';
import { fullExample } from './examples.ts';

// Compiled tests lie one folder deeper than their sources.
const page = readFileSync(new URL('../../../../docs/catalog.md', import.meta.url), 'utf8');
const rows = new Map(
  page
    .slice(page.indexOf('## Components'))
    .split('\n')
    .filter((line) => /^\| [a-z_]+ \|/.test(line) && !line.startsWith('| block_type'))
    .map((line) => [line.split('|')[1]?.trim() ?? '', line]),
);

/** Every property name of a JSON Schema, at any depth, those of the shared shapes left out. */
function fieldsOf(schema: unknown, shared: ReadonlySet<string>): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const properties = Object.entries((schema as { properties?: Record<string, unknown> }).properties ?? {});
  const own = properties.map(([name]) => name);
  // An Option, an Action, an Image and Money are told once, above the table.
  const isShared =
    own.length > 1 && own.every((name) => shared.has(name)) && ['target', 'url', 'currency', 'disabled'].some((name) => own.includes(name));
  const below = [
    ...Object.values(schema as object).filter((_value, index) => Object.keys(schema)[index] !== 'properties'),
    ...properties.map(([, item]) => item),
  ];
  return [...(isShared ? [] : own), ...below.flatMap((item) => fieldsOf(item, shared))];
}

test('BLOCK-2: docs/catalog.md has one row for each component, in the order of the catalog', () => {
  assert.deepEqual([...rows.keys()], [...CATALOG.keys()]);
});

test('BLOCK-4: docs/catalog.md names every field of every component', () => {
  const shared = new Set('id label description image badge disabled hex kind target style url alt amount currency'.split(' '));
  for (const component of CATALOG.values()) {
    const wanted = new Set([...fieldsOf(component.parameters, shared), ...Object.keys(fullExample(component.name))]);
    assert.ok(wanted.size >= 1);
    for (const field of wanted) {
      assert.match(rows.get(component.name) ?? '', new RegExp(`(?<![a-z_])${field}(?![a-z_])`), `${component.name}.${field}`);
    }
  }
});
