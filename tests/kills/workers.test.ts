/** WORKERS with the program itself; its supervisor alone is tests/program/workers/supervisor.test.ts. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { killWorkers } from '../chaos/dying-workers.ts';
import { createOperator } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { redisMissing, startRedis } from '../support/redis.ts';
import { startService } from '../support/service.ts';
import { atEnd, temporaryDir } from '../support/temporary-dir.ts';

const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));
/** Starts of the program itself, several of them, beside other tests. */
const STARTS_MS = 60_000;

function isLinkTo(path: string, name: string): boolean {
  try {
    return readlinkSync(path).endsWith(name);
  } catch {
    // Closed meanwhile.
    return false;
  }
}

interface Listed {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
}

test('RUN-21: the program itself says that it lives, once it listens and again', async (t) => {
  const env = { PATH: process.env.PATH, SUPERVISED: '1', BANNER: 'off', DEMO: 'off', PORT: '0', DATA_DIR: temporaryDir(t) };
  const child = fork(MAIN, { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const said: string[] = [];
  child.on('message', ({ kind }: { kind: string }) => said.push(kind));
  await eventually(
    () => said.length >= 3,
    STARTS_MS,
    () => said.join(),
  );
  assert.deepEqual(said.slice(0, 3), ['listening', 'alive', 'alive']);
});

test('RUN-24: a worker whose supervisor is gone before it listens does not go on with its start', {
  skip: redisMissing(),
}, async (t) => {
  const redis = await startRedis(t);
  const dir = temporaryDir(t);
  // As a node that is starting: the worker waits for it, a minute at most.
  const lock = new Database(join(dir, 'start.sqlite'));
  t.after(() => lock.close());
  lock.exec('BEGIN EXCLUSIVE');
  const env = { PATH: process.env.PATH, SUPERVISED: '1', BANNER: 'off', DEMO: 'off', PORT: '0', DATA_DIR: dir, REDIS_URL: redis.url };
  const child = fork(MAIN, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  atEnd(t, () => child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  await eventually(
    () => readdirSync(`/proc/${child.pid}/fd`).some((fd) => isLinkTo(`/proc/${child.pid}/fd/${fd}`, 'start.sqlite')),
    STARTS_MS,
    () => said,
  );
  child.disconnect();
  assert.deepEqual(await ended, [1, null]);
  assert.match(said, /the supervisor ended before this worker listened/);
});

test('RUN-19, RUN-20, RUN-22: the program itself: one port, one banner, each worker a node; a killed one comes back, SIGTERM ends all', {
  skip: redisMissing(),
}, async (t) => {
  const redis = await startRedis(t);
  const service = await startService(t, { env: { WORKERS: '2', REDIS_URL: redis.url, NODE_ID: 'n', DEMO: 'off' } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const listed = async () => {
    const { json } = await operator('GET', '/nodes');
    const { nodes } = json as { nodes: readonly Listed[] };
    return [...nodes].sort((one, other) => (one.name < other.name ? -1 : 1));
  };
  const bothListed = (but: number) => async () => {
    const nodes = await listed().catch(() => []);
    return nodes.map(({ name }) => name).join() === 'n-1,n-2' && nodes.every(({ pid, url }) => pid !== but && url === service.baseUrl);
  };
  await eventually(bothListed(0), STARTS_MS, () => service.output().stderr);
  const [first, second] = await listed();
  assert.match(service.output().stdout, /^ {2}workers +2$/m);
  process.kill(Number(first?.pid), 'SIGKILL');
  await eventually(bothListed(Number(first?.pid)), STARTS_MS, () => service.output().stderr);
  assert.equal((await listed())[1]?.pid, second?.pid, 'the other one went on');
  const pids = (await listed()).map(({ pid }) => pid);
  assert.equal(await service.stop(), 0);
  for (const pid of pids) assert.throws(() => process.kill(pid, 0), /ESRCH/);
  const { stdout, stderr } = service.output();
  assert.equal(stdout.split('Assistant Service is up.').length, 2, 'one banner');
  const logged = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly msg: string; readonly node?: string });
  assert.deepEqual(logged.flatMap(({ msg, node }) => (msg === 'stopped' ? [node] : [])).sort(), ['n', 'n-1', 'n-2']);
  assert.equal(logged.at(-1)?.node, 'n', 'the supervisor is the last');
});

test('RUN-25: while workers die one after the other, somebody serves', { skip: redisMissing() }, async (t) => {
  const { connections, refused, kills } = await killWorkers(t, 6_000);
  assert.ok(kills >= 1 && connections >= 50, `${kills} kills, ${connections} connections`);
  // None on a quiet machine, where tests/chaos/dying-workers.chaos.ts holds it to less; a third it was when each worker waited for itself alone.
  assert.ok(refused < connections / 3, `${refused} of ${connections} connections were refused`);
});
