/** From an empty installation to a live app, in a browser and without a mouse. */
import { test } from 'node:test';
import { startService } from '../support/service.ts';
import { agentOf } from '../support/setup-agent.ts';
import { SETUP_WORK, SUMMARY } from '../support/setup-work.ts';
import { openWorld, waitForPage } from './browser.ts';
import { pressByKeys, tabTo } from './keys.ts';

test('PAGE-9, APPS-1, WATCH-1: with the keyboard alone an empty installation has an organisation, an app, an agent at work, and the app is live', async (t) => {
  const service = await startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'warn' } });
  const { page } = await (await openWorld(t, service)).open();
  await page.goto(`${service.baseUrl}/console`);
  await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  await tabTo(page, /^Operator token/);
  await page.keyboard.type(service.operatorToken);
  await page.keyboard.press('Enter');
  await waitForPage(page, 'Overview');
  await page.getByLabel('Name of the organisation').waitFor();
  await tabTo(page, /^Name of the organisation/);
  await page.keyboard.type('Tea and more');
  await page.keyboard.press('Enter');
  await waitForPage(page, 'Tea and more');
  await page.getByLabel('Name of the app').waitFor();
  await tabTo(page, /^Name of the app/);
  await page.keyboard.type('Tea shop');
  await page.keyboard.press('Enter');
  await waitForPage(page, 'Tea shop');
  await page.getByRole('link', { name: 'Set the app up' }).waitFor();
  await pressByKeys(page, 'Set the app up');
  await waitForPage(page, 'Setup');
  await page.getByRole('button', { name: 'Open a setup session' }).waitFor();
  await pressByKeys(page, 'Open a setup session');
  const command = page.locator('.setup-command');
  await command.waitFor();

  const agent = await agentOf(service.baseUrl, /code=([0-9a-f]{32})/.exec((await command.textContent()) ?? '')?.[1] ?? '');
  for (const { run } of SETUP_WORK) await run(agent, service.baseUrl);
  await agent.get('POST', '/complete', SUMMARY);
  await page.getByRole('region', { name: 'How it ended' }).waitFor();

  await pressByKeys(page, 'Go live');
  await waitForPage(page, 'Go live');
  await page.getByText('Live keys have been served since').waitFor();
  await pressByKeys(page, 'Summary');
  await waitForPage(page, 'Tea shop');
  await page.getByText('5 of 7 checks pass').waitFor();
});
