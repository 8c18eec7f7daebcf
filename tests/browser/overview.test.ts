/** The first page of the console, in numbers, and with more organisations than one answer of the interface holds; the summary of an app. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { openWriter } from '../../storage/sqlite/database.ts';
import { startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { createClient, createOperator, HANDSHAKE } from '../support/client.ts';
import { startService } from '../support/service.ts';
import { axeFaultsInAllLooks } from './axe.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

/** More than the interface answers at once. */
const ORGANISATIONS = 203;
const AT_A_TIME = 8;
const HOSTILE = '<img src=x onerror="document.title=1">%_';

/** The page shows so many organisations. */
async function waitForOrganisations(page: Page, count: number): Promise<void> {
  await page.waitForFunction((wanted) => document.querySelectorAll('main th[scope=rowgroup] a:first-child').length === wanted, count);
}

test('APPS-6: each of more than 200 organisations is reached, page after page or by a part of its name, which is in the address', async (t) => {
  const service = await startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'warn' } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  let made = 0;
  const make = async () => {
    while (made < ORGANISATIONS) {
      const name = `Organisation ${made++}`;
      assert.equal((await operator('POST', '/orgs', { name })).status, 201);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, make));
  assert.equal((await operator('POST', '/orgs', { name: `Zebra ${HOSTILE}` })).status, 201);
  const world = await openWorld(t, service);
  const { page } = await world.signedIn('/console');
  await waitForOrganisations(page, 50);
  for (const shown of [100, 150, 200, 204]) {
    await page.getByRole('button', { name: 'Show more' }).click();
    await waitForOrganisations(page, shown);
  }
  await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: `Zebra ${HOSTILE}` }).waitFor();

  const find = page.getByLabel('Find an organisation');
  await find.fill('zEBra <img');
  await waitForOrganisations(page, 1);
  await page.getByRole('link', { name: `Zebra ${HOSTILE}` }).waitFor();
  await look(page, 'overview-found');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await page.reload();
  await waitForOrganisations(page, 1);
  assert.equal(await find.inputValue(), 'zEBra <img');
  await page.getByRole('link', { name: `Zebra ${HOSTILE}` }).click();
  await waitForPage(page, `Zebra ${HOSTILE}`);
  await page.goBack();
  await waitForOrganisations(page, 1);
  await find.fill('%');
  await waitForOrganisations(page, 1);
  await find.fill('nobody');
  await page.getByText('No organisation has nobody in its name.').waitFor();
  await find.fill('');
  await waitForOrganisations(page, 50);
});

/** Days that were before the test. */
function storeDays(dataDir: string, organisationId: string, appId: string): void {
  const db = openWriter(join(dataDir, 'organisations', `${organisationId}.sqlite`));
  const hour = Math.floor(Date.now() / 3_600_000);
  for (let before = 1; before < 30; before += 1) {
    const day = new Date(Date.now() - before * 86_400_000).toISOString().slice(0, 10);
    const turns = 20 + ((before * 37) % 50);
    db.exec(
      `INSERT INTO usage_days (app_id, channel, day, turns, cost_microusd) VALUES ('${appId}', 'live', '${day}', ${turns}, ${turns * 4_000})`,
    );
    db.exec(
      `INSERT INTO app_hours VALUES ('${appId}', 'live', ${hour - before * 24}, ${turns}, ${before % 9 === 4 ? 3 : 0}, ${Math.ceil(turns / 3)}, '[0,0,1,4,${turns},6,2,1]')`,
    );
  }
  db.close();
}

