/** The Test page in a browser: the SDK in the page, a build that is watched, and the steps of their turns. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { createClient, createOperator, HANDSHAKE } from '../support/client.ts';
import { startService } from '../support/service.ts';
import { axeFaults } from './axe.ts';
import { openWorld, waitForPage } from './browser.ts';
import { embedding, serveHostPages } from './host-page.ts';
import { look } from './look.ts';

const HOSTILE = '<img src=x onerror="document.title=1">';

/** An app that knows one thing, and whose build has not called in. */
async function shop(t: TestContext) {
  const service = await startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'warn' } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { org } = (await operator('POST', '/orgs', { name: 'Tea' })).json as { org: { id: string } };
  const made = (await operator('POST', `/orgs/${org.id}/apps`, { name: 'Tea shop' })).json as {
    app: { id: string };
    keys: { test: string };
  };
  const { id } = made.app;
  const content = '# Returns\n\nUnopened tea can be sent back within 60 days of delivery.';
  const saved = await operator('POST', `/apps/${id}/knowledge`, {
    items: [{ external_key: 'returns', kind: 'text', title: 'Returns', content }],
  });
  assert.equal(saved.status, 200, saved.text);
  const status = async () => (await operator('GET', `/apps/${id}/status`)).json as { facts: { manifest: unknown } };
  return {
    world: await openWorld(t, service),
    service,
    testKey: made.keys.test,
    path: `/console/apps/${id}/test`,
    client: createClient(service.baseUrl, made.keys.test),
    status,
  };
}

