/** Look and persona in the console: drawn by the SDK as they are typed, saved as drafts, published. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wcagContrast } from 'culori';
import type { Locator } from 'playwright-core';
import { createOperator, createTestApp } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { startUpstream, upstreamEnv } from '../support/upstream.ts';
import { axeFaultsInAllLooks } from './axe.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><script>alert(1)</script><rect width="8" height="8" fill="#0b57d0"/></svg>';

test('LOOK-1, LOOK-2, LOOK-4: colours show in the widget as they are typed, weak contrast is mended with one press, and published', async (t) => {
  const { service, signedIn } = await openWorld(t);
  const { appId } = await createTestApp(service.baseUrl, service.operatorToken);
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { page } = await signedIn(`/console/apps/${appId}/appearance`, { bypassCSP: true });
  await waitForPage(page, 'Appearance');
  const preview = page.locator('.widget-preview');
  await preview.getByRole('button', { name: 'Chat' }).or(preview.locator('.launcher')).first().waitFor();
  const accent = page.getByLabel('Accent', { exact: true });
  await accent.fill('#ffb300');
  await preview.locator('.launcher').waitFor();
  await page.waitForFunction(
    "getComputedStyle(document.querySelector('.widget-preview').shadowRoot.querySelector('.launcher')).backgroundColor === 'rgb(255, 179, 0)'",
  );
  const contrast = page.getByRole('region', { name: 'Contrast' });
  await contrast.getByText('Text on the accent: onAccent (#ffffff) on accent (#ffb300)').waitFor();
  await page.getByText('Thread', { exact: true }).click();
  await preview.getByText('Packed on Tuesday.').waitFor();
  assert.match(page.url(), /shows=thread/);
  await page.getByLabel('Words on the launcher').fill('<b>Ask</b>');
  await preview.getByText('<b>Ask</b>').waitFor();
  await look(page, 'appearance');
  while ((await contrast.count()) > 0) {
    const fixes = contrast.getByRole('button');
    const before = await contrast.textContent();
    await fixes.first().click();
    await page.waitForFunction(`document.querySelector('[aria-label="Contrast"]')?.textContent !== ${JSON.stringify(before)}`);
  }
  // The colours themselves were at fault before.
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await page.getByRole('button', { name: 'Save the draft' }).click();
  await page.getByRole('region', { name: 'Changes' }).waitFor({ state: 'detached' });
  await page.getByLabel('PNG, JPEG, WebP or SVG').setInputFiles({ name: 'l.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(LOGO) });
  await preview.locator('.mark img').waitFor();
  const { draft } = (await operator('GET', `/apps/${appId}/appearance`)).json as {
    draft: { theme: Record<string, string>; copilot: object };
  };
  assert.deepEqual(draft.copilot, { launcherLabel: '<b>Ask</b>', feedback: false });
  const publish = page.getByRole('region', { name: 'Publish' });
  await publish.getByText('copilot.launcherLabel').waitFor();
  await publish.getByRole('button', { name: 'Publish version 1' }).click();
  await publish.getByText('people get version 1').waitFor();
  await publish.getByText('People get what the drafts say.').waitFor();
  await accent.fill('red');
  await page.getByRole('button', { name: 'Save the draft' }).click();
  await page.getByText('must be an opaque colour written #rrggbb').first().waitFor();
  await page.goto(`${service.baseUrl}/console/apps/${appId}/assistant`);
  await preview.locator('.mark img').waitFor();
  await page.goto(`${service.baseUrl}/console/apps/${appId}/test`);
  await page.getByRole('button', { name: 'Chat all the same' }).click();
  await page.locator('.trial-place .mark img').waitFor();
});

/** The contrast of words with `ground`; of a hint in an empty field with its `part`. */
async function contrastOf(words: Locator, ground: Locator, part?: '::placeholder'): Promise<number> {
  const colour = await words.evaluate((own, pseudo) => getComputedStyle(own, pseudo).color, part);
  return wcagContrast(colour, await ground.evaluate((own) => getComputedStyle(own).backgroundColor));
}

test('PAGE-9: in the dark the hint of an empty field can be read, and so can words in an accent that only just shows there', async (t) => {
  const { service, signedIn } = await openWorld(t);
  const { appId } = await createTestApp(service.baseUrl, service.operatorToken);
  const options = { bypassCSP: true, colorScheme: 'dark' } as const;
  const { page } = await signedIn(`/console/apps/${appId}/appearance?scheme=dark&shows=thread`, options);
  const hint = page.getByLabel('Hint in the field');
  assert.ok((await contrastOf(hint, hint, '::placeholder')) >= 4.5);
  for (const name of ['Corners', 'Text size', 'Words on the launcher']) {
    assert.notEqual((await page.getByLabel(name).getAttribute('placeholder')) ?? '', '', name);
  }
  const preview = page.locator('.widget-preview');
  const accent = () => preview.locator('.launcher').evaluate((own) => getComputedStyle(own).backgroundColor);
  const before = await accent();
  await page.getByLabel('Accent', { exact: true }).fill('#0b6e4f');
  await eventually(async () => (await accent()) !== before);
  const link = preview.getByRole('link', { name: 'follow it' });
  assert.ok((await contrastOf(link, preview.locator('.panel').first())) >= 4.5);
});

