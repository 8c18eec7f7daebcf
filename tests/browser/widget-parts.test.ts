/** The parts of the widget that people press: stop, thumbs, suggestions, files, earlier messages, and how the app makes it look. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { dataLayout } from '../../storage/data-layout.ts';
import { openWriter } from '../../storage/sqlite/database.ts';
import { type ScriptedChat, startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { createOperator } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { startPacedModel } from '../support/paced-model.ts';
import { startService } from '../support/service.ts';
import { axeFaults } from './axe.ts';
import { type BrowserWorld, openWorld } from './browser.ts';
import { embedding, type HostPage, serveHostPages } from './host-page.ts';
import { look } from './look.ts';

const SOON_MS = 60_000;

const field = (page: Page) => page.getByRole('textbox', { name: 'Write a message' });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function say(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

const starting = (key: string, more = '') =>
  `window.events = []; Assistant.onEvent((event) => window.events.push(event)); Assistant.init({ key: ${JSON.stringify(key)}, open: true${more} });`;

interface Shop {
  readonly it: ScriptedChat;
  readonly world: BrowserWorld;
  /** Opens the page, with more options of `init` as source. */
  page(more?: string, changes?: Partial<HostPage>): Promise<Page>;
}

async function openShop(t: TestContext, settings: Record<string, unknown> = {}): Promise<Shop> {
  const it = await startScriptedChat(t, { settings });
  const world = await openWorld(t, it.service);
  return {
    it,
    world,
    async page(more = '', changes = {}) {
      const html = embedding(it.service.baseUrl, '/shop');
      const pages = await serveHostPages(t, { '/shop': { html, script: starting(it.app.testKey, more), ...changes } });
      const { page } = await world.open();
      await page.goto(pages.url('/shop'));
      return page;
    },
  };
}

test('WIDGET-9, CHAT-18: stop ends an answer, and what came of it stays', async (t) => {
  const model = await startPacedModel(t);
  model.pace({ words: 2_000, delayMs: 20 });
  const service = await startService(t, { env: { ...model.env(), LOG_LEVEL: 'silent' } });
  const pages = await serveHostPages(t, { '/shop': { html: embedding(service.baseUrl, '/shop'), script: starting(service.testKey) } });
  const { page } = await (await openWorld(t, service)).open();
  await page.goto(pages.url('/shop'));
  await say(page, 'Tell me all');
  const answer = page.locator('assistant-widget article.answer');
  await answer.getByText('word word').waitFor();
  await button(page, 'Stop the answer').press('Enter');
  await page.getByText('Stopped.').waitFor();
  assert.match(await answer.innerText(), /word word/);
  await button(page, 'Send').waitFor();
  await eventually(
    () => page.evaluate('window.events.some(({ type, status }) => type === "answer_ended" && status === "completed")'),
    SOON_MS,
    () => 'the app is told that it ended',
  );
});

test('WIDGET-5, FEEDBACK-1: suggestions of the app are asked with one press, and a thumb under the answer is kept', async (t) => {
  const { it, page: open } = await openShop(t);
  const operator = createOperator(it.service.baseUrl, it.service.operatorToken);
  const colours = { surface: '#ffffff', onSurface: '#1c2230', accent: '#0b57d0', onAccent: '#ffffff' };
  await operator('PUT', `/apps/${it.app.appId}/appearance`, { theme: colours, copilot: { feedback: true } });
  await operator('PUT', `/apps/${it.app.appId}/experience`, { welcomeTitle: 'Hello there', suggestions: ['Where is <b>my</b> order?'] });
  assert.equal((await operator('POST', `/apps/${it.app.appId}/publish`)).status, 200);
  const page = await open();
  await page.getByRole('heading', { name: 'Hello there' }).waitFor();
  it.script([{ text: 'On its way.' }]);
  await button(page, 'Where is <b>my</b> order?').press('Enter');
  await page.getByText('On its way.').waitFor();
  const thumb = button(page, 'This helped');
  await thumb.press('Enter');
  await page.getByText('Noted. Thank you.').waitFor();
  assert.equal(await thumb.getAttribute('aria-pressed'), 'true');
  const { json } = await operator('GET', `/apps/${it.app.appId}/feedback`);
  const { feedback } = json as { feedback: readonly { readonly rating: number }[] };
  assert.deepEqual(
    feedback.map(({ rating }) => rating),
    [1],
  );
});

