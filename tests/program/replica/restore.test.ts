import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { organisationIds } from '../../../storage/organisations/organisations.ts';
import { openReader, openWriter } from '../../../storage/sqlite/database.ts';
import { createClient } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { litestreamBin } from '../../support/litestream.ts';
import { startObjectStorage } from '../../support/object-storage.ts';
import { filesBelow, type Replicated, startReplicated } from '../../support/replica.ts';
import { runCli } from '../../support/run-cli.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const KEY = Buffer.alloc(32, 9).toString('base64');
const COMMON = { MASTER_KEY: KEY, OPERATOR_TOKEN: 'the-operator-of-all-these-tests' };

function cli(args: readonly string[], dataDir: string, env: Readonly<Record<string, string>> = {}) {
  return runCli(args, dataDir, { ...COMMON, ...env });
}

/** Names of an organisation's apps, as the operator sees them; another status as a number. */
async function appsOf({ baseUrl, operatorToken }: RunningService, id: string): Promise<string[] | number> {
  const headers = { Authorization: `Bearer ${operatorToken}` };
  const answer = await fetch(`${baseUrl}/console/api/orgs/${id}/apps`, { headers });
  return answer.ok ? ((await answer.json()) as { apps: { name: string }[] }).apps.map(({ name }) => name) : answer.status;
}

const DEVICE = '0123456789abcdef0123456789abcdef';

/** The id of what was uploaded. */
async function upload({ baseUrl, liveKey }: RunningService): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob(['What somebody attached.'], { type: 'text/plain' }), 'note.txt');
  const headers = { 'X-Service-Key': liveKey, 'X-Service-Device': DEVICE };
  const answer = await fetch(`${baseUrl}/v1/uploads`, { method: 'POST', headers, body: form });
  assert.equal(answer.status, 200, await answer.clone().text());
  return ((await answer.json()) as { upload_id: string }).upload_id;
}

function start(t: TestContext, url: string, env: Readonly<Record<string, string>> = {}) {
  return startReplicated(t, url, { env: { ...COMMON, ...env } });
}

test('REPLICA-6, REPLICA-7: everything comes back that was acknowledged, uploads too, and the key stays at home', async (t) => {
  const url = `file://${temporaryDir(t)}`;
  const service = await start(t, url);
  const id = await service.addOrganisation('Kept');
  await upload(service);
  const mail = join('outbox', `${'0'.repeat(32)}.eml`);
  writeFileSync(join(service.dataDir, mail), 'Words of a mail.');
  assert.equal(await service.stop(), 0);
  assert.ok(!readFileSync(join(url.slice('file://'.length), 'files', mail), 'utf8').includes('Words'), 'a mail is sealed for the way');
  const dataDir = join(temporaryDir(t), 'restored');
  const wrong = await cli(['restore', '--from', url], dataDir, { MASTER_KEY: Buffer.alloc(32, 1).toString('base64') });
  assert.match(wrong.stderr, /MASTER_KEY is not the key that the service had, nothing was restored/);
  assert.equal(wrong.code, 1);
  const { code, stdout, stderr } = await cli(['restore', '--from', url, '--json'], dataDir);
  assert.equal(code, 0, stderr);
  const report = JSON.parse(stdout) as { organisations: number; missing: string[]; complete_up_to: string };
  assert.deepEqual(report.missing, []);
  assert.ok(Date.parse(report.complete_up_to) <= Date.now());
  const uploads = (dir: string) => filesBelow(join(dir, 'uploads')).filter((name) => name.includes('upl_'));
  assert.equal(uploads(dataDir).length, 1);
  assert.deepEqual(uploads(dataDir), uploads(service.dataDir));
  for (const name of uploads(dataDir))
    assert.deepEqual(readFileSync(join(dataDir, 'uploads', name)), readFileSync(join(service.dataDir, 'uploads', name)));
  assert.equal(readFileSync(join(dataDir, mail), 'utf8'), 'Words of a mail.');
  assert.equal(existsSync(join(dataDir, 'master-key')), false);
  const next = await startService(t, { dataDir, env: COMMON });
  assert.deepEqual(await appsOf(next, id), ["Kept's first app"]);
});

