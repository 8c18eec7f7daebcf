/** What tests of a replica's failures share: a service behind a destination that fails as it is told, and what can be restored from there. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { dataLayout } from '../../../storage/data-layout.ts';
import { openReader } from '../../../storage/sqlite/database.ts';
import { eventually } from '../../support/eventually.ts';
import { startObjectStorage } from '../../support/object-storage.ts';
import { filesBelow, type Replicated, startReplicated } from '../../support/replica.ts';
import { runCli } from '../../support/run-cli.ts';
import { startStorageFront } from '../../support/storage-front.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

export const COMMON = {
  DEMO: 'off',
  MASTER_KEY: Buffer.alloc(32, 9).toString('base64'),
  OPERATOR_TOKEN: 'the-operator-of-all-these-tests',
};
/** Seconds: passed only by a replica that nothing reaches, on a machine with other work. */
export const LAG_MAX_S = '4';
/** A Litestream that stands still is given up after 10 s, then 20, then 40. */
export const CATCH_UP_MS = 120_000;

export const ALL = { First: ["First's first app"], Meanwhile: ["Meanwhile's first app"] };

/** A service that has replicated what it had, by way of what stands in front of the storage. */
export async function startBehindFront(t: TestContext) {
  const storage = await startObjectStorage(t);
  const front = await startStorageFront(t, storage.env.AWS_ENDPOINT_URL ?? '');
  const env = { ...COMMON, ...storage.env, AWS_ENDPOINT_URL: front.endpoint, REPLICA_LAG_MAX_S: LAG_MAX_S };
  const service = await startReplicated(t, storage.url, { env });
  const first = await service.addOrganisation('First');
  await caughtUp(service, storage.folder, first);
  return { service, front, storage, env, first };
}

/** All of this organisation and of the control file is below `folder`, and the replica is not behind. */
export async function caughtUp(service: Replicated, folder: string, organisation: string): Promise<void> {
  const isSent = () => filesBelow(folder).some((name) => name.includes(`${organisation}.sqlite/generations`) && name.includes('.wal.lz4'));
  const isInStep = async () => (await service.metric('assistant_replica_lag_max_seconds')) < Number(LAG_MAX_S) / 2;
  const isCaughtUp = async () => isSent() && (await isInStep()) && (await service.behind()) === undefined;
  await eventually(
    isCaughtUp,
    CATCH_UP_MS,
    () => `${service.output().stderr.slice(-2_000)} ${readFileSync(join(service.dataDir, 'replica', 'status.json'), 'utf8')} ${Date.now()}`,
  );
}

/** The apps of each organisation in what is restored from the replica. */
export async function restored(t: TestContext, url: string, env: Readonly<Record<string, string>>): Promise<Record<string, unknown[]>> {
  const dataDir = join(temporaryDir(t), 'restored');
  const { code, stderr } = await runCli(['restore', '--from', url], dataDir, env);
  assert.equal(code, 0, stderr);
  const rows = <Row>(path: string, sql: string): Row[] => {
    const db = openReader(path);
    try {
      return db.statement(sql).all() as Row[];
    } finally {
      db.close();
    }
  };
  const { control, organisation } = dataLayout(dataDir);
  const organisations = rows<{ id: string; name: string }>(control, 'SELECT id, name FROM organisations');
  return Object.fromEntries(
    organisations.map(({ id, name }) => [name, rows<{ name: string }>(organisation(id), 'SELECT name FROM apps').map((app) => app.name)]),
  );
}
