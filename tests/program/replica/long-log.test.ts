import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { openReader, openWriter } from '../../../storage/sqlite/database.ts';
import { eventually } from '../../support/eventually.ts';
import { restored } from '../../support/litestream.ts';
import { startReplicated } from '../../support/replica.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const ENV = { DEMO: 'off', MASTER_KEY: Buffer.alloc(32, 9).toString('base64'), OPERATOR_TOKEN: 'the-operator-of-all-these-tests' };
const CARRIED_MS = 60_000;

/** A service that was killed together with its Litestream, after all was carried; and its control file, opened by somebody else. */
async function killed(t: TestContext): Promise<{ dataDir: string; target: string; control: Connection }> {
  const target = temporaryDir(t);
  const service = await startReplicated(t, `file://${target}`, { env: ENV });
  const { dataDir } = service;
  const control = openWriter(join(dataDir, 'control.sqlite'));
  t.after(() => control.close());
  control.exec('CREATE TABLE foreign_rows (x BLOB) STRICT');
  write(control, 50);
  await eventually(() => restoredRows(t, target) === 50, CARRIED_MS);
  await service.stop('SIGKILL');
  process.kill(await service.litestreamPid(), 'SIGKILL');
  return { dataDir, target, control };
}

function write(db: Connection, rows: number, bytes = 3_000): void {
  for (let row = 0; row < rows; row += 1) db.statement('INSERT INTO foreign_rows VALUES (:x)').run({ x: Buffer.alloc(bytes, 7) });
}

/** How many rows a restore brings back; 0 while it fails. @throws Error when what it brought back is damaged */
function restoredRows(t: TestContext, target: string): number {
  const out = restored(t, { target, dataDir: '', masterKey: ENV.MASTER_KEY }, 'control.sqlite');
  if (out === undefined) return 0;
  const db = openReader(out);
  try {
    assert.deepEqual(db.statement('PRAGMA integrity_check').all(), [{ integrity_check: 'ok' }]);
    const hasTable = db.statement("SELECT 1 FROM sqlite_schema WHERE name = 'foreign_rows'").get() !== undefined;
    return hasTable ? Number(db.statement('SELECT count(*) AS n FROM foreign_rows').get()?.n) : 0;
  } finally {
    db.close();
  }
}

test('REPLICA-3: a log that has grown beyond bounds while no Litestream ran is moved into the file, and the replica has all', async (t) => {
  const { dataDir, target, control } = await killed(t);
  write(control, 70, 1_000_000);
  const before = statSync(join(dataDir, 'control.sqlite')).size;
  const service = await startReplicated(t, `file://${target}`, { dataDir, env: ENV });
  await eventually(() => statSync(join(dataDir, 'control.sqlite')).size > before + 60_000_000);
  await eventually(
    () => restoredRows(t, target) === 120,
    CARRIED_MS,
    () => service.output().stderr,
  );
  assert.equal(readdirSync(join(target, 'control.sqlite', 'generations')).length, 2, 'a new snapshot');
  await service.stop();
});