test('REPLICA-1, REPLICA-6: to an S3 server go the databases and the files, as they lie on disk', async (t) => {
  const { url, folder, env } = await startObjectStorage(t);
  const service = await start(t, url, env);
  await upload(service);
  const objects = () => filesBelow(folder).filter((name) => name.endsWith('._S3rver_object'));
  await eventually(() => objects().some((name) => /control\.sqlite\/generations\/.*snapshot\.lz4/.test(name)), 60_000);
  await eventually(() => objects().some((name) => /uploads\/org_[0-9a-z]{24}\/upl_/.test(name)), 60_000);
  const sent = objects().find((name) => name.includes('/upl_')) ?? '';
  const [own] = filesBelow(join(service.dataDir, 'uploads')).filter((name) => name.includes('upl_'));
  const whole = readFileSync(join(service.dataDir, 'uploads', own ?? ''));
  // The server has the file before it has its bytes.
  await eventually(() => readFileSync(join(folder, sent)).equals(whole));
  assert.deepEqual(
    objects().filter((name) => /master-key|operator-token/.test(name)),
    [],
  );
  await service.stop();
});

/** Whether a manifest at the S3 server names the upload: its bytes are there by then. */
function isSent(folder: string, uploadId: string): boolean {
  const manifests = filesBelow(folder).filter((name) => /files\/org_\w+\.json\._S3rver_object$/.test(name));
  return manifests.some((name) => readFileSync(join(folder, name), 'utf8').includes(uploadId));
}

/** Everything that was written before now is in the replica. */
async function carried(service: Replicated): Promise<void> {
  const writtenAtMs = performance.now();
  const lagMs = async () => 1_000 * (await service.metric('assistant_replica_lag_max_seconds'));
  await eventually(async () => (await lagMs()) < performance.now() - writtenAtMs, 60_000);
}

test('REPLICA-6, REPLICA-7: of a host that is gone everything comes back from an S3 server: a conversation, and what was attached', async (t) => {
  const { url, folder, env } = await startObjectStorage(t);
  const service = await start(t, url, env);
  const client = createClient(service.baseUrl, service.liveKey, DEVICE);
  const uploadId = await upload(service);
  const { events } = await client.say('What does the note say?', { attachments: [{ upload_id: uploadId }] });
  assert.equal(events.at(-1)?.type, 'turn.end');
  const conversation = String(events[0]?.conversation_id);
  const history = (of: RunningService) =>
    createClient(of.baseUrl, service.liveKey, DEVICE).send('GET', `/v1/conversations/${conversation}/messages`);
  const before = await history(service);
  assert.match(before.text, /What does the note say/);
  await eventually(() => filesBelow(folder).some((name) => /files\/service\.json\./.test(name)), 60_000);
  await eventually(() => isSent(folder, uploadId), 60_000);
  for (const database of [/control\.sqlite.*snapshots/, /organisations.*snapshots/])
    await eventually(() => filesBelow(folder).some((name) => database.test(name)), 60_000);
  await carried(service);
  const litestream = await service.litestreamPid();
  await service.stop('SIGKILL');
  process.kill(litestream, 'SIGKILL');
  const dataDir = join(temporaryDir(t), 'restored');
  const { code, stderr, stdout } = await cli(['restore', '--from', url], dataDir, env);
  assert.equal(code, 0, stderr + stdout);
  const next = await startService(t, { dataDir, env: COMMON });
  const after = await history(next);
  assert.deepEqual(after.json, before.json);
  const [own] = filesBelow(join(dataDir, 'uploads')).filter((name) => name.endsWith(uploadId));
  assert.deepEqual(readFileSync(join(dataDir, 'uploads', own ?? '')), readFileSync(join(service.dataDir, 'uploads', own ?? '')));
  await next.stop();
});

