import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { dataLayout } from '../../../storage/data-layout.ts';
import { noteOvertaken, openSeat } from '../../../storage/moving/directory-seat.ts';
import { provenBytes } from '../../../storage/replica/replica-manifest.ts';
import { openVault } from '../../../storage/secrets/vault.ts';
import { eventually } from '../../support/eventually.ts';
import { replicated } from '../../support/litestream.ts';
import { filesBelow, isAlive, startReplicated } from '../../support/replica.ts';
import { startService } from '../../support/service.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

/** Seconds: the shortest that a healthy replica never passes on a busy machine. */
const LAG_MAX_S = '8';

/** A Litestream that stands still is given up after 10 s, or 20 when it was started just before. */
const CATCH_UP_MS = 90_000;

/** A service that is replicated to a folder. */
async function start(t: TestContext, env: Record<string, string> = {}, dataDir?: string) {
  const target = temporaryDir(t);
  const service = await startReplicated(t, `file://${target}`, {
    ...(dataDir !== undefined && { dataDir }),
    env: { REPLICA_LAG_MAX_S: LAG_MAX_S, ...env },
  });
  const { ready, metric, addOrganisation } = service;
  return { service: { ...service, target }, target, ready, metric, addOrganisation };
}

test('REPLICA-1, REPLICA-2: every database is carried, also of an organisation that comes, and the metrics tell it', async (t) => {
  const { service, ready, metric, addOrganisation } = await start(t);
  await eventually(async () => (await metric('assistant_replica_databases')) === 2);
  await eventually(() => replicated(t, service, 'control.sqlite', 'SELECT id FROM organisations').length === 1);
  const id = await addOrganisation();
  await eventually(() => replicated(t, service, `organisations/${id}.sqlite`, 'SELECT id FROM apps').length === 1);
  await eventually(async () => (await metric('assistant_replica_lag_max_seconds')) < Number(LAG_MAX_S));
  assert.equal((await ready()).status, 'ready');
  assert.equal(await service.stop(), 0);
});

test('REPLICA-13: the first snapshot of an organisation that comes is carried at once, and what comes then is carried on', async (t) => {
  const { service, target, metric, addOrganisation } = await start(t);
  const told = (name: string) => readFileSync(join(service.dataDir, 'replica', `${name}.yml`), 'utf8');
  await eventually(async () => (await metric('assistant_replica_databases')) === 2);
  // Litestream was started just now, and is not started anew for some seconds.
  const id = await addOrganisation('Newcomer');
  const madeAtMs = performance.now();
  const snapshots = join(target, 'organisations', `${id}.sqlite`, 'generations');
  await eventually(() => filesBelow(snapshots).some((name) => name.endsWith('.snapshot.lz4')), 60_000);
  t.diagnostic(`its first snapshot was there after ${Math.round(performance.now() - madeAtMs)} ms`);
  assert.ok(told('newcomers').includes(id));
  await eventually(() => told('litestream').includes(id), 60_000);
  assert.equal((await service.ask('POST', `/orgs/${id}/apps`, { name: 'Second' })).status, 201);
  await eventually(() => replicated(t, service, `organisations/${id}.sqlite`, 'SELECT id FROM apps').length === 2, 60_000);
  await eventually(async () => (await metric('assistant_replica_lag_max_seconds')) < Number(LAG_MAX_S), 60_000);
  assert.equal(await service.stop(), 0);
});

test('REPLICA-1: what was written last is there when the service has ended', async (t) => {
  const { service, metric, addOrganisation } = await start(t);
  await eventually(async () => (await metric('assistant_replica_databases')) === 2);
  const pid = await service.litestreamPid();
  const id = await addOrganisation();
  assert.equal(await service.stop(), 0);
  assert.deepEqual(replicated(t, service, 'control.sqlite', `SELECT id FROM organisations WHERE id = '${id}'`), [{ id }]);
  assert.equal(isAlive(pid), false);
});

test('REPLICA-1: without REPLICA_URL there is nothing of it', async (t) => {
  const service = await startService(t);
  assert.equal(existsSync(join(service.dataDir, 'replica')), false);
  assert.doesNotMatch(await (await fetch(`${service.baseUrl}/metrics`)).text(), /assistant_replica/);
});

