import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openReader } from '../../storage/sqlite/database.ts';
import { createClient, createTestApp, type TestApp } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { litestreamBin, replicated } from '../support/litestream.ts';
import { redisMissing, startRedis } from '../support/redis.ts';
import { type RunningService, startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const CLI = fileURLToPath(new URL('../../cli.js', import.meta.url));
/** It waits for 12 s, and a restore on a busy machine takes some seconds. */
const TAKE_OVER_MS = 90_000;
/** The other cells look for addresses every 5 s. */
const FOUND_WITHIN_MS = 10_000;
/** A first snapshot of a machine that has other work. */
const CARRIED_MS = 60_000;
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
  const child = spawn(process.execPath, ['--enable-source-maps', CLI, 'cell', 'take-over', ...args], {
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
  return { said: () => said, kill: () => child.kill('SIGKILL'), ended };
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

/** What the old host answered, as its client sends it again. */
const ANSWERED = { turn_id: '6f1c0c3e-6a53-4f43-9a0e-2f5d2f6c1a11', message: { text: 'Where is my order?' } };

/** Also a retry of a turn that it has: the cell may have lost it. */
async function refusesTurns({ baseUrl }: RunningService, { liveKey }: TestApp): Promise<void> {
  const client = createClient(baseUrl, liveKey);
  for (const refused of [await client.say('Is anybody there?'), await client.chat(ANSWERED)]) {
    assert.equal(refused.status, 503, refused.text);
    assert.match(refused.text, /storage_unavailable.*Another host may serve in place of this one/);
  }
}

/** Starts the old host again and proves that it takes no write. */
async function comesBackFenced(t: TestContext, { dataDir, env }: Host, app: TestApp): Promise<void> {
  const before = { turns: turnsIn(dataDir, app), litestream: startedLitestream(dataDir) };
  const back = await startService(t, { dataDir, env });
  assert.deepEqual(await readiness(back), { status: 503, conditions: ['fenced'] });
  await refusesTurns(back, app);
  assert.match(back.output().stderr, /another host has taken this cell over/);
  assert.equal(await back.stop(), 0);
  assert.deepEqual({ turns: turnsIn(dataDir, app), litestream: startedLitestream(dataDir) }, before);
}

interface World {
  readonly redisUrl: string;
  readonly address: string;
  readonly old: Host;
  readonly service: RunningService;
  readonly app: TestApp;
}

/** A cell that serves one app, and is replicated. */
async function makeWorld(t: TestContext): Promise<World> {
  const { url: redisUrl } = await startRedis(t);
  const address = `file://${temporaryDir(t)}`;
  const old = await makeHost(t, redisUrl, 'eu-1', address);
  const service = await startService(t, old);
  const app = await createTestApp(service.baseUrl, TOKEN);
  const said = await createClient(service.baseUrl, app.liveKey).chat(ANSWERED);
  assert.equal(said.status, 200, said.text);
  return { redisUrl, address, old, service, app };
}

/** Waits until everything is at the address. */
async function carried(t: TestContext, { address, app, old }: World): Promise<void> {
  const turns = 'SELECT id FROM turns WHERE ended_at_ms IS NOT NULL';
  const name = `organisations/${app.organisationId}.sqlite`;
  await eventually(
    () =>
      replicated(t, { target: address.slice('file://'.length), dataDir: old.dataDir, masterKey: old.env.MASTER_KEY as string }, name, turns)
        .length > 0,
    CARRIED_MS,
  );
}

test('CELL-16, CELL-17: another host takes a cell over, and the old one is fenced in the middle of it and after it', {
  skip: redisMissing(),
}, async (t) => {
  const world = await makeWorld(t);
  const { redisUrl, address, old, service, app } = world;
  const other = await startService(t, await makeHost(t, redisUrl, 'eu-2'));
  const viaOther = createClient(other.baseUrl, app.liveKey);
  assert.equal((await viaOther.say('And now?')).status, 200);
  await carried(t, world);
  await burn(service);

  const fresh = await makeHost(t, redisUrl, 'eu-1', `file://${temporaryDir(t)}`);
  const taking = takeOver(fresh, 'eu-1', '--from', address);
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
  await comesBackFenced(t, { ...old, env: { ...old.env, WORKERS: '2' } }, app);
  assert.equal((await viaOther.say('Still you?')).status, 200);
});

test('CELL-16, CELL-17: a host that was only suspended wakes up fenced, and only one host can take its cell over', {
  skip: redisMissing(),
}, async (t) => {
  const world = await makeWorld(t);
  const { redisUrl, address, old, service, app } = world;
  await carried(t, world);
  const before = turnsIn(old.dataDir, app);
  process.kill(service.pid, 'SIGSTOP');

  const another = takeOver(await makeHost(t, redisUrl, 'eu-9'), 'eu-9', '--from', address);
  assert.match((await another.ended).said, /holds the replica of cell "eu-1", nothing was changed/);
  const first = takeOver(await makeHost(t, redisUrl, 'eu-1'), 'eu-1', '--from', address);
  await eventually(() => first.said().includes('the old host is fenced'), TAKE_OVER_MS);
  first.kill();
  await first.ended;
  const fresh = await makeHost(t, redisUrl, 'eu-1', address);
  const second = await takeOver(fresh, 'eu-1', '--from', address).ended;
  assert.match(second.said, /claimed term 2 of cell eu-1 .* repeat with --abandon 2/);
  const third = await takeOver(fresh, 'eu-1', '--from', address, '--abandon', '2').ended;
  assert.match(third.said, /Cell eu-1 is taken over, in term 3\./);
  assert.equal(third.code, 0);

  process.kill(service.pid, 'SIGCONT');
  await refusesTurns(service, app);
  await eventually(async () => (await readiness(service)).status === 503);
  assert.equal(turnsIn(old.dataDir, app), before);
  // The address of the old host is closed for the new one, too.
  const replacement = await startService(t, fresh);
  assert.deepEqual((await readiness(replacement)).conditions, ['fenced']);
  assert.equal(await replacement.stop(), 0);
  const env = { ...fresh.env, REPLICA_URL: `file://${temporaryDir(t)}` };
  const mended = await startService(t, { ...fresh, env });
  assert.equal((await createClient(mended.baseUrl, app.liveKey).say('Hello')).status, 200);
});

test('CELL-17: without Redis and the address of the replica writes stop, and go on with either', { skip: redisMissing() }, async (t) => {
  const redis = await startRedis(t);
  const folder = temporaryDir(t);
  const host = await makeHost(t, redis.url, 'eu-1', `file://${folder}`);
  const service = await startService(t, host);
  const app = await createTestApp(service.baseUrl, TOKEN);
  const client = createClient(service.baseUrl, app.liveKey);
  assert.equal((await client.say('Hello')).status, 200);
  await redis.kill();
  renameSync(folder, `${folder}-away`);
  t.after(() => rmSync(`${folder}-away`, { recursive: true, force: true }));
  await eventually(async () => (await readiness(service)).conditions.includes('term_unproved'));
  assert.equal((await readiness(service)).status, 200);
  await refusesTurns(service, app);
  rmSync(folder, { recursive: true, force: true });
  renameSync(`${folder}-away`, folder);
  await eventually(async () => !(await readiness(service)).conditions.includes('term_unproved'));
  assert.equal((await client.say('Hello again')).events.at(-1)?.status, 'completed');
});
