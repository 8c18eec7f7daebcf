/** Pictures of the console's pages about an app that an agent has set up, which people have asked, and of those about all of them. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openWriter } from '../storage/sqlite/database.ts';
import { type BrowserWorld, waitForPage } from '../tests/browser/browser.ts';
import { createClient, createOperator, HANDSHAKE } from '../tests/support/client.ts';
import { agentOf, openSession } from '../tests/support/setup-agent.ts';
import { SETUP_WORK, SUMMARY } from '../tests/support/setup-work.ts';

/** Each page by the end of its address, and the title it has. */
const PAGES = [
  ['summary', '', 'Tea shop'],
  ['appearance', '/appearance', 'Appearance'],
  ['assistant', '/assistant', 'Assistant'],
  ['knowledge', '/knowledge', 'Knowledge'],
  ['conversations', '/conversations', 'Conversations'],
  ['settings', '/settings', 'Settings'],
  ['usage', '/usage', 'Usage'],
] as const;

const QUESTIONS = [
  'How do I send something back?',
  'Which tea has the least caffeine?',
  'How long does shipping take?',
  'Can I order without an account?',
  'Do you wrap gifts?',
  'How hot should the water be?',
];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** An app that was set up call by call and is live, which people have asked. */
async function setUpShop({ service }: BrowserWorld): Promise<string> {
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { org } = (await operator('POST', '/orgs', { name: 'Tea and more', plan: 'growth' })).json as { org: { id: string } };
  const settings = { name: 'Tea shop', allowed_domains: ['tea.example.com'] };
  const made = (await operator('POST', `/orgs/${org.id}/apps`, settings)).json as {
    app: { id: string };
    keys: { live: string };
  };
  const appId = made.app.id;
  const first = await agentOf(service.baseUrl, (await openSession(operator, appId)).code);
  for (const { run } of SETUP_WORK) await run(first, service.baseUrl);
  await first.get('POST', '/complete', SUMMARY);
  await operator('POST', `/apps/${appId}/go-live`);
  await operator('PUT', `/apps/${appId}/experience`, { welcomeTitle: 'What can I do for you?' });
  await operator('POST', `/apps/${appId}/publish`);
  for (const [n, text] of QUESTIONS.entries()) {
    const client = createClient(service.baseUrl, made.keys.live, String(n).repeat(32));
    await client.chat({ message: { text }, client: HANDSHAKE });
  }
  spreadTimes({ service }, org.id, 0);
  const { orgs } = (await operator('GET', '/orgs')).json as { orgs: readonly { id: string; name: string }[] };
  for (const { id, name } of orgs) if (name === 'Demo') spreadTimes({ service }, id, 9);
  addUse({ service }, org.id, appId);
  return appId;
}

/** Everything happened just now: afterwards the set-up was three weeks ago or `later` by some days, version 2 was published last week, and questions came over the day. */
function spreadTimes({ service }: Pick<BrowserWorld, 'service'>, organisationId: string, later: number): void {
  const db = openWriter(join(service.dataDir, 'organisations', `${organisationId}.sqlite`));
  const nowMs = Date.now();
  const at = (daysAgo: number, hour: number, minute: number) =>
    (Math.floor(nowMs / DAY_MS) - daysAgo + later) * DAY_MS + hour * HOUR_MS + minute * 60_000;
  const times = {
    opened: at(21, 9, 4),
    smoke: at(21, 9, 38),
    closed: at(21, 9, 41),
    firstSeen: at(21, 9, 27),
    live: at(20, 14, 20),
    again: at(6 + later, 16, 12),
    ...{ now: nowMs, step: 67 * 60_000 },
  };
  for (const update of [
    'UPDATE setup_sessions SET opened_at_ms = :opened, closed_at_ms = :closed WHERE closed_at_ms IS NOT NULL',
    'UPDATE smoke_runs SET created_at_ms = :smoke',
    'UPDATE publications SET published_at_ms = iif(version = 1, :live, :again)',
    'UPDATE manifests SET first_seen_at_ms = :firstSeen',
    'UPDATE knowledge_sources SET created_at_ms = :firstSeen, updated_at_ms = :firstSeen + 7000 * rowid',
    'UPDATE apps SET created_at_ms = :opened, handshake_at_ms = :firstSeen, live_at_ms = :live, revision = revision + 1',
    // The newest was asked two minutes ago, each other one an hour or so before the next.
    `UPDATE conversations SET created_at_ms = :now - 120000 - :step * before, updated_at_ms = :now - 120000 - :step * before
      FROM (SELECT id AS one, row_number() OVER (ORDER BY updated_at_ms DESC) - 1 AS before FROM conversations) WHERE id = one`,
  ]) {
    const named = Object.entries(times).filter(([name]) => new RegExp(`:${name}\\b`).test(update));
    db.statement(update).run(Object.fromEntries(named));
  }
  db.close();
}

