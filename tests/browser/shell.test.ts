/** The console in a browser: signing in, navigating, errors in their place, and what people need who do not see or do not point. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { axeFaults } from './axe.ts';
import { openWorld, signIn, waitForPage } from './browser.ts';

/** Each page by its address and its title, for what holds on all of them. */
const PAGES = [
  ['/console', 'Overview'],
  ['/console/nodes', 'Nodes'],
  ['/console/machines', 'Machines'],
  ['/console/machines/chat-turn', 'Chat turn'],
  ['/console/machines/step-panel', 'Step panel'],
  ['/console/traces', 'Traces'],
  ['/console/traces/file', 'A trace from a file'],
  ['/console/nothing', 'There is no such page'],
] as const;

test('PAGE-5: a person signs in with the operator token, and is told when it is not right', async (t) => {
  const { service, open } = await openWorld(t);
  const { page } = await open();
  await page.goto(`${service.baseUrl}/console`);
  await signIn(page, 'not the token');
  await page.getByRole('alert').getByText('token is not the operator token.').waitFor();
  await signIn(page, service.operatorToken);
  await waitForPage(page, 'Overview');
  await page.getByRole('button', { name: 'Operator' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
});

test('PAGE-13: light or dark is chosen at the foot of the navigation, is so at once, and is kept', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console', { colorScheme: 'light', bypassCSP: true });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByRole('button', { name: 'Operator' }).click();
  await page.getByRole('radio', { name: 'Dark' }).check({ force: true });
  const dark = await ground();
  assert.notEqual(dark, light);
  assert.deepEqual(await axeFaults(page), []);
  await page.reload();
  await waitForPage(page, 'Overview');
  assert.equal(await ground(), dark);
  await page.getByRole('button', { name: 'Operator' }).click();
  await page.getByRole('radio', { name: 'System' }).check({ force: true });
  assert.equal(await ground(), light);
});

test('PAGE-5, CONSOLE-5: the link of the start signs in once, by its address or typed in; a second time it says that it is over', async (t) => {
  const { service, open } = await openWorld(t);
  const link = /console +(http\S+once=\S+)/.exec(service.output().stdout)?.[1] ?? '';
  const first = await open();
  await first.page.goto(link);
  await waitForPage(first.page, 'Overview');
  assert.equal(new URL(first.page.url()).search, '');
  const second = await open();
  await second.page.goto(link);
  await second.page.getByText('This link was used already, or is older than 15 minutes.').waitFor();
  await signIn(second.page, link);
  await second.page.getByRole('alert').getByText('This link was used already').waitFor();
});

test('PAGE-6: a session that ends asks for the sign-in above the page; what was typed stays, and what was asked is asked again', async (t) => {
  const { service, signedIn } = await openWorld(t);
  const { context, page } = await signedIn('/console/machines/pairing', { bypassCSP: true });
  await waitForPage(page, 'Pairing');
  await page.getByLabel('Payload of pairing.claim').selectOption('own');
  const payload = page.getByLabel('Payload of pairing.claim as JSON');
  await payload.fill('{ "nowMs": 7, "watchedUntilMs": 9 }');
  await context.clearCookies();
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  const dialog = page.getByRole('dialog', { name: 'Your session is over' });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  assert.ok(await dialog.isVisible());
  await signIn(page, service.operatorToken);
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await payload.inputValue(), '{ "nowMs": 7, "watchedUntilMs": 9 }');
  await context.clearCookies();
  await page.getByRole('link', { name: 'Overview' }).click();
  await dialog.waitFor();
  await signIn(page, service.operatorToken);
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('table').first().waitFor();
});

