/** The palette in a browser: whatever there is, found by keys from anywhere. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startScriptedChat, thread } from '../gateway/runtime/scripted-chat.ts';
import { axeFaults } from './axe.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

test('PAGE-10: pages, sections, apps, conversations and ids are found by keys from any page, also while somebody types', async (t) => {
  const it = await startScriptedChat(t);
  it.script([{ text: 'Hello.' }]);
  const asked = await it.say('Hello');
  const world = await openWorld(t, it.service);
  const { page } = await world.signedIn('/console/traces', { bypassCSP: true });
  await waitForPage(page, 'Traces');
  const typed = page.getByLabel('A request id from a log line');
  await typed.fill('half of an id');
  await typed.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Find a page' });
  await field.fill('mach');
  await page.getByRole('option', { name: 'Machines' }).waitFor();
  await look(page, 'palette');
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1_360, 360]) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 800 });
      assert.deepEqual(await axeFaults(page), [], `${colorScheme}, ${width}`);
    }
  }
  await page.setViewportSize({ width: 1_360, height: 860 });
  await page.keyboard.press('Escape');
  assert.equal(await typed.inputValue(), 'half of an id');
  await page.keyboard.press('Control+k');
  await field.fill(it.app.appId);
  await page.getByRole('option').filter({ hasText: 'app' }).nth(1).waitFor();
  await page.getByRole('option').filter({ hasText: it.app.appId }).nth(1).click();
  await page.waitForURL(new RegExp(`/console/apps/${it.app.appId}$`));
  await page.keyboard.press('Control+k');
  await field.fill('go live');
  await page.getByRole('option', { name: 'Go live' }).waitFor();
  await page.keyboard.press('Enter');
  await waitForPage(page, 'Go live');
  await page.getByRole('button', { name: 'Find a page, an app, an id' }).click();
  await field.fill('cnv');
  await page
    .getByRole('option')
    .filter({ hasText: thread(asked) })
    .waitFor();
  await field.fill(String(asked.headers['x-request-id']));
  await page.keyboard.press('Enter');
  await page.getByText('Turn, step by step').first().waitFor();
  await page.keyboard.press('Control+k');
  await field.fill('nothing-like-that-7');
  await page.keyboard.press('Enter');
  await page.getByText('Nothing is kept of nothing-like-that-7.').waitFor();
  await field.fill(thread(asked));
  await page.getByRole('option', { name: thread(asked), selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`/conversations/${thread(asked)}`));
  await waitForPage(page, 'Hello');
});