test('WIDGET-9: files are attached by choosing, pasting and dropping, can be taken back, and one that cannot be sent says why', async (t) => {
  const { it, page: open } = await openShop(t);
  const page = await open();
  await field(page).waitFor();
  const files = page.locator('assistant-widget .file');
  const text = (name: string, content: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });
  await page.locator('assistant-widget input[type=file]').setInputFiles([text('one.txt', 'The first.')]);
  /** As the page's own paste and drop, with a file. */
  const give = (type: 'paste' | 'drop', name: string) =>
    page.evaluate(
      ([event, fileName]) => {
        const data = new DataTransfer();
        data.items.add(new File([`Words of ${fileName}.`], fileName ?? '', { type: 'text/plain' }));
        const target = document.querySelector('assistant-widget')?.shadowRoot?.querySelector('textarea');
        const more = { bubbles: true, composed: true, cancelable: true };
        target?.dispatchEvent(
          event === 'paste'
            ? new ClipboardEvent('paste', { ...more, clipboardData: data })
            : new DragEvent('drop', { ...more, dataTransfer: data }),
        );
      },
      [type, name],
    );
  await give('paste', 'two.txt');
  await give('drop', 'three.txt');
  await eventually(
    async () => (await files.count()) === 3 && (await files.locator('progress').count()) === 0,
    SOON_MS,
    () => 'all three are there',
  );
  await button(page, 'Remove two.txt').press('Enter');
  await page
    .locator('assistant-widget input[type=file]')
    .setInputFiles([{ name: 'program.exe', mimeType: 'application/x-msdownload', buffer: Buffer.from([0x4d, 0x5a, 0, 0, 1, 2, 255]) }]);
  await page.locator('assistant-widget .file.is-bad').getByText('program.exe was not sent').waitFor();
  it.script([{ text: 'Two files.' }]);
  await say(page, 'Read them');
  await page.getByText('Two files.').waitFor();
  assert.deepEqual(await page.locator('assistant-widget .sent-file').allInnerTexts(), ['one.txt', 'three.txt']);
  const told = JSON.stringify(it.lastRequest());
  assert.ok(told.includes('The first.') && told.includes('Words of three.txt.') && !told.includes('Words of two.txt.'));
  await give('paste', 'four.txt');
  await eventually(
    () => button(page, 'Send').isEnabled(),
    SOON_MS,
    () => 'a file is sent without words',
  );
  it.script([{ text: 'One more file.' }]);
  await say(page, ' ');
  await page.getByText('One more file.').waitFor();
  assert.ok(JSON.stringify(it.lastRequest()).includes('Words of four.txt.'));
});

test('WIDGET-5, WIDGET-16, PERSON-5: where an app demands signed people nothing is seen without one, and a refusal is told in calm words', async (t) => {
  const { it, page: open } = await openShop(t, { require_identity: true });
  const widget = (page: Page) => page.locator('assistant-widget');
  const nobody = await open(', log: (record) => (window.log ??= []).push(record.code)');
  await eventually(
    () => nobody.evaluate('window.log?.includes("identity_required")'),
    SOON_MS,
    () => 'the log says why',
  );
  assert.equal(await widget(nobody).getByRole('button').count(), 0);
  const asked = it.asked().length;
  const page = await open(
    `, user: { id: 'u_1', hmac: '${'0'.repeat(64)}' }, themeMode: 'dark', words: { refused: 'Das ging nicht.' }, log: (record) => (window.log ??= []).push(record)`,
  );
  await say(page, 'Where is my order?');
  await widget(page).getByRole('alert').getByText('Das ging nicht.').waitFor();
  assert.equal(await widget(page).getByText('hmac').count(), 0);
  assert.equal(it.asked().length, asked);
  assert.equal(await widget(page).getAttribute('data-scheme'), 'dark');
  const told = await page.evaluate('window.log.find(({ code }) => code === "turn_failed").details');
  assert.match(String((told as { message: string }).message), /lowercase hex/);
});