test('REPLICA-2, REPLICA-4: a program that is missing is named, and the service serves', async (t) => {
  const { service, ready } = await start(t, { LITESTREAM_BIN: '/nowhere/litestream', REPLICA_LAG_MAX_S: '1' });
  const told = async () => (await ready()).conditions?.find(({ condition }) => condition === 'replica_behind')?.detail ?? '';
  await eventually(async () => /"\/nowhere\/litestream" was not found: install Litestream/.test(await told()));
  assert.equal((await ready()).status, 'degraded');
  await eventually(() => service.output().stderr.includes('"condition":"replica_behind"'));
});

test('REPLICA-4, REPLICA-12: a Litestream that does not seal is named and sends nothing, also where another one is put in its place', async (t) => {
  const bin = join(temporaryDir(t), 'litestream');
  writeFileSync(bin, '#!/bin/sh\n[ $1 = version ] && exec echo v0.5.0\ntouch "$0.was-started"\n', { mode: 0o700 });
  const { service, ready } = await start(t, { LITESTREAM_BIN: bin, REPLICA_LAG_MAX_S: '1' });
  await eventually(async () => /is version v0\.5\.0, and only .*: install 0\.3\.13/.test((await ready()).conditions?.[0]?.detail ?? ''));
  assert.equal(existsSync(`${bin}.was-started`), false);
  writeFileSync(bin, '#!/bin/sh\n[ $1 = version ] && exec echo v0.3.13\ntouch "$0.was-started"\n');
  await eventually(() => existsSync(`${bin}.was-started`), 60_000);
  writeFileSync(bin, '#!/bin/sh\n[ $1 = version ] && exec echo v0.5.0\ntouch "$0.sends-in-clear"\n');
  await eventually(async () => /is version v0\.5\.0/.test((await ready()).conditions?.[0]?.detail ?? ''));
  assert.equal(existsSync(`${bin}.sends-in-clear`), false);
  await service.stop('SIGKILL');
});

test('REPLICA-2, REPLICA-4: a destination that is away is told, and the replica catches up', async (t) => {
  const { service, target, ready, metric, addOrganisation } = await start(t, { REPLICA_LAG_MAX_S: '2' });
  await eventually(() => replicated(t, service, 'control.sqlite', 'SELECT id FROM organisations').length === 1);
  renameSync(target, `${target}.away`);
  writeFileSync(target, 'no folder');
  const id = await addOrganisation();
  await eventually(async () => (await service.behind()) !== undefined);
  assert.equal((await ready()).status, 'degraded');
  assert.ok((await metric('assistant_replica_lag_max_seconds')) > 2);
  renameSync(target, `${target}.file`);
  renameSync(`${target}.away`, target);
  await eventually(async () => (await ready()).status === 'ready', CATCH_UP_MS);
  assert.deepEqual(replicated(t, service, 'control.sqlite', `SELECT id FROM organisations WHERE id = '${id}'`), [{ id }]);
  await service.stop();
});

test('REPLICA-4: a Litestream that is killed is started again, and one that outlived its service is ended', async (t) => {
  const { service, target, metric, addOrganisation } = await start(t);
  await eventually(async () => (await metric('assistant_replica_starts')) === 1);
  process.kill(await service.litestreamPid(), 'SIGKILL');
  const id = await addOrganisation();
  await eventually(async () => (await metric('assistant_replica_starts')) > 1);
  await eventually(() => replicated(t, service, 'control.sqlite', `SELECT id FROM organisations WHERE id = '${id}'`).length === 1);
  const left = await service.litestreamPid();
  await service.stop('SIGKILL');
  assert.equal(isAlive(left), true);
  const next = await start(t, { REPLICA_URL: `file://${target}` }, service.dataDir);
  await eventually(async () => (await next.metric('assistant_replica_starts')) === 1);
  await eventually(() => !isAlive(left));
  await next.service.stop();
});