test('REPLICA-6: the minted key is in the replica where the configuration says so, and else not', async (t) => {
  const minted = { MASTER_KEY: '' };
  for (const include of ['on', 'off']) {
    const target = temporaryDir(t);
    const service = await start(t, `file://${target}`, { ...minted, REPLICA_INCLUDE_KEY: include });
    // Litestream looks at a database a second after its start.
    await eventually(() => filesBelow(target).some((name) => name.startsWith('control.sqlite') && name.endsWith('.snapshot.lz4')));
    assert.equal(await service.stop(), 0);
    const key = readFileSync(join(service.dataDir, 'master-key'), 'utf8').trim();
    const holds = filesBelow(target).some((name) => /master-key|json/.test(name) && readFileSync(join(target, name), 'utf8').includes(key));
    assert.equal(holds, include === 'on');
    const restored = await cli(['restore', '--from', `file://${target}`], join(temporaryDir(t), 'restored'), minted);
    assert.equal(restored.code, include === 'on' ? 0 : 1, restored.stderr);
    if (include === 'off') assert.match(restored.stderr, /does not hold the master key: set MASTER_KEY/);
  }
});

test('REPLICA-7: a directory that is in use or not empty is left alone; a replica that is away or damaged restores nothing', async (t) => {
  const target = temporaryDir(t);
  const url = `file://${target}`;
  const service = await start(t, url);
  await upload(service);
  const inUse = await cli(['restore', '--from', url], service.dataDir);
  assert.equal(inUse.code, 1);
  assert.match(inUse.stderr, /in use by process|is not empty/);
  assert.equal(await service.stop(), 0);
  const full = temporaryDir(t);
  writeFileSync(join(full, 'something'), '');
  assert.match((await cli(['restore', '--from', url], full)).stderr, /is not empty \(something\), nothing was restored/);
  const fresh = join(temporaryDir(t), 'restored');
  assert.match((await cli(['restore', '--from', `${url}/elsewhere`], fresh)).stderr, /There is no replica of control\.sqlite at/);
  const sent = filesBelow(target).find((name) => /upl_[0-9a-z]{24}$/.test(name)) ?? '';
  writeFileSync(join(target, sent), 'other bytes');
  assert.match((await cli(['restore', '--from', url], fresh)).stderr, /has other bytes than were sent, nothing was restored/);
  assert.deepEqual(
    filesBelow(fresh).filter((name) => name.endsWith('control.sqlite')),
    [],
  );
});

test('REPLICA-7: what is no time, no replica, or two things at once is refused', async (t) => {
  const dataDir = temporaryDir(t);
  for (const [args, words] of [
    [['restore'], /Say what to restore/],
    [['restore', 'a', '--from', 'file:///b'], /not both/],
    [['restore', 'a', '--at', '2026-01-01T00:00:00Z'], /are for --from/],
    [['restore', '--from', 'file:///b', '--at', 'yesterday'], /--at takes a time of the past/],
    [['restore', '--from', 'nowhere'], /REPLICA_URL is/],
  ] as const) {
    const { code, stderr } = await cli(args, dataDir);
    assert.notEqual(code, 0);
    assert.match(stderr, words);
  }
});

