import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../support/eventually.ts';
import { litestreamBin } from '../../support/litestream.ts';
import { startObjectStorage } from '../../support/object-storage.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const CLI = fileURLToPath(new URL('../../../cli.js', import.meta.url));
const KEY = Buffer.alloc(32, 9).toString('base64');
const COMMON = { LITESTREAM_BIN: litestreamBin(), MASTER_KEY: KEY, OPERATOR_TOKEN: 'the-operator-of-all-these-tests' };

async function cli(args: readonly string[], dataDir: string, env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, ['--enable-source-maps', CLI, ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir, ...COMMON, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].on('data', (chunk: Buffer) => {
      said[stream] += chunk.toString('utf8');
    });
  }
  const [code] = (await once(child, 'close')) as [number];
  return { code, ...said };
}

/** The operator's requests of one running service. */
function operator({ baseUrl, operatorToken }: RunningService) {
  const headers = { Authorization: `Bearer ${operatorToken}`, 'Content-Type': 'application/json' };
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${baseUrl}/console/api${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return {
    ask,
    async addOrganisation(name: string): Promise<string> {
      const { org } = (await ask('POST', '/orgs', { name })).body as { org: { id: string } };
      await ask('POST', `/orgs/${org.id}/apps`, { name: `${name}'s first app` });
      return org.id;
    },
    async apps(id: string): Promise<string[] | number> {
      const { status, body } = await ask('GET', `/orgs/${id}/apps`);
      return status === 200 ? (body.apps as { name: string }[]).map(({ name }) => name) : status;
    },
    async metric(name: string): Promise<number> {
      const text = await (await fetch(`${baseUrl}/metrics`)).text();
      const line = text.split('\n').find((each) => each.startsWith(`${name} `));
      return Number(line?.slice(name.length + 1));
    },
  };
}

async function upload({ baseUrl, liveKey }: RunningService): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob(['What somebody attached.'], { type: 'text/plain' }), 'note.txt');
  const headers = { 'X-Service-Key': liveKey, 'X-Service-Device': '0123456789abcdef0123456789abcdef' };
  const answer = await fetch(`${baseUrl}/v1/uploads`, { method: 'POST', headers, body: form });
  assert.equal(answer.status, 200, await answer.clone().text());
  return JSON.stringify(await answer.json());
}

function filesBelow(dir: string): string[] {
  return existsSync(dir) ? readdirSync(dir, { recursive: true }).map(String) : [];
}

async function start(t: TestContext, url: string, env: Readonly<Record<string, string>> = {}, dataDir = temporaryDir(t)) {
  return startService(t, { dataDir, env: { ...COMMON, REPLICA_URL: url, ...env } });
}

test('REPLICA-6, REPLICA-7: everything comes back that was acknowledged, uploads too, and the key stays at home', async (t) => {
  const url = `file://${temporaryDir(t)}`;
  const service = await start(t, url);
  const { addOrganisation } = operator(service);
  const id = await addOrganisation('Kept');
  await upload(service);
  assert.equal(await service.stop(), 0);
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
  assert.equal(existsSync(join(dataDir, 'master-key')), false);
  const next = await startService(t, { dataDir, env: COMMON });
  assert.deepEqual(await operator(next).apps(id), ["Kept's first app"]);
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
  assert.deepEqual(readFileSync(join(folder, sent)), readFileSync(join(service.dataDir, 'uploads', own ?? '')));
  assert.equal(
    objects().some((name) => name.includes('master-key')),
    false,
  );
  await service.stop();
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
  const { ask, addOrganisation, apps, metric } = operator(service);
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
  await eventually(async () => typeof (await apps(id)) !== 'number');
  assert.deepEqual(await apps(id), ["Mistaken's first app"]);
  assert.deepEqual(await apps(other), ["Other's first app"]);
  await service.stop();
});
