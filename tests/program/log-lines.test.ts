/** The log's way out of the process, with readers that read and readers that are gone. */
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./log-lines-program.js', import.meta.url));

function logging(t: TestContext): {
  readonly child: ChildProcessByStdio<Writable, null, Readable>;
  readonly ended: Promise<number | null>;
} {
  const child = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'ignore', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  return { child, ended: once(child, 'close').then(([code]) => code as number | null) };
}

test('RUN-8: the last lines of the log are written before the process ends', async (t) => {
  const { child, ended } = logging(t);
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  await once(child.stderr, 'data');
  child.stdin.end();
  assert.equal(await ended, 0);
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { n?: number });
  assert.deepEqual(
    lines.slice(-100).map(({ n }) => n),
    Array.from({ length: 100 }, (_, n) => n),
  );
});

test('RUN-8: a process ends although nobody reads its log any more, as when the supervisor was killed', async (t) => {
  for (let round = 0; round < 3; round++) {
    const { child, ended } = logging(t);
    await once(child.stderr, 'data');
    // Both within a moment: the process has written nothing in vain before it is asked to end.
    child.stderr.destroy();
    child.stdin.end();
    assert.equal(await ended, 0);
  }
});
