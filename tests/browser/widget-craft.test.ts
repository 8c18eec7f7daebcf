/** What people do with a thread: say more while they read, wait, show pictures, copy, ask again, and go back to what they asked before. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { gate, type ScriptedChat, startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { eventually } from '../support/eventually.ts';
import { axeFaults } from './axe.ts';
import { openWorld } from './browser.ts';
import { embedding, serveHostPages } from './host-page.ts';
import { look } from './look.ts';

const SOON_MS = 60_000;

const widget = (page: Page) => page.locator('assistant-widget');
const field = (page: Page) => page.getByRole('textbox', { name: 'Write a message' });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const fromEnd = (page: Page) => page.getByRole('log').evaluate((box) => Math.round(box.scrollHeight - box.scrollTop - box.clientHeight));
const focused = (page: Page) => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.getAttribute('aria-label') ?? '');

async function say(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

async function openShop(t: TestContext, more = ''): Promise<{ readonly it: ScriptedChat; readonly page: Page }> {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const script = `Assistant.init({ key: ${JSON.stringify(it.app.testKey)}, open: true${more} });`;
  const pages = await serveHostPages(t, { '/shop': { html: embedding(it.service.baseUrl, '/shop'), script } });
  const { page, context } = await world.open();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(pages.url('/shop'));
  await field(page).waitFor();
  return { it, page };
}

const copied = (page: Page) => page.evaluate('navigator.clipboard.readText()');

test('WIDGET-8, WIDGET-17: what one says comes into view, also while one reads further up', async (t) => {
  const { it, page } = await openShop(t);
  it.script([{ text: Array.from({ length: 60 }, (_, n) => `Line ${n}`).join('\n\n') }], [{ text: 'Short.' }]);
  await say(page, 'Much');
  await page.getByText('Line 59').waitFor();
  await page.getByRole('log').evaluate((box) => box.scrollTo({ top: 40 }));
  await button(page, 'To the newest message').waitFor();
  await say(page, 'More');
  await page.getByText('Short.').waitFor();
  await eventually(
    async () => (await fromEnd(page)) <= 1,
    SOON_MS,
    () => 'the thread shows its end',
  );
});

test('WIDGET-18, WIDGET-19: a silent model is said to work still, once, and after Stop the focus is in the field', async (t) => {
  const { it, page } = await openShop(t);
  await page.clock.install({ time: Date.now() });
  const held = gate();
  t.after(held.open);
  it.script([{ text: 'One moment, I look it up. ' }, { wait: held.wait }, { text: 'There.' }]);
  await say(page, 'Think');
  await page.getByText('One moment').waitFor();
  const still = widget(page).locator('.waiting').getByText('Still working …');
  assert.equal(await still.count(), 0);
  const told = widget(page).getByRole('status').filter({ hasText: 'Still working …' });
  await page.clock.fastForward(8_000);
  await still.waitFor();
  assert.equal(await told.count(), 1);
  await look(page, 'still-working');
  await button(page, 'Stop the answer').press('Enter');
  assert.equal(await focused(page), 'Write a message');
  await page.getByText('Stopped.').waitFor();
  assert.equal(await focused(page), 'Write a message');
  await still.waitFor({ state: 'detached' });
});

test('WIDGET-9, WIDGET-22, CHAT-2: pictures are seen before and after they are sent, alone as well, of this page only', async (t) => {
  const { it, page } = await openShop(t);
  await page.evaluate(`window.made = []; window.gone = [];
    const { createObjectURL, revokeObjectURL } = URL;
    URL.createObjectURL = (file) => { const made = createObjectURL.call(URL, file); window.made.push(made); return made; };
    URL.revokeObjectURL = (made) => { window.gone.push(made); revokeObjectURL.call(URL, made); };`);
  const png = async (background: string) =>
    await sharp({ create: { width: 400, height: 300, channels: 3, background } })
      .png()
      .toBuffer();
  const give = async (name: string, background: string) =>
    widget(page)
      .locator('input[type=file]')
      .setInputFiles([{ name, mimeType: 'image/png', buffer: await png(background) }]);
  await give('cup.png', '#b5651d');
  await give('jug.png', '#2a6f97');
  const waiting = widget(page).locator('.file-picture');
  await eventually(
    async () => (await waiting.count()) === 2 && (await button(page, 'Send').isEnabled()),
    SOON_MS,
    () => 'both are uploaded, and seen',
  );
  await look(page, 'attached');
  await button(page, 'Remove jug.png').press('Enter');
  assert.equal(await page.evaluate('window.gone[0] === window.made[1]'), true, 'what is taken back is let go');
  it.script([{ text: 'A cup.' }]);
  await field(page).press('Enter');
  await page.getByText('A cup.').waitFor();
  const sent = widget(page).getByRole('img', { name: 'cup.png' });
  assert.equal(await sent.evaluate((img) => (img as HTMLImageElement).naturalWidth), 400);
  await button(page, 'Close').press('Enter');
  await button(page, 'Ask the assistant').press('Enter');
  await sent.waitFor();
  const isOpen = await page.evaluate(async () => {
    const root = document.querySelector('assistant-widget')?.shadowRoot;
    const launcher = root?.querySelector<HTMLElement>('.launcher');
    root?.querySelector<HTMLElement>('[aria-label=Close]')?.click();
    launcher?.click();
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    return launcher?.getAttribute('aria-expanded');
  });
  assert.equal(isOpen, 'true', 'pressed again before the panel is drawn as closed');
  await look(page, 'sent');
  assert.deepEqual(await axeFaults(page), []);
  await page.evaluate('Assistant.destroy()');
  assert.deepEqual(await page.evaluate('window.gone.length'), 2, 'and with the widget all of them are');
  await page.reload();
  await widget(page).locator('.sent-file').getByText('cup.png').waitFor();
});

test('WIDGET-20: a message is copied as it was written, asked again, and edited, and says when it was', async (t) => {
  const { it, page } = await openShop(t);
  const written = 'It comes **on Friday**:\n\n- cups\n- `jugs`';
  it.script([{ text: written }], [{ text: 'Still on Friday.' }], [{ text: 'On Saturday.' }]);
  await say(page, 'When is *it* here?');
  const answer = widget(page).locator('article.answer').last();
  const said = widget(page).locator('.said').last();
  await answer.getByRole('button', { name: 'Copy' }).press('Enter');
  await answer.getByRole('status').getByText('Copied').waitFor();
  assert.equal(await copied(page), written);
  await said.getByRole('button', { name: 'Copy' }).press('Enter');
  await eventually(
    async () => (await copied(page)) === 'When is *it* here?',
    SOON_MS,
    () => 'the question is copied',
  );
  assert.ok(Math.abs(Date.parse((await answer.locator('time').getAttribute('datetime')) ?? '') - Date.now()) < 60_000);
  await look(page, 'tools');
  assert.deepEqual(await axeFaults(page), []);
  await button(page, 'Ask this again').press('Enter');
  await page.getByText('Still on Friday.').waitFor();
  assert.equal(await widget(page).locator('.bubble').getByText('When is *it* here?').count(), 2);
  await page.reload();
  await page.getByText('Still on Friday.').waitFor();
  await button(page, 'Ask this again').waitFor();
  await field(page).fill('By the way:');
  await button(page, 'Edit and send again').press('Enter');
  await eventually(
    async () => (await focused(page)) === 'Write a message',
    SOON_MS,
    () => 'the field has the focus',
  );
  assert.equal(await field(page).inputValue(), 'By the way:\nWhen is *it* here?');
  await say(page, 'When are they here?');
  await page.getByText('On Saturday.').waitFor();
  assert.equal(await button(page, 'Ask this again').count(), 1, 'of the newest alone');
});

test('WIDGET-21, HISTORY-7, HISTORY-10: earlier conversations are listed, found by their first words, opened, and deleted; Escape leads back', async (t) => {
  const { it, page } = await openShop(t);
  const questions = ['Where is my order?', 'هل الشحن مجاني؟', 'How do I brew Sencha?'];
  it.script(...questions.map((text) => [{ text: `About: ${text}` }]), [{ text: 'Sixty degrees.' }]);
  for (const [n, question] of questions.entries()) {
    if (n > 0) await button(page, 'New conversation').press('Enter');
    await say(page, question);
    await page.getByText(`About: ${question}`).waitFor();
  }
  const list = page.getByRole('region', { name: 'Your conversations' });
  const titles = () => list.getByRole('listitem').locator('span').allInnerTexts();
  await button(page, 'Your conversations').press('Enter');
  const search = page.getByRole('searchbox', { name: 'Search by what you asked first' });
  await search.waitFor();
  await eventually(
    async () => (await titles()).length === 3,
    SOON_MS,
    () => 'all three are listed',
  );
  assert.deepEqual(await titles(), questions.toReversed());
  assert.equal(
    await list
      .locator('[aria-current=true]')
      .innerText()
      .then((text) => text.startsWith('How do I brew')),
    true,
  );
  await look(page, 'conversations');
  assert.deepEqual(await axeFaults(page), []);
  await page.keyboard.press('Escape');
  await search.waitFor({ state: 'detached' });
  await eventually(
    async () => (await focused(page)) === 'Your conversations',
    SOON_MS,
    () => 'the focus is back',
  );
  await page.keyboard.press('Enter');
  await search.fill('nothing of this');
  await list.getByText('None of the newest 3 begins with that.').waitFor();
  await search.fill('ORDER');
  await list.getByRole('button', { name: 'Where is my order?' }).press('Enter');
  await page.getByText('About: Where is my order?').waitFor();
  assert.equal(await page.getByText('About: How do I brew Sencha?').count(), 0);
  await eventually(
    async () => (await focused(page)) === 'Write a message',
    SOON_MS,
    () => 'one writes on',
  );
  await button(page, 'Your conversations').press('Enter');
  const brewing = list.getByRole('listitem').filter({ hasText: 'How do I brew' });
  await brewing.getByRole('button', { name: 'Delete this conversation' }).press('Enter');
  await brewing.getByRole('button', { name: 'Delete for good' }).press('Enter');
  await brewing.waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await page.reload();
  await page.getByText('About: Where is my order?').waitFor();
});

test('WIDGET-23: what fails names its request, to be copied', async (t) => {
  const { it, page } = await openShop(t);
  it.script([{ status: 500 }], [{ status: 500 }], [{ status: 500 }], [{ status: 500 }]);
  await say(page, 'Fail');
  const card = widget(page).getByRole('alert');
  await card.getByText('Request').waitFor();
  await card.getByRole('button', { name: 'Copy: Request' }).press('Enter');
  await eventually(
    async () => (await copied(page)) === (await card.locator('code').innerText()),
    SOON_MS,
    () => 'the id is copied',
  );
  assert.match(String(await copied(page)), /^[\w-]{8,}$/);
  await look(page, 'failed');
  assert.deepEqual(await axeFaults(page), []);
});

for (const [dir, words, other] of [
  ['ltr', 'مرحبا بالعالم', 'right'],
  ['rtl', 'Hello there', 'left'],
] as const) {
  test(`WIDGET-24: words of the other direction begin at their own side, in a page that is ${dir}`, async (t) => {
    const { it, page } = await openShop(t, `, dir: '${dir}'`);
    const points = { title: `${words}!`, points: [{ text: `${words}!` }] };
    it.script([{ call: 'key_points', args: points }]);
    await say(page, `${words}!`);
    await widget(page).locator('[data-type=key_points]').getByText(`${words}!`).first().waitFor();
    await look(page, `direction-${dir}`);
    /** How far the words are from either side of the line that they stand in, and where the mark at their end is. */
    const sides = await widget(page)
      .locator('.bubble, [data-type=key_points] :is(.title, .point > div)')
      .evaluateAll(
        (boxes, letters) =>
          boxes.flatMap((box) => {
            const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
            for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
              const text = node.nodeValue ?? '';
              if (!text.startsWith(letters) || !text.endsWith('!')) continue;
              const at = (start: number, end: number) => {
                const range = document.createRange();
                range.setStart(node, start);
                range.setEnd(node, end);
                return range.getBoundingClientRect();
              };
              const line = (node.parentElement as Element).getBoundingClientRect();
              const all = at(0, text.length);
              const begins =
                all.left - line.left > line.right - all.right + 1
                  ? 'right'
                  : line.right - all.right > all.left - line.left + 1
                    ? 'left'
                    : 'all';
              return [{ begins, mark: at(text.length - 1, text.length).left > at(0, 1).left ? 'right' : 'left' }];
            }
            return [];
          }),
        words,
      );
    assert.ok(sides.length >= 2, JSON.stringify(sides));
    for (const { begins, mark } of sides) {
      assert.ok(begins === other || begins === 'all', JSON.stringify(sides));
      assert.equal(mark, other === 'right' ? 'left' : 'right', 'the mark stands at the end of the words');
    }
  });
}
