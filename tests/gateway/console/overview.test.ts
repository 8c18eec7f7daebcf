import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { keptGlance, readGlanceOf } from '../../../actors/organisation-glance.ts';
import type { AppSummary, Glance, Health, Overview } from '../../../protocol/console/glance-answers.ts';
import { createApp } from '../../../storage/apps/app-creation.ts';
import { readAppEvents, readAppHeads, readUsageDays, UNDECIDED } from '../../../storage/apps/app-glance.ts';
import { medianFirstWord, readAppHours } from '../../../storage/billing/app-hours.ts';
import { openStorage } from '../../../storage/storage.ts';
import { createClient, createOperator } from '../../support/client.ts';
import { makeOrganisations } from '../../support/copied-organisations.ts';
import { eventually } from '../../support/eventually.ts';
import { startService } from '../../support/service.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { serveAnsweredApp } from '../answered-app.ts';
import { type ScriptedChat, startScriptedChat } from '../runtime/scripted-chat.ts';

const DAY_MS = 86_400_000;

async function talked(t: TestContext): Promise<ScriptedChat> {
  const it = await startScriptedChat(t);
  const live = createClient(it.service.baseUrl, it.app.liveKey);
  const down = { status: 500, body: { error: { message: 'The engine is down.', type: 'server_error' } } } as const;
  it.script([{ text: 'In two days.' }], [{ text: 'Tomorrow.' }], [down]);
  for (let n = 0; n < 3; n += 1) await live.chat({ message: { text: 'Where is my order?' } });
  return it;
}

const summaryOf = async ({ operator, app }: ScriptedChat, days: number) =>
  (await operator('GET', `/apps/${app.appId}/summary?days=${days}`)).json as unknown as AppSummary;

test('CONSOLE-31: the overview has of each app its turns today and of the week, what failed, the first word, people and what waits, as soon as they are', async (t) => {
  const it = await talked(t);
  const read = async () => (await it.operator('GET', '/overview')).json as unknown as Overview;
  const app = async () => (await read()).orgs[0]?.glance?.apps[0];
  // Who opened the app is noted within a second.
  await eventually(async () => (await app())?.people === 1);
  const {
    week,
    turns,
    ended,
    failed,
    first_word_ms: firstWord,
    channel,
    last_at: lastAt,
    waits,
  } = (await app()) as NonNullable<Awaited<ReturnType<typeof app>>>;
  assert.deepEqual([turns, ended, failed, channel], [3, 3, 1, 'live']);
  assert.deepEqual(week, [0, 0, 0, 0, 0, 0, 3]);
  assert.ok(firstWord !== null && lastAt !== null);
  assert.deepEqual(waits, { proposals: 0, keys: 0, sources: 0, setup: null, todos: 0 });
  const [organisation] = (await read()).orgs;
  assert.deepEqual([organisation?.id, organisation?.plan, organisation?.glance?.apps_total], [it.app.organisationId, 'scale', 1]);
  assert.deepEqual(
    organisation?.glance?.events.map(({ kind }) => kind),
    ['live'],
  );
  const { json } = await it.operator('GET', '/overview?limit=1&name=nobody');
  assert.deepEqual(json, { orgs: [], next: null });
});

test('CONSOLE-32: the summary of an app has the same for 1, 7 and 30 days, its builds and its newest events', async (t) => {
  const it = await talked(t);
  const day = await summaryOf(it, 1);
  assert.deepEqual([day.total.turns, day.total.failed], [3, 1]);
  assert.equal(day.series[0]?.at.slice(11), '00:00:00.000Z');
  assert.equal(
    day.series.reduce((sum, { turns }) => sum + turns, 0),
    3,
  );
  for (const days of [7, 30]) {
    const { series, total } = await summaryOf(it, days);
    assert.deepEqual([series.length, series.at(-1)?.turns, total.turns, total.ended], [days, 3, 3, 3]);
  }
  const document = { version: '1', actions: [], routes: [{ name: 'orders', title: 'Orders' }] };
  await it.client.register(document);
  const { builds, events } = await summaryOf(it, 7);
  assert.ok(
    builds.some(({ screens, counts }) => screens === 1 && counts),
    JSON.stringify(builds),
  );
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['live'],
  );
  assert.equal((await it.operator('GET', `/apps/${it.app.appId}/summary?days=2`)).status, 400);
  assert.equal((await it.operator('GET', '/apps/app_none/summary')).status, 404);
});

