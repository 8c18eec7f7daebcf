/** What an assistant knows, in the console: added, followed, read anew, archived, and searched as a turn does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOperator, createTestApp } from '../support/client.ts';
import { axeFaultsInAllLooks } from './axe.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';

test('READ-1, READ-2: sources are added and followed, found, archived and taken back, and a question shows what would be read', async (t) => {
  const { service, signedIn } = await openWorld(t);
  const { appId } = await createTestApp(service.baseUrl, service.operatorToken);
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { page } = await signedIn(`/console/apps/${appId}/knowledge`, { bypassCSP: true });
  await waitForPage(page, 'Knowledge');
  await page.getByRole('heading', { name: 'Add the first source' }).waitFor();
  await page.getByLabel('What it is').selectOption('text');
  await page.getByLabel('Title').fill(HOSTILE);
  await page.getByLabel('Text', { exact: true }).fill('# Returns\n\nSend anything back within 30 days.');
  await page.reload();
  assert.equal(await page.getByLabel('Title').inputValue(), HOSTILE);
  await page.getByRole('button', { name: 'Add the text' }).click();
  const table = page.getByRole('table');
  await table.getByText(HOSTILE).waitFor();
  await page.getByLabel('Address').fill('http://192.168.1.4/');
  await page.getByRole('button', { name: 'Add the link' }).click();
  await table.getByText('The address leads to a private address').waitFor();
  await page.getByLabel('A question, as a person would ask it').fill('How do I send something back?');
  await page.getByRole('button', { name: 'Find passages' }).click();
  const found = page.getByRole('region', { name: 'What would it read?' });
  await found.locator('mark').getByText('back').waitFor();
  await found.getByText('place 1').waitFor();
  await look(page, 'knowledge');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await page.reload();
  await found.locator('mark').getByText('back').waitFor();
  await table.getByRole('button', { name: /^Archive <?img|^Archive img/ }).click();
  await table.getByText('archived').waitFor();
  await page.getByLabel('State').selectOption('failed');
  await table.getByText(HOSTILE).waitFor({ state: 'detached' });
  assert.match(page.url(), /status=failed/);
  await page.getByLabel('Find a source').fill('nothing like it');
  await page.getByText('None is like that.').waitFor();
  const { sources } = (await operator('GET', `/apps/${appId}/knowledge`)).json as { sources: { status: string }[] };
  assert.deepEqual(sources.map(({ status }) => status).sort(), ['archived', 'failed']);
});