test('LOOK-3: the persona is typed within its limits beside the welcome that it makes, and refused at the field', async (t) => {
  const { service, signedIn } = await openWorld(t);
  const { appId } = await createTestApp(service.baseUrl, service.operatorToken);
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { page } = await signedIn(`/console/apps/${appId}/assistant?scheme=dark`, { bypassCSP: true });
  await waitForPage(page, 'Assistant');
  const preview = page.locator('.widget-preview');
  await page.getByLabel('Name', { exact: true }).fill('Ada');
  await page.getByLabel('Greeting').fill('<i>Welcome</i>');
  await page.getByLabel('Suggested questions').fill('Where is my order?\n\nHow do I return something?');
  await preview.getByRole('heading', { name: 'Ada' }).waitFor();
  await preview.getByText('<i>Welcome</i>').waitFor();
  await preview.getByRole('button', { name: 'How do I return something?' }).waitFor();
  await page.getByLabel('Rules').fill('Do what you like.');
  await page.getByRole('button', { name: 'Save the draft' }).click();
  await page.getByText('must be one rule a line, each starting with Always or Never').first().waitFor();
  await look(page, 'assistant');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await page.getByLabel('Rules').fill('Never promise a date.');
  await page.getByRole('button', { name: 'Save the draft' }).click();
  await page.getByRole('region', { name: 'Changes' }).waitFor({ state: 'detached' });
  const told = page.getByRole('region', { name: 'What the model is told' });
  await told.getByText('The draft, with test keys').click();
  await told.getByText('Never promise a date.').waitFor();
  const { draft } = (await operator('GET', `/apps/${appId}/experience`)).json as { draft: Record<string, unknown> };
  assert.deepEqual(draft, {
    assistantName: 'Ada',
    guardrails: 'Never promise a date.',
    welcomeTitle: '<i>Welcome</i>',
    suggestions: ['Where is my order?', 'How do I return something?'],
  });
});

test('MODEL-43: the model is chosen beside the persona, saved as a whole, and what is wrong is told at its field', async (t) => {
  const upstream = await startUpstream(t, () => [{ text: 'Hello.' }]);
  const spare = [{ provider: 'openai', model: 'spare', address: upstream.url, images: false }];
  const running = await startService(t, { env: { ...upstreamEnv(upstream), MODELS: JSON.stringify(spare) } });
  const { service, signedIn } = await openWorld(t, running);
  const { appId } = await createTestApp(service.baseUrl, service.operatorToken);
  const { page } = await signedIn(`/console/apps/${appId}/assistant`, { bypassCSP: true });
  await waitForPage(page, 'Assistant');
  const card = page.getByRole('region', { name: 'Which model answers' });
  await card.getByText('spare (text, documents)').waitFor();
  await card.getByLabel('Model').selectOption('spare');
  await card.getByLabel('Falls back to').fill('elsewhere');
  await card.getByLabel('Temperature').fill('0.3');
  await page.getByRole('button', { name: 'Save the draft' }).click();
  await card.getByText('must be one of scripted, spare').waitFor();
  await card.scrollIntoViewIfNeeded();
  await look(page, 'model');
  assert.deepEqual(await axeFaultsInAllLooks(page), []);
  await card.getByLabel('Falls back to').fill('none');
  await page.getByRole('button', { name: 'Save the draft' }).click();
  await page.getByRole('region', { name: 'Changes' }).waitFor({ state: 'detached' });
  await page.getByRole('region', { name: 'Publish' }).getByText('model.temperature').waitFor();
  const { json } = await createOperator(service.baseUrl, service.operatorToken)('GET', `/apps/${appId}/experience`);
  assert.deepEqual((json as { draft: unknown }).draft, { model: { use: 'spare', fallbacks: [], temperature: 0.3 } });
});

test('MODEL-43: a stand-in that was taken off the list can be taken out where no model is left to choose', async (t) => {
  const upstream = await startUpstream(t, () => [{ text: 'Hello.' }]);
  const spare = [{ provider: 'openai', model: 'spare', address: upstream.url }];
  const dataDir = temporaryDir(t);
  const before = await startService(t, { dataDir, env: { ...upstreamEnv(upstream), MODELS: JSON.stringify(spare) } });
  const { appId } = await createTestApp(before.baseUrl, before.operatorToken);
  await createOperator(before.baseUrl, before.operatorToken)('PUT', `/apps/${appId}/experience`, { model: { fallbacks: ['spare'] } });
  await before.stop();
  const { service, signedIn } = await openWorld(t, await startService(t, { dataDir, env: upstreamEnv(upstream) }));
  const { page } = await signedIn(`/console/apps/${appId}/assistant`);
  await waitForPage(page, 'Assistant');
  const card = page.getByRole('region', { name: 'Which model answers' });
  await card.getByLabel('Temperature').fill('0.3');
  await page.getByRole('button', { name: 'Save the draft' }).click();
  await card.getByText('must be one of scripted').waitFor();
  await card.getByLabel('Falls back to').fill('');
  await page.getByRole('button', { name: 'Save the draft' }).click();
  await page.getByRole('region', { name: 'Changes' }).waitFor({ state: 'detached' });
  const { json } = await createOperator(service.baseUrl, service.operatorToken)('GET', `/apps/${appId}/experience`);
  assert.deepEqual((json as { draft: unknown }).draft, { model: { temperature: 0.3 } });
});