test('BLOCK-26, BLOCKVIEW-4: a point shows the title of its source as a link to the page', async (t) => {
  const { it, page: open } = await openShop(t);
  const writer = openWriter(dataLayout(it.service.dataDir).organisation(it.app.organisationId));
  writer
    .statement(
      `INSERT INTO knowledge_sources (id, app_id, external_key, kind, title, uri, content_hash, state, origin, created_at_ms, updated_at_ms)
       VALUES ('kno_1', :appId, 'help/returns', 'url', 'Returns', 'https://shop.example/returns', 'x', 'failed', 'agent', 1, 1)`,
    )
    .run({ appId: it.app.appId });
  writer.close();
  const page = await open();
  it.script([{ call: 'key_points', args: { points: [{ text: 'Thirty days.', sources: ['help/returns', 'faq'] }] } }]);
  await say(page, 'Returns?');
  const chips = page.locator('assistant-widget .sources li');
  await chips.first().waitFor();
  const shown = (await chips.allInnerTexts()).map((text) => text.split('\n', 1)[0]);
  assert.deepEqual(shown, ['Returns (shop.example)', 'faq']);
  assert.equal(await chips.locator('a').getAttribute('href'), 'https://shop.example/returns');
  assert.deepEqual(await axeFaults(page), []);
});

test('WIDGET-8: earlier messages are read page by page above the others, and the place in the thread stays', async (t) => {
  const { it, page: open } = await openShop(t);
  const page = await open();
  const count = 35;
  it.script(...Array.from({ length: count }, (_, n) => [{ text: `Answer ${n}` }]));
  for (let n = 0; n < count; n++) {
    await say(page, `Question ${n}`);
    await page.getByText(`Answer ${n}`, { exact: true }).waitFor();
    // The bound of a device a minute.
    if (n === 0) {
      const operator = createOperator(it.service.baseUrl, it.service.operatorToken);
      await operator('PATCH', `/apps/${it.app.appId}`, { messages_per_minute: 1_000, messages_per_minute_per_address: 0 });
    }
  }
  await page.reload();
  await page.getByText(`Answer ${count - 1}`, { exact: true }).waitFor();
  const earlier = button(page, 'Show earlier messages');
  assert.equal(await page.getByText('Question 0', { exact: true }).count(), 0);
  const thread = page.getByRole('log');
  await thread.evaluate((box) => box.scrollTo({ top: 0 }));
  // The thread has seen that its end is not looked at any more.
  await button(page, 'To the newest message').waitFor();
  const first = page.locator('assistant-widget .bubble').first();
  const said = await first.innerText();
  const before = await first.boundingBox();
  await earlier.press('Enter');
  const same = page.locator('assistant-widget .bubble').filter({ hasText: new RegExp(`${said.replace(/\s+/g, '\\s+')}$`) });
  await eventually(
    async () => (await page.locator('assistant-widget .bubble').first().innerText()) !== said,
    SOON_MS,
    () => 'earlier messages are there',
  );
  const after = await same.first().boundingBox();
  assert.ok(Math.abs((after?.y ?? 0) - (before?.y ?? 0)) < 60, `${JSON.stringify(before)} ${JSON.stringify(after)}`);
});

test('WIDGET-5: setTheme is seen at once, and from right to left all of it is turned round', async (t) => {
  const { page: open } = await openShop(t);
  const page = await open(
    ", dir: 'rtl', locale: 'ar', words: { composer: 'اكتب رسالة', send: 'إرسال', attach: 'إرفاق', toNewest: '<b>x</b>' }",
  );
  const written = page.getByRole('textbox', { name: 'اكتب رسالة' });
  await written.waitFor();
  const left = async (name: string) => (await page.getByRole('button', { name, exact: true }).boundingBox())?.x ?? Number.NaN;
  assert.ok((await left('إرسال')) < (await left('إرفاق')), 'what sends is at the end, which is on the left');
  const panel = await page.locator('assistant-widget section').boundingBox();
  assert.ok(panel !== null && panel.x < 1_360 - panel.x - panel.width, 'the panel is on the left');
  const accent = () => page.locator('assistant-widget .launcher').evaluate((each) => getComputedStyle(each).backgroundColor);
  await page.evaluate("Assistant.setTheme({ accent: '#aa0033', onAccent: '#ffffff', radius: 3, fontFamily: 'x; } * { display: none' })");
  await eventually(
    async () => (await accent()) === 'rgb(170, 0, 51)',
    SOON_MS,
    () => 'the launcher has the colour',
  );
  assert.ok(await written.isVisible(), 'a value that is no name of a face changes nothing else');
});

