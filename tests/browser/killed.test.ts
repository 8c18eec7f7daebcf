/** The service is killed while somebody types, and comes back: it is seen and explained, nothing typed is lost, and saving works. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createOperator, createTestApp } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

const AWAY = 'The service does not answer. See whether it runs, then try again.';

const changes = (page: Page) => page.getByRole('region', { name: 'Changes' });
const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });

test('APPS-3, PAGE-8: the service is killed in mid-edit and starts again: each form says so, keeps what was typed, and is saved', async (t) => {
  const dataDir = temporaryDir(t);
  const env = { DEMO: 'off', LOG_LEVEL: 'warn', PORT: String(await freePort()) };
  const first = await startService(t, { dataDir, env });
  const { appId } = await createTestApp(first.baseUrl, first.operatorToken);
  const operator = createOperator(first.baseUrl, first.operatorToken);
  const world = await openWorld(t, first);
  const base = `/console/apps/${appId}`;
  const settings = await world.signedIn(`${base}/settings`);
  const persona = await settings.context.newPage();
  await persona.goto(`${first.baseUrl}${base}/assistant`);
  await waitForPage(persona, 'Assistant');
  await field(settings.page, 'Name').fill('A shop');
  await field(settings.page, 'Messages a minute').fill('31');
  await field(persona, 'Greeting').fill('Good morn');

  await first.stop('SIGKILL');
  await settings.page.getByRole('button', { name: 'Save changes' }).click();
  await changes(settings.page).getByText(AWAY).waitFor();
  await look(settings.page, 'killed');
  await persona.getByRole('button', { name: 'Save the draft' }).click();
  await changes(persona).getByText(AWAY).waitFor();
  // Typing goes on, and going to another page and back loses nothing either.
  await field(persona, 'Greeting').fill('Good morning');
  await settings.page.getByRole('link', { name: 'Conversations' }).click();
  await settings.page.getByRole('alert').getByText(AWAY).waitFor();
  await settings.page.goBack();
  await changes(settings.page).getByText('Name, Messages a minute').waitFor();

  const second = await startService(t, { dataDir, env });
  assert.equal(second.baseUrl, first.baseUrl);
  await persona.reload();
  await changes(persona).getByText('Greeting').waitFor();
  assert.equal(await field(persona, 'Greeting').inputValue(), 'Good morning');
  for (const [page, button] of [
    [settings.page, 'Save changes'],
    [persona, 'Save the draft'],
  ] as const) {
    await page.getByRole('button', { name: button }).click();
    await changes(page).waitFor({ state: 'detached' });
  }
  const { app } = (await operator('GET', `/apps/${appId}`)).json as { app: Record<string, unknown> };
  assert.deepEqual([app.name, app.messages_per_minute], ['A shop', 31]);
  const { draft } = (await operator('GET', `/apps/${appId}/experience`)).json as { draft: Record<string, unknown> };
  assert.equal(draft.welcomeTitle, 'Good morning');
});
