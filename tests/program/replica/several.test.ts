/** Replicas where several processes or several cells are: one keeper a directory, and a replica for each cell that holds what is there now. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createOperator } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { type Replica, replicated } from '../../support/litestream.ts';
import { redisMissing, startRedis } from '../../support/redis.ts';
import { isAlive, type Replicated, startReplicated } from '../../support/replica.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { COMMON } from './failing.ts';

const ENV = { ...COMMON, REPLICA_LAG_MAX_S: '30' };
const APPS = 'SELECT name FROM apps';
/** A move takes seconds, and then Litestream has to learn of the file. */
const MOVED_MS = 120_000;

async function startCell(t: TestContext, id: string, redisUrl: string): Promise<Replica & { cell: Replicated }> {
  const target = temporaryDir(t);
  const port = await freePort();
  const own = { PORT: String(port), CELL_ID: id, CELL_URL: `http://127.0.0.1:${port}`, NODE_ID: id };
  const cell = await startReplicated(t, `file://${target}`, { env: { ...ENV, ...own, REDIS_URL: redisUrl } });
  return { cell, target, dataDir: cell.dataDir, masterKey: COMMON.MASTER_KEY };
}

describe('REPLICA-1, REPLICA-4: a replica', { concurrency: 2, skip: redisMissing() }, () => {
  test('of a directory with several workers is kept by their supervisor, and a worker that is killed changes nothing of it', async (t) => {
    const redis = await startRedis(t);
    const target = temporaryDir(t);
    const env = { ...ENV, WORKERS: '2', REDIS_URL: redis.url, NODE_ID: 'n' };
    const service = await startReplicated(t, `file://${target}`, { env });
    const operator = createOperator(service.baseUrl, COMMON.OPERATOR_TOKEN);
    const workers = async () => ((await operator('GET', '/nodes')).json as { nodes: { pid: number }[] }).nodes.map(({ pid }) => pid);
    await eventually(async () => (await workers()).length === 2);
    await eventually(() => existsSync(join(service.dataDir, 'replica', 'litestream.pid')));
    const first = await service.addOrganisation('First');
    const replica = { target, dataDir: service.dataDir, masterKey: COMMON.MASTER_KEY };
    const apps = () => replicated(t, replica, `organisations/${first}.sqlite`, APPS).length;
    await eventually(() => apps() === 1, MOVED_MS);
    // Until then a second one carries it.
    await eventually(() => readFileSync(join(service.dataDir, 'replica', 'litestream.yml'), 'utf8').includes(first), MOVED_MS);
    await eventually(() => existsSync(join(service.dataDir, 'replica', 'litestream.pid')));
    const litestream = await service.litestreamPid();
    const [killed = Number.NaN] = await workers();
    process.kill(killed, 'SIGKILL');
    await eventually(async () => (await workers().catch(() => [])).filter((pid) => pid !== killed).length === 2, MOVED_MS);
    assert.equal(isAlive(litestream), true);
    await eventually(async () => (await service.ask('POST', `/orgs/${first}/apps`, { name: 'Second app' })).status === 201);
    assert.equal(await service.stop(), 0);
    assert.equal(apps(), 2);
    assert.equal(isAlive(litestream), false);
  });

  test('holds an organisation at the cell where it is, after it moved', async (t) => {
    const redis = await startRedis(t);
    const [a, b] = await Promise.all([startCell(t, 'a', redis.url), startCell(t, 'b', redis.url)]);
    const id = await a.cell.addOrganisation('Moved');
    await eventually(() => replicated(t, a, `organisations/${id}.sqlite`, APPS).length === 1, MOVED_MS);
    await eventually(async () => (await a.cell.ask('POST', `/orgs/${id}/move`, { cell: 'b' })).status === 202, MOVED_MS);
    await eventually(() => replicated(t, b, `organisations/${id}.sqlite`, APPS).length === 1, MOVED_MS);
    assert.equal((await b.cell.ask('POST', `/orgs/${id}/apps`, { name: 'After the move' })).status, 201);
    await eventually(() => replicated(t, b, `organisations/${id}.sqlite`, APPS).length === 2, MOVED_MS);
    // The newest state of the cell that it left has none of it; what is older goes with Litestream's retention.
    await eventually(() => replicated(t, a, `organisations/${id}.sqlite`, APPS).length === 0, MOVED_MS);
    for (const { cell } of [a, b]) await eventually(async () => (await cell.ready()).status === 'ready');
    for (const { cell } of [a, b]) assert.equal(await cell.stop(), 0);
  });
});
