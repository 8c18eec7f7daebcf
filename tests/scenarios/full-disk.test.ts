/** A disk that takes no writes: full, or mounted read-only. The program starts, serves what it can, says so, and goes on by itself. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { eventually } from '../support/eventually.ts';
import { type RunningService, startService } from '../support/service.ts';
import { fill, smallDisk } from '../support/small-disk.ts';

/** A log of 4 MB is full after fewer. */
const WRITES_MAX = 1_000;
/** More than what the file has. */
const LOG_BYTES = 4 * 1024 * 1024;
const ROOM_BYTES = 2 * 1024 * 1024;

async function read(service: RunningService, path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(service.baseUrl + path, { headers });
  return {
    status: answer.status,
    body: (await answer.json()) as { status?: string; conditions?: { condition: string }[]; orgs?: { id: string }[] },
  };
}

async function write(service: RunningService): Promise<{ status: number; code: string | undefined }> {
  const answer = await fetch(`${service.baseUrl}/console/api/orgs`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.operatorToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Acme', plan: 'free' }),
  });
  const body = (await answer.json()) as { error?: { code: string } };
  return { status: answer.status, code: body.error?.code };
}

/** What it says and serves while it can store nothing. */
async function requireReadsOnly(service: RunningService, liveKey: string, condition: string): Promise<void> {
  assert.equal((await read(service, '/v1/apps/config', { 'X-Service-Key': liveKey })).status, 200, 'reads are served');
  const operator = { Authorization: `Bearer ${service.operatorToken}` };
  const { orgs } = (await read(service, '/console/api/orgs', operator)).body;
  const usage = await read(service, `/console/api/orgs/${orgs?.[0]?.id}/usage`, operator);
  assert.equal(usage.status, 200, `reads that take long, too: ${JSON.stringify(usage.body)}`);
  // A log that was checkpointed has room of its own for some writes: these are stored, and answered so.
  let answer = await write(service);
  for (let n = 0; answer.status === 201 && n < WRITES_MAX; n++) answer = await write(service);
  assert.deepEqual(answer, { status: 503, code: 'storage_unavailable' });
  for (let n = 0; n < 3; n++) await write(service);
  const { status, body } = await read(service, '/readyz');
  assert.deepEqual([status, body.status], [200, 'degraded']);
  assert.ok(
    body.conditions?.some((held) => held.condition === condition),
    JSON.stringify(body),
  );
  const said = service.output().stderr.match(new RegExp(`"condition":"${condition}"`, 'g')) ?? [];
  assert.equal(said.length, 1, 'it is said once, and not at every write');
}

async function requireWrites(service: RunningService): Promise<void> {
  await eventually(
    async () => (await read(service, '/readyz')).body.status === 'ready',
    undefined,
    () => service.output().stderr,
  );
  assert.equal((await write(service)).status, 201);
}

/** Has the log of the control file grow while somebody reads an older state of it; returns its bytes. */
async function growLog(service: RunningService, dataDir: string): Promise<number> {
  const path = join(dataDir, 'control.sqlite');
  const reader = new Database(path, { readonly: true });
  reader.exec('BEGIN; SELECT count(*) FROM organisations');
  const size = () => statSync(`${path}-wal`).size;
  for (let n = 0; n < WRITES_MAX && size() < LOG_BYTES; n++) assert.equal((await write(service)).status, 201);
  const bytes = size();
  reader.close();
  return bytes;
}

test('STORE-23: logs that fill the disk are emptied once there is a little room', async (t) => {
  const dataDir = smallDisk(t);
  if (dataDir === undefined) return t.skip('this user may not mount a disk');
  const service = await startService(t, { dataDir });
  assert.ok((await growLog(service, dataDir)) >= LOG_BYTES);
  const filler = fill(dataDir);
  await eventually(async () => (await write(service)).status === 503);
  // Too little to be more than low for a disk of this size.
  truncateSync(filler, statSync(filler).size - ROOM_BYTES);
  await eventually(async () => (await write(service)).status === 201 && statSync(join(dataDir, 'control.sqlite-wal')).size < LOG_BYTES / 2);
});

test('STORE-16: on a full disk the service starts, serves reads, refuses writes with 503, and goes on when there is room', async (t) => {
  const dataDir = smallDisk(t);
  if (dataDir === undefined) return t.skip('this user may not mount a disk');
  const first = await startService(t, { dataDir });
  const filler = fill(dataDir);
  await requireReadsOnly(first, first.liveKey, 'disk_full');
  assert.equal(await first.stop(), 0);

  fill(dataDir);
  const service = await startService(t, { dataDir });
  await requireReadsOnly(service, first.liveKey, 'disk_full');
  rmSync(filler);
  await requireWrites(service);
  assert.equal(await service.stop(), 0);

  execFileSync('mount', ['-o', 'remount,ro', dataDir]);
  const mounted = await startService(t, { dataDir });
  await requireReadsOnly(mounted, first.liveKey, 'read_only');
  execFileSync('mount', ['-o', 'remount,rw', dataDir]);
  await requireWrites(mounted);
});
