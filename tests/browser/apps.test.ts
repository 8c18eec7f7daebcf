/** Organisations and apps in the console: created by hand, found again, and nothing typed lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { axeFaultsInAllLooks } from './axe.ts';
import { openWorld, signIn, waitForPage } from './browser.ts';
import { look } from './look.ts';

const HOSTILE = '<img src=x onerror=alert(1)> & "Co"';

test('APPS-1, APPS-2: from the overview to an organisation with an app and its keys, in the navigation its sections', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console', { bypassCSP: true });
  await page.getByRole('button', { name: 'New organisation' }).click();
  await page.getByLabel('Name of the organisation').fill(HOSTILE);
  await page.getByRole('button', { name: 'Create the organisation' }).click();
  await waitForPage(page, HOSTILE);
  await page.getByLabel('Name of the app').fill('Shop');
  await page.getByLabel('Website it runs on').fill('https://shop.example.com');
  await page.getByRole('button', { name: 'Create the app' }).click();
  await page.getByText('must be a host such as app.example.com').first().waitFor();
  assert.equal(await page.getByLabel('Website it runs on').getAttribute('aria-invalid'), 'true');
  await page.getByLabel('Website it runs on').fill('shop.example.com');
  await page.getByRole('button', { name: 'Create the app' }).click();
  await waitForPage(page, 'Shop');
  await page.getByText('rd_pk_live_').waitFor();
  await page.getByText('rd_pk_test_').waitFor();
  await page.getByRole('main').getByText('not live yet').waitFor();
  // No source and no screen: that is neither passed nor open.
  await page.getByText('0 of 2 checks pass').waitFor();
  const sections = page.getByRole('navigation', { name: 'Pages' }).getByRole('region', { name: 'App' });
  assert.equal(await sections.getByRole('link', { name: 'Summary' }).getAttribute('aria-current'), 'page');
  await look(page, 'app');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await page.getByRole('navigation', { name: 'Where this page is' }).getByRole('link', { name: HOSTILE }).click();
  await waitForPage(page, HOSTILE);
  await page.getByRole('table').getByRole('link', { name: 'Shop' }).waitFor();
  await look(page, 'organisation');
  await page.getByRole('button', { name: 'New app' }).click();
  await page.getByRole('dialog', { name: 'New app' }).getByLabel('Name of the app').waitFor();
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await page.keyboard.press('Escape');
  await page.goto(`${new URL(page.url()).origin}/console/apps/app_none/settings`);
  await waitForPage(page, 'There is no such app');
  await page.getByRole('alert').waitFor();
  await sections.waitFor({ state: 'detached' });
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
});

test('APPS-3: what is typed outlives a reload, a session that ends and a service that is away, until it was saved', async (t) => {
  const { service, signedIn } = await openWorld(t);
  const { context, page } = await signedIn('/console');
  await page.getByRole('button', { name: 'New organisation' }).click();
  const field = page.getByLabel('Name of the organisation');
  await field.fill('Half');
  await page.reload();
  await page.getByRole('button', { name: 'New organisation' }).click();
  assert.equal(await field.inputValue(), 'Half');
  await page.route('**/console/api/orgs', (route) => route.abort());
  const create = page.getByRole('button', { name: 'Create the organisation' });
  await create.click();
  await page.getByRole('alert').getByText('The service does not answer').waitFor();
  await page.unroute('**/console/api/orgs');
  await context.clearCookies();
  await create.click();
  await page.getByRole('dialog', { name: 'Your session is over' }).waitFor();
  assert.equal(await field.inputValue(), 'Half');
  await signIn(page, service.operatorToken);
  await waitForPage(page, 'Half');
  await page.getByRole('link', { name: 'Overview' }).first().click();
  await waitForPage(page, 'Overview');
  await page.getByRole('button', { name: 'New organisation' }).click();
  assert.equal(await field.inputValue(), '');
});