test('REPLICA-5: Litestream gets no secret of the service, and its configuration is for its owner only', async (t) => {
  const bin = join(temporaryDir(t), 'litestream');
  const told = join(temporaryDir(t), 'environment');
  writeFileSync(
    bin,
    `#!/bin/sh\n[ $1 = version ] && exec echo v0.3.13\nenv > ${told}.new; mv ${told}.new ${told}\nwhile :; do sleep 1; done\n`,
    { mode: 0o700 },
  );
  const secrets = { OPERATOR_TOKEN: 'a-secret-of-the-operator-0001', MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };
  const { service } = await start(t, { LITESTREAM_BIN: bin, AWS_ACCESS_KEY_ID: 'for-litestream', ...secrets });
  const configuration = join(service.dataDir, 'replica', 'litestream.yml');
  await eventually(() => existsSync(told));
  const environment = readFileSync(told, 'utf8');
  assert.match(environment, /^AWS_ACCESS_KEY_ID=for-litestream$/m);
  for (const secret of Object.values(secrets)) assert.equal(environment.includes(secret), false);
  assert.equal(statSync(configuration).mode & 0o777, 0o600);
  const replicas = JSON.parse(readFileSync(configuration, 'utf8')) as { dbs: { path: string }[] };
  assert.equal(replicas.dbs[0]?.path, join(service.dataDir, 'control.sqlite'));
  await service.stop('SIGKILL');
});

test('REPLICA-4, CELL-18: what is written arrives once the address is of this directory, which had it in an earlier boot, or of late', async (t) => {
  const { service, target } = await start(t);
  await eventually(() => replicated(t, service, 'control.sqlite', 'SELECT id FROM organisations').length === 1);
  await service.stop();
  const layout = dataLayout(service.dataDir);
  const vault = openVault(layout.masterKey, undefined);
  const claim = (seat: string) =>
    writeFileSync(join(target, 'cell.json'), provenBytes(vault, 'cell.json', { cell: 'eu-1', term: 1, seat }));
  const seat = openSeat(layout).own;
  appendFileSync(layout.directoryId, '\nid.here.earlier\n');
  claim('id.here.earlier');
  const next = await start(t, { REPLICA_URL: `file://${target}` }, service.dataDir);
  const arrives = async () => {
    const id = await next.addOrganisation();
    await eventually(
      () => replicated(t, service, 'control.sqlite', `SELECT id FROM organisations WHERE id = '${id}'`).length === 1,
      60_000,
    );
  };
  const status = () => readFileSync(join(service.dataDir, 'replica', 'status.json'), 'utf8');
  await eventually(() => status().includes('does not say whose it is'));
  assert.doesNotMatch(next.service.output().stderr, /of another host or directory/);
  claim(seat);
  await arrives();
  const pid = await next.service.litestreamPid();
  claim('id.there.other');
  await eventually(() => !isAlive(pid), 60_000);
  claim(seat);
  await arrives();
});

test('CELL-17: of a directory that was overtaken nothing more is sent, also not by what runs or at the end', async (t) => {
  const bin = join(temporaryDir(t), 'litestream');
  const script = `trap 'touch "$0.sent-the-rest"; exit' TERM\ntouch "$0.was-started"\nwhile :; do sleep 0.1; done\n`;
  writeFileSync(bin, `#!/bin/sh\n[ $1 = version ] && exec echo v0.3.13\n${script}`, { mode: 0o700 });
  for (const wait of [true, false]) {
    rmSync(`${bin}.was-started`, { force: true });
    const { service, target } = await start(t, { LITESTREAM_BIN: bin });
    // What was carried at the start has been.
    await eventually(() => existsSync(`${bin}.was-started`) && filesBelow(target).includes('files/service.json'));
    const pid = await service.litestreamPid();
    const layout = dataLayout(service.dataDir);
    noteOvertaken(layout, 'Another host serves.');
    mkdirSync(layout.outbox, { recursive: true });
    writeFileSync(join(layout.outbox, 'later.eml'), 'later');
    if (wait) await eventually(() => !isAlive(pid));
    await service.stop();
    assert.equal(isAlive(pid), false);
    assert.deepEqual(
      [existsSync(`${bin}.sent-the-rest`), filesBelow(target).filter((name) => name.endsWith('later.eml'))],
      [false, []],
      wait ? 'while it runs' : 'at the end',
    );
  }
});
