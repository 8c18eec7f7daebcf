/** The warm-up, on the program itself: what is seen of it while it runs, and that nothing is left of it. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { standstill } from '../../program/warm-up.ts';
import { createClient, createTestApp } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type RunningService, startService } from '../support/service.ts';
import { atEnd, temporaryDir } from '../support/temporary-dir.ts';
import { startUpstream, type Upstream, upstreamEnv } from '../support/upstream.ts';

const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));
/** By the clock it takes eight seconds at most, beside the start of its own storage. */
const WARM_MS = 40_000;

async function readiness(baseUrl: string): Promise<readonly [number, unknown]> {
  const response = await fetch(`${baseUrl}/readyz`);
  return [response.status, ((await response.json()) as { status: string }).status];
}

async function isReady(baseUrl: string): Promise<boolean> {
  return (await readiness(baseUrl))[0] === 200;
}

/** Folders in memory of the processes that use the data directory. */
function inMemory(dataDir: string): string[] {
  const { dev, ino } = statSync(dataDir);
  return readdirSync('/dev/shm').filter((name) => name.startsWith(`assistant-warm-up-${dev}-${ino}-`));
}

function rowsOf(path: string): Record<string, number> {
  const db = new Database(path, { readonly: true });
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];
  const counts = tables.map((table) => [table, db.prepare(`SELECT count(*) FROM "${table}"`).pluck().get() as number] as const);
  db.close();
  return Object.fromEntries(counts);
}

/** Series about the process, which is warm afterwards, or about moments. */
const OF_PROCESS = /^(?:process|nodejs)_|^assistant_loop_|^assistant_starts_|_seconds/;

/** All that a start leaves and tells: files, rows, what is counted, and what is logged, without the values that differ at each start. */
async function traceOf({ baseUrl, dataDir, output }: RunningService, upstream: Upstream) {
  const metrics = (await (await fetch(`${baseUrl}/metrics`)).text()).split('\n').filter((line) => !line.startsWith('#'));
  const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter((name) => !/-(?:wal|shm)$/.test(name));
  const logged = output().stderr.split('\n').filter(Boolean);
  return {
    files: files.sort(),
    rows: rowsOf(join(dataDir, 'control.sqlite')),
    // The answers to this test's own questions are counted.
    metrics: metrics.filter((line) => !OF_PROCESS.test(line) && !line.includes('/readyz') && !line.includes('/metrics')),
    log: logged.map((line) => (JSON.parse(line) as { msg: string }).msg).filter((text) => !text.startsWith('the event loop was')),
    asked: upstream.requests.length,
    inMemory: inMemory(dataDir),
  };
}

async function start(t: TestContext, env: Record<string, string> = {}): Promise<{ service: RunningService; upstream: Upstream }> {
  const upstream = await startUpstream(t, () => [{ text: 'Here.' }]);
  const mayStall = 'it compiles what it runs, beside other tests';
  const own = { ...upstreamEnv(upstream), DEMO: 'off', LOG_LEVEL: 'trace', WARM_UP: 'on', ...env };
  return { upstream, service: await startService(t, { env: own, mayStall }) };
}

test('RUN-36: after its banner a process warms up before it is ready, answers meanwhile, and leaves what one leaves that did not', async (t) => {
  const warm = await start(t);
  assert.deepEqual(await readiness(warm.service.baseUrl), [503, 'warming']);
  await eventually(() => isReady(warm.service.baseUrl), WARM_MS);
  const cold = await start(t, { WARM_UP: 'off' });
  assert.deepEqual(await readiness(cold.service.baseUrl), [200, 'ready']);
  assert.deepEqual(await traceOf(warm.service, warm.upstream), await traceOf(cold.service, cold.upstream));
  assert.equal(await warm.service.stop(), 0);
});

test('RUN-36, RUN-37: who comes early is answered, and the process is ready afterwards', async (t) => {
  const { service, upstream } = await start(t);
  const { liveKey } = await createTestApp(service.baseUrl, service.operatorToken);
  const live = createClient(service.baseUrl, liveKey);
  assert.deepEqual(await readiness(service.baseUrl), [503, 'warming']);
  assert.equal((await live.say('Hello')).events.at(-1)?.status, 'completed');
  await eventually(() => isReady(service.baseUrl), WARM_MS);
  assert.equal(upstream.requests.length, 1);
  const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text();
  assert.match(metrics, /gateway_requests_total\{route="POST \/v1\/chat",status="200"\} 1\n/);
  assert.equal((await live.say('And again')).events.at(-1)?.status, 'completed', 'the writer thread goes on');
});

test('RUN-37: a process that is told to end during its warm-up drains, ends with 0 and leaves nothing in memory', async (t) => {
  const { service } = await start(t);
  await eventually(() => inMemory(service.dataDir).length === 1, WARM_MS);
  assert.equal(await service.stop(), 0);
  assert.deepEqual(inMemory(service.dataDir), []);
  assert.doesNotMatch(service.output().stderr, /"level":"(?:warn|error|fatal)"(?!.*event loop)/);
});

test('RUN-37: what a killed process left in memory is gone after the next start', async (t) => {
  const { service, upstream } = await start(t);
  await eventually(() => inMemory(service.dataDir).length === 1, WARM_MS);
  await service.stop('SIGKILL');
  assert.equal(inMemory(service.dataDir).length, 1);
  const env = { ...upstreamEnv(upstream), DEMO: 'off', WARM_UP: 'on' };
  const next = await startService(t, { dataDir: service.dataDir, env, mayStall: 'as above' });
  await eventually(() => isReady(next.baseUrl), WARM_MS);
  assert.deepEqual(inMemory(service.dataDir), []);
});

test('RUN-37: a warm-up ends once four batches of turns in a row cost as much as the cheapest', () => {
  const costs = [9, 4, 2, 1.5, 1, 1, 0.99, 1.1, 1, 1];
  let turn = 0;
  const standsStill = standstill(() => {
    const whole = Math.floor(turn / 100);
    return costs.slice(0, whole).reduce((sum, cost) => sum + cost, 0);
  });
  const batches = costs.findIndex(() => {
    for (let each = 0; each < 99; each += 1) standsStill();
    turn += 100;
    return standsStill();
  });
  assert.equal(batches, 8);
});

test('RUN-38: a worker that starts while others serve is ready when it listens; the first one listens before that', async (t) => {
  const upstream = await startUpstream(t, () => [{ text: 'Here.' }]);
  const statuses = [];
  for (const BANNER of ['off', 'on']) {
    const env = {
      ...upstreamEnv(upstream),
      PATH: process.env.PATH,
      SUPERVISED: '1',
      BANNER,
      DEMO: 'off',
      WARM_UP: 'on',
      PORT: '0',
      DATA_DIR: temporaryDir(t),
    };
    const child = fork(MAIN, { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const ended = once(child, 'exit');
    atEnd(t, async () => {
      child.kill('SIGKILL');
      await ended;
    });
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    statuses.push(await readiness(`http://127.0.0.1:${port}`));
  }
  assert.deepEqual(statuses, [
    [200, 'ready'],
    [503, 'warming'],
  ]);
});
