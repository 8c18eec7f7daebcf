/** One organisation's file that is away or damaged is that organisation's trouble: the program starts, serves the others and says so. */
import assert from 'node:assert/strict';
import { closeSync, openSync, readdirSync, renameSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { readMetrics } from '../support/process.ts';
import { type RunningService, startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

interface Answer {
  readonly status: number;
  readonly body: Record<string, never> & { error?: { code: string; message: string } };
}

async function ask(service: RunningService, path: string, headers: Record<string, string> = {}, body?: unknown): Promise<Answer> {
  const answer = await fetch(`${service.baseUrl}${path}`, {
    headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Answer['body'] };
}

/** The demo and two more organisations with an app each, in a directory whose service has stopped. */
async function stopped(t: TestContext) {
  const dataDir = temporaryDir(t);
  const service = await startService(t, { dataDir });
  const operator = { Authorization: `Bearer ${service.operatorToken}` };
  const [demo = ''] = readdirSync(join(dataDir, 'organisations')).map((name) => name.slice(0, 28));
  const make = async (name: string) => {
    const made = await ask(service, '/console/api/orgs', operator, { name, plan: 'free' });
    const org = (made.body as unknown as { org: { id: string } }).org.id;
    const app = await ask(service, `/console/api/orgs/${org}/apps`, operator, { name: 'Shop' });
    assert.equal(app.status, 201);
    return org;
  };
  const [away, whole] = [await make('Away'), await make('Whole')];
  assert.equal(await service.stop(), 0);
  return { dataDir, operator, demo, away, whole, liveKey: service.liveKey };
}

/** What `condition` says to whoever asks with these headers. */
async function degraded(service: RunningService, headers: Record<string, string>) {
  const { status, body } = await ask(service, '/readyz', headers);
  assert.equal(status, 200, 'what can be served is');
  return body as unknown as {
    status: string;
    conditions: { condition: string; count?: number; about?: { id: string; detail: string }[] }[];
  };
}

function scribble(path: string): void {
  const file = openSync(path, 'r+');
  // All pages but the first: the file opens, and reading it fails.
  for (let at = 4_096; at < statSync(path).size; at += 4_096) writeSync(file, Buffer.alloc(4_096, 0x5a), 0, 4_096, at);
  closeSync(file);
}

const UNAVAILABLE = [503, 'organisation_unavailable'];

test('STORE-9: a start with one organisation’s file damaged and one away serves the others, answers 503 for these and names them', async (t) => {
  const { dataDir, operator, demo, away, whole, liveKey } = await stopped(t);
  const pathOf = (id: string) => join(dataDir, 'organisations', `${id}.sqlite`);
  scribble(pathOf(demo));
  renameSync(pathOf(away), `${pathOf(away)}.away`);
  const service = await startService(t, { dataDir, env: { PLATFORM_DAILY_BUDGET_USD: '10' } });
  const apps = (org: string) => ask(service, `/console/api/orgs/${org}/apps`, operator);

  const runtime = await ask(service, '/v1/apps/config', { 'X-Service-Key': liveKey });
  assert.deepEqual([runtime.status, runtime.body.error?.code], UNAVAILABLE);
  assert.ok(!runtime.body.error?.message.includes(dataDir), 'strangers learn no path');
  const told = await apps(away);
  assert.deepEqual([told.status, told.body.error?.code], UNAVAILABLE);
  assert.match(told.body.error?.message ?? '', new RegExp(`${away}\\.sqlite is missing`));
  assert.equal((await apps(whole)).status, 200, 'others are served');

  const toStrangers = await degraded(service, {});
  assert.equal(toStrangers.status, 'degraded');
  assert.deepEqual(
    toStrangers.conditions.map(({ condition, count, about }) => [condition, count, about]),
    [['organisation_unavailable', 2, undefined]],
  );
  const [condition] = (await degraded(service, operator)).conditions;
  assert.deepEqual(condition?.about?.map(({ id }) => id).sort(), [demo, away].sort());
  for (const { detail } of condition?.about ?? []) assert.match(detail, /docs\/backups\.md/);
  assert.equal((await readMetrics(service.baseUrl)).get('assistant_conditions{condition="organisation_unavailable"}'), 2);
  const lines = service.output().stderr.match(/"condition":"organisation_unavailable"/g) ?? [];
  assert.equal(lines.length, 2, 'each is said once');

  renameSync(`${pathOf(away)}.away`, pathOf(away));
  const isBack = async () => (await apps(away)).status === 200;
  await eventually(isBack, undefined, () => 'the file is back and its organisation is not served');
  assert.equal((await degraded(service, {})).conditions[0]?.count, 1);
});
