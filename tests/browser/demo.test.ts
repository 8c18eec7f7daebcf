/** The demo shop in a browser, as a newcomer sees it: the widget of the service, the built-in model, no key. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { axeFaults } from './axe.ts';
import { type BrowserWorld, openWorld } from './browser.ts';
import { pressByKeys } from './keys.ts';

/** Answers of the built-in model come at once; a slow machine takes its time. */
const SOON_MS = 60_000;

async function openShop(world: BrowserWorld, width = 1_360, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
  const { page } = await world.open({ viewport: { width, height: 860 }, colorScheme });
  await page.goto(`${world.service.baseUrl}/demo`);
  await page.locator('.try button:enabled').first().waitFor();
  return page;
}

const blocks = (page: Page, type: string) => page.locator(`assistant-widget [data-type=${type}]`);
const heading = (page: Page) => page.locator('main h1').innerText();

test('the demo shop', async (t) => {
  const world = await openWorld(t);

  await t.test('DEMO-4, DEMO-5: a newcomer sees all of it without a key, and the shop does what was agreed to', async () => {
    const page = await openShop(world);
    const suggest = (text: string) => page.locator('.try').getByRole('button', { name: text }).click();
    await suggest('Compare the kettles');
    await blocks(page, 'comparison').getByRole('cell', { name: '€49.00' }).waitFor();
    await suggest('Where is my order?');
    await blocks(page, 'order_tracker').getByText('Order A-1038').waitFor();
    await suggest('Put the Large kettle in my cart');
    await blocks(page, 'confirm_card').getByRole('button', { name: 'Put it in' }).click();
    await page.getByRole('button', { name: 'Cart (1)' }).waitFor();
    assert.equal(await heading(page), 'Your cart');
    await suggest('Show the parcel on a map');
    await blocks(page, 'map').locator('svg .way').waitFor();
    await page.getByRole('navigation', { name: 'Shop' }).getByRole('button', { name: 'Shop' }).click();
    await suggest('Open my cart');
    await blocks(page, 'screens').getByRole('button', { name: 'Your cart' }).click();
    assert.equal(await heading(page), 'Your cart');
    await page.context().close();
  });

  await t.test('DEMO-4: with the keyboard alone an order is cancelled, after its word was typed, and a form is filled in', async () => {
    const page = await openShop(world);
    await pressByKeys(page, 'Cancel order A-1042');
    const card = blocks(page, 'confirm_card').last();
    await card.getByLabel('Type cancel to go on').waitFor();
    assert.ok(await card.getByRole('button', { name: 'Cancel the order' }).isDisabled());
    await pressByKeys(page, 'Edit: Reason');
    const reason = card.getByRole('combobox', { name: 'Reason' });
    assert.equal(await reason.inputValue(), '');
    await reason.selectOption('It takes too long');
    await card.getByRole('button', { name: 'Save' }).press('Enter');
    await card.getByRole('definition').filter({ hasText: 'It takes too long' }).waitFor();
    await card.getByLabel('Type cancel to go on').focus();
    await page.keyboard.type('cancel');
    await card.locator('button[type=submit]:enabled').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.status.is-cancelled').waitFor();
    await page.getByText('Order A-1042 is cancelled.').waitFor();
    await pressByKeys(page, 'I want to return something');
    const form = blocks(page, 'form').last();
    await form.getByLabel('Order of the return').focus();
    await page.keyboard.type('A-1007');
    await page.keyboard.press('Tab');
    await page.keyboard.type('It');
    await pressByKeys(page, 'Send it back');
    await blocks(page, 'confirm_card').last().getByRole('button', { name: 'Send it back' }).press('Enter');
    await page.locator('.status.is-returned').waitFor();
    await page.context().close();
  });

  for (const [colorScheme, width] of [
    ['light', 1_360],
    ['dark', 360],
  ] as const) {
    await t.test(`DEMO-4: axe-core finds nothing in the shop, ${colorScheme}, ${width} px`, async () => {
      const page = await openShop(world, width, colorScheme);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
      assert.deepEqual(await axeFaults(page), []);
      for (const screen of ['Orders', 'Cart']) {
        await page.getByRole('navigation', { name: 'Shop' }).getByRole('button', { name: screen, exact: false }).click();
        await eventually(
          async () => (await heading(page)) === `Your ${screen.toLowerCase()}`,
          SOON_MS,
          () => `${screen} is open`,
        );
        assert.deepEqual(await axeFaults(page), [], screen);
      }
      await page.context().close();
    });
  }
});
