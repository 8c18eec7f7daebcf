/** The page of actions and screens in a browser: edited, entered a key, and compared with what a build registers. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { sendJson, startBackend } from '../support/backend.ts';
import { type Answer, createClient, createOperator, HANDSHAKE } from '../support/client.ts';
import { startService } from '../support/service.ts';
import { axeFaults } from './axe.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

const HOSTILE = '<img src=x onerror="document.title=1">';
const SEARCH = {
  external_key: 'search',
  name: 'search_teas',
  description: `Searches the teas. ${HOSTILE}`,
  method: 'GET',
  url_template: 'https://api.example.com/teas?q={{param.query}}',
  params: [{ name: 'query', required: true }],
  needs_key: { kind: 'header', name: 'X-Api-Key', note: `Ask ${HOSTILE} for it` },
};
const STATUS = { ...SEARCH, external_key: 'status', name: 'get_order_status', needs_key: undefined };

/** An app with two actions and two screens, and a build that registers some of them and others. */
async function shop(t: TestContext) {
  const service = await startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'warn', ALLOW_PRIVATE_ADDRESSES: 'true' } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { org } = (await operator('POST', '/orgs', { name: 'Tea' })).json as { org: { id: string } };
  const made = (await operator('POST', `/orgs/${org.id}/apps`, { name: 'Tea shop' })).json as {
    app: { id: string };
    keys: { test: string; live: string };
  };
  const console = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await operator(method, `/apps/${made.app.id}${path}`, body);
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };
  await console('POST', '/actions', { items: [SEARCH, STATUS] });
  const screen = (name: string, title: string) => ({ name, title, description: 'Shows it.' });
  await console('POST', '/screens', { screens: [screen('cart', 'Your cart'), screen('orders', 'Orders')] });
  const manifest = {
    version: '1',
    actions: [
      { name: 'get_order_status', description: 'Where an order is.' },
      { name: 'open_chat', description: 'Opens the chat.' },
    ],
    routes: [
      { name: 'cart', title: 'Basket' },
      { name: 'home', title: 'Home' },
    ],
  };
  const call = async (sdk: string, own: object, key = made.keys.live) => {
    const called = await createClient(service.baseUrl, key).send('POST', '/v1/apps/manifest', { sdk, manifest: own });
    assert.equal(called.status, 200, called.text);
  };
  await call(HANDSHAKE.sdk, manifest, made.keys.test);
  return { world: await openWorld(t, service), path: `/console/apps/${made.app.id}/actions`, console, call };
}

const row = (page: Page, name: string) => page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) });

