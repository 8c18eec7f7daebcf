/** The first page of the console with more organisations than one answer of the interface holds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createOperator } from '../support/client.ts';
import { startService } from '../support/service.ts';
import { axeFaultsInAllLooks } from './axe.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

/** More than the interface answers at once. */
const ORGANISATIONS = 203;
const AT_A_TIME = 8;
const HOSTILE = '<img src=x onerror="document.title=1">%_';

/** The page shows so many organisations. */
async function waitForCards(page: Page, count: number): Promise<void> {
  await page.waitForFunction((wanted) => document.querySelectorAll('main .card h2 a').length === wanted, count);
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
  await waitForCards(page, 50);
  for (const shown of [100, 150, 200, 204]) {
    await page.getByRole('button', { name: 'Show more' }).click();
    await waitForCards(page, shown);
  }
  await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: `Zebra ${HOSTILE}` }).waitFor();

  const find = page.getByLabel('Find an organisation');
  await find.fill('zEBra <img');
  await waitForCards(page, 1);
  await page.getByRole('link', { name: `Zebra ${HOSTILE}` }).waitFor();
  await look(page, 'overview-found');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await page.reload();
  await waitForCards(page, 1);
  assert.equal(await find.inputValue(), 'zEBra <img');
  await page.getByRole('link', { name: `Zebra ${HOSTILE}` }).click();
  await waitForPage(page, `Zebra ${HOSTILE}`);
  await page.goBack();
  await waitForCards(page, 1);
  await find.fill('%');
  await waitForCards(page, 1);
  await find.fill('nobody');
  await page.getByText('No organisation has nobody in its name.').waitFor();
  await find.fill('');
  await waitForCards(page, 50);
});
