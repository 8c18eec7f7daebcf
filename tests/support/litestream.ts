/** The Litestream that tests run: the program of the package for this machine. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { litestreamReplica } from '../../program/replica/litestream-configuration.ts';
import { databaseSeals } from '../../program/replica/sealing.ts';
import { dataLayout } from '../../storage/data-layout.ts';
import { openVault } from '../../storage/secrets/vault.ts';
import { openReader } from '../../storage/sqlite/database.ts';
import { temporaryDir } from './temporary-dir.ts';

/** The path of the program. @throws Error where the package has none for this machine. */
export function litestreamBin(): string {
  const require = createRequire(import.meta.url);
  return require.resolve(`@flydotio/litestream-${platform()}-${arch()}/litestream`);
}

/** A replica in the folder `target` of a directory that has a master key of its own, unless one is given. */
export interface Replica {
  readonly target: string;
  readonly dataDir: string;
  readonly masterKey?: string;
}

/** A database, restored by Litestream itself; undefined while that fails. */
export function restored(t: TestContext, { target, dataDir, masterKey }: Replica, name: string): string | undefined {
  const folder = temporaryDir(t);
  const out = join(folder, 'restored.sqlite');
  const seals = databaseSeals(openVault(dataLayout(dataDir).masterKey, masterKey));
  const s3 = { region: '', endpoint: undefined, accessKeyId: undefined, secretAccessKey: undefined };
  const replicas = [litestreamReplica({ url: `file://${target}`, s3 }, name, seals(name))];
  const configuration = join(folder, 'litestream.yml');
  writeFileSync(configuration, JSON.stringify({ dbs: [{ path: out, replicas }] }));
  try {
    execFileSync(litestreamBin(), ['restore', '-if-replica-exists', '-config', configuration, out], { stdio: 'ignore' });
  } catch {
    // Its first snapshot is being written.
  }
  return existsSync(out) ? out : undefined;
}

/** The rows of a table in the replica of a database. */
export function replicated(t: TestContext, replica: Replica, name: string, sql: string): unknown[] {
  const out = restored(t, replica, name);
  if (out === undefined) return [];
  const db = openReader(out);
  try {
    return db.statement(sql).all();
  } finally {
    db.close();
  }
}

/** Ends the Litestreams of a directory, which may have been removed. */
export function endLitestreams(dataDir: string): void {
  const configurations = ['litestream.yml', 'newcomers.yml'].map((name) => join(dataDir, 'replica', name));
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (configurations.some((configuration) => words.includes(configuration))) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}
