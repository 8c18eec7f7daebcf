/** The page for web views, with an app around it that plays iOS, Android, Flutter or React Native; and pages that would like to be that app. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { type ScriptedChat, startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { eventually } from '../support/eventually.ts';
import { type BrowserWorld, openWorld } from './browser.ts';
import { serveHostPages } from './host-page.ts';

const SOON_MS = 20_000;
const SECRET = 'only-this-app-knows-it';

/** How an app puts itself into the page before it is loaded. */
const PLATFORMS = {
  ios: 'globalThis.webkit = { messageHandlers: { assistantHost: { postMessage: (text) => globalThis.toApp(text) } } };',
  android: 'globalThis.AssistantHost = { postMessage: (text) => globalThis.toApp(text), onmessage: null };',
  reactNative: 'globalThis.ReactNativeWebView = { postMessage: (text) => globalThis.toApp(text) };',
};
type Platform = keyof typeof PLATFORMS;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
  readonly secret?: string;
}

/** An app that shows the page in a web view. */
class App {
  readonly heard: Message[] = [];
  readonly page: Page;
  readonly #platform: Platform;
  #lastId = 1_000;
  /** What the app does when it is asked. */
  answer: (message: Message) => unknown = () => null;

  constructor(page: Page, platform: Platform) {
    this.page = page;
    this.#platform = platform;
  }

  async hear(text: string): Promise<void> {
    const message = JSON.parse(text) as Message;
    this.heard.push(message);
    if (message.id !== undefined && message.method !== undefined) await this.send({ id: message.id, result: this.answer(message) });
  }

  /** As the platform does it: by code that is run in the page, or by a message to the object. */
  async send(message: Record<string, unknown>): Promise<void> {
    const text = JSON.stringify(JSON.stringify({ jsonrpc: '2.0', ...message }));
    await this.page.evaluate(
      this.#platform === 'android' ? `AssistantHost.onmessage({ data: ${text} })` : `assistantPage.receive(${text})`,
    );
  }

  async until(is: (message: Message) => boolean, what: string): Promise<Message> {
    await eventually(
      () => this.heard.some(is),
      SOON_MS,
      () => `${what}: ${JSON.stringify(this.heard)}`,
    );
    return this.heard.find(is) as Message;
  }

  told(method: string): Promise<Message> {
    return this.until((message) => message.method === method, method);
  }

  async call(method: string, params: Record<string, unknown> = {}): Promise<Message> {
    const id = ++this.#lastId;
    await this.send({ id, method, params });
    return this.until((message) => message.id === id, method);
  }
}

