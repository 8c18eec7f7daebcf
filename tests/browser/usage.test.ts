/** Usage in the console: spend as a plot and a table, credit, caps. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWriter } from '../../storage/sqlite/database.ts';
import { startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { createOperator, HANDSHAKE } from '../support/client.ts';
import { axeFaultsInAllLooks } from './axe.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

/** The week before the test: the model was away for four hours, the app's own server now and then. */
function storeHours(dataDir: string, { organisationId, appId }: { readonly organisationId: string; readonly appId: string }) {
  const db = openWriter(join(dataDir, 'organisations', `${organisationId}.sqlite`));
  const now = Math.floor(Date.now() / 3_600_000);
  const model = { tried: 0, failed: 0 };
  for (let before = 2; before < 160; before += 1) {
    const tried = 6 + ((before * 7) % 11) + (before % 24 > 12 ? 12 : 0);
    const failed = before >= 40 && before < 44 ? tried - 2 : 0;
    model.tried += tried;
    model.failed += failed;
    const calls = Math.ceil(tried / 3);
    db.exec(`INSERT INTO tried_hours (app_id, kind, hour, tried, failed) VALUES ('${appId}', 'model', ${now - before}, ${tried}, ${failed}),
      ('${appId}', 'backend', ${now - before}, ${calls}, ${before % 31 === 5 ? 1 : 0})`);
  }
  // Two months ago an attempt cost something and did not end.
  const then = new Date();
  const day = new Date(Date.UTC(then.getUTCFullYear(), then.getUTCMonth() - 2, 7)).toISOString().slice(0, 10);
  db.exec(
    `INSERT INTO usage_days (app_id, channel, day, turns, cost_microusd, failed_microusd) VALUES ('${appId}', 'live', '${day}', 3, 0, 90000)`,
  );
  db.close();
  return model;
}

test('SPEND-1, CONSOLE-34, CONSOLE-35, PAGE-11: the days of a month as plot and table, caps of today, what failed by the hour, the same as a file, credit that is added; the month is in the address', async (t) => {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const operator = createOperator(it.service.baseUrl, it.service.operatorToken);
  it.script([{ text: 'Two days.' }]);
  await it.say('How long?', { client: HANDSHAKE });
  const { organisationId, appId } = it.app;
  const counted = storeHours(it.service.dataDir, it.app);
  const { page } = await world.signedIn(`/console/orgs/${organisationId}/usage`, { bypassCSP: true });
  await waitForPage(page, 'Usage');
  await page.getByRole('img', { name: 'Spend by day' }).waitFor();
  const today = new Date().toISOString().slice(0, 10);
  const shown = new Date(today).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
  await page.getByRole('row', { name: new RegExp(`^${shown} .* 1$`) }).waitFor();
  assert.doesNotMatch(await page.getByRole('main').innerText(), /\d{4}-\d\d/);
  await page.getByLabel('Add credit').last().fill('3');
  await page.getByRole('button', { name: 'Add the credit' }).click();
  await page.getByRole('alert').getByText('must be at least 10').first().waitFor();
  await page.getByLabel('Add credit').last().fill('50');
  await page.getByRole('button', { name: 'Add the credit' }).click();
  await page.getByText('50.00 USD left').waitFor();
  await look(page, 'usage');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await page.getByRole('link', { name: 'The month before' }).click();
  await page.getByText('Nothing was used in this month.').first().waitFor();
  assert.match(page.url(), /month=\d{4}-\d{2}/);
  // What was not charged is no failure: it is told apart, and nothing of it is red.
  await page.getByRole('link', { name: 'The month before' }).click();
  await page.getByText('They draw no credit.').waitFor();
  await page.getByRole('row', { name: /^7 \S+ \d{4} .*0\.09 USD .* 3$/ }).waitFor();
  const red = await page.evaluate(() => {
    const probe = Object.assign(document.createElement('i'), { className: 'is-failing' });
    document.body.append(probe);
    const red = getComputedStyle(probe).color;
    probe.remove();
    const shown = [...document.querySelectorAll('main *')].filter((each) => each.getClientRects().length > 0);
    const drawn = shown.flatMap((each) => [getComputedStyle(each).color, getComputedStyle(each).fill]);
    return drawn.filter((colour) => colour === red).length;
  });
  assert.equal(red, 0);
  await page.goBack();
  await page.goBack();
  await page
    .getByRole('region', { name: 'Health by app' })
    .getByRole('img', { name: /^Model of Test app by the hour .* 0 of \d+ failed$/ })
    .waitFor();
  await page.getByRole('region', { name: 'Apps and what they used' }).getByRole('link', { name: 'Test app' }).click();
  await page.getByText('1; 1,000,000 messages may be sent').waitFor();
  await page
    .getByRole('region', { name: 'Model', exact: true })
    .getByText(`${counted.failed} of ${(counted.tried + 1).toLocaleString('en')} requests failed`)
    .waitFor();
  await page.getByRole('region', { name: 'Knowledge', exact: true }).getByText('not tried').waitFor();
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Save as CSV' }).click()]);
  assert.equal(saved.suggestedFilename(), `usage-${appId}-${today.slice(0, 7)}.csv`);
  const [head, ...rows] = readFileSync(await saved.path(), 'utf8')
    .trimEnd()
    .split('\r\n');
  assert.match(String(head), /^day,app_id,app,turns/);
  assert.deepEqual(
    rows.map((row) => row.split(',').slice(0, 4)),
    [[today, appId, 'Test app', '1']],
  );
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
