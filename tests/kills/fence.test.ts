/** What must not write: a host that was taken over, however it is started, a copy of a directory, and the second of two take-overs. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openWriter } from '../../storage/sqlite/database.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import {
  burn,
  carried,
  comesBackFenced,
  type Host,
  makeHost,
  makeWorld,
  readiness,
  refusesTurns,
  takeOver,
  turnsIn,
} from '../support/hosts.ts';
import { redisMissing } from '../support/redis.ts';
import { startAndFail, startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

type Env = Readonly<Record<string, string>>;

function without(env: Env, ...names: string[]): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}

/** Environments that a unit file may be left with; each with one process and with four. */
function crippled(t: TestContext, { env }: Host): Env[] {
  const elsewhere = { ...env, REPLICA_URL: `file://${temporaryDir(t)}` };
  return [env, without(env, 'REPLICA_URL'), elsewhere].flatMap((each) => [each, { ...each, WORKERS: '4' }]);
}

async function refused(t: TestContext, host: Host, line: RegExp): Promise<void> {
  const { code, stderr } = await startAndFail(t, { ...host, env: { LOG_LEVEL: 'silent', ...host.env } });
  assert.equal(code, 1, stderr);
  assert.match(stderr, line);
  assert.match(stderr, /^[^\n]+\n$/, 'one line');
}

test('CELL-17, CELL-18: a host that was taken over while it was down writes nothing, whatever its environment lost', {
  skip: redisMissing(),
}, async (t) => {
  const world = await makeWorld(t);
  const { redis, redisUrl, address, old, service, app } = world;
  await carried(t, world);
  await burn(service);
  const fresh = await makeHost(t, redisUrl, 'eu-1', `file://${temporaryDir(t)}`);
  assert.equal((await takeOver(fresh, 'eu-1', '--from', address).ended).code, 0);
  const replacement = await startService(t, fresh);
  const client = createClient(replacement.baseUrl, app.liveKey);
  assert.equal((await client.say('Hello')).status, 200);

  const before = turnsIn(old.dataDir, app);
  const lost = [without(old.env, 'CELL_ID'), without(old.env, 'CELL_ID', 'CELL_URL', 'REDIS_URL', 'REPLICA_URL')];
  for (const env of [...lost, ...lost.slice(0, 1).map((each) => ({ ...each, WORKERS: '4' }))])
    await refused(
      t,
      { ...old, env },
      /^\S+ is the directory of cell "eu-1", and CELL_ID is not set\. Set it, with REDIS_URL, as it was\.$/m,
    );

  // Nobody can tell it what became of the cell, but for the address that was closed.
  redis.pause();
  for (const env of crippled(t, old).slice(2)) {
    const back = await startService(t, { ...old, env });
    assert.deepEqual(
      (await readiness(back)).conditions.filter((each) => each !== 'redis_away'),
      ['term_unproved'],
    );
    await refusesTurns(back, app);
    await back.stop('SIGKILL');
  }
  redis.resume();
  assert.equal(existsSync(join(old.dataDir, 'overtaken')), false);
  await comesBackFenced(t, old, app);
  assert.equal(existsSync(join(old.dataDir, 'overtaken')), true);

  // It stays so when everything that knew of it is gone.
  await redis.kill();
  for (const env of crippled(t, old)) {
    const back = await startService(t, { ...old, env });
    assert.ok((await readiness(back)).conditions.includes('fenced'));
    await refusesTurns(back, app);
    await back.stop('SIGKILL');
  }
  assert.equal(turnsIn(old.dataDir, app), before);
  assert.equal((await client.say('Still you?')).status, 200);
});

/** `cp -a`, and a start beside the original that has everything of it but its port. */
async function copyOf(t: TestContext, { dataDir, env }: Host): Promise<Host> {
  const copy = join(temporaryDir(t), 'data');
  assert.equal(spawnSync('cp', ['-a', dataDir, copy]).status, 0);
  const port = String(await freePort());
  return { dataDir: copy, env: { ...env, PORT: port, CELL_URL: `http://127.0.0.1:${port}` } };
}

test('CELL-18: a copy of a living directory does not start beside it; of a lost one it goes on, and then the original is fenced', {
  skip: redisMissing(),
}, async (t) => {
  const world = await makeWorld(t);
  const { old, service, app } = world;
  const client = createClient(service.baseUrl, app.liveKey);
  const copy = await copyOf(t, old);
  const line = /^Another data directory.* serves as cell "eu-1": this one may be a copy of it\. /;
  const before = turnsIn(copy.dataDir, app);
  for (const env of [copy.env, { ...copy.env, WORKERS: '4' }, { ...copy.env, REPLICA_URL: `file://${temporaryDir(t)}` }]) {
    await refused(t, { ...copy, env }, line);
    assert.equal((await client.say('Still there?')).status, 200);
    assert.deepEqual(await readiness(service), { status: 200, conditions: [] });
  }
  const empty: Host = { dataDir: join(temporaryDir(t), 'data'), env: copy.env };
  await refused(t, empty, line);
  assert.equal(turnsIn(copy.dataDir, app), before);

  await burn(service);
  const heir = await startService(t, copy);
  assert.equal((await createClient(heir.baseUrl, app.liveKey).say('Hello')).status, 200);
  await comesBackFenced(t, old, app);
  assert.equal((await createClient(heir.baseUrl, app.liveKey).say('And still')).status, 200);
});