test('REPLICA-8: one organisation goes back to a moment while the service runs and serves the others', async (t) => {
  const target = temporaryDir(t);
  const url = `file://${target}`;
  const service = await start(t, url);
  const { ask, addOrganisation, metric } = service;
  const apps = (organisation: string) => appsOf(service, organisation);
  const [id, other] = [await addOrganisation('Mistaken'), await addOrganisation('Other')];
  const carried = async () => {
    const databases = await metric('assistant_replica_databases');
    const fileNames = filesBelow(target).filter((name) => name.endsWith('.snapshot.lz4'));
    return databases === 4 && fileNames.some((name) => name.includes(id)) && (await metric('assistant_replica_lag_max_seconds')) < 2;
  };
  await eventually(carried, 60_000);
  // Litestream's clock has whole seconds, and what was carried is a second old at most.
  const before = Date.now();
  await eventually(() => Date.now() > before + 3_000);
  const at = new Date(Date.now() - 1_000).toISOString();
  await eventually(() => Date.now() > before + 5_000);
  await ask('POST', `/orgs/${id}/apps`, { name: 'The mistake' });
  assert.deepEqual(await apps(id), ["Mistaken's first app", 'The mistake']);
  await eventually(async () => (await metric('assistant_replica_lag_max_seconds')) < 1);
  const refused = await cli(['restore', '--from', url, '--org', id, '--at', at], service.dataDir);
  assert.match(refused.stderr, /is there, nothing was restored\. Move it away first/);
  const away = temporaryDir(t);
  const organisations = join(service.dataDir, 'organisations');
  mkdirSync(away, { recursive: true });
  for (const name of readdirSync(organisations).filter((each) => each.startsWith(id)))
    renameSync(join(organisations, name), join(away, name));
  await eventually(async () => typeof (await apps(id)) === 'number');
  for (const name of [`${id}.sqlite-wal`, `${id}.sqlite-shm`]) rmSync(join(organisations, name), { force: true });
  const { code, stderr, stdout } = await cli(['restore', '--from', url, '--org', id, '--at', at], service.dataDir);
  assert.equal(code, 0, stderr + stdout);
  const [, upTo = ''] =
    /complete up to (\S+Z)(?:, by the newest piece of organisations\/org_\w+\.sqlite before --at)?\.\n/.exec(stdout) ?? [];
  assert.ok(Date.parse(upTo) < Date.parse(at), stdout);
  await eventually(async () => typeof (await apps(id)) !== 'number');
  assert.deepEqual(await apps(id), ["Mistaken's first app"]);
  assert.deepEqual(await apps(other), ["Other's first app"]);
  await service.stop();
});

test('REPLICA-7: of a moment nothing is missing that was acknowledged before the time up to which it says to be complete', async (t) => {
  const url = `file://${temporaryDir(t)}`;
  const service = await start(t, url, { DEMO: 'off' });
  await carried(service);
  const made: { readonly id: string; readonly atMs: number }[] = [];
  for (const endMs = Date.now() + 6_000; Date.now() < endMs; ) {
    const { body } = await service.ask('POST', '/orgs', { name: 'One of many' });
    made.push({ id: (body.org as { id: string }).id, atMs: Date.now() });
  }
  const at = new Date(made.at(-1)?.atMs ?? 0);
  at.setSeconds(at.getSeconds() - 2);
  await carried(service);
  assert.equal(await service.stop(), 0);
  const dataDir = join(temporaryDir(t), 'restored');
  const { code, stdout, stderr } = await cli(['restore', '--from', url, '--at', at.toISOString(), '--json'], dataDir);
  assert.equal(code, 0, stderr);
  const upToMs = Date.parse((JSON.parse(stdout) as { complete_up_to: string }).complete_up_to);
  const db = openReader(join(dataDir, 'control.sqlite'));
  t.after(() => db.close());
  const restored = new Set(organisationIds(db));
  const missing = made.filter(({ id, atMs }) => atMs <= at.getTime() && !restored.has(id));
  t.diagnostic(
    `asked for ${at.toISOString()}, ${missing.length} missing before, the first at ${new Date(missing[0]?.atMs ?? 0).toISOString()}`,
  );
  t.diagnostic(`complete up to ${new Date(upToMs).toISOString()}`);
  assert.deepEqual(
    missing.filter(({ atMs }) => atMs <= upToMs),
    [],
  );
  assert.ok(upToMs < at.getTime() && upToMs > at.getTime() - 10_000);
});

