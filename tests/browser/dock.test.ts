/** The dock below every page of the console. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startScriptedChat, thread } from '../gateway/runtime/scripted-chat.ts';
import { axeFaults } from './axe.ts';
import { openWorld } from './browser.ts';
import { look } from './look.ts';

test('DOCK-1, DOCK-2: one key shows on every page what failed, grouped, and what happens to what is on screen, as it happens', async (t) => {
  const it = await startScriptedChat(t);
  it.script([{ text: 'Hello.' }], [{ status: 400 }], [{ text: 'Again.' }], [{ text: 'And again.' }]);
  const first = await it.say('Hello');
  await it.say('This fails');
  const world = await openWorld(t, it.service);
  const { page } = await world.signedIn('/console', { bypassCSP: true });
  await page.keyboard.press('d');
  const dock = page.getByRole('complementary', { name: 'Dock' });
  await dock.getByText('Open a page of an app to see what failed in it.').waitFor();
  await page.goto(`${it.service.baseUrl}/console/apps/${it.app.appId}`);
  await dock.getByText('Chat turn 1 ×').waitFor();
  await dock.getByText('completed').first().waitFor();
  await look(page, 'dock');
  assert.deepEqual(await axeFaults(page), []);
  const lines = dock.getByRole('region', { name: 'What happens' }).getByRole('listitem');
  const before = await lines.count();
  await it.say('Something new');
  await lines.nth(before).waitFor();

  await page.goto(`${it.service.baseUrl}/console/apps/${it.app.appId}/conversations/${thread(first)}`);
  await dock.getByText('Chat turn turn.open').waitFor();
  await it.say('More', { conversation_id: thread(first) });
  await dock.getByText('Chat turn turn.open').nth(1).waitFor();

  await page.getByRole('button', { name: 'Close d' }).click();
  await dock.waitFor({ state: 'detached' });
  await page.goto(`${it.service.baseUrl}/console/apps/${it.app.appId}`);
  await page.getByRole('region', { name: 'Keys' }).waitFor();
  await page.keyboard.press('d');
  await dock.getByText('Chat turn 1 ×').click();
  await dock
    .getByRole('link')
    .filter({ hasText: /^\d\d:/ })
    .first()
    .click();
  await page.getByText('Turn, step by step').first().waitFor();
});