test('CONSOLE-34: the health of an app and of an organisation has by the hour how often turns and the model were tried and failed, by all keys', async (t) => {
  const it = await talked(t);
  it.script([{ text: 'With a test key.' }]);
  await createClient(it.service.baseUrl, it.app.testKey).chat({ message: { text: 'And my tea?' } });
  for (const [path, hours] of [
    [`/orgs/${it.app.organisationId}/health`, 24],
    [`/apps/${it.app.appId}/health`, 168],
  ] as const) {
    const health = (await it.operator('GET', path)).json as unknown as Health;
    const [app] = health.apps;
    assert.equal(health.hours, hours);
    assert.equal(Date.parse(health.from) % 3_600_000, 0);
    const sums = (['turns', 'model', 'backend', 'knowledge'] as const).map((kind) => {
      assert.deepEqual([app?.[kind].tried.length, app?.[kind].failed.length], [hours, hours]);
      const sum = (numbers: readonly number[] = []) => numbers.reduce((all, one) => all + one, 0);
      return [sum(app?.[kind].tried), sum(app?.[kind].failed)];
    });
    assert.deepEqual(sums, [
      [4, 1],
      [4, 1],
      [0, 0],
      [0, 0],
    ]);
    assert.deepEqual([app?.app_id, app?.name], [it.app.appId, 'Test app']);
  }
  assert.equal((await it.operator('GET', '/orgs/org_none/health')).status, 404);
});

test('CONSOLE-31: what an app does at a glance is found by an index and read from kept counts: no list of conversations, turns or proposals is gone through', async (t) => {
  const { storage, appId, organisationId } = await serveAnsweredApp(t);
  const db = storage.organisation(organisationId);
  const asked: string[] = [];
  const spy = { ...db, path: db.path, exec: () => assert.fail(), close: () => assert.fail() };
  const watched = {
    ...spy,
    statement(sql: string) {
      asked.push(sql);
      return db.statement(sql);
    },
    tuples(sql: string) {
      asked.push(sql);
      return db.tuples(sql);
    },
  } as typeof db;
  readGlanceOf(storage.control, watched, organisationId, Date.now());
  readAppHeads(watched);
  readAppEvents(watched, appId, 8);
  readUsageDays(watched, appId, 'live', '2026-01-01');
  readAppHours(watched, appId, 'live', 0);
  assert.ok(asked.length >= 8 && asked.some((sql) => sql.includes(UNDECIDED)));
  const scans = asked.flatMap((sql) => {
    const named = Object.fromEntries([...sql.matchAll(/:(\w+)/g)].map(([, name]) => [name ?? '', null]));
    const plan = db.statement(`EXPLAIN QUERY PLAN ${sql}`).all(named);
    return plan
      .map(({ detail }) => String(detail))
      .filter((line) => /^SCAN (?:conversations|turns|messages|proposals|devices|c|p|t)\b/.test(line));
  });
  assert.deepEqual(scans, []);
});

test('CONSOLE-33: the overview opens no file of an organisation that nobody uses, and shows what was found when it was closed', async (t) => {
  const dataDir = temporaryDir(t);
  const [id = ''] = await makeOrganisations(dataDir, 3);
  const storage = openStorage({ dataDir, masterKey: undefined, onFatal: assert.fail });
  const glance = (db: typeof storage.control) => JSON.stringify(readGlanceOf(storage.control, db, id, Date.now()));
  await createApp(storage, { organisationId: id, name: 'Shop', platformHint: 'web', settings: {}, nowMs: Date.now() });
  const end = { dueAtMs: null, spentDay: '', spentMicroUsd: 0 };
  assert.equal(await storage.endUse(id, (db) => ({ ...end, glance: glance(db) })), true);
  await storage.close();
  const service = await startService(t, { dataDir, env: { DEMO: 'off' } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { orgs } = (await operator('GET', '/overview')).json as unknown as Overview;
  assert.deepEqual(
    readdirSync(join(dataDir, 'organisations')).filter((name) => name.endsWith('-shm')),
    [],
  );
  const kept = orgs.find((organisation) => organisation.id === id)?.glance;
  assert.ok(kept !== null && kept !== undefined && kept.apps.length > 0);
  assert.deepEqual(orgs.filter(({ glance: none }) => none === null).length, 2);
});

test('CONSOLE-33: what was today’s when a file was closed is a day of the week later, and then gone', () => {
  const atMs = Date.UTC(2026, 10, 21, 10);
  const app = { live: true, week: [0, 1, 2, 3, 4, 5, 6], turns: 6, ended: 6, failed: 2, first_word_ms: 300, people: 2, spent_usd: 1 };
  const kept = JSON.stringify({ day: '2026-11-21', apps: [app], apps_total: 1, events: [] });
  const at = (days: number) => (keptGlance(kept, atMs + days * DAY_MS) as Glance).apps[0];
  assert.deepEqual(at(0)?.week, app.week);
  assert.deepEqual([at(2)?.week, at(2)?.turns, at(2)?.failed, at(2)?.first_word_ms, at(2)?.people], [[2, 3, 4, 5, 6, 0, 0], 0, 0, null, 0]);
  assert.deepEqual(at(9)?.week, [0, 0, 0, 0, 0, 0, 0]);
  assert.equal(keptGlance('', atMs), null);
});

test('CONSOLE-31: the median of first words lies in the bucket that holds it', () => {
  assert.equal(medianFirstWord([]), null);
  assert.equal(medianFirstWord([2]), 25);
  assert.equal(medianFirstWord([0, 0, 0, 0, 3, 0, 1]), 267);
});