test('PAGE-7: a navigation changes the title and moves the focus to the heading; an address that is no page says so', async (t) => {
  const { service, signedIn } = await openWorld(t);
  const { page } = await signedIn('/console');
  await page.getByRole('link', { name: 'Machines' }).click();
  await waitForPage(page, 'Machines');
  await page.locator('h1:focus').waitFor();
  assert.equal(await page.title(), 'Machines · Console');
  await page.getByRole('link', { name: 'Chat turn' }).click();
  await waitForPage(page, 'Chat turn');
  await page.locator('h1:focus').waitFor();
  assert.equal(await page.getByRole('link', { name: 'Machines' }).first().getAttribute('aria-current'), 'page');
  await page.goBack();
  await waitForPage(page, 'Machines');
  await page.goto(`${service.baseUrl}/console/nothing/here`);
  await waitForPage(page, 'There is no such page');
});

test('PAGE-7: a bug of one page leaves the others usable', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console');
  await page.route('**/console/api/machines', (route) => route.fulfill({ json: { machines: 'none' } }));
  await page.getByRole('link', { name: 'Machines' }).click();
  await waitForPage(page, 'This page stopped');
  await page.getByRole('link', { name: 'Overview' }).click();
  await waitForPage(page, 'Overview');
});

test('PAGE-8: an error stands in its place with its code and request id, and can be tried again', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console/machines');
  await waitForPage(page, 'Machines');
  const organisations = /\/console\/api\/overview\b/;
  const error = { code: 'internal', message: 'The node that is needed does not answer.' };
  await page.route(organisations, (route) => route.fulfill({ status: 503, headers: { 'X-Request-Id': 'trace-7' }, json: { error } }));
  await page.getByRole('link', { name: 'Overview' }).click();
  const alert = page.getByRole('alert');
  for (const words of [error.message, 'internal', 'trace-7']) await alert.getByText(words).waitFor();
  await page.unroute(organisations);
  await alert.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('table').first().waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
});

test('PAGE-8: an answer that is cut off is told, and what is given up meanwhile disturbs no page', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console/machines');
  await waitForPage(page, 'Machines');
  const organisations = /\/console\/api\/overview\b/;
  await page.route(organisations, (route) => route.fulfill({ status: 200, contentType: 'application/json', body: '{"organisa' }));
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('alert').getByText('The answer of the service was cut off.').waitFor();
  await page.unroute(organisations);
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('table').first().waitFor();
});

for (const [path, title] of PAGES) {
  test(`PAGE-9: axe-core finds no fault at ${path}, light and dark, wide and narrow`, async (t) => {
    const { signedIn } = await openWorld(t);
    const { page } = await signedIn(path, { bypassCSP: true });
    await waitForPage(page, title);
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1_360, 390]) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await page.setViewportSize({ width, height: 800 });
        assert.deepEqual(await axeFaults(page), [], `${colorScheme}, ${width}`);
      }
    }
  });
}

test('PAGE-9: in a narrow window the navigation is behind a button', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console', { viewport: { width: 390, height: 800 } });
  const link = page.getByRole('link', { name: 'Machines' });
  assert.equal(await link.isVisible(), false);
  await page.getByRole('button', { name: 'Menu' }).click();
  await link.click();
  await waitForPage(page, 'Machines');
  await page.getByRole('link', { name: 'Machines', exact: true }).waitFor({ state: 'hidden' });
  // What is wider than the window scrolls in itself.
  await page.getByRole('table').waitFor();
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
});

test('PAGE-9: ? lists the keys of the page, and no key takes what somebody types', async (t) => {
  const { signedIn } = await openWorld(t);
  const { page } = await signedIn('/console/machines/pairing');
  await waitForPage(page, 'Pairing');
  await page.getByLabel('Payload of pairing.claim').selectOption('own');
  const payload = page.getByLabel('Payload of pairing.claim as JSON');
  await payload.fill('');
  await payload.pressSequentially('jkr?');
  assert.equal(await payload.inputValue(), 'jkr?');
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keys on this page' });
  const overlaps = `[...document.querySelectorAll('.keys kbd')].some((key) =>
    key.getBoundingClientRect().right > key.closest('div').querySelector('dd').getBoundingClientRect().left)`;
  await dialog.getByText('One step back').waitFor();
  assert.equal(await page.evaluate(overlaps), false);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
});
