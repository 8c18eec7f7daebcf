/** The Litestream that tests run: the program of the package for this machine. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openReader } from '../../storage/sqlite/database.ts';
import { temporaryDir } from './temporary-dir.ts';

/** The path of the program. @throws Error where the package has none for this machine. */
export function litestreamBin(): string {
  const require = createRequire(import.meta.url);
  return require.resolve(`@flydotio/litestream-${platform()}-${arch()}/litestream`);
}

/** The rows of a table in the replica of a database, restored by Litestream itself. */
export function replicated(t: TestContext, target: string, name: string, sql: string): unknown[] {
  const out = join(temporaryDir(t), 'restored.sqlite');
  try {
    execFileSync(litestreamBin(), ['restore', '-if-replica-exists', '-o', out, `file://${join(target, name)}`], { stdio: 'ignore' });
  } catch {
    // Its first snapshot is being written.
  }
  if (!existsSync(out)) return [];
  const db = openReader(out);
  try {
    return db.statement(sql).all();
  } finally {
    db.close();
  }
}

/** Ends the Litestreams of a directory, which may have been removed. */
export function endLitestreams(dataDir: string): void {
  const configuration = join(dataDir, 'replica', 'litestream.yml');
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(configuration)) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}
