/** The Go live page in a browser: an app that only its keys and a person's hands take live. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, createOperator, HANDSHAKE } from '../support/client.ts';
import { startService } from '../support/service.ts';
import { axeFaults } from './axe.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

const HOSTILE = '<img src=x onerror="document.title=1">';

test('GOLIVE-1, GOLIVE-2: checks say what to do and pass by themselves, the smoke test shows its answers, the drafts are published and the app goes live', async (t) => {
  const service = await startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'warn' } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { org } = (await operator('POST', '/orgs', { name: 'Tea' })).json as { org: { id: string } };
  const made = (await operator('POST', `/orgs/${org.id}/apps`, { name: 'Tea shop' })).json as {
    app: { id: string };
    keys: { test: string };
  };
  const { id } = made.app;
  const write = async (method: string, path: string, body: unknown) => {
    const answer = await operator(method, `/apps/${id}${path}`, body);
    assert.equal(answer.status, 200, answer.text);
  };
  const { page } = await (await openWorld(t, service)).signedIn(`/console/apps/${id}/go-live`, { bypassCSP: true });
  await waitForPage(page, 'Go live');
  const check = (key: string, ok: boolean) => page.locator(`[data-check=${key}][data-ok=${ok}]`);
  await check('app', false).getByText('Build it with its test key').waitFor();
  await page.getByRole('heading', { name: 'Not live: 2 checks do not pass yet' }).waitFor();
  await check('knowledge', true).getByText('nothing to check').waitFor({ state: 'attached' });
  await check('app', false).getByRole('link', { name: 'Let an agent build it in' }).waitFor();
  await page.getByRole('button', { name: 'Publish the drafts' }).click();
  await page.getByRole('alert').getByText('conflict').waitFor();

  await write('PUT', '/experience', { assistantName: 'Leaf', suggestions: ['How long can I send tea back?'] });
  const content = `# Returns\n\nUnopened tea can be sent back within 60 days of delivery. ${HOSTILE}`;
  const source = (title: string) => ({ external_key: title, kind: 'text', title, content });
  await write('POST', '/knowledge', { items: [source('How long can I send tea back?'), source(`Who pays ${HOSTILE}`)] });
  await write('POST', '/screens', { screens: [{ name: 'cart', title: 'Cart', description: 'The cart.' }] });
  await check('screens', false).getByText('not in the latest manifest').waitFor();
  const manifest = { version: '1', actions: [], routes: [{ name: 'cart', title: 'Cart' }] };
  const called = await createClient(service.baseUrl, made.keys.test).send('POST', '/v1/apps/manifest', { sdk: HANDSHAKE.sdk, manifest });
  assert.equal(called.status, 200, called.text);
  await check('app', true).waitFor();
  await check('screens', true).waitFor();

  await page.getByRole('button', { name: 'Take the app live' }).click();
  const dialog = page.getByRole('dialog', { name: 'Take Tea shop live' });
  await dialog.getByText('Smoke test passed').waitFor();
  await dialog.getByRole('button', { name: 'Not yet' }).click();
  await page.getByRole('button', { name: 'Run the smoke test' }).click();
  const answers = page.getByRole('list', { name: 'Questions and answers' });
  await answers.getByText('within 60 days').first().waitFor();
  await answers.getByText('Stood on the knowledge it was given').first().waitFor();
  await answers.locator('.prose').first().waitFor();
  await page.getByText('Live keys have been served since').waitFor();
  await page.reload();
  await answers.getByText('within 60 days').first().waitFor();
  assert.equal(await page.title(), 'Go live · Console');
  const verdict = page.getByRole('region', { name: 'Whether people get it' });
  await verdict.getByRole('heading', { name: 'Live, but blocked on every website' }).waitFor();
  await verdict.locator('a.primary').getByText('Allow a domain').waitFor();
  assert.doesNotMatch(await verdict.innerText(), /in the console/);
  // What keeps people from it is among the checks, and is counted.
  await page.getByRole('region', { name: 'Checks' }).getByText('4 of 6').waitFor();
  await check('domains', false).getByText('No domain is allowed').waitFor();
  await check('answered', false).getByText('open the app and ask it something').waitFor();
  const navigation = page.getByRole('region', { name: 'App', exact: true });
  await navigation.locator('.is-wait').getByText('live · blocked').waitFor();
  assert.deepEqual(await navigation.getByRole('heading', { level: 3 }).allInnerTexts(), ['Configure', 'Monitor']);
  await look(page, 'go-live');
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1_360, 360]) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 860 });
      assert.deepEqual(await axeFaults(page), [], `${colorScheme}, ${width}`);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${width}`);
    }
  }
  await page.getByText('Live keys have been served since').waitFor();
  const step = page.getByRole('region', { name: 'Release' });
  await step.getByText('Version 1 is published, which matches the drafts.').waitFor();
  await write('PUT', '/experience', { assistantName: 'Leaf the second' });
  await page.reload();
  await step.locator('.is-wait').getByText('Unpublished drafts').waitFor();
  await step.getByRole('button', { name: 'Publish as version 2' }).click();
  await step.getByText('Version 2 is published, which matches the drafts.').waitFor();
  await write('PATCH', '', { allowed_domains: ['tea.example.com'] });
  await page.reload();
  await verdict.getByRole('heading', { name: 'Live, though 1 check does not pass' }).waitFor();
  await page.getByRole('region', { name: 'Checks' }).getByText('5 of 6').waitFor();
});

test('GOLIVE-2: an app that does not go live by itself is taken live by a person, whatever the checks say, with a second word', async (t) => {
  const service = await startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'warn' } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { org } = (await operator('POST', '/orgs', { name: 'Tea' })).json as { org: { id: string } };
  const { app } = (await operator('POST', `/orgs/${org.id}/apps`, { name: 'Tea shop' })).json as { app: { id: string } };
  await operator('PUT', `/apps/${app.id}/experience`, { assistantName: 'Leaf' });
  const { page } = await (await openWorld(t, service)).signedIn(`/console/apps/${app.id}/go-live`);
  await page.getByRole('button', { name: 'Publish the drafts' }).click();
  await page.getByText('Version 1 is published.').first().waitFor();
  await page.getByRole('button', { name: 'Take the app live' }).click();
  await page.getByRole('dialog').getByText('2 checks do not pass:').waitFor();
  await page.keyboard.press('Tab');
  await page.getByRole('button', { name: 'Go live all the same' }).press('Enter');
  await page.getByText('Live keys have been served since').waitFor();
  await page.getByRole('heading', { name: 'Live, though 2 checks do not pass' }).waitFor();
  const { app: now } = (await operator('GET', `/apps/${app.id}`)).json as { app: { live: boolean } };
  assert.equal(now.live, true);
});
