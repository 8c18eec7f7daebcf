import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inSources, loggedError } from '../../program/source-names.ts';
import { projectRoot } from '../support/project-root.ts';

const COMPILED = pathToFileURL(join(projectRoot(), 'dist', 'protocol', 'errors.js')).href;
const SOURCE = join(projectRoot(), 'protocol', 'errors.ts');

test('RUN-34: a frame of this program names the file and the line of its source, and all others stay as they are', () => {
  const others = [
    '    at Array.map (<anonymous>)',
    '    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
    `    at f (${pathToFileURL(join(projectRoot(), 'dist', 'no-such-file.js')).href}:1:1)`,
    '    at /a/package/index.js:7:2',
    '  cause (file:///not/a/frame.js:1:1)',
  ];
  const stack = ['Error: file:///a/text.js:3:4', `    at new Refusal (${COMPILED}:1:1)`, `    at async ${COMPILED}:1:1`, ...others].join(
    '\n',
  );
  const [message, first, second, ...rest] = inSources(stack).split('\n');
  assert.equal(message, 'Error: file:///a/text.js:3:4');
  assert.match(first ?? '', /^ {4}at new Refusal \(.*:\d+:\d+\)$/);
  assert.ok(first?.includes(`(${SOURCE}:`), first);
  assert.ok(second?.startsWith(`    at async ${SOURCE}:`), second);
  assert.deepEqual(rest, others);
});

test('RUN-34: so does a frame of the bundle that a start reads, where all modules are one file', () => {
  const lineIn = (path: string, text: string) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .findIndex((line) => line.startsWith(text)) + 1;
  const bundle = join(projectRoot(), 'dist', 'bundle', 'main.js');
  const begin = 'async function superviseAll(config';
  const main = join(projectRoot(), 'main.ts');
  const named = inSources(`Error\n    at superviseAll (${pathToFileURL(bundle).href}:${lineIn(bundle, begin)}:1)`);
  assert.ok(named.includes(`(${main}:${lineIn(main, begin)}:`), named);
});

test('RUN-34: frames beyond the bound stay as they are', () => {
  const frames = Array.from({ length: 61 }, () => `    at f (${COMPILED}:1:1)`);
  const lines = inSources(['Error', ...frames].join('\n')).split('\n');
  assert.deepEqual(
    lines.slice(60).map((line) => line.includes(COMPILED)),
    [true, true],
  );
  assert.ok(lines.slice(1, 60).every((line) => line.includes(SOURCE)));
});

test('RUN-34: an error is logged with its type, its code and its causes; what is no error as it is', () => {
  const error = Object.assign(new TypeError('broken', { cause: new Error('the cause') }), { code: 'E_BROKEN' });
  error.stack = `TypeError: broken\n    at f (${COMPILED}:1:1)`;
  const logged = loggedError(error) as Record<string, unknown>;
  assert.deepEqual([logged.type, logged.code, logged.message], ['TypeError', 'E_BROKEN', 'broken: the cause']);
  assert.match(String(logged.stack), new RegExp(`^TypeError: broken\n {4}at f \\(${SOURCE}:\\d+:\\d+\\)\ncaused by: Error: the cause`));
  assert.equal(loggedError('a text'), 'a text');
});