test('WIDGET-4: it works under a policy that allows its script by hash alone', async (t) => {
  const { it, page: open } = await openShop(t);
  const { baseUrl } = it.service;
  const hashOf = (script: string) => `sha384-${createHash('sha384').update(script).digest('base64')}`;
  const hash = hashOf(await (await fetch(`${baseUrl}/sdk/web/latest/assistant.js`)).text());
  const own = hashOf(starting(it.app.testKey));
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title></head><body><h1>Shop</h1><script src="${baseUrl}/sdk/web/latest/assistant.js" integrity="${hash}" crossorigin="anonymous"></script><script src="/shop.js" integrity="${own}"></script></body></html>`;
  const policy = `default-src 'none'; script-src '${hash}' '${own}'; connect-src ${baseUrl}; img-src blob:; base-uri 'none'; form-action 'none'`;
  const page = await open('', { html, headers: { 'Content-Security-Policy': policy } });
  it.script([{ text: 'It works.' }]);
  await say(page, 'Does it?');
  await page.getByText('It works.').waitFor();
});

test('WIDGET-11: a panel that fills the screen is modal, and Tab goes round in it', async (t) => {
  const { page: open } = await openShop(t);
  const page = await open();
  const panel = page.getByRole('dialog');
  assert.equal(await panel.getAttribute('aria-modal'), null);
  await page.setViewportSize({ width: 360, height: 640 });
  await page.locator('assistant-widget [aria-modal=true]').waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.getAttribute('aria-label') ?? '');
  await field(page).focus();
  const seen = new Set<string>();
  for (let n = 0; n < 12; n++) {
    await page.keyboard.press('Tab');
    seen.add(await focused());
  }
  assert.ok(!seen.has(''), 'the focus never leaves the panel');
  assert.ok(seen.has('Close') && seen.has('New conversation') && seen.has('Attach a file'), [...seen].join(', '));
  await page.getByRole('button', { name: 'New conversation' }).focus();
  await page.keyboard.press('Shift+Tab');
  assert.notEqual(await focused(), '');
});

test('WIDGET-11: a panel keeps Tab from the moment that it says it is modal', async (t) => {
  const { page: open } = await openShop(t);
  const page = await open();
  await field(page).focus();
  await page.evaluate(() => {
    const panel = document.querySelector('assistant-widget')?.shadowRoot?.querySelector('[role=dialog]');
    if (!panel) throw new Error('there is no panel');
    const press = () => {
      const focusable = [...panel.querySelectorAll<HTMLElement>('button:not(:disabled), textarea')].filter((each) =>
        each.checkVisibility(),
      );
      const last = focusable.at(-1);
      last?.focus();
      const tab = new KeyboardEvent('keydown', { key: 'Tab', bubbles: true, composed: true, cancelable: true });
      panel.setAttribute('data-kept', String(last?.dispatchEvent(tab) === false));
    };
    new MutationObserver(press).observe(panel, { attributeFilter: ['aria-modal'] });
  });
  await page.setViewportSize({ width: 360, height: 640 });
  const panel = page.locator('assistant-widget [data-kept]');
  assert.equal(await panel.getAttribute('data-kept'), 'true');
});

test('WIDGET-33, WIDGET-31, WIDGET-7: an answer is drawn, its code is copied, and without the parser it is its words', async (t) => {
  const { it, page: open } = await openShop(t);
  const page = await open();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const code = 'const order = await shop.order(id);\n';
  const md = `# Ways\n\n> - Express, <b>next day</b>\n\n**Costs**\n\n| Way | Price |\n|:-:|--:|\n| a | 1 |\n\n\`\`\`js\n${code}\`\`\`\n\n- مرحبا\n- [x] done\n\n&rarr; end`;
  it.script([{ text: md }], [{ text: md }]);
  await say(page, 'Which ways?');
  const prose = page.locator('assistant-widget .prose');
  await prose.getByText('→ end').waitFor();
  assert.equal(await prose.locator('li').first().innerText(), 'Express, <b>next day</b>');
  assert.equal(
    await prose
      .locator('td')
      .last()
      .evaluate((cell) => getComputedStyle(cell).textAlign),
    'right',
  );
  assert.equal(
    await prose
      .locator('ul')
      .last()
      .evaluate((list) => getComputedStyle(list).direction),
    'rtl',
  );
  assert.equal(await prose.locator('.code-name').innerText(), 'js');
  await button(page, 'Copy: js').click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), code);
  await look(page, 'widget-markdown');
  assert.deepEqual(await axeFaults(page), []);
  await page.route(/\/markdown-[^/]*\.mjs$/, (route) => route.abort());
  await page.reload();
  await page.locator('assistant-widget .prose.as-written').getByText('| Way | Price |').first().waitFor();
});
