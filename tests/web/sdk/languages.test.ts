/** The words of every language: complete, with the same places for values, and none left in English by chance. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BLOCK_WORDS } from '../../../web/sdk/blocks/words.ts';
import { laterWords } from '../../../web/sdk/later-words.ts';
import { WIDGET_WORDS } from '../../../web/sdk/words.ts';
import { projectRoot } from '../../support/project-root.ts';

const FOLDER = join(projectRoot(), 'web/sdk/languages/lazy');
const ENGLISH: Readonly<Record<string, string>> = { ...WIDGET_WORDS, ...BLOCK_WORDS, ...laterWords({}) };
/** Words that are the same in some languages: names of things, and short ones. */
const SAME_MAX = 14;

const placesIn = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();

test('WIDGET-47: each language has every word, with the places of its values, and the table names each', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  assert.ok(files.length >= 20);
  const table = readFileSync(join(FOLDER, 'table.ts'), 'utf8');
  for (const file of files) {
    const words = JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Record<string, string>;
    assert.deepEqual(Object.keys(words).sort(), Object.keys(ENGLISH).sort(), file);
    for (const [name, text] of Object.entries(words)) {
      assert.ok(text.trim() !== '', `${file}: ${name}`);
      assert.deepEqual(placesIn(text), placesIn(ENGLISH[name] ?? ''), `${file}: ${name}`);
    }
    const same = Object.entries(words).filter(([name, text]) => text === ENGLISH[name]);
    assert.ok(same.length <= SAME_MAX, `${file}: ${same.map(([name]) => name).join(', ')}`);
    assert.ok(table.includes(`import('./${file}')`), file);
  }
});
