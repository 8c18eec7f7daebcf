/** docs/threat-model.md: each defence names the test that proves it. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { projectRoot } from './support/project-root.ts';

test('SAFE-10: every threat names a test, and every test that is named exists', () => {
  const page = readFileSync(join(projectRoot(), 'docs/threat-model.md'), 'utf8');
  const threats = page
    .slice(page.indexOf('## Threats and defences'), page.indexOf('## What is left to you'))
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| threat '));
  assert.ok(threats.length > 20);
  const missing = threats.flatMap((line) => {
    const named = Array.from(line.matchAll(/`([a-z/-]+\.test\.ts)`/g), ([, file = '']) => file);
    return named.length === 0 ? [line] : named.filter((file) => !existsSync(join(projectRoot(), 'tests', file)));
  });
  assert.deepEqual(missing, []);
});
