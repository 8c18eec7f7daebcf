/** Conversations in the console: listed, found by their ids, drawn beside how their turns went; people exported and erased. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { startScriptedChat, thread } from '../gateway/runtime/scripted-chat.ts';
import { createOperator, HANDSHAKE } from '../support/client.ts';
import { axeFaultsInAllLooks } from './axe.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';
const PERSON = `u_1 ${HOSTILE}`;

test('SAID-1, SAID-2, SAID-3: a conversation is found by its ids, drawn as it was seen, rated, and gone with its person', async (t) => {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const operator = createOperator(it.service.baseUrl, it.service.operatorToken);
  const { appId } = it.app;
  it.script([{ text: `It is **on its way** to ${HOSTILE}.` }], [{ text: 'On Friday.' }]);
  const turnId = randomUUID();
  const first = await it.say(`Where is my order? ${HOSTILE} ada@example.com`, { turn_id: turnId, client: HANDSHAKE, user: { id: PERSON } });
  const conversation = thread(first);
  await it.say('And when?', { conversation_id: conversation, client: HANDSHAKE, user: { id: PERSON } });
  const messageId = String(first.events.find(({ type }) => type === 'turn.start')?.message_id);
  const rated = await it.client.send('POST', '/v1/feedback', { message_id: messageId, rating: -1, reason: `No. ${HOSTILE}` });
  assert.ok(rated.status < 300, rated.text);

  const base = `/console/apps/${appId}/conversations`;
  const { page } = await world.signedIn(base, { bypassCSP: true });
  await waitForPage(page, 'Conversations');
  await page.getByRole('table').getByText('completed').waitFor();
  await page.getByRole('table').getByRole('link', { name: PERSON }).waitFor();
  await look(page, 'conversations');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  const find = page.getByLabel('Id of a conversation, a request, a turn or a person');
  await find.fill('nothing');
  await find.press('Enter');
  await page.getByText('Nothing of this app has the id nothing.').waitFor();
  await find.fill(turnId);
  await find.press('Enter');
  await waitForPage(page, 'A conversation');
  const meant = page.locator('.is-meant');
  await meant.getByText('on its way').waitFor();
  await meant.getByText(`No. ${HOSTILE}`).waitFor();
  await page.getByText('⟦email_1⟧').waitFor();
  assert.equal(await page.getByText('ada@example.com').count(), 0);
  await look(page, 'conversation');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await meant.getByRole('link', { name: 'Step by step' }).click();
  await waitForPage(page, 'A turn, step by step');
  await page.goto(`${it.service.baseUrl}${base}?view=feedback`);
  await page.getByRole('link', { name: 'What was said' }).click();
  await page.locator('.is-meant').getByText('on its way').waitFor();

  await page.getByRole('link', { name: PERSON }).click();
  await page.getByRole('region', { name: PERSON }).getByText(conversation).waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save what is kept' }).click();
  const saved = JSON.parse(readFileSync(await (await download).path(), 'utf8')) as { end_user: { external_user_id: string } };
  assert.equal(saved.end_user.external_user_id, PERSON);
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await page.getByRole('button', { name: 'Erase…' }).click();
  await page.getByLabel(`Type ${PERSON} to go on`).fill(PERSON);
  await page.getByRole('button', { name: 'Erase the person' }).click();
  await page.getByText('Nobody has said anything yet').waitFor();
  assert.equal((await operator('GET', `/conversations/${conversation}?app=${appId}`)).status, 404);
});
