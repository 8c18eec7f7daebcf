/** A fresh directory for one test, removed when the test ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

export function temporaryDir(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'assistant-test-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