test('DECLARED-1: actions and screens, declared beside the build, with what differs marked; all of it text, on every width', async (t) => {
  const { world, path } = await shop(t);
  const { page } = await world.signedIn(path, { bypassCSP: true });
  await waitForPage(page, 'Actions and screens');
  await row(page, 'get_order_status').getByText('twice').waitFor();
  await row(page, 'open_chat').getByText('in the build').waitFor();
  await row(page, 'search_teas').getByText('waits for a key').waitFor();
  await page.getByRole('region', { name: 'Builds' }).getByText('registers 2 actions and 2 screens').waitFor();
  await page.getByRole('button', { name: 'Open chat' }).click();
  const chosen = (name: string) => page.getByRole('region', { name, exact: true });
  for (const words of ['Opens the chat.', 'Reads only: runs without asking.', 'nothing'])
    await chosen('open_chat').getByText(words, { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Search teas' }).click();
  for (const words of ['GET https://api.example.com/teas?q={{param.query}}', 'query string']) {
    await chosen('search_teas').getByText(words, { exact: false }).first().waitFor();
  }
  await page.getByRole('region', { name: 'Key' }).getByText(`Ask ${HOSTILE} for it`).waitFor();
  await look(page, 'actions');
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1_360, 360]) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 860 });
      assert.deepEqual(await axeFaults(page), [], `${colorScheme}, ${width}`);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${width}`);
    }
  }
  await page.getByText('Screens', { exact: true }).first().click();
  await row(page, 'cart').getByText('differs').waitFor();
  await row(page, 'home').getByText('in the build').waitFor();
  await row(page, 'orders').getByText('planned').waitFor();
  await page.getByRole('button', { name: 'Your cart', exact: true }).click();
  await page.getByText('Another one in the build: title.').waitFor();
  await page.goBack();
  await page.goBack();
  await page.getByRole('region', { name: 'Key' }).waitFor();
  assert.equal(await page.title(), 'Actions and screens · Console');
});

test('DECLARED-5: a newest build that does not count yet stands beside the one that does, with what it registers and why', async (t) => {
  const { world, path, console, call } = await shop(t);
  await console('POST', '/go-live');
  const actions = Array.from({ length: 8 }, (_, at) => ({ name: `action_${at}`, description: 'Does it.' }));
  const routes = ['home', 'cart', 'orders', 'help'].map((name) => ({ name, title: name }));
  await call('web/0.51.0', { version: '1', actions, routes });
  const { page } = await world.signedIn(path);
  const builds = page.getByRole('region', { name: 'Builds' });
  const cells = async (build: RegExp) => (await builds.getByRole('row', { name: build }).getByRole('cell').allInnerTexts()).slice(0, 2);
  await builds.getByText('No turn has used it yet.').waitFor();
  await builds.getByText('The newest becomes the current one once').waitFor();
  await builds.getByText('Trusted: it connected before the app was live').waitFor();
  assert.deepEqual(await cells(/^Web 0\.51\.0 newest/), ['8', '4']);
  assert.deepEqual(await cells(/^Web 0\.50\.0 current/), ['2', '2']);
  await row(page, 'action_7').getByText('newest only').waitFor();
  await look(page, 'actions-builds');
  assert.deepEqual(await axeFaults(page), []);
});

test('DECLARED-2: a definition is edited, refused with the reason beside it, kept through a reload, saved, declared anew and archived', async (t) => {
  const { world, path, console } = await shop(t);
  const { page } = await world.signedIn(`${path}?show=actions&item=search_teas`);
  const field = page.getByLabel('Definition as JSON');
  await field.waitFor();
  const text = await field.inputValue();
  await field.fill(text.replace('"GET"', '"DELETE"'));
  await page.getByRole('button', { name: 'Save the definition' }).click();
  await page.getByRole('alert').getByText('risk must be write or destructive').waitFor();
  await field.fill(`${text} x`);
  await page.getByRole('button', { name: 'Save the definition' }).click();
  await page.getByRole('alert').getByText('This is no JSON yet').waitFor();
  await field.fill(text.replace('Searches the teas', 'Finds teas'));
  await page.reload();
  assert.match(await field.inputValue(), /Finds teas/);
  await page.getByRole('button', { name: 'Save the definition' }).click();
  await page.getByText('Saved. It counts for the next request.').waitFor();
  const { actions } = (await console('GET', '/actions')).json as { actions: { name: string; description: string }[] };
  assert.match(actions.find(({ name }) => name === 'search_teas')?.description ?? '', /^Finds teas/);
  await page.getByText('Screens', { exact: true }).first().click();
  await page.getByRole('button', { name: 'Declare a screen' }).click();
  await page.getByRole('button', { name: 'Declare it' }).click();
  await row(page, 'order_detail').getByText('planned').waitFor();
  await page.getByRole('button', { name: 'Take it out of service' }).click();
  await row(page, 'order_detail').waitFor({ state: 'detached' });
});

test('DECLARED-3: a key is entered and taken away again; it is nowhere in the browser', async (t) => {
  const { world, path, console } = await shop(t);
  const { page } = await world.signedIn(`${path}?show=actions&item=search_teas`);
  const key = page.getByRole('region', { name: 'Key' });
  await key.getByLabel('Key', { exact: true }).fill('sk-secret-of-the-shop');
  await key.getByRole('button', { name: 'Enter the key' }).click();
  await key.getByText('entered', { exact: true }).waitFor();
  await row(page, 'search_teas').getByText('on', { exact: true }).waitFor();
  const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.documentElement.outerHTML])');
  assert.equal(String(kept).includes('sk-secret'), false);
  assert.equal((await console('GET', '/actions')).text.includes('sk-secret'), false);
  await key.getByRole('button', { name: 'Take the key away' }).click();
  await key.getByText('not entered').waitFor();
});

test('DECLARED-4: a read is tried with its example, wrong values are named at their fields, and a failed answer shows its request', async (t) => {
  const backend = await startBackend(t);
  const { world, path, console } = await shop(t);
  const params = [
    { name: 'order_id', description: 'Its number.', required: true, example: 'A-1042' },
    { name: 'days', type: 'number' },
  ];
  const item = { ...STATUS, external_key: 'local', name: 'find_order', url_template: `${backend.url}/orders/{{param.order_id}}`, params };
  await console('POST', '/actions', { items: [item] });
  const { page } = await world.signedIn(`${path}?show=actions&item=find_order`, { bypassCSP: true });
  const card = page.getByRole('region', { name: 'Try it' });
  backend.answer((_, response) => sendJson(response, { state: `packed ${HOSTILE}` }));
  await card.getByRole('button', { name: 'Call it' }).click();
  await card.getByText('200', { exact: true }).waitFor();
  await card.getByText('packed <img src=x').waitFor();
  assert.equal(backend.requests[0]?.url, '/orders/A-1042');
  await look(page, 'try-action');
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1_360, 360]) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 860 });
      assert.deepEqual(await axeFaults(page), [], `${colorScheme}, ${width}`);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${width}`);
    }
  }
  await card.getByLabel('days').fill('a week');
  await card.getByRole('button', { name: 'Call it' }).click();
  await card.getByText('must be a number').first().waitFor();
  await card.getByLabel('days').fill('');
  backend.answer((_, response) => sendJson(response, { why: 'down' }, 503));
  await card.getByRole('button', { name: 'Call it' }).click();
  await card.getByText('503', { exact: true }).waitFor();
  await card.getByText(`GET ${backend.url}/orders/A-1042`).waitFor();
  assert.equal(await page.title(), 'Actions and screens · Console');
});
