/** What an app does with the widget: it is told what happens, draws blocks itself, follows links, and decides where and when it is seen. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { renderEvent, type StreamEvent } from '../../protocol/runtime/stream-events.ts';
import { type ScriptedChat, startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { eventually } from '../support/eventually.ts';
import { axeFaults } from './axe.ts';
import { openWorld } from './browser.ts';
import { serveHostPages } from './host-page.ts';

const SOON_MS = 60_000;

const field = (page: Page) => page.getByRole('textbox', { name: 'Write a message' });
const launcher = (page: Page) => page.getByRole('button', { name: /^Ask the assistant/ });

async function say(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

/** The next answers have these blocks. Returns what gives the service its word back. */
async function answerWith(page: Page, bodies: Readonly<Record<string, object>>): Promise<() => Promise<void>> {
  const blocks = Object.entries(bodies).map(([type, body], index) => ({ index, id: `blk_${index}`, block_type: type, revision: 1, body }));
  const events = [
    { type: 'turn.start', conversation_id: 'conv_1', message_id: 'msg_1', model: 'm', request_id: 'req_1' },
    ...blocks.map((block) => ({ type: 'block.ready', index: block.index, block })),
    { type: 'turn.end', status: 'completed' },
  ] as unknown as readonly StreamEvent[];
  const body = events.map((event, seq) => renderEvent(seq, event)).join('');
  await page.route('**/v1/chat', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ headers: { 'Content-Type': 'text/event-stream', 'Access-Control-Allow-Origin': '*' }, body })
      : route.fallback(),
  );
  return () => page.unroute('**/v1/chat');
}

interface Told {
  readonly type: string;
  readonly [name: string]: unknown;
}

interface App {
  readonly it: ScriptedChat;
  /** A page of the app in the same browser. `more`: options of `init` as source; `set`: what the page does then. */
  page(more?: string, set?: string, head?: string): Promise<Page>;
  told(page: Page): Promise<Told[]>;
}