test('TRIAL-1, TRIAL-2, TRIAL-5: a question in the page is answered by the SDK, its steps stand beside it, and no check takes the page for a build', async (t) => {
  const { world, path, status } = await shop(t);
  const { page } = await world.signedIn(path, { bypassCSP: true });
  await waitForPage(page, 'Test');
  await page.getByRole('button', { name: 'Chat all the same' }).click();
  const field = page.getByRole('textbox', { name: 'Write a message' });
  await field.fill('How long can I send tea back?');
  await field.press('Enter');
  await page.locator('.trial-place').getByText('within 60 days').first().waitFor();
  const steps = page.getByRole('list', { name: 'Steps of the turn' });
  await steps.getByText('turn.open').waitFor();
  await steps.getByText('→ completed').waitFor();
  const times = page.getByRole('list', { name: 'Where the time of the turn went' });
  for (const words of ['Admission', 'Knowledge and request', 'Model to first word', 'Model to its end', 'Total']) {
    await times.getByText(words).first().waitFor();
  }
  await times.getByText('slowest').waitFor();
  // One clock with the list: what was admitted for so long is opened then.
  const opened = steps.getByRole('listitem').first();
  assert.equal(await opened.locator('.scene-number').textContent(), '1');
  assert.equal(await opened.locator('.scene-time').textContent(), await times.locator('.span-time').first().textContent());
  await page.getByRole('list', { name: 'What the colours say' }).getByText('look-up').waitFor();
  await times.getByRole('button', { name: /^Model to its end/ }).click();
  await times.getByText(/ in, \d+ out$/).waitFor();
  const bar = times.getByRole('button').first();
  const isBelow = () =>
    bar.evaluate((row) => {
      const [name, bars] = ['.span-name', '.span-bars'].map((part) => row.querySelector(part)?.getBoundingClientRect());
      return name !== undefined && bars !== undefined && bars.top >= name.bottom - 1;
    });
  assert.equal(await isBelow(), false, 'a bar stands beside its name');
  await page.setViewportSize({ width: 390, height: 860 });
  await page.waitForFunction(() => (document.querySelector('.waterfall')?.clientWidth ?? 0) < 480);
  assert.equal(await isBelow(), true, 'a bar stands below its name on a phone');
  await page.setViewportSize({ width: 1_360, height: 860 });
  await page.getByText(/tokens in, [0-9,]+ out · [0-9.]+ USD|nothing was charged/).waitFor();
  const sent = page.getByRole('region', { name: 'What the model sent' });
  await sent.locator('summary').first().click();
  await sent.getByText('within 60 days').waitFor();
  await page.getByText('What the model was shown').click();
  for (const words of [/^Instructions about \d+ tokens/, /^\d+ definitions about/, /^\d+ messages about/])
    await page.getByText(words).click();
  await page.getByText('[user]\nNow: ').waitFor();
  await look(page, 'shown');
  await page.setViewportSize({ width: 1_360, height: 500 });
  await field.fill('How long can I send tea back? '.repeat(60));
  await field.press('Enter');
  const place = page.locator('.trial-place');
  await place.locator('.bubble').nth(1).waitFor();
  const bottom = async (of: Locator) => Math.round(await of.evaluate((box) => box.getBoundingClientRect().bottom));
  assert.ok((await bottom(place.locator('.panel'))) <= (await bottom(place)), 'a long thread scrolls in its card');
  await page.setViewportSize({ width: 1_360, height: 860 });
  assert.match(page.url(), /turn_id=/);
  assert.equal((await status()).facts.manifest, null);
  await look(page, 'test');
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1_360, 360]) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 860 });
      assert.deepEqual(await axeFaults(page), [], `${colorScheme}, ${width}`);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${width}`);
    }
  }
  await page.getByRole('link', { name: 'Step through it' }).click();
  await page.getByText('Turn, step by step').first().waitFor();
});

test('TRIAL-3: a build is paired by its code and watched, what is said in it is text, and each turn has its steps', async (t) => {
  const { world, path, client } = await shop(t);
  const { page } = await world.signedIn(`${path}?with=build`);
  await page.getByRole('button', { name: 'Make a code' }).click();
  const code = (await page.locator('.pairing-code').textContent()) ?? '';
  assert.match(code, /^[A-Z0-9]{8}$/);
  const claimed = await client.send('POST', '/v1/pairings/claim', { code });
  assert.equal(claimed.status, 200, claimed.text);
  await page.getByText('watching', { exact: true }).waitFor();
  await client.say(`Hello ${HOSTILE}`, { client: HANDSHAKE });
  await client.say('How long can I send tea back?', { client: HANDSHAKE });
  const turns = page.getByRole('list', { name: 'Turns of the build' });
  await turns.getByText(HOSTILE).waitFor();
  await turns.getByText('within 60 days').waitFor();
  await page.getByRole('list', { name: 'Steps of the turn' }).getByText('→ completed').waitFor();
  assert.equal(await page.title(), 'Test · Console');
});

test('TRIAL-4, WIDGET-13: the code can be scanned, and with the address of a web build it leads there, where the page pairs itself', async (t) => {
  const { world, path, service, testKey } = await shop(t);
  const pages = await serveHostPages(t, {
    '/shop': {
      html: embedding(service.baseUrl, '/shop'),
      script: `Assistant.init(${JSON.stringify({ key: testKey })});`,
    },
  });
  const { page, context } = await world.signedIn(`${path}?with=build`, { bypassCSP: true });
  await page.getByRole('button', { name: 'Make a code' }).click();
  const scanned = page.locator('.pairing-scan path');
  await scanned.waitFor();
  const short = await scanned.getAttribute('d');
  const address = page.getByLabel('Address of a web build');
  await address.fill('javascript:alert(1)');
  await page.getByText('must be an address that begins with https:// or http://').waitFor();
  assert.equal(await page.getByRole('link', { name: 'Open the build, watched' }).isVisible(), false);
  await address.fill(pages.url('/shop?lang=en'));
  const link = page.getByRole('link', { name: 'Open the build, watched' });
  await link.waitFor();
  assert.notEqual(await scanned.getAttribute('d'), short);
  await look(page, 'pairing');
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1_360, 360]) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 860 });
      assert.deepEqual(await axeFaults(page), [], `${colorScheme}, ${width}`);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${width}`);
    }
  }
  const opened = context.waitForEvent('page');
  await link.click();
  const build = await opened;
  assert.match(build.url(), /\/shop\?lang=en&assistant-pair=[A-Z0-9]{8}$/);
  await page.getByText('watching', { exact: true }).waitFor();
  await build.getByRole('button', { name: 'Ask the assistant' }).click();
  const field = build.getByRole('textbox', { name: 'Write a message' });
  await field.fill('How long can I send tea back?');
  await field.press('Enter');
  await page.getByRole('list', { name: 'Turns of the build' }).getByText('within 60 days').waitFor();
});