/** Use of the days up to now, as the ledger and the counts by the hour keep it: a busy week, a quiet weekend, quiet nights. */
function addUse({ service }: Pick<BrowserWorld, 'service'>, organisationId: string, appId: string): void {
  const db = openWriter(join(service.dataDir, 'organisations', `${organisationId}.sqlite`));
  const add = db.statement(
    `INSERT INTO usage_days (app_id, channel, day, turns, conversations, cost_microusd, failed_microusd)
     VALUES (:appId, 'live', :day, :turns, :conversations, :costMicroUsd, :failed) ON CONFLICT (app_id, channel, day)
     DO UPDATE SET turns = turns + excluded.turns, conversations = conversations + excluded.conversations, cost_microusd = excluded.cost_microusd`,
  );
  const addHour = db.statement(
    `INSERT INTO app_hours VALUES (:appId, 'live', :hour, :turns, :failed, :people, :firstWords) ON CONFLICT DO NOTHING`,
  );
  const addTried = db.statement(`INSERT INTO tried_hours VALUES (:appId, :kind, :hour, :tried, :failed) ON CONFLICT DO NOTHING`);
  const thisHour = Math.floor(Date.now() / HOUR_MS);
  const today = Math.floor(thisHour / 24);
  for (let day = today - new Date().getUTCDate() + 1; day <= today; day++) {
    const date = new Date(day * DAY_MS);
    const isQuiet = date.getUTCDay() % 6 === 0;
    let turns = 0;
    for (let hour = day * 24; hour < Math.min((day + 1) * 24, thisHour); hour++) {
      const ofDay = hour % 24;
      const busy = Math.max(1, 24 - 2 * Math.abs(ofDay - 14) + ((hour * 7) % 9));
      const own = Math.ceil(busy * (isQuiet ? 0.35 : 0.8 + ((day * 97) % 45) / 100));
      const failed = hour % 61 === 0 ? 2 : 0;
      turns += own;
      addHour.run({ appId, hour, turns: own, failed, people: Math.ceil(own / 3), firstWords: JSON.stringify([0, 0, 0, 0, own, 0]) });
      addTried.run({ appId, kind: 'model', hour, tried: own + 2, failed });
      addTried.run({ appId, kind: 'backend', hour, tried: Math.ceil(own / 4), failed: 0 });
    }
    add.run({
      ...{ appId, turns, day: date.toISOString().slice(0, 'YYYY-MM-DD'.length), conversations: Math.ceil(turns / 3) },
      ...{ costMicroUsd: turns * 1_900, failed: date.getUTCDate() % 9 === 4 ? 90_000 : 0 },
    });
  }
  db.close();
}

async function take(page: Page, file: string): Promise<void> {
  // What is read by itself may still be on its way.
  await page.locator('main :is(.card, table, form, iframe, .empty)').first().waitFor();
  await page.waitForTimeout(SETTLES_MS);
  await page.screenshot({ path: file, animations: 'disabled' });
}

/** Previews draw a widget, which reads its configuration. */
const SETTLES_MS = 1_500;

/** Takes every page in both schemes into `folder`. */
export async function takeConsolePages(world: BrowserWorld, folder: string): Promise<void> {
  const appId = await setUpShop(world);
  const { page, context } = await world.signedIn('/console', { viewport: { width: 1_440, height: 900 }, deviceScaleFactor: 1 });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const [name, end, title] of PAGES) {
      await page.goto(`${world.service.baseUrl}/console/apps/${appId}${end}`);
      await waitForPage(page, title);
      await take(page, join(folder, `${name}-${colorScheme}.png`));
    }
    for (const [name, path, title] of [
      ['overview', '/console', 'Overview'],
      ['nodes', '/console/nodes', 'Nodes'],
    ] as const) {
      await page.goto(world.service.baseUrl + path);
      await waitForPage(page, title);
      await take(page, join(folder, `${name}-${colorScheme}.png`));
    }
  }
  await context.close();
}