async function openApp(t: TestContext): Promise<App> {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const { context } = await world.open();
  return {
    it,
    async page(more = '', set = '', own = '') {
      const source = `window.told = []; Assistant.onEvent((event) => told.push(event)); Assistant.init({ key: ${JSON.stringify(it.app.testKey)}${more} }); ${set}`;
      const head = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title><style>.own { color: rgb(1, 2, 3); }</style>${own}</head>`;
      const html = `${head}<body><main><h1>Shop</h1></main><script src="${it.service.baseUrl}/sdk/web/latest/assistant.js" crossorigin="anonymous"></script><script src="/shop.js"></script></body></html>`;
      const pages = await serveHostPages(t, { '/shop': { html, script: source } });
      const page = await context.newPage();
      await page.goto(pages.url('/shop'));
      return page;
    },
    told: (page) => page.evaluate('told') as Promise<Told[]>,
  };
}

test('WIDGET-41, WIDGET-42, CLIENT-33: the app is told what happens, each thing once with ids and durations, and answers that nobody saw are counted', async (t) => {
  const { it, page: open, told } = await openApp(t);
  const cancel = { name: 'cancel_order', description: 'Cancels.', risk: 'write', confirm_template: 'Cancel?', params: {} };
  const page = await open(
    ', open: !location.search',
    `Assistant.registerAction({ name: 'get_city', description: 'Tells the city.' }, () => ({ city: 'Oslo' }));
     Assistant.registerAction(${JSON.stringify(cancel)}, () => ({ done: true }));`,
  );
  it.script([{ call: 'get_city', args: {}, id: 'call_city' }], [{ text: 'You are in Oslo.' }]);
  await say(page, 'Where am I?');
  await page.getByText('You are in Oslo.').waitFor();
  const types = async () => (await told(page)).map(({ type }) => type);
  await eventually(async () => (await types()).includes('answer_ended'));
  const asked = ['message_sent', 'action_started', 'action_ended', 'first_word', 'answer_ended'];
  assert.deepEqual(
    (await types()).filter((type) => asked.includes(type)),
    asked,
  );
  const [sent, , ended, , over] = (await told(page)).filter(({ type }) => asked.includes(type));
  assert.equal(over?.turn_id, sent?.turn_id);
  assert.equal(
    `${ended?.name} ${ended?.status} ${typeof ended?.ms} ${typeof over?.ms} ${over?.status}`,
    'get_city ok number number completed',
  );

  await page.evaluate('told.length = 0');
  it.script([{ call: 'cancel_order', args: {}, id: 'call_cancel' }], [{ text: 'It is cancelled.' }]);
  await say(page, 'Cancel it');
  const card = page.locator('assistant-widget [data-type=confirm_card]');
  const agree = card.locator('button.is-primary');
  await agree.waitFor();
  await page.evaluate('Assistant.close()');
  await page.evaluate('Assistant.open()');
  await agree.click();
  await page.getByText('It is cancelled.').waitFor();
  await eventually(async () => (await types()).includes('action_ended'));
  const done = (await types()).filter((type) => !/^(?:opened|closed|unread|first_word)$/.test(type));
  assert.deepEqual(done, ['message_sent', 'card_shown', 'answer_ended', 'card_confirmed', 'action_started', 'action_ended']);

  it.script([{ text: 'Of the shop.' }]);
  await page.evaluate("told.length = 0; Assistant.ask('Of what?'); Assistant.close();");
  await page.getByRole('button', { name: 'Ask the assistant (1 unread)' }).waitFor();
  assert.deepEqual(
    (await told(page)).findLast(({ type }) => type === 'unread'),
    { type: 'unread', count: 1 },
  );
  const again = await page.context().newPage();
  await again.goto(`${page.url()}?closed`);
  await again.getByRole('button', { name: 'Ask the assistant (1 unread)' }).waitFor();
  await launcher(page).click();
  await again.getByRole('button', { name: 'Ask the assistant', exact: true }).waitFor();
  assert.ok(!(await types()).includes('error'));
  assert.deepEqual(
    (await told(again)).filter(({ type }) => asked.includes(type)),
    [],
    'nothing is told of what another page asked',
  );
});

test('WIDGET-43: a block is drawn by the app, with its own styles and answers, and by the widget where that fails', async (t) => {
  const { page: open } = await openApp(t);
  const page = await open(
    ', open: true',
    `Assistant.registerComponent('quick_replies', (place, { block, body, ask }) => {
       place.className = 'own';
       place.replaceChildren(...body.replies.map(({ id, label }) => Object.assign(document.createElement('button'), { textContent: 'Own ' + label, onclick: () => ask.choose(block, [id], label) })));
       return () => { window.ended = true; };
     });
     customElements.define('my-points', class extends HTMLElement { set body(body) { this.textContent = 'Mine: ' + body.points[0].text; } });
     Assistant.registerComponent('key_points', 'my-points');
     window.takeBack = Assistant.registerComponent('section', () => { throw new Error('no'); });`,
  );
  page.on('pageerror', () => {});
  const replies = { replies: [{ id: 'yes', label: 'Yes' }], status: 'open' };
  const points = { title: 'Shipping', points: [{ text: 'Two days.' }] };
  const unroute = await answerWith(page, { quick_replies: replies, key_points: points, section: { title: 'Returns', md: 'Thirty days.' } });
  await say(page, 'Tell me');
  const own = page.getByRole('button', { name: 'Own Yes' });
  await page.getByText('Thirty days.').waitFor();
  await own.waitFor();
  await page.getByText('Mine: Two days.').waitFor();
  assert.equal(await own.evaluate((each) => getComputedStyle(each.parentElement as Element).color), 'rgb(1, 2, 3)');
  await unroute();
  await page.evaluate('takeBack()');
  await own.click();
  await page.locator('assistant-widget .bubble').getByText('Yes').waitFor();
});

test('WIDGET-44, WIDGET-47: suggestions of the page, prefilled words, files that are asked for first, links and places are the app’s', async (t) => {
  const { page: open, told } = await openApp(t);
  const page = await open(
    ", open: true, layout: 'side', suggestions: () => ['About ' + document.title], openLink: (address) => { window.followed = address; return true; }",
  );
  await page.getByRole('button', { name: 'About Shop' }).waitFor();
  const panel = page.locator('assistant-widget section.panel');
  const size = page.viewportSize();
  // Once it has come in.
  await eventually(async () => (await panel.boundingBox())?.height === size?.height);
  await page.evaluate("Assistant.update({ layout: 'full' })");
  await eventually(async () => (await panel.boundingBox())?.width === size?.width);
  await page.evaluate("Assistant.update({ layout: 'card' }); document.documentElement.style.setProperty('--assistant-width', '320px')");
  await eventually(async () => (await panel.boundingBox())?.width === 320);
  await page.evaluate("Assistant.update({ suggestions: ['Another page'] })");
  await page.getByRole('button', { name: 'Another page' }).waitFor();

  await page.evaluate("Assistant.prefill('I have a question about ')");
  await eventually(async () => (await field(page).inputValue()) === 'I have a question about ');
  const offer = "window.offered = Assistant.attach([new File(['The cart.'], 'cart.txt', { type: 'text/plain' })], 'Attach your cart?')";
  await page.evaluate(`void (${offer})`);
  await page.getByRole('alert').getByRole('button', { name: 'No', exact: true }).click();
  assert.equal(await page.evaluate('offered'), false);
  await page.evaluate(`void (${offer})`);
  await page.getByRole('alert').getByRole('button', { name: 'Yes', exact: true }).click();
  await page.locator('assistant-widget .file').getByText('cart.txt').waitFor();
  await eventually(async () => (await told(page)).some(({ type, status }) => type === 'upload_ended' && status === 'ok'));

  const md = 'See [it](https://www.example.com/it), https://www.example.com/bare and [old](http://www.example.com/old).';
  await answerWith(page, { text: { md } });
  await say(page, 'Where?');
  await page.getByRole('link', { name: /^it/ }).click();
  assert.equal(await page.evaluate('followed'), 'https://www.example.com/it');
  assert.ok((await told(page)).some(({ type, address }) => type === 'link_opened' && address === 'https://www.example.com/it'));
  assert.equal(await page.locator('assistant-widget .prose a').count(), 2);
  await page.evaluate("Assistant.update({ linkSchemes: ['http'], autolinks: false })");
  await page.getByRole('link', { name: /^old/ }).waitFor();
  assert.equal(await page.locator('assistant-widget .prose a').count(), 1);
  await page.evaluate("Assistant.update({ locale: 'de-AT', words: { send: 'Ab damit' } })");
  await page.getByRole('textbox', { name: 'Nachricht schreiben' }).waitFor();
  await page.getByRole('button', { name: 'Ab damit' }).waitFor();
  await page.evaluate("Assistant.update({ locale: 'en', words: undefined })");
  await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
});

test('WIDGET-45, WIDGET-46: nothing is kept before the person agreed, and whoever is idle is signed out', async (t) => {
  const { it, page: open, told } = await openApp(t);
  const page = await open(', open: true, consent: false');
  it.script([{ text: 'Hello.' }]);
  await field(page).fill('half a');
  await say(page, 'Hello?');
  await page.getByText('Hello.', { exact: true }).waitFor();
  const kept = () => page.evaluate('Object.keys(localStorage).concat(Object.keys(sessionStorage))') as Promise<string[]>;
  assert.deepEqual(await kept(), []);
  await page.evaluate('Assistant.update({ consent: true })');
  assert.ok(
    (await kept()).some((name) => name.endsWith(':conversation')),
    (await kept()).join(' '),
  );
  await page.reload();
  await page.evaluate('Assistant.update({ consent: false })');
  assert.deepEqual(await kept(), []);
  await page.evaluate(`void Assistant.init({ key: ${JSON.stringify(it.app.testKey)}, open: true, idleSignOutMs: 1 })`);
  await eventually(
    async () => (await told(page)).some(({ type }) => type === 'signed_out'),
    SOON_MS,
    () => 'the app is told',
  );
});

test('WIDGET-48, WIDGET-6: with the stub a page whose panel nobody opens loads the launcher alone, and a press loads the rest', async (t) => {
  const it = await startScriptedChat(t);
  const { context, page } = await (await openWorld(t, it.service)).open();
  // A live key is of an app's own domain, which a test has none of.
  await context.route('**/v1/**', (route) =>
    route.continue({ headers: { ...route.request().headers(), 'x-service-key': it.app.testKey } }),
  );
  const stub = `<script src="${it.service.baseUrl}/sdk/web/latest/stub.js"></script><script src="/shop.js"></script>`;
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>${stub}</head><body><main><h1>Shop</h1></main></body></html>`;
  const script = `window.told = []; Assistant.onEvent(({ type }) => told.push(type)); Assistant.init({ key: 'rd_pk_live_shop', theme: { accent: '#aa0033' } });
    Assistant.registerAction({ name: 'get_city', description: 'Tells the city.' }, () => ({ city: 'Oslo' }));`;
  const pages = await serveHostPages(t, { '/shop': { html, script } });
  const loaded = async () => (await page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")) as string[];
  await page.goto(pages.url('/shop'));
  await launcher(page).waitFor();
  assert.equal(await launcher(page).evaluate((each) => getComputedStyle(each).backgroundColor), 'rgb(170, 0, 51)');
  const before = (await loaded()).filter((name) => name.startsWith(it.service.baseUrl));
  assert.deepEqual(before.map((name) => new URL(name).pathname).sort(), ['/sdk/web/latest/stub.js', '/v1/apps/config']);
  assert.deepEqual(await axeFaults(page), []);

  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await launcher(page).press('Enter');
  await field(page).waitFor();
  await eventually(async () => (await page.locator('assistant-widget').count()) === 1);
  const parts = () => asked.filter((address) => address.endsWith('.mjs'));
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
  assert.deepEqual(parts(), [], 'before anybody says something nothing is loaded but the script');
  it.script([{ call: 'get_city', args: {}, id: 'call_city' }], [{ text: 'You are in Oslo.' }]);
  await say(page, 'Where am I?');
  await page.getByText('You are in Oslo.').waitFor();
  assert.match(parts().join(), /\/markdown-[^,]*$/);
  await eventually(async () => ((await page.evaluate('told')) as string[]).includes('answer_ended'));
  const kept = () => page.evaluate("localStorage.getItem('assistant:rd_pk_live_shop:conversation')");
  await eventually(async () => String(await kept()).includes('"turns":[],"calls":[]'));

  // A conversation that is over wakes nothing on the next page; what is under way does.
  await page.goto(pages.url('/shop'));
  await launcher(page).waitFor();
  assert.ok(!(await loaded()).some((name) => name.endsWith('/assistant.js')));
  await page.evaluate('Assistant.destroy()');
  assert.equal(await page.locator('assistant-widget').count(), 0);
  await page.evaluate("void Assistant.init({ key: 'rd_pk_live_shop' })");
  await launcher(page).waitFor();
  await page.evaluate("Assistant.ask('And now?')");
  await field(page).waitFor();
});

test('WIDGET-50: on pages that zoom, change what all lists have, and open modal dialogs, all of it works', async (t) => {
  const { it, page: open } = await openApp(t);
  const page = await open(
    ', open: true',
    `Assistant.registerAction({ name: 'get_cities', description: 'Tells cities.' }, () => ['Oslo', ['Bergen']]);`,
    `<style>html { zoom: 1.5; }</style><script>
      Array.from = (list) => { const copy = new Array(list && list.length || 0); for (let n = copy.length; n--;) copy[n] = list[n]; return copy; };
      Array.prototype.toJSON = function () { return '[' + this.map((each) => JSON.stringify(each)).join(', ') + ']'; };
    </script>`,
  );
  it.script([{ call: 'get_cities', args: {}, id: 'call_cities' }], [{ text: 'Two cities.' }]);
  await say(page, 'Where?');
  await page.getByText('Two cities.').waitFor();
  assert.match(it.toldOf('call_cities'), /\["Oslo",\s*\["Bergen"\]\]/);
  const [box, size] = [await page.locator('assistant-widget section.panel').boundingBox(), page.viewportSize()];
  assert.ok(
    box && size && box.x >= 0 && box.y >= 0 && box.x + box.width <= size.width && box.y + box.height <= size.height,
    JSON.stringify(box),
  );

  await page.evaluate(
    "document.body.insertAdjacentHTML('beforeend', '<dialog><button>Agree</button></dialog>'); document.querySelector('dialog').showModal()",
  );
  await page.getByRole('button', { name: 'Agree' }).click();
  await page.evaluate("document.querySelector('dialog').close()");
  it.script([{ text: 'Still here.' }]);
  await say(page, 'And now?');
  await page.getByText('Still here.').waitFor();

  const columns = Array.from({ length: 100 }, (_, n) => `c${n}`);
  const md = [columns, columns.map(() => '-'), columns].map((row) => `|${row.join('|')}|`).join('\n');
  await answerWith(page, { text: { md } });
  await say(page, 'All columns');
  const table = page.locator('assistant-widget .prose table');
  await table.waitFor();
  assert.equal(await table.locator('th').count(), 100);
  const [wide, thread] = [await table.boundingBox(), await page.locator('assistant-widget .thread').boundingBox()];
  assert.ok(wide && thread && wide.width <= thread.width, 'it scrolls in its place');
});

test('WIDGET-50: in a sandboxed frame, whose origin is null, all of it works once the app allows that one', async (t) => {
  const { it, page: open } = await openApp(t);
  const actions = "Assistant.registerAction({ name: 'get_city', description: 'Tells the city.' }, () => ({ city: 'Oslo' }));";
  const page = await open(', open: true', actions);
  assert.equal((await it.operator('PATCH', `/apps/${it.app.appId}`, { allowed_domains: ['null'] })).status, 200);
  await page.evaluate(
    "document.body.insertAdjacentHTML('beforeend', `<iframe sandbox='allow-scripts' width='800' height='600' src='/shop'></iframe>`)",
  );
  const frame = page.frameLocator('iframe');
  it.script([{ call: 'get_city', args: {}, id: 'call_city' }], [{ text: 'You are in **Oslo**.' }]);
  const asked = frame.getByRole('textbox', { name: 'Write a message' });
  await asked.fill('Where am I?');
  await asked.press('Enter');
  await frame.locator('assistant-widget .prose strong').getByText('Oslo').waitFor();
  assert.match(it.toldOf('call_city'), /Oslo/);
});
