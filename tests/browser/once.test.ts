/** What a person agreed to is run once, although the page that asked is loaded again, or put away and comes back, before the answer is told. */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { createOperator, createTestApp } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { filesBelow } from '../support/files-below.ts';
import { freePort } from '../support/free-port.ts';
import { projectRoot } from '../support/project-root.ts';
import { startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { type Play, startUpstream, upstreamEnv } from '../support/upstream.ts';
import { openWorld } from './browser.ts';
import { embedding, serveHostPages } from './host-page.ts';

const SOON_MS = 60_000;
const ACTION = { name: 'move_delivery', description: 'Moves a delivery.', risk: 'write', confirm_template: 'Move it?' };

/** The page of a shop with the widget, and a service that records a confirmation at once and answers when the test says so. */
async function openShop(t: TestContext) {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const script = `Assistant.registerAction(${JSON.stringify(ACTION)}, () => window.moved());
Assistant.init({ key: ${JSON.stringify(it.app.testKey)}, open: true });`;
  const page = { html: embedding(it.service.baseUrl, '/shop'), script };
  const pages = await serveHostPages(t, { '/shop': page });
  const { context, page: shop } = await world.open();
  let runs = 0;
  await context.exposeFunction('moved', () => {
    runs += 1;
    return { moved: true };
  });
  const held: (() => void)[] = [];
  let isSlow = true;
  await context.route('**/v1/invocations/*/confirm', async (route) => {
    const response = await route.fetch();
    if (isSlow) await new Promise<void>((resolve) => held.push(resolve));
    // The page that asked may be gone.
    await route.fulfill({ response }).catch(() => {});
  });
  t.after(() => {
    for (const answer of held) answer();
  });
  await shop.goto(pages.url('/shop'));
  it.script([{ call: 'move_delivery', args: {}, id: 'call_move' }], [{ text: 'It is moved.' }]);
  const field = shop.getByRole('textbox', { name: 'Write a message' });
  await field.fill('Move it');
  await field.press('Enter');
  await shop.locator('assistant-widget article.confirm button[type=submit]').click();
  await eventually(
    () => held.length === 1,
    SOON_MS,
    () => 'the confirmation is recorded',
  );
  isSlow = false;
  return { pages, shop, held, runs: () => runs };
}

async function isDone(page: Page): Promise<void> {
  await page.getByText('It is moved.').waitFor({ timeout: SOON_MS });
}

test('CLIENT-12: a page that is loaded again before its confirmation is answered runs what was agreed to once', async (t) => {
  const { shop, held, runs } = await openShop(t);
  await shop.reload();
  await isDone(shop);
  for (const answer of held) answer();
  await shop.reload();
  await isDone(shop);
  assert.equal(runs(), 1);
});

test('CLIENT-12: a page that is put away and comes back as it was runs nothing that another page ran, and shows what it did', async (t) => {
  const { pages, shop, held, runs } = await openShop(t);
  // This browser keeps no page that is left: it is told what one that does would tell it.
  const tell = (type: string) => shop.evaluate(`dispatchEvent(new PageTransitionEvent('${type}', { persisted: true }))`);
  await tell('pagehide');
  const next = await shop.context().newPage();
  await next.goto(pages.url('/shop'));
  await isDone(next);
  await next.close();
  assert.equal(await shop.getByText('It is moved.').count(), 0);
  for (const answer of held) answer();
  await tell('pageshow');
  await isDone(shop);
  assert.equal(runs(), 1);
});

/** Two pages of a shop; what runs in them says where. `wait` in the address: `get_place` does not end. */
async function openTwoTabs(t: TestContext) {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const script = (place: string, more: string) => `
const run = (name) => async () => {
  await window.ran(name + ' in ${place}');
  if (name === 'get_place' && location.search === '?wait') await new Promise(() => {});
  return { place: '${place}' };
};
Assistant.registerAction(${JSON.stringify(ACTION)}, run('move_delivery'));
Assistant.registerAction({ name: 'get_place', description: 'Tells where the person is.', timeout_ms: 120_000 }, run('get_place'));
${more}
Assistant.init({ key: ${JSON.stringify(it.app.testKey)}, open: true });`;
  const { baseUrl } = it.service;
  const pages = await serveHostPages(t, {
    '/home': { html: embedding(baseUrl, '/home'), script: script('home', '') },
    '/orders': {
      html: embedding(baseUrl, '/orders'),
      script: script('orders', "Assistant.registerAction({ name: 'open_order', description: 'Opens an order.' }, run('open_order'));"),
    },
  });
  const { context, page: first } = await world.open();
  const ran: string[] = [];
  await context.exposeFunction('ran', (what: string) => void ran.push(what));
  await first.goto(pages.url('/home'));
  await first.getByRole('textbox', { name: 'Write a message' }).waitFor();
  const open = async (more = '') => {
    const page = await context.newPage();
    await page.goto(pages.url('/orders') + more);
    return page;
  };
  const ask = async (page: Page, text: string) => {
    const field = page.getByRole('textbox', { name: 'Write a message' });
    await field.fill(text);
    await field.press('Enter');
  };
  const say = (page: Page, ...plays: Parameters<typeof it.script>) => {
    it.script(...plays);
    return ask(page, 'Do it');
  };
  const hasRun = (what: string) =>
    eventually(
      () => ran.at(-1) === what,
      SOON_MS,
      () => what,
    );
  return { it, context, first, open, ask, say, ran, hasRun };
}

test('CLIENT-32: what a person asks in one of two tabs is done there; once it is closed a read runs in the other, and what they agreed to waits and says so', async (t) => {
  const { context, first, open, say, ran, hasRun } = await openTwoTabs(t);
  const second = await open();
  await say(second, [{ call: 'open_order', args: {}, id: 'call_open' }], [{ text: 'It is open.' }]);
  for (const page of [second, first]) await page.getByText('It is open.').waitFor({ timeout: SOON_MS });
  assert.deepEqual(ran, ['open_order in orders']);

  let answer: (() => void) | undefined;
  await context.route('**/v1/invocations/*/confirm', async (route) => {
    const response = await route.fetch();
    if (answer === undefined)
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
    await route.fulfill({ response });
  });
  t.after(() => answer?.());
  await say(second, [{ call: 'move_delivery', args: {}, id: 'call_move' }], [{ text: 'It is moved.' }]);
  const agree = (page: Page) => page.locator('assistant-widget article.confirm button[type=submit]').click();
  await agree(second);
  await eventually(
    () => answer !== undefined,
    SOON_MS,
    () => 'the confirmation is recorded',
  );
  await second.close();
  answer?.();
  await first.getByText('The tab where you agreed was closed.').waitFor({ timeout: SOON_MS });
  assert.deepEqual(ran, ['open_order in orders']);
  await agree(first);
  await isDone(first);
  assert.deepEqual(ran, ['open_order in orders', 'move_delivery in home']);

  const third = await open('?wait');
  await third.getByText('It is moved.').waitFor({ timeout: SOON_MS });
  await say(third, [{ call: 'get_place', args: {}, id: 'call_place' }], [{ text: 'You are at home.' }]);
  await hasRun('get_place in orders');
  await third.close();
  await hasRun('get_place in home');
  await first.getByText('You are at home.').waitFor({ timeout: SOON_MS });
});

test('CLIENT-35, CLIENT-21: what came of an action reaches the assistant where the page that leads is closed meanwhile, and where it has stopped behind a dialog', async (t) => {
  const { context, first, open, say, ran } = await openTwoTabs(t);
  let end = () => {};
  const isHeld = new Promise<void>((resolve) => {
    end = resolve;
  });
  await context.exposeFunction('held', () => isHeld);
  const act = { name: 'open_order', description: 'Opens an order.', timeout_ms: 120_000 };
  const register = `Assistant.registerAction(${JSON.stringify(act)}, async () => { await window.ran('open_order in orders'); await window.held(); return { opened: true }; })`;
  const second = await open();
  await second.evaluate(`void ${register}`);
  await say(second, [{ call: 'open_order', args: {}, id: 'call_open' }], [{ text: 'It is open.' }]);
  await eventually(
    () => ran.length === 1,
    SOON_MS,
    () => 'it runs',
  );
  const dialog = first.waitForEvent('dialog');
  void first.evaluate("alert('Wait')");
  const opened = await dialog;
  end();
  await second.getByText('It is open.').waitFor({ timeout: SOON_MS });
  // The page that was stopped follows from now on.
  await opened.accept();
  await first.getByText('It is open.').waitFor({ timeout: SOON_MS });
  await say(first, [{ text: 'Of course.' }]);
  for (const page of [second, first]) await page.getByText('Of course.').waitFor({ timeout: SOON_MS });
  assert.deepEqual(ran, ['open_order in orders']);

  // Now the second one leads, and is closed while an action of the first one runs.
  let answer = () => {};
  const isWaiting = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await context.exposeFunction('waiting', () => isWaiting);
  const place = { name: 'get_place', description: 'Tells where the person is.', timeout_ms: 120_000 };
  await first.evaluate(
    `void Assistant.registerAction(${JSON.stringify(place)}, async () => { await window.ran('get_place in home'); await window.waiting(); return { place: 'home' }; })`,
  );
  await say(first, [{ call: 'get_place', args: {}, id: 'call_place' }], [{ text: 'You are at home.' }]);
  await eventually(
    () => ran.length === 2,
    SOON_MS,
    () => 'it runs',
  );
  await second.close();
  answer();
  await first.getByText('You are at home.').waitFor({ timeout: SOON_MS });
  assert.deepEqual(ran, ['open_order in orders', 'get_place in home']);
});

test('CLIENT-35: an action whose own dialog stops the page that leads runs once, and that page tells what came of it though another one leads by then', async (t) => {
  const { it, first, open, ask, say, ran } = await openTwoTabs(t);
  const second = await open();
  const act = { ...ACTION, name: 'ask_person', description: 'Asks the person.', timeout_ms: 120_000 };
  await first.evaluate(
    `void Assistant.registerAction(${JSON.stringify(act)}, async () => { await window.ran('ask_person in home'); return { agreed: confirm('Really?') }; })`,
  );
  const dialog = first.waitForEvent('dialog');
  await say(first, [{ call: 'ask_person', args: {}, id: 'call_ask' }], [{ text: 'It is agreed.' }], [{ text: 'Of course.' }]);
  await first.locator('assistant-widget article.confirm button[type=submit]').click();
  const opened = await dialog;
  await ask(second, 'And then?');
  // Shown once the second one leads: the first one shows nothing.
  await second.locator('assistant-widget .said').getByText('And then?').waitFor({ timeout: SOON_MS });
  await opened.accept();
  for (const page of [second, first]) await page.getByText('Of course.').waitFor({ timeout: SOON_MS });
  assert.match(it.toldOf('call_ask'), /"agreed":\s*true/);
  assert.deepEqual(ran, ['ask_person in home']);
});

/** The program as a later release of it would be: with another version of the web SDK. Returns its main.js. */
function laterRelease(t: TestContext): string {
  const [root, copy] = [projectRoot(), temporaryDir(t)];
  for (const name of readdirSync(root)) if (name !== 'dist' && !name.startsWith('.')) symlinkSync(join(root, name), join(copy, name));
  const filter = (path: string) => !/dist\/(?:tests|bench|tools)$|\.map$/.test(path);
  cpSync(join(root, 'dist'), join(copy, 'dist'), { recursive: true, filter });
  // What a start reads, and what its threads and processes do.
  for (const path of [...filesBelow(join(copy, 'dist'), 'bundle', '.js'), 'protocol/runtime/web-sdk.js']) {
    const file = join(copy, 'dist', path);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/(?<=\bWEB_SDK_VERSION = ['"])[^'"]+/, '1.99.0'));
  }
  return join(copy, 'dist/main.js');
}

test('WIDGET-49, VERSION-3: a card that was drawn before the service was updated is confirmed after it, its action runs, and then the page says that it is too old', async (t) => {
  const rounds: Play[][] = [[{ call: 'move_delivery', args: {}, id: 'call_move' }], [{ text: 'It is **moved**.' }]];
  const upstream = await startUpstream(t, (_, n) => rounds[n] ?? []);
  const dataDir = temporaryDir(t);
  const env = { ...upstreamEnv(upstream), DEMO: 'off', PORT: String(await freePort()) };
  const before = await startService(t, { dataDir, env });
  const app = await createTestApp(before.baseUrl, before.operatorToken);
  const world = await openWorld(t, before);
  const script = `Assistant.registerAction(${JSON.stringify(ACTION)}, () => window.moved());
Assistant.init({ key: ${JSON.stringify(app.testKey)}, open: true });`;
  const pages = await serveHostPages(t, { '/shop': { html: embedding(before.baseUrl, '/shop'), script } });
  const { context, page } = await world.open();
  let runs = 0;
  await context.exposeFunction('moved', () => ({ moved: ++runs }));
  await page.goto(pages.url('/shop'));
  const say = async (text: string) => {
    const field = page.getByRole('textbox', { name: 'Write a message' });
    await field.fill(text);
    await field.press('Enter');
  };
  await say('Move it');
  const agree = page.locator('assistant-widget article.confirm button[type=submit]');
  await agree.waitFor({ timeout: SOON_MS });

  await before.stop();
  const after = await startService(t, { dataDir, env, entry: laterRelease(t) });
  assert.equal(after.baseUrl, before.baseUrl);
  assert.equal((await fetch(`${after.baseUrl}/sdk/web/1.99.0/assistant.js`)).status, 200, 'it is another release');
  const operator = createOperator(after.baseUrl, before.operatorToken);
  assert.equal((await operator('PATCH', `/apps/${app.appId}`, { min_sdk: { web: '1.99.0' } })).status, 200);
  await agree.click();
  await page.locator('assistant-widget .answer').getByText('It is moved.').waitFor({ timeout: SOON_MS });
  assert.equal(runs, 1);
  await say('And now?');
  await page.getByText('This build is too old').waitFor({ timeout: SOON_MS });
});
