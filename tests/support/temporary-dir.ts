/** A fresh directory for one test, removed when the test ends. Of a test that failed the traces of machines stay, and it names them. */
import { appendFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Node knows it; the types of its oldest release that is supported do not. */
type Judged = TestContext & { readonly error?: Error | null };

async function nameTraces(t: TestContext, dir: string): Promise<void> {
  try {
    // Only now: most tests end well, and many need no storage.
    const { keepFailedRun } = await import('./failed-run.ts');
    const files = keepFailedRun(dir);
    if (files.length > 0) t.diagnostic(`what its machines did, for npm run cli -- replay: ${files.join(' ')}`);
  } catch (error) {
    t.diagnostic(`the traces of its machines cannot be read: ${String(error)}`);
  }
}

const stacks = new WeakMap<TestContext, (() => unknown)[]>();

/**
 * Has `close` run when the test has ended, the last one first: `t.after` runs the first one first, so that a directory went
 * while the program that had it still wrote to it.
 */
export function atEnd(t: TestContext, close: () => unknown): void {
  const known = stacks.get(t);
  if (known !== undefined) return void known.push(close);
  const stack = [close];
  stacks.set(t, stack);
  t.after(async () => {
    const failures: unknown[] = [];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      try {
        await next();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  });
}

/** A file beside the directories, where there is one: which test each of them is of (left-behind.ts). */
export const MADE_FOR = 'made-for';

export function temporaryDir(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'assistant-test-'));
  const madeFor = join(tmpdir(), MADE_FOR);
  if (existsSync(madeFor)) appendFileSync(madeFor, `${dir}\t${t.name}\n`);
  atEnd(t, async () => {
    if ((t as Judged).error != null) await nameTraces(t, dir);
    // A process that was killed may put something there until the kernel has ended it.
    rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  });
  return dir;
}
