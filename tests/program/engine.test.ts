/** The option that keeps optimised code, which an engine of another version may have dropped without a word. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { QUIET_OPTION } from '../../program/engine.ts';

test('RUN-32: the engine has the option by which memory and code are kept through short pauses', () => {
  const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  assert.ok(options.includes(`${QUIET_OPTION} (`), options.slice(0, 200));
});
