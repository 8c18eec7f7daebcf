import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openReader } from '../../../storage/sqlite/database.ts';
import { createClient, createTestApp, type TestApp } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { litestreamBin } from '../../support/litestream.ts';
import { redisMissing, startRedis } from '../../support/redis.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const CLI = fileURLToPath(new URL('../../../cli.js', import.meta.url));
/** It waits for 12 s, and a restore on a busy machine takes some seconds. */
const TAKE_OVER_MS = 90_000;
/** The other cells look for addresses every 5 s. */
const FOUND_WITHIN_MS = 10_000;
const TOKEN = 'the-operator-of-all-these-cells';

interface Host {
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A host with nothing in common with the others but Redis, keys and addresses of replicas. */
async function makeHost(t: TestContext, redisUrl: string, cell: string, replica?: string): Promise<Host> {
  const port = String(await freePort());
  const env = {
    REDIS_URL: redisUrl,
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    OPERATOR_TOKEN: TOKEN,
    LITESTREAM_BIN: litestreamBin(),
    DEMO: 'off',
    CELL_ID: cell,
    CELL_URL: `http://127.0.0.1:${port}`,
    PORT: port,
    ...(replica !== undefined && { REPLICA_URL: replica }),
  };
  return { dataDir: join(temporaryDir(t), 'data'), env };
}

function takeOver({ dataDir, env }: Host, ...args: string[]) {
  const child = spawn(process.execPath, ['--enable-source-maps', CLI, 'cell', 'take-over', 'eu-1', ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TAKE_OVER_MS,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number, said }));
  return { said: () => said, ended };
}

async function readiness({ baseUrl }: RunningService) {
  const answer = await fetch(`${baseUrl}/readyz`);
  const body = (await answer.json()) as { conditions?: { condition: string }[] };
  return { status: answer.status, conditions: (body.conditions ?? []).map(({ condition }) => condition) };
}

/** The process that carried the directory last. */
function startedLitestream(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'replica', 'litestream.pid'), 'utf8'));
}

/** The host is gone at once, with all that ran on it. */
async function burn(service: RunningService): Promise<void> {
  const litestream = startedLitestream(service.dataDir);
  await service.stop('SIGKILL');
  process.kill(litestream, 'SIGKILL');
}

function turnsIn(dataDir: string, { organisationId }: TestApp): number {
  const db = openReader(join(dataDir, 'organisations', `${organisationId}.sqlite`));
  try {
    return Number(db.statement('SELECT count(*) AS turns FROM turns').get()?.turns);
  } finally {
    db.close();
  }
}

/** Starts the old host again and proves that it takes no write. */
async function comesBackFenced(t: TestContext, { dataDir, env }: Host, app: TestApp): Promise<void> {
  const before = { turns: turnsIn(dataDir, app), litestream: startedLitestream(dataDir) };
  const back = await startService(t, { dataDir, env });
  assert.deepEqual(await readiness(back), { status: 503, conditions: ['fenced'] });
  const refused = await createClient(back.baseUrl, app.liveKey).say('Is anybody there?');
  assert.deepEqual([refused.events.length, refused.events[0]?.code], [2, 'storage_unavailable'], refused.text);
  assert.match(refused.text, /Another host may serve in place of this one/);
  assert.match(back.output().stderr, /another host has taken this cell over/);
  assert.equal(await back.stop(), 0);
  assert.deepEqual({ turns: turnsIn(dataDir, app), litestream: startedLitestream(dataDir) }, before);
}

test('CELL-16, CELL-17: another host takes a cell over, and the old one is fenced in the middle of it and after it', {
  skip: redisMissing(),
}, async (t) => {
  const redis = await startRedis(t);
  const [first, second] = [`file://${temporaryDir(t)}`, `file://${temporaryDir(t)}`];
  const old = await makeHost(t, redis.url, 'eu-1', first);
  const service = await startService(t, old);
  const other = await startService(t, await makeHost(t, redis.url, 'eu-2'));
  const app = await createTestApp(service.baseUrl, TOKEN);
  const said = await createClient(service.baseUrl, app.liveKey).say('Where is my order?');
  assert.equal(said.status, 200, said.text);
  const viaOther = createClient(other.baseUrl, app.liveKey);
  assert.equal((await viaOther.say('And now?')).status, 200);
  const lag = async () => {
    const text = await (await fetch(`${service.baseUrl}/metrics`)).text();
    return Number(/^assistant_replica_lag_max_seconds (\S+)$/m.exec(text)?.[1]);
  };
  await eventually(async () => existsSync(join(first.slice('file://'.length), 'organisations')) && (await lag()) < 3, TAKE_OVER_MS);
  await burn(service);

  const fresh = await makeHost(t, redis.url, 'eu-1', second);
  const taking = takeOver(fresh, '--from', first);
  await eventually(() => taking.said().includes('the old host is fenced'), TAKE_OVER_MS);
  await comesBackFenced(t, old, app);
  const { code, said: told } = await taking.ended;
  assert.equal(code, 0, told);
  assert.match(told, /Cell eu-1 is taken over, in term 2\./);

  const replacement = await startService(t, fresh);
  assert.deepEqual(await readiness(replacement), { status: 200, conditions: [] });
  const began = performance.now();
  await eventually(async () => (await viaOther.say('Are you still there?')).status === 200, FOUND_WITHIN_MS);
  t.diagnostic(`the other cell found it after ${Math.round(performance.now() - began)} ms`);
  assert.equal((await createClient(replacement.baseUrl, app.liveKey).say('Hello')).status, 200);

  await comesBackFenced(t, old, app);
  const { REPLICA_URL: _, ...withoutReplica } = old.env;
  await comesBackFenced(t, { ...old, env: withoutReplica }, app);
  assert.equal((await viaOther.say('Still you?')).status, 200);
});