async function showIn(world: BrowserWorld, it: ScriptedChat, platform: Platform): Promise<{ app: App; context: BrowserContext }> {
  const { context, page } = await world.open({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const app = new App(page, platform);
  await page.exposeFunction('toApp', (text: string) => app.hear(text));
  await page.addInitScript(PLATFORMS[platform]);
  await page.goto(`${it.service.baseUrl}/sdk/mobile`);
  await app.told('hello');
  return { app, context };
}

const field = (page: Page) => page.getByRole('textbox', { name: 'Write a message' });

async function say(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

async function open(t: TestContext) {
  const it = await startScriptedChat(t);
  return { it, world: await openWorld(t, it.service) };
}

const GET_CITY = { name: 'get_city', description: 'Tells the city.' };

for (const platform of ['ios', 'android', 'reactNative'] as const) {
  test(`MOBILE-1, MOBILE-2, MOBILE-3: an app on ${platform} shows the assistant, runs its actions, and hears what happens`, async (t) => {
    const { it, world } = await open(t);
    const { app } = await showIn(world, it, platform);
    const { page } = app;
    app.answer = ({ method, params }) => (method === 'action' ? { city: 'Oslo', asked: params?.name } : 'token-of-the-person');
    const options = {
      key: it.app.liveKey,
      userToken: true,
      secret: SECRET,
      actions: [GET_CITY],
      screens: [{ name: 'orders', title: 'Orders' }],
    };
    assert.deepEqual(Object.keys((await app.call('init', options)).result as object), ['version']);
    await field(page).waitFor();

    await app.call('setContext', { context: { app_state: { cart: 2 } } });
    const sent = page.waitForRequest((request) => request.url().endsWith('/v1/chat'));
    it.script([{ call: 'get_city', args: {}, id: 'call_city' }], [{ text: 'You are in Oslo. [Read more](https://example.com/more).' }]);
    await say(page, 'Where am I?');
    await page.getByText('You are in Oslo.').waitFor();
    assert.match(it.toldOf('call_city'), /Oslo.*get_city/);
    assert.deepEqual(((await sent).postDataJSON() as { context: unknown }).context, { app_state: { cart: 2 } });
    assert.equal((await (await sent).allHeaders())['x-service-user-token'], 'token-of-the-person');

    const here = page.url();
    await page.getByRole('link', { name: /Read more/ }).click();
    assert.equal((await app.told('link')).params?.url, 'https://example.com/more');
    assert.equal(page.url(), here, 'a link does not leave the page');
    assert.equal(page.context().pages().length, 1);

    await page.getByRole('button', { name: 'Conversations' }).click();
    await page.getByRole('heading', { name: 'Conversations' }).waitFor();
    await app.call('back');
    await page.getByRole('heading', { name: 'Conversations' }).waitFor({ state: 'detached' });
    assert.ok(!app.heard.some(({ method }) => method === 'close'));
    await app.call('back');
    await app.told('close');
    await app.call('open');
    await field(page).waitFor();

    const after = app.heard.slice(app.heard.findIndex(({ method }) => method === 'hello') + 1);
    assert.ok(
      after.every(({ secret }) => secret === SECRET),
      'each message after init has the secret',
    );
    const events = app.heard.flatMap(({ method, params }) => (method === 'event' ? [params?.type] : []));
    for (const type of ['ready', 'available', 'message_sent', 'action_ended', 'answer_ended', 'closed', 'opened'])
      assert.ok(events.includes(type), type);
  });
}

test('MOBILE-1: what the app says wrongly is answered with what is wrong', async (t) => {
  const { it, world } = await open(t);
  const { app } = await showIn(world, it, 'ios');
  assert.match((await app.call('ask', { text: 'Hello' })).error?.message ?? '', /call init first/);
  assert.match(
    (await app.call('init', { key: it.app.testKey, colourScheme: 'dark' })).error?.message ?? '',
    /there is no colourScheme. Is colorScheme meant/,
  );
  assert.equal((await app.call('eval', {})).error?.code, -32601);
  assert.equal((await app.call('constructor', {})).error?.code, -32601);
  for (const noise of ['null', '"text"', '{"jsonrpc":"1.0","method":"back"}', '{"jsonrpc":"2.0","id":7,"result":1}', '{']) {
    await app.page.evaluate(`assistantPage.receive(${JSON.stringify(noise)})`);
  }
  await app.call('init', { key: it.app.testKey });
  await field(app.page).waitFor();
});

test('MOBILE-1: it fills the screen beside notches and above the keyboard, takes files, and goes on after it was offline', async (t) => {
  const { it, world } = await open(t);
  const { app, context } = await showIn(world, it, 'android');
  const { page } = app;
  const devTools = await context.newCDPSession(page);
  await devTools.send('Emulation.setSafeAreaInsetsOverride', { insets: { top: 47, bottom: 34, left: 0, right: 0 } });
  await app.call('init', { key: it.app.testKey });
  await field(page).waitFor();
  const panel = page.locator('assistant-widget .panel');
  assert.deepEqual(await panel.boundingBox(), { x: 0, y: 0, width: 390, height: 844 });
  const paddings = () =>
    page.evaluate(() => {
      const root = document.querySelector('assistant-widget')?.shadowRoot;
      const of = (selector: string) => getComputedStyle(root?.querySelector(selector) as Element);
      return [of('.panel').paddingTop, of('.composer').paddingBottom];
    });
  assert.deepEqual(await paddings(), ['47px', '34px']);

  await page.evaluate(() => {
    // As browsers of iOS tell of a keyboard.
    Object.defineProperty(visualViewport, 'height', { value: 500, configurable: true });
    visualViewport?.dispatchEvent(new Event('resize'));
  });
  assert.equal((await panel.boundingBox())?.height, 500);
  await page.evaluate(() => {
    Object.defineProperty(visualViewport, 'height', { value: 844, configurable: true });
    visualViewport?.dispatchEvent(new Event('resize'));
  });

  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach a file' }).click();
  await (await choosing).setFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('A note.') });
  await page.getByText('note.txt').waitFor();

  await context.setOffline(true);
  await page.getByText('You are offline').waitFor();
  await context.setOffline(false);
  await page.getByText('You are offline').waitFor({ state: 'hidden' });
  it.script([{ text: 'Read it.' }]);
  await app.call('ask', { text: 'Read this' });
  await page.getByText('Read it.').waitFor();
});

test('MOBILE-2: without an app nothing starts, and a hostile page can neither frame nor drive it', async (t) => {
  const { it, world } = await open(t);
  const asked: string[] = [];
  const alone = await world.open();
  alone.page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await alone.page.goto(`${it.service.baseUrl}/sdk/mobile?key=${it.app.testKey}#${it.app.testKey}`);
  await alone.page.getByText('This page is shown by apps').waitFor();
  assert.ok(
    asked.every((path) => path.startsWith('/sdk/')),
    asked.join(' '),
  );
  assert.equal(await alone.page.evaluate('typeof assistantPage'), 'undefined');

  const address = `${it.service.baseUrl}/sdk/mobile`;
  const pages = await serveHostPages(t, {
    '/framing': { html: `<!doctype html><title>Hostile</title><iframe src="${address}"></iframe>` },
    '/opening': {
      html: '<!doctype html><title>Hostile</title><button>Open</button><script src="/opening.js"></script>',
      script: `document.querySelector('button').onclick = () => {
        const opened = open(${JSON.stringify(address)});
        const message = { jsonrpc: '2.0', method: 'init', params: { key: ${JSON.stringify(it.app.testKey)} } };
        window.tries = 0;
        setInterval(() => { opened.postMessage(message, '*'); window.tries++; window.severed = opened.closed; }, 20);
      };`,
    },
  });
  // Its own console says that the frame is refused.
  const framing = await alone.context.newPage();
  await framing.goto(pages.url('/framing'));
  const frame = framing.frames()[1];
  assert.ok(frame !== undefined);
  assert.equal(await frame.locator('body').getByText('This page is shown').count(), 0);
  assert.equal(await frame.evaluate('typeof assistantPage'), 'undefined');

  // Even where the page would find an app, it hears no window.
  const { context, page } = await world.open();
  const heard: string[] = [];
  await context.exposeFunction('toApp', (text: string) => void heard.push(text));
  await context.addInitScript(PLATFORMS.ios);
  await page.goto(pages.url('/opening'));
  const popup = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Open' }).click();
  const opened = await popup;
  await eventually(() => heard.some((text) => text.includes('hello')), SOON_MS);
  await page.waitForFunction('window.severed === true && window.tries > 10');
  assert.equal(await opened.evaluate('window.opener'), null);
  assert.equal(await opened.locator('assistant-widget').count(), 0);
  assert.deepEqual(
    heard.filter((text) => !text.includes('hello')),
    [],
  );
});
