/** A failure as somebody meets it who has only the console: said above the first page, and found from there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { axeFaultsInAllLooks } from './axe.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';

test('CONSOLE-30, CONSOLE-29: a model that fails is said above every page, with the way to what it did, and goes when it is well again', async (t) => {
  const it = await startScriptedChat(t);
  const { signedIn } = await openWorld(t, it.service);
  const down = { status: 500, body: { error: { message: `The engine is down. ${HOSTILE}`, type: 'server_error' } } } as const;
  it.script(...Array.from({ length: 5 }, () => [down]), [{ text: 'Well again.' }]);
  for (let n = 0; n < 5; n += 1) await it.say('Where is my order?');

  const { page } = await signedIn('/console', { bypassCSP: true });
  const bar = page.getByRole('status', { name: 'What is wrong' });
  // In full on the first page, and there alone.
  const list = page.getByRole('region', { name: 'What is wrong' });
  await list.getByText('The model fails').waitFor();
  await list
    .getByText(/status 500 server_error: The engine is down\. <img/)
    .first()
    .waitFor();
  assert.equal(await bar.isVisible(), false);
  await look(page, 'failing-overview');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await list.getByRole('link', { name: 'Failed conversations of Test app' }).waitFor();
  await list.getByRole('link', { name: 'Test app', exact: true }).first().click();
  await waitForPage(page, 'Conversations');
  await bar.getByText('The model fails').waitFor();
  await bar.getByRole('link', { name: 'What to do' }).waitFor();
  await page.getByRole('button', { name: 'Operator 1 wrong' }).waitFor();
  const row = page.getByRole('table').getByRole('row').nth(1);
  await row.getByText('the model’s server failed, status 500, server_error').waitFor();
  await look(page, 'failing-conversations');
  await row.getByRole('link').first().click();
  await waitForPage(page, 'Where is my order?');
  await page.getByText('The answer could not be finished. Try again.').waitFor();
  await page
    .getByText(/status 500 server_error: The engine is down\./)
    .last()
    .waitFor();
  await look(page, 'failing-conversation');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await page.goto(`${it.service.baseUrl}/console/traces?app=${it.app.appId}`);
  await waitForPage(page, 'Traces');
  const traced = page.getByRole('row', { name: /Where is my order\?/ }).first();
  await traced.getByText('failed', { exact: true }).waitFor();
  await traced.getByText('the model’s server failed, status 500, server_error').waitFor();
  await look(page, 'failing-traces');
  for (const [width, shown] of [
    [1_360, page.getByRole('columnheader', { name: 'Updated' })],
    [390, traced.getByText('failed', { exact: true })],
  ] as const) {
    await page.setViewportSize({ width, height: 860 });
    const box = await shown.boundingBox();
    assert.ok(box !== null && box.x + box.width <= width, `in sight at ${width}`);
  }
  await page.setViewportSize({ width: 1_360, height: 860 });
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await page.goBack();
  await waitForPage(page, 'Where is my order?');
  await page.setViewportSize({ width: 390, height: 800 });
  await look(page, 'failing-conversation-narrow');
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);

  await it.say('And now?');
  await bar.waitFor({ state: 'detached' });
});
