/** The pages and policies of docs/sdk.md as they stand there, each in a browser, and what keeps a widget whole in a page that changes. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { renderEvent, type StreamEvent } from '../../protocol/runtime/stream-events.ts';
import { SHOWN } from '../../web/demo/components/states.ts';
import { POINTS, type ScriptedChat, startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { eventually } from '../support/eventually.ts';
import { snippetsIn } from '../support/guide.ts';
import { projectRoot } from '../support/project-root.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { openWorld } from './browser.ts';
import { type HostPage, serveHostPages } from './host-page.ts';

const SOON_MS = 20_000;
const SCREENS = { items: [{ route: 'orders', title: 'Your orders' }] };
const TRUSTED = "; require-trusted-types-for 'script'; trusted-types assistant-widget";

const field = (page: Page) => page.getByRole('textbox', { name: 'Write a message' });
const launcher = (page: Page) => page.getByRole('button', { name: 'Ask the assistant' });

async function say(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

const snippets = (language: string, heading?: string) => snippetsIn(language, 'docs/sdk.md', heading);

interface Embedded {
  readonly it: ScriptedChat;
  /** A snippet with address and key of what runs here. */
  own(snippet: string): string;
  open(given: HostPage): Promise<Page>;
}

async function openEmbedded(t: TestContext): Promise<Embedded> {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const own = (snippet: string) =>
    snippet.replaceAll('https://assistant.example', it.service.baseUrl).replaceAll('rd_pk_live_…', it.app.testKey);
  return {
    it,
    own,
    async open(given) {
      const pages = await serveHostPages(t, {
        '/page': given,
        '/start': { html: '', script: own("Assistant.init({ key: 'rd_pk_live_…' });") },
      });
      const { page } = await world.open();
      await page.goto(pages.url('/page'));
      return page;
    },
  };
}