/** A start whose data directory has the same path as that of every other host, as in a container. */
function contained({ dataDir, env }: Host, path: string): Host {
  mkdirSync(dataDir, { recursive: true });
  return { dataDir: path, env, through: ['unshare', '-m', 'sh', '-c', 'mount --bind "$0" "$1" && shift && exec "$@"', dataDir, path] };
}

const cannotMount = () => spawnSync('unshare', ['-m', 'true']).status !== 0 && 'mount namespaces are not allowed here';

test('CELL-16, CELL-18: of two take-overs at once by hosts of one name and one path, one takes the cell over', {
  skip: redisMissing() || cannotMount(),
}, async (t) => {
  const world = await makeWorld(t);
  const { redisUrl, address, service } = world;
  await carried(t, world);
  await burn(service);
  const path = temporaryDir(t);
  const hosts = [await makeHost(t, redisUrl, 'eu-1'), await makeHost(t, redisUrl, 'eu-1')];
  const ended = await Promise.all(hosts.map((host) => takeOver(contained(host, path), 'eu-1', '--from', address).ended));
  assert.deepEqual(ended.map(({ code }) => code).sort(), [0, 1], JSON.stringify(ended));
  const [winner, loser] = ended[0]?.code === 0 ? [0, 1] : [1, 0];
  assert.match(ended[loser]?.said ?? '', /claimed term 2 of cell eu-1 .* repeat with --abandon 2|closed by a take-over/);
  // Also once Redis has lost who claimed it.
  await world.redis.flush();
  const third = await takeOver(contained(await makeHost(t, redisUrl, 'eu-1'), path), 'eu-1', '--from', address).ended;
  assert.match(third.said, /was closed by a take-over at .* Take the cell over from its newer replica\./);
  assert.equal(existsSync(join(hosts[winner]?.dataDir ?? '', 'control.sqlite')), true);
});

/** Starts its programs on a machine that was started anew, or to which the disk was moved. */
function rebooted(t: TestContext, host: Host): Host {
  const bootId = join(temporaryDir(t), 'boot_id');
  writeFileSync(bootId, randomUUID());
  const mount = 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"';
  return { ...host, through: ['unshare', '-m', 'sh', '-c', mount, bootId] };
}

test('CELL-17, CELL-18: after Redis lost its data a host that took over and a copy serve without a replica, once a replica that was noted is forgotten', {
  skip: redisMissing(),
}, async (t) => {
  const world = await makeWorld(t);
  await carried(t, world);
  await burn(world.service);
  const { old, redis, app, address } = world;
  const fresh = await makeHost(t, world.redisUrl, 'eu-1');
  assert.equal((await takeOver(fresh, 'eu-1', '--from', address).ended).code, 0);
  await redis.flush();
  const serves = async (host: Host) => {
    const service = await startService(t, host);
    const client = createClient(service.baseUrl, app.liveKey);
    await eventually(async () => (await client.say('Hello')).status === 200);
    await service.stop();
  };
  await serves({ ...fresh, env: { ...fresh.env, WORKERS: '4' } });

  await redis.flush();
  const copy = await copyOf(t, { ...old, env: without(old.env, 'REPLICA_URL') });
  const unsure = await startService(t, copy);
  assert.deepEqual((await readiness(unsure)).conditions, ['term_unproved']);
  await unsure.stop();
  const control = openWriter(join(copy.dataDir, 'control.sqlite'));
  control.statement("UPDATE cell_term SET replica = ''").run();
  control.close();
  await serves(copy);
});

test('CELL-18: a directory after a reboot, and one whose id was lost as in a restored backup, is the cell once it has waited', {
  skip: redisMissing() || cannotMount(),
}, async (t) => {
  const { redis, old, service, app } = await makeWorld(t);
  await burn(service);
  // Redis went with the machine, and begins anew.
  await redis.restart();
  const again = rebooted(t, old);
  const first = await startService(t, again);
  assert.equal((await createClient(first.baseUrl, app.liveKey).say('Hello')).status, 200);
  await burn(first);
  const began = performance.now();
  const second = await startService(t, again);
  t.diagnostic(`a start in the same boot took ${Math.round(performance.now() - began)} ms`);
  assert.equal((await createClient(second.baseUrl, app.liveKey).say('Hello')).status, 200);
  await burn(second);
  rmSync(join(old.dataDir, 'directory-id'));
  const third = await startService(t, { ...old, env: { ...old.env, WORKERS: '4' } });
  assert.equal((await createClient(third.baseUrl, app.liveKey).say('Hello')).status, 200);
  assert.deepEqual(await readiness(third), { status: 200, conditions: [] });
});
