/** Hosts of cells as tests have them: data directories that share nothing but Redis, keys and addresses of replicas. They are lost, come back, are copied and taken over. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openReader } from '../../storage/sqlite/database.ts';
import { createClient, createTestApp, type TestApp } from './client.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { litestreamBin, replicated } from './litestream.ts';
import { startRedis, type TestRedis } from './redis.ts';
import { isAlive, textOf } from './replica.ts';
import { type RunningService, startService } from './service.ts';
import { temporaryDir } from './temporary-dir.ts';

const CLI = fileURLToPath(new URL('../../cli.js', import.meta.url));
/** It waits for 12 s, and a restore on a busy machine takes some seconds. */
export const TAKE_OVER_MS = 90_000;
/** A first snapshot of a machine that has other work. */
const CARRIED_MS = 60_000;
export const TOKEN = 'the-operator-of-all-these-cells';

export interface Host {
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** What its programs are started through. */
  readonly through?: readonly string[];
}

/** A host with nothing in common with the others but Redis, keys and addresses of replicas. */
export async function makeHost(t: TestContext, redisUrl: string, cell: string, replica?: string): Promise<Host> {
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

export function takeOver({ dataDir, env, through = [] }: Host, ...args: string[]) {
  const [program = '', ...words] = [...through, process.execPath, '--enable-source-maps', CLI, 'cell', 'take-over', ...args];
  const child = spawn(program, words, {
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

export async function readiness({ baseUrl }: RunningService) {
  const answer = await fetch(`${baseUrl}/readyz`);
  const body = (await answer.json()) as { conditions?: { condition: string }[] };
  return { status: answer.status, conditions: (body.conditions ?? []).map(({ condition }) => condition) };
}

/** The process that carries the directory, or carried it last; none while it is started anew. */
function notedLitestream(dataDir: string): number | undefined {
  // It may go between two looks. A signal to 0 would end this process.
  return Number(textOf(join(dataDir, 'replica', 'litestream.pid'))) || undefined;
}

/** The host is gone at once, with all that ran on it. */
export async function burn(service: RunningService): Promise<void> {
  const running = () => [notedLitestream(service.dataDir)].filter((pid): pid is number => pid !== undefined && isAlive(pid));
  // After a reboot it starts once the fence has the claim.
  await eventually(() => running().length > 0);
  await service.stop('SIGKILL');
  for (const pid of running()) process.kill(pid, 'SIGKILL');
}

export function turnsIn(dataDir: string, { organisationId }: TestApp): number {
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
export async function refusesTurns({ baseUrl }: RunningService, { liveKey }: TestApp): Promise<void> {
  const client = createClient(baseUrl, liveKey);
  for (const refused of [await client.say('Is anybody there?'), await client.chat(ANSWERED)]) {
    assert.equal(refused.status, 503, refused.text);
    assert.match(refused.text, /storage_unavailable.*Another host may serve in place of this one/);
  }
}

/** Starts the old host again and proves that it takes no write. */
export async function comesBackFenced(t: TestContext, { dataDir, env }: Host, app: TestApp): Promise<void> {
  const before = { turns: turnsIn(dataDir, app), litestream: notedLitestream(dataDir) };
  const back = await startService(t, { dataDir, env });
  assert.deepEqual(await readiness(back), { status: 503, conditions: ['fenced'] });
  await refusesTurns(back, app);
  assert.match(back.output().stderr, /another host has taken this cell over/);
  assert.equal(await back.stop(), 0);
  assert.deepEqual({ turns: turnsIn(dataDir, app), litestream: notedLitestream(dataDir) }, before);
}

export interface World {
  readonly redis: TestRedis;
  readonly redisUrl: string;
  readonly address: string;
  readonly old: Host;
  readonly service: RunningService;
  readonly app: TestApp;
}

/** A cell that serves one app, and is replicated. */
export async function makeWorld(t: TestContext): Promise<World> {
  const redis = await startRedis(t);
  const { url: redisUrl } = redis;
  const address = `file://${temporaryDir(t)}`;
  const old = await makeHost(t, redisUrl, 'eu-1', address);
  const service = await startService(t, old);
  const app = await createTestApp(service.baseUrl, TOKEN);
  const said = await createClient(service.baseUrl, app.liveKey).chat(ANSWERED);
  assert.equal(said.status, 200, said.text);
  return { redis, redisUrl, address, old, service, app };
}

/** Waits until everything is at the address. */
export async function carried(t: TestContext, { address, app, old }: World): Promise<void> {
  const turns = 'SELECT id FROM turns WHERE ended_at_ms IS NOT NULL';
  const name = `organisations/${app.organisationId}.sqlite`;
  const from = { target: address.slice('file://'.length), dataDir: old.dataDir, masterKey: old.env.MASTER_KEY as string };
  await eventually(() => replicated(t, from, name, turns).length > 0, CARRIED_MS);
}