const inHead = (head: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>${head}</head><body><main><h1>Shop</h1></main></body></html>`;
const inBody = (body: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title></head><body><main><h1>Shop</h1></main>${body}</body></html>`;

/** A body of every component, and words to stand in its place. */
const COMPONENTS = Object.entries(SHOWN).map(([type, [shown]]) => ({
  type,
  body: type === 'text' ? { md: 'So **it** is.' } : (shown?.body ?? {}),
}));

/** The next answer has every component. */
async function answerWithAll(page: Page): Promise<void> {
  const blocks = COMPONENTS.map(({ type, body }, index) => ({
    ...{ index, id: `blk_${index}`, block_type: type, revision: 1, body },
    fallback_text: `In the place of ${type}`,
  }));
  const events: StreamEvent[] = [
    { type: 'turn.start', conversation_id: 'conv_1', message_id: 'msg_1', model: 'm', request_id: 'req_1' },
    ...blocks.map((block): StreamEvent => ({ type: 'block.ready', index: block.index, block })),
    { type: 'turn.end', status: 'completed' },
  ];
  await page.route('**/v1/chat', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({
          headers: { 'Content-Type': 'text/event-stream', 'Access-Control-Allow-Origin': '*' },
          body: events.map((event, seq) => renderEvent(seq, event)).join(''),
        })
      : route.fallback(),
  );
}

/** Every component is drawn, with what is loaded by itself: Markdown, a map, a code to scan, colours. */
async function assertAllDrawn(page: Page): Promise<void> {
  await answerWithAll(page);
  await launcher(page).click();
  await say(page, 'Show me all');
  const block = (type: string) => page.locator(`assistant-widget .block[data-type=${type}]`);
  for (const { type } of COMPONENTS) await block(type).waitFor({ state: 'attached' });
  await block('text').locator('strong').waitFor();
  await block('map').locator('svg.drawing, .ground svg').first().waitFor();
  await block('pass').locator('.bars svg').waitFor();
  await block('code').locator('code span').first().waitFor();
  assert.deepEqual(await page.locator('assistant-widget :is(.fallback, .skeleton)').allInnerTexts(), []);
}

test('WIDGET-39, WIDGET-34: each page of the guide works as it stands there, in a head as well', async (t) => {
  const { own, open, it } = await openEmbedded(t);
  const [first = '', element = '', registering = '', ...policies] = snippets('html');
  assert.equal(policies.length, 2, 'each page of the guide is tried here or below');
  // Without anything around it, too: then nothing says the language, and what the browser says may be none.
  for (const html of [inBody(own(first)), inHead(own(first)), own(first), `<html lang="en_US">${own(first)}`]) {
    const page = await open({ html });
    await launcher(page).click();
    it.script([{ text: 'It works.' }]);
    await say(page, 'Does it?');
    await page.getByText('It works.').waitFor();
    await page.context().close();
  }
  await launcher(await open({ html: inBody(own(element)) })).waitFor();

  const page = await open({ html: inBody(own(registering)) });
  await launcher(page).click();
  it.script([{ call: 'get_city', args: {}, id: 'call_city' }], [{ text: 'You are in Oslo.' }]);
  await say(page, 'Where am I?');
  await page.getByText('You are in Oslo.').waitFor();
  assert.match(it.toldOf('call_city'), /Oslo/);
  const signed = page.waitForResponse((response) => response.url().endsWith('/v1/identify'));
  await page.evaluate("signedIn('person-1')");
  assert.equal((await signed).status(), 200);
});

/** What the code of the guide takes from its page. */
const SHOP = (person: object) => `<script>
  var cart = ['lamp'], user = ${JSON.stringify(person)}, opened = [], cancelled = [];
  var router = { go: (path) => opened.push(path) };
  var cancelOrder = async (id) => ({ cancelled: cancelled.push(id) });
</script>`;

test('HOUSE-20: the code of the guide for a page runs as it stands there', async (t) => {
  const { it, own, open } = await openEmbedded(t);
  const secret = (await it.operator('GET', `/apps/${it.app.appId}/identity-secret`)).json as { identity_secret: string };
  const person = { id: 'person-1', hmac: createHmac('sha256', secret.identity_secret).update('person-1').digest('hex') };
  const [around = '', calls = '', drawing = '', , token = '', , ...others] = snippets('js');
  assert.deepEqual(others, [], 'signing is tried beside other languages, and the policy below');
  const code = [around, calls, drawing].map((each) => `<script>${own(each)}</script>`).join('');
  const script = '<script src="https://assistant.example/sdk/web/latest/assistant.js"></script>';
  const page = await open({ html: inBody(own(script) + SHOP(person) + code) });
  await page.route('**/orders/A-1', (route) => route.fulfill({ json: { status: 'shipped' } }));
  await page.route('**/session/token', (route) => route.fulfill({ body: 'token-1' }));
  await launcher(page).click();
  const sent = () => page.waitForRequest((request) => request.url().endsWith('/v1/chat'));

  it.script([{ call: 'get_order_status', args: { order_id: 'A-1' }, id: 'call_1' }], [{ call: 'key_points', args: POINTS, id: 'call_2' }]);
  const asking = sent();
  await say(page, 'Where is it?');
  const { context } = (await asking).postDataJSON() as { context: { app_state: object; open_forms: object[] } };
  assert.deepEqual(context.app_state, { cart: { items: 1, total: '49.00 EUR' } });
  assert.equal(context.open_forms.length, 1);
  await page.locator('.my-points p').getByText('Two days.').waitFor();
  assert.match(it.toldOf('call_1'), /shipped/);

  it.script([{ call: 'cancel_order', args: { order_id: 'A-1' }, id: 'call_3' }], [{ call: 'screens', args: SCREENS, id: 'call_4' }]);
  await say(page, 'Cancel it');
  await page.getByText('Cancel order A-1?').waitFor();
  await page.locator('assistant-widget [data-type=confirm_card] input').fill('cancel');
  await page.locator('assistant-widget [data-type=confirm_card] button[type=submit]').click();
  await page.getByRole('button', { name: 'Your orders' }).click();
  assert.deepEqual(await page.evaluate('[cancelled, opened]'), [['A-1'], ['/orders']]);

  await page.evaluate(`${own(token)}; Assistant.open()`);
  it.script([{ text: 'So it is.' }]);
  const signed = sent();
  await say(page, 'Is it mine?');
  assert.equal((await (await signed).allHeaders())['x-service-user-token'], 'token-1');
  await page.getByText('So it is.').waitFor();
});

test('WIDGET-37, WIDGET-39: under the policy by host every component is drawn', async (t) => {
  const { own, open } = await openEmbedded(t);
  const [policy = ''] = snippets('http', 'Content security policy');
  const [html = ''] = snippets('html', 'Content security policy');
  const value = own(policy.replace('Content-Security-Policy: ', '').trim());
  await assertAllDrawn(await open({ html: inHead(own(html)), headers: { 'Content-Security-Policy': value + TRUSTED } }));
});

test('WIDGET-37, WIDGET-35, WIDGET-39: under the policy by nonce every component is drawn, by the stub', async (t) => {
  const { own, open } = await openEmbedded(t);
  const [, policy = ''] = snippets('http', 'Content security policy');
  const [, html = ''] = snippets('html', 'Content security policy');
  const value = own(policy.replace('Content-Security-Policy: ', '').trim());
  await assertAllDrawn(await open({ html: inHead(own(html)), headers: { 'Content-Security-Policy': value + TRUSTED } }));
});

test('WIDGET-37, WIDGET-39, WIDGET-1: under the policy by hash every component is drawn', async (t) => {
  const { own, open } = await openEmbedded(t);
  const [code = ''] = snippets('js', 'Content security policy');
  const file = join(temporaryDir(t), 'policy.mjs');
  writeFileSync(file, own(code));
  const { policy, head } = (await import(pathToFileURL(file).href)) as { policy: string; head: string };
  await assertAllDrawn(await open({ html: inHead(head), headers: { 'Content-Security-Policy': policy + TRUSTED } }));
});

test('HOUSE-20, WIDGET-51: an app with a build of its own loads the widget by the package, as the guide says', async (t) => {
  const { it, own, open } = await openEmbedded(t);
  const [code = '', ...others] = snippets('ts');
  assert.deepEqual(others, []);
  const { outputFiles } = await build({
    ...{ absWorkingDir: projectRoot(), stdin: { contents: own(code), resolveDir: projectRoot(), loader: 'ts' } },
    ...{ bundle: true, write: false, format: 'esm', alias: { '@assistant-service/widget': './web/widget/widget.ts' } },
  });
  const page = await open({ html: inHead('<script type="module" src="/page.js"></script>'), script: outputFiles[0]?.text ?? '' });
  await launcher(page).click();
  it.script([{ call: 'get_city', args: {}, id: 'call_city' }], [{ text: 'You are in Oslo.' }]);
  await say(page, 'Where am I?');
  await page.getByText('You are in Oslo.').waitFor();
  assert.match(it.toldOf('call_city'), /Oslo/);
});

test('WIDGET-36: a part that is not there is shown in words, told in the log, and asked for again', async (t) => {
  const { own, open } = await openEmbedded(t);
  const start = `<script src="https://assistant.example/sdk/web/latest/assistant.js" crossorigin="anonymous"></script><script>
    window.told = []; Assistant.init({ key: 'rd_pk_live_…', log: ({ code }) => told.push(code) });</script>`;
  const page = await open({ html: inHead(own(start)) });
  let isGone = true;
  // The parts of an earlier release, and then those of this one.
  const gone = { status: 404, headers: { 'Access-Control-Allow-Origin': '*' } };
  await page.route(/later-views-|markdown-/, (route) => (isGone ? route.fulfill(gone) : route.continue()));
  await answerWithAll(page);
  await launcher(page).click();
  await say(page, 'Show me all');
  await page.getByText('In the place of choice').waitFor();
  await page.getByText('So **it** is.').waitFor();
  const told = (await page.evaluate('told')) as string[];
  assert.equal(told.filter((code) => code === 'part_failed').length, 2, 'once for each');
  isGone = false;
  // Whoever needs it asks again, without waiting for its time.
  await say(page, 'And again');
  await page.locator('assistant-widget [data-type=choice] button').first().waitFor();
  await page.locator('assistant-widget [data-type=text] strong').first().waitFor();
  assert.equal(await page.locator('assistant-widget .fallback').count(), 0);
});

test('WIDGET-34, WIDGET-2, WIDGET-38: a page whose body is swapped keeps the widget, another init what was registered, and update what is open', async (t) => {
  const { it, own, open } = await openEmbedded(t);
  const start = `<script src="https://assistant.example/sdk/web/latest/assistant.js" crossorigin="anonymous"></script><script>
    window.told = []; Assistant.onEvent(({ type }) => told.push(type));
    Assistant.registerAction({ name: 'get_city', description: 'Tells the city.' }, () => ({ city: 'Oslo' }));
    Assistant.init({ key: 'rd_pk_live_…', open: true });</script>`;
  const page = await open({ html: inHead(own(start)) });
  await field(page).fill('half a qu');
  await page.evaluate(() => {
    const next = document.createElement('body');
    next.innerHTML = '<main><h1>Another page</h1></main>';
    document.body.replaceWith(next);
  });
  await page.evaluate("document.body.innerHTML = '<main><h1>A third page</h1></main>'");
  assert.equal(await field(page).inputValue(), 'half a qu');

  await page.evaluate("Assistant.update({ words: { composer: 'Schreib etwas' }, colorScheme: 'dark' })");
  const german = page.getByRole('textbox', { name: 'Schreib etwas' });
  await german.waitFor();
  assert.equal(await german.inputValue(), 'half a qu');
  assert.equal(await page.locator('assistant-widget').getAttribute('data-scheme'), 'dark');
  const problem = await page.evaluate("try { Assistant.update({ colorScheme: 'drak' }) } catch (error) { error.message }");
  assert.equal(problem, 'Assistant: colorScheme must be auto or light or dark: "drak" came.');

  const wrong = own("try { Assistant.init({ key: 'rd_pk_live_…', user: { id: 42 } }) } catch (error) { error.message }");
  assert.equal(await page.evaluate(wrong), 'Assistant: user.id must be a string: 42 (a number) came.');
  assert.equal(await german.inputValue(), 'half a qu', 'all is as it was');
  await page.evaluate(own("void Assistant.init({ key: 'rd_pk_live_…', open: true })"));
  assert.equal(await page.locator('assistant-widget').count(), 1);
  it.script([{ call: 'get_city', args: {}, id: 'call_city' }], [{ text: 'You are in Oslo.' }]);
  await say(page, 'Where am I?');
  await page.getByText('You are in Oslo.').waitFor();
  assert.match(it.toldOf('call_city'), /Oslo/);
  const told = (await page.evaluate('told')) as string[];
  assert.equal(told.filter((type) => type === 'action_ended').length, 1, told.join(' '));
});

test('WIDGET-35: what the stub gives back is what the script gives back, before and after it is there', async (t) => {
  const { own, open } = await openEmbedded(t);
  const start = `<script src="https://assistant.example/sdk/web/latest/stub.js"></script><script src="https://assistant.example/sdk/web/latest/stub.js"></script><script>
    const stub = Assistant; window.told = [];
    const listening = Assistant.onEvent(({ type }) => told.push('first ' + type));
    Assistant.onEvent(({ type }) => told.push(type));
    listening();
    const widget = Assistant.init({ key: 'rd_pk_live_…' });
    window.identified = Assistant.identify({ id: 42 }).catch((error) => error.message);
    window.signedOut = widget.signOut().then(() => 'signed out');
    window.later = () => stub.open();</script>`;
  const page = await open({ html: inHead(own(start)) });
  await launcher(page).waitFor();
  assert.equal(await page.evaluate('identified'), 'identify.id must be a string: 42 (a number) came.');
  assert.equal(await page.evaluate('signedOut'), 'signed out');
  await page.evaluate('later()');
  await field(page).waitFor();
  await eventually(
    async () => ((await page.evaluate('told')) as string[]).includes('opened'),
    SOON_MS,
    () => 'the listener is told',
  );
  assert.ok(!((await page.evaluate('told')) as string[]).some((type) => type.startsWith('first')));
  assert.equal(await page.locator('assistant-widget').count(), 1);
});

test('WIDGET-40: markup of the page has no say in where the widget asks', async (t) => {
  const { own, open } = await openEmbedded(t);
  for (const name of ['assistant.js', 'stub.js']) {
    const script = `<script src="https://assistant.example/sdk/web/latest/${name}"></script><script src="/start.js"></script>`;
    const elsewhere = 'http://127.0.0.1:9/sdk/web/latest/stub.js';
    const page = await open({ html: inBody(own(`<img name="currentScript" alt="" src="${elsewhere}">${script}`)) });
    await launcher(page).waitFor();
    await page.context().close();
  }
  const told = '<script>addEventListener("error", (event) => { document.title = event.message; event.preventDefault(); });</script>';
  const module = '<script type="module" src="https://assistant.example/sdk/web/latest/assistant.mjs"></script>';
  const element = (address: string) =>
    inBody(own(`${told}${module}<assistant-widget key="rd_pk_live_…" address="${address}"></assistant-widget>`));
  const refused = await open({ html: element('http://127.0.0.1:9') });
  await refused.waitForFunction("document.title.includes('give init the address http://127.0.0.1:9')");
  assert.equal(await refused.locator('assistant-widget').evaluate((each) => each.shadowRoot), null);
  const page = await open({ html: element('https://assistant.example') });
  await launcher(page).waitFor();
});
