/** The options that keep a process warm, which an engine of another version may have dropped without a word. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { engineOptions } from '../../program/engine.ts';

/** Those with this beginning, as the engine lists its options. */
function listed(beginning: string): string[] {
  const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  return (
    options
      .match(/^ +--[a-z-]+(?= \()/gm)
      ?.map((line) => line.trim())
      .filter((name) => name.startsWith(beginning)) ?? []
  );
}

function assertKnown(option: string): void {
  const [name = ''] = option.split('=');
  assert.ok(listed(name).includes(name), `the engine has no ${name}`);
}

test('RUN-32: the engine has the option by which memory and code are kept through short pauses', () => {
  const [quiet = ''] = engineOptions(process.versions.v8).later;
  assert.match(quiet, /^--gc-memory-reducer-start-delay-ms=600000$/);
  assertKnown(quiet);
});

test('RUN-33: the engine has each option that it is told, says nothing about it, and one that counts calls is told no budget', () => {
  const { atStart, later } = engineOptions(process.versions.v8);
  for (const option of [...atStart, ...later]) assertKnown(option);
  const engine = new URL('../../program/engine.js', import.meta.url);
  const script = `
    import { mock } from 'node:test';
    mock.timers.enable({ apis: ['setTimeout'] });
    const { keepOptimised, STARTED_MS, tuneEngine } = await import('${engine}');
    tuneEngine();
    keepOptimised(STARTED_MS);
    mock.timers.tick(STARTED_MS);`;
  const { status, stderr } = spawnSync(process.execPath, ['--no-warnings', '--input-type=module', '--eval', script], { encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
  assert.ok(engineOptions('11.3.244.8-node.26').atStart.includes('--interrupt-budget=15000'));
  assert.deepEqual(engineOptions('12.4.254.21-node.33').atStart, []);
});
