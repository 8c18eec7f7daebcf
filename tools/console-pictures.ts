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

const QUESTIONS = ['How do I send something back?', 'How long does shipping take?', 'How hot should the water be?'];

/** An app that was set up call by call and is live, which people have asked. */
async function setUpShop({ service }: BrowserWorld): Promise<string> {
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { org } = (await operator('POST', '/orgs', { name: 'Tea and more', plan: 'growth' })).json as { org: { id: string } };
  const made = (await operator('POST', `/orgs/${org.id}/apps`, { name: 'Tea shop' })).json as {
    app: { id: string };
    keys: { live: string };
  };
  const appId = made.app.id;
  const first = await agentOf(service.baseUrl, (await openSession(operator, appId)).code);
  for (const { run } of SETUP_WORK) await run(first, service.baseUrl);
  await first.get('POST', '/complete', SUMMARY);
  await operator('POST', `/apps/${appId}/go-live`);
  for (const [n, text] of QUESTIONS.entries()) {
    const client = createClient(service.baseUrl, made.keys.live, String(n).repeat(32));
    await client.chat({ message: { text }, client: HANDSHAKE });
  }
  addUse({ service }, org.id, appId);
  return appId;
}

/** Use of the days before today, as the ledger keeps it: a busy week, a quiet weekend. */
function addUse({ service }: Pick<BrowserWorld, 'service'>, organisationId: string, appId: string): void {
  const db = openWriter(join(service.dataDir, 'organisations', `${organisationId}.sqlite`));
  const add = db.statement(
    `INSERT INTO usage_days (app_id, channel, day, turns, conversations, cost_microusd, failed_microusd)
     VALUES (:appId, 'live', :day, :turns, :conversations, :costMicroUsd, :failed)`,
  );
  const today = new Date();
  for (let day = 1; day < today.getUTCDate(); day++) {
    const date = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), day));
    const isQuiet = date.getUTCDay() % 6 === 0;
    const turns = (isQuiet ? 140 : 420) + ((day * 97) % 180);
    add.run({
      appId,
      day: date.toISOString().slice(0, 'YYYY-MM-DD'.length),
      turns,
      conversations: Math.ceil(turns / 3),
      costMicroUsd: turns * 1_900,
      failed: day % 9 === 4 ? 90_000 : 0,
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
