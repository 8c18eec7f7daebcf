/** Usage in the console: spend as a plot and a table, credit, caps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { createOperator, HANDSHAKE } from '../support/client.ts';
import { axeFaultsInAllLooks } from './axe.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

test('SPEND-1: the days of a month as plot and table, caps of today, credit that is added; the month is in the address', async (t) => {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const operator = createOperator(it.service.baseUrl, it.service.operatorToken);
  it.script([{ text: 'Two days.' }]);
  await it.say('How long?', { client: HANDSHAKE });
  const { organisationId, appId } = it.app;
  const { page } = await world.signedIn(`/console/orgs/${organisationId}/usage`, { bypassCSP: true });
  await waitForPage(page, 'Usage');
  await page.getByRole('img', { name: 'Spend by day' }).waitFor();
  await page.getByText('As a table').click();
  const today = new Date().toISOString().slice(0, 10);
  await page.getByRole('row', { name: new RegExp(`${today}.* 1$`) }).waitFor();
  await page.getByLabel('Add credit').last().fill('3');
  await page.getByRole('button', { name: 'Add the credit' }).click();
  await page.getByRole('alert').getByText('must be at least 10').first().waitFor();
  await page.getByLabel('Add credit').last().fill('50');
  await page.getByRole('button', { name: 'Add the credit' }).click();
  await page.getByText('50.00 USD left').waitFor();
  await look(page, 'usage');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await page.getByRole('link', { name: 'The month before' }).click();
  await page.getByText('Nothing was used in this month.').waitFor();
  assert.match(page.url(), /month=\d{4}-\d{2}/);
  await page.goBack();
  await page.getByRole('link', { name: 'Test app' }).click();
  await page.getByText('1; 1,000,000 messages may be sent').waitFor();
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await operator('PATCH', `/apps/${appId}`, { messages_per_day: 2 });
  // A turn in the six hours since midnight: the other one is used up at noon.
  await page.clock.setFixedTime(new Date(`${today}T06:00:00Z`));
  await page.reload();
  await page.getByText('At this pace used up at 12:00').waitFor();
  await look(page, 'usage-app');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  const usage = (await operator('GET', `/orgs/${organisationId}/usage`)).json as { days: object[]; mails: object[] };
  assert.deepEqual(
    usage.days.map((day) => ({ ...day, spent_usd: 0 })),
    [{ day: today, app_id: appId, spent_usd: 0, failed_usd: 0, turns: 1, sandbox_turns: 0 }],
  );
  assert.deepEqual(usage.mails, []);
});