test('CONSOLE-31, CONSOLE-32: the overview, as one table, and the summary of an app have its numbers, which move while one looks', async (t) => {
  const it = await startScriptedChat(t);
  const { dataDir, baseUrl, operatorToken } = it.service;
  const operator = createOperator(baseUrl, operatorToken);
  const live = createClient(baseUrl, it.app.liveKey);
  const down = { status: 500, body: { error: { message: 'The engine is down.', type: 'server_error' } } } as const;
  it.script([{ text: 'In two days.' }], [{ text: 'Tomorrow.' }], [down], [{ text: 'On Monday.' }], [{ text: 'On Tuesday.' }]);
  await live.register({ version: '1', actions: [], routes: [{ name: 'orders', title: 'Orders' }] });
  const ask = (text: string) => live.chat({ message: { text }, client: HANDSHAKE });
  for (const text of ['When does my order come?', 'And the second one?', 'Where is it now?']) await ask(text);
  storeDays(dataDir, it.app.organisationId, it.app.appId);
  assert.equal((await operator('POST', `/orgs/${it.app.organisationId}/apps`, { name: 'Returns' })).status, 201);
  const world = await openWorld(t, it.service);
  const { page } = await world.signedIn('/console', { bypassCSP: true });
  const row = page.getByRole('row', { name: /Test app/ });
  await row.getByRole('cell', { name: '33 %' }).waitFor();
  const turns = row.getByRole('cell').first();
  assert.equal(await turns.innerText(), '3');
  const table = page.getByRole('table');
  assert.equal(await table.count(), 1, 'all organisations in one table');
  // The organisation comes first, then its apps, the used one before the other.
  const names = await table.getByRole('rowheader').allInnerTexts();
  assert.deepEqual(
    names.map((name) => name.split('\n')[0]?.replace(/ plan.*/, '')),
    ['Test', 'Test app live · blocked', 'Returns not live yet'],
  );
  await page.getByText('1 of 3 answers failed today, all of them in Test app.').waitFor();
  const today = page.getByRole('region', { name: 'Today' });
  await today.getByText('1 of 2 apps in use').waitFor();
  // What failed is told of the answers that are counted beside it.
  assert.match(
    (await today.innerText()).replaceAll(/\s+/g, ' '),
    /Answers today 3 .* Failed 33 % 1 of 3 answers .* Spent today 0\.00\d* USD/,
  );
  await row.getByRole('link', { name: 'no domain is allowed' }).waitFor();
  await page.getByText('Went live').waitFor();
  await look(page, 'overview');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await ask('And now?');
  await row.getByRole('cell', { name: '25 %' }).waitFor();
  assert.equal(await turns.innerText(), '4');
  // The bar ends where the page does, however wide the window is.
  for (const width of [1_440, 1_920]) {
    await page.setViewportSize({ width, height: 860 });
    const edgeOf = (what: Locator) => what.evaluate((own) => own.getBoundingClientRect().right);
    assert.equal(await edgeOf(page.locator('.palette-button')), await edgeOf(today), `${width}`);
  }
  assert.equal(await page.locator('.crumbs [aria-current=page]').innerText(), 'Overview');
  await page.setViewportSize({ width: 390, height: 800 });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  // Rows are lines there, so that nothing has to be scrolled for.
  assert.equal(await table.evaluate(({ scrollWidth, parentElement }) => scrollWidth <= (parentElement?.clientWidth ?? 0)), true);
  await page.setViewportSize({ width: 1_360, height: 860 });

  await row.getByRole('link', { name: 'Test app' }).click();
  await waitForPage(page, 'Test app');
  const numbers = page.getByRole('region', { name: 'Activity' });
  await numbers.getByText('25 %').waitFor();
  await page.getByRole('table').getByText('When does my order come?').waitFor();
  await page.getByRole('region', { name: 'Builds', exact: true }).getByText('current').waitFor();
  await look(page, 'summary');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await numbers.getByRole('radio', { name: '30 days' }).check({ force: true });
  await numbers
    .getByText('< 1 %')
    .or(numbers.getByText('1 %', { exact: true }))
    .waitFor();
  await look(page, 'summary-month');
  await ask('And on Tuesday?');
  await page.getByRole('table').getByText('And on Tuesday?').waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
});