/** What somebody puts there who may write to the destination and has no key: a database that Litestream itself sent. */
function forge(t: TestContext, target: string, name: string, from: string): void {
  const forged = join(temporaryDir(t), 'forged.sqlite');
  cpSync(from, forged);
  const db = openWriter(forged, { mustExist: true });
  db.exec('CREATE TABLE forged (x INTEGER) STRICT');
  const configuration = join(temporaryDir(t), 'litestream.yml');
  writeFileSync(configuration, JSON.stringify({ dbs: [{ path: forged, replicas: [{ url: `file://${join(target, name)}` }] }] }));
  spawnSync(litestreamBin(), ['replicate', '-config', configuration], { timeout: 4_000, stdio: 'ignore' });
  db.close();
}

test('REPLICA-12: what somebody without the key put, changed or exchanged at the destination is named, and nothing is restored', async (t) => {
  const target = temporaryDir(t);
  const url = `file://${target}`;
  const service = await start(t, url);
  const [one, other] = [await service.addOrganisation('One'), await service.addOrganisation('Other')];
  await upload(service);
  assert.equal(await service.stop(), 0);
  for (const name of filesBelow(target).filter((each) => each.endsWith('.lz4')))
    assert.match(readFileSync(join(target, name)).toString('latin1', 0, 21), /^age-encryption\.org\/v1/, name);
  const refused = async (said: RegExp) => {
    const dataDir = join(temporaryDir(t), 'restored');
    const { code, stderr } = await cli(['restore', '--from', url], dataDir);
    assert.equal(code, 1, stderr);
    assert.match(stderr, said);
    assert.match(stderr, /nothing was restored/);
    assert.equal(existsSync(join(dataDir, 'control.sqlite')), false);
  };
  /** Does something to what is there, and takes it back. */
  const after = async (change: () => void, said: RegExp) => {
    const kept = temporaryDir(t);
    cpSync(target, kept, { recursive: true, preserveTimestamps: true });
    change();
    await refused(said);
    rmSync(target, { recursive: true });
    cpSync(kept, target, { recursive: true, preserveTimestamps: true });
  };
  const generations = (id: string) => join(target, 'organisations', `${id}.sqlite`, 'generations');
  const within = (name: string, change: (text: string) => string) => () =>
    writeFileSync(join(target, name), change(readFileSync(join(target, name), 'utf8')));
  const [manifest = ''] = filesBelow(join(target, 'files')).filter((name) => /^org_\w+\.json$/.test(name));
  const foreign =
    /control\.sqlite\/generations\/[0-9a-f]{16} in the replica was not sealed with this master key for this database, or was changed/;
  await after(() => forge(t, target, 'control.sqlite', join(service.dataDir, 'control.sqlite')), foreign);
  await after(
    () => {
      rmSync(generations(one), { recursive: true });
      cpSync(generations(other), generations(one), { recursive: true });
    },
    new RegExp(`organisations/${one}\\.sqlite/generations/\\w+ in the replica was not sealed with this master key for this database`),
  );
  const changed = /in the replica was not written by a service with this master key, or was changed/;
  await after(
    within('files/service.json', (text) => text.replace(/"lag_max_s":/, '"lag_max_s":0,"x":')),
    changed,
  );
  await after(
    within(`files/${manifest}`, (text) => text.replace(/"came_at_ms":\d/, '"came_at_ms":9')),
    changed,
  );
  await after(
    within(`files/${manifest}`, (text) => text.replace(/,"mac":"\w+"/, '')),
    changed,
  );
  await after(
    within('files/service.json', (text) => text.replace('"version":2', '"version":1')),
    /is of an older release, and nothing proves/,
  );
  await after(() => rmSync(join(target, 'files', manifest)), new RegExp(`${manifest} was in the replica and is not there`));
  await after(() => rmSync(join(target, 'files', 'service.json')), /files\/service\.json is not in the replica/);
  assert.equal((await cli(['restore', '--from', url], join(temporaryDir(t), 'restored'))).code, 0, 'as it was it is restored');
});
