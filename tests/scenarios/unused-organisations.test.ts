/** Organisations that nobody uses cost a start nothing: their files are not opened, and what is due in them is done all the same. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { mintId } from '../../protocol/ids.ts';
import { createApp } from '../../storage/apps/app-creation.ts';
import { openStorage, type Storage } from '../../storage/storage.ts';
import { writeUploadFile } from '../../storage/uploads/upload-files.ts';
import { createOperator } from '../support/client.ts';
import { makeOrganisations } from '../support/copied-organisations.ts';
import { eventually } from '../support/eventually.ts';
import { openDescriptors } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const ORGANISATIONS = 300;

/** What is open besides organisations' files: the program's own, with its threads and databases. */
const OWN_DESCRIPTORS_MAX = 100;

function open(dataDir: string): Storage {
  return openStorage({ dataDir, masterKey: undefined, onFatal: assert.fail });
}

test('STORE-19: a start opens no file of organisations that nobody uses, and one that is asked for is served', async (t) => {
  const dataDir = temporaryDir(t);
  const ids = await makeOrganisations(dataDir, ORGANISATIONS);
  const service = await startService(t, { dataDir, env: { DEMO: 'off', PLATFORM_DAILY_BUDGET_USD: '10' } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { status, json } = await operator('GET', `/orgs/${ids[7]}/usage`);
  assert.equal(status, 200, JSON.stringify(json));
  const opened = new Set(readdirSync(`${dataDir}/organisations`).filter((name) => name.endsWith('-shm')));
  assert.deepEqual([...opened], [`${ids[7]}.sqlite-shm`]);
  assert.ok(openDescriptors(service.pid) <= OWN_DESCRIPTORS_MAX, `${openDescriptors(service.pid)} descriptors`);
  assert.equal(await service.stop(), 0);
});

test('STORE-19: a start after a crash holds no file open for having read what was spent in those that were in use', async (t) => {
  const dataDir = temporaryDir(t);
  const ids = await makeOrganisations(dataDir, OWN_DESCRIPTORS_MAX);
  const storage = open(dataDir);
  await Promise.all(ids.map((organisationId) => storage.writeControl('beginUse', { organisationId, usedBy: 'gone' })));
  await storage.close();
  const service = await startService(t, { dataDir, env: { DEMO: 'off', PLATFORM_DAILY_BUDGET_USD: '10' } });
  assert.ok(openDescriptors(service.pid) <= OWN_DESCRIPTORS_MAX, `${openDescriptors(service.pid)} descriptors`);
  assert.equal(await service.stop(), 0);
});

test('STORE-21: an organisation that has nothing has no file, and reads as one that has nothing', async (t) => {
  const service = await startService(t, { env: { DEMO: 'off', PLATFORM_DAILY_BUDGET_USD: '10' } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const made = await operator('POST', '/orgs', { name: 'Nothing', plan: 'free' });
  const { id } = (made.json as { org: { id: string } }).org;
  const apps = await operator('GET', `/orgs/${id}/apps`);
  const usage = await operator('GET', `/orgs/${id}/usage`);
  assert.deepEqual([apps.status, apps.json, usage.status], [200, { apps: [] }, 200], apps.text);
  assert.equal((usage.json as { credit: { plan_left_usd: number } }).credit.plan_left_usd, 5);
  assert.deepEqual(readdirSync(`${service.dataDir}/organisations`), []);
  assert.equal((await operator('POST', `/orgs/${id}/apps`, { name: 'Shop' })).status, 201);
  const { apps: listed } = (await operator('GET', `/orgs/${id}/apps`)).json as { apps: unknown[] };
  assert.equal(listed.length, 1);
  assert.ok(existsSync(`${service.dataDir}/organisations/${id}.sqlite`));
});

/** An organisation with an upload that nobody used and whose time is up in a moment, in a directory that no process has open. */
async function withUpload(t: TestContext, end: (storage: Storage, id: string, dueAtMs: number) => Promise<unknown>) {
  const dataDir = temporaryDir(t);
  const [, id = ''] = await makeOrganisations(dataDir, 3);
  const storage = open(dataDir);
  const nowMs = Date.now();
  const { app } = await createApp(storage, { organisationId: id, name: 'Shop', platformHint: '', settings: {}, nowMs });
  const uploadId = mintId('upl', nowMs);
  await writeUploadFile(storage, id, uploadId, Buffer.from('words'));
  const dueAtMs = nowMs + 1_000;
  const about = { channel: 'live', deviceId: 'device', address: '', name: 'sealed', mediaType: 'text/plain' } as const;
  const row = { ...about, id: uploadId, appId: app.id, size: 5, appMaxBytes: 1_000_000, nowMs, expiresAtMs: dueAtMs };
  await storage.write(id, 'saveUpload', row);
  await end(storage, id, dueAtMs);
  const path = storage.layout.upload(id, uploadId);
  await storage.close();
  return { dataDir, path };
}

const LEFT: Readonly<Record<string, (storage: Storage, id: string, dueAtMs: number) => Promise<unknown>>> = {
  'that a process used when it ended': async () => {},
  'that nobody used': (storage, id, dueAtMs) => storage.endUse(id, () => ({ dueAtMs, spentDay: '', spentMicroUsd: 0 })),
};

for (const [what, end] of Object.entries(LEFT)) {
  test(`STORE-20: what is due in a file ${what} is done by the next start, without a request`, async (t) => {
    const { dataDir, path } = await withUpload(t, end);
    assert.ok(existsSync(path));
    await startService(t, { dataDir, env: { DEMO: 'off' } });
    await eventually(() => !existsSync(path));
  });
}
