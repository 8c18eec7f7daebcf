import assert from 'node:assert/strict';
import { renameSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { createClient, createTestApp } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import {
  burn,
  carried,
  comesBackFenced,
  makeHost,
  makeWorld,
  readiness,
  refusesTurns,
  TAKE_OVER_MS,
  TOKEN,
  takeOver,
  turnsIn,
} from '../support/hosts.ts';
import { redisMissing, startRedis } from '../support/redis.ts';
import { startAndFail, startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

/** The other cells look for addresses every 5 s, and the machine is busy. */
const FOUND_WITHIN_MS = 60_000;

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
  const refused = await startAndFail(t, fresh);
  assert.match(
    refused.stderr,
    /^REPLICA_URL \S+ holds the replica of cell "eu-1", term 3, closed by a take-over; .* an address of its own\.$/m,
  );
  assert.equal(refused.code, 1);
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
