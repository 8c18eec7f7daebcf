/** The list of conversations by time, state and feedback, each choice in the address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { startScriptedChat, thread } from '../gateway/runtime/scripted-chat.ts';
import { HANDSHAKE } from '../support/client.ts';
import { axeFaultsInAllLooks } from './axe.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

/** Waits until the table shows exactly these conversations, in this order. */
async function waitForRows(page: Page, ids: readonly string[]): Promise<void> {
  await page.waitForFunction((wanted) => {
    const listed = [...document.querySelectorAll('main tbody th code')].map(({ textContent }) => textContent?.trim());
    const isCurrent = document.querySelector('main [aria-busy="true"]') === null;
    return isCurrent && JSON.stringify(listed) === JSON.stringify(wanted);
  }, ids);
}

test('SAID-4: conversations are found by words, time, state, thumbs and key together; the address says it, and Back takes it back', async (t) => {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  // A request that the model refuses for good: the turn fails.
  it.script([{ text: 'On its way.' }], [{ status: 400 }], [{ text: 'On Friday.' }], [{ text: 'It is blue.' }]);
  const answered = await it.say('Where is it?', { client: HANDSHAKE });
  const failed = await it.client.chat({ message: { text: 'And mine?' }, client: HANDSHAKE });
  const disliked = await it.say('When?', { client: HANDSHAKE });
  const liked = await it.say('Which one?', { client: HANDSHAKE });
  const rate = async (answer: typeof liked, rating: 1 | -1) => {
    const messageId = String(answer.events.find(({ type }) => type === 'turn.start')?.message_id);
    const rated = await it.client.send('POST', '/v1/feedback', { message_id: messageId, rating });
    assert.ok(rated.status < 300, rated.text);
  };
  await rate(disliked, -1);
  await rate(liked, 1);
  const all = [liked, disliked, failed, answered].map(thread);

  const { page } = await world.signedIn(`/console/apps/${it.app.appId}/conversations`, { bypassCSP: true });
  await waitForPage(page, 'Conversations');
  await waitForRows(page, all);
  await page.getByLabel('Newest turn').selectOption('failed');
  await waitForRows(page, [thread(failed)]);
  assert.equal(new URL(page.url()).search, '?state=failed');
  await page.getByLabel('Newest turn').selectOption('completed');
  await page.getByLabel('Thumbs').selectOption('-1');
  await waitForRows(page, [thread(disliked)]);
  await page.getByLabel('When').selectOption('1h');
  await waitForRows(page, [thread(disliked)]);
  assert.equal(new URL(page.url()).search, '?since=1h&state=completed&rating=-1');
  await look(page, 'conversation-choices');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);

  await page.reload();
  await waitForRows(page, [thread(disliked)]);
  await page.goBack();
  await page.goBack();
  await waitForRows(page, [liked, disliked, answered].map(thread));
  assert.equal(await page.getByLabel('Newest turn').inputValue(), 'completed');
  assert.equal(await page.getByLabel('Thumbs').inputValue(), '');

  await page.getByRole('link', { name: 'Show all' }).click();
  await waitForRows(page, all);
  const find = page.getByLabel('Find by words of the first question, or by any id');
  await find.fill('wHICH one');
  await find.press('Enter');
  await waitForRows(page, [thread(liked)]);
  assert.equal(new URL(page.url()).searchParams.get('words'), 'wHICH one');
  await page.getByLabel('Newest turn').selectOption('failed');
  await page.getByText('None is like that.').waitFor();
  await page.getByRole('link', { name: 'Show all' }).click();
  await waitForRows(page, all);
  assert.equal(await find.inputValue(), '');
  await page.getByLabel('When').selectOption('between');
  await waitForRows(page, all);
  await page.getByLabel('to', { exact: true }).fill('2026-01-31T12:00');
  await page.getByText('None is like that.').waitFor();
  assert.match(new URL(page.url()).search, /^\?from=[^&]+&to=2026-01-3\dT/);
  await page.getByLabel('from', { exact: true }).fill('');
  await page.getByLabel('to', { exact: true }).fill('2036-01-31T12:00');
  await waitForRows(page, all);
  await page.getByLabel('Environment').selectOption('sandbox');
  await page.getByText('None is like that.').waitFor();

  await page.goto(`${world.service.baseUrl}/console/apps/${it.app.appId}/conversations?from=yesterday`);
  await page.getByText('from must be a time').waitFor();
});
