/** The widget in pages of somebody's app, against the running service. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { gate, startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { startHostileProxy } from '../support/hostile-proxy.ts';
import { startPacedModel } from '../support/paced-model.ts';
import { startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { axeFaults } from './axe.ts';
import { openWorld } from './browser.ts';
import { embedding, serveHostPages } from './host-page.ts';

/** What is drawn soon; a slow machine takes its time. */
const SOON_MS = 60_000;

const field = (page: Page) => page.getByRole('textbox', { name: 'Write a message' });
const answers = (page: Page) => page.locator('assistant-widget article.answer');
const launcher = (page: Page) => page.getByRole('button', { name: 'Ask the assistant' });

async function say(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

/** The text of the newest answer, once no answer is being written. */
async function answered(page: Page, count: number): Promise<string> {
  const busy = page.locator('assistant-widget [role=log][aria-busy=true]');
  await eventually(
    async () => (await answers(page).count()) >= count && (await busy.count()) === 0,
    SOON_MS,
    () => `answer ${count} is complete`,
  );
  return (await answers(page).last().locator('.block').allInnerTexts()).join('\n').trim();
}

function starting(key: string, more = ''): string {
  return `window.events = []; Assistant.onEvent((event) => window.events.push(event)); Assistant.init({ key: ${JSON.stringify(key)}${more} });`;
}

test('the widget on a page with the strictest policy', async (t) => {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const { baseUrl } = it.service;
  const policy = `default-src 'none'; script-src 'self' ${baseUrl}; connect-src ${baseUrl}; require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'`;
  const pages = await serveHostPages(t, {
    '/strict': {
      html: embedding(baseUrl, '/strict'),
      headers: { 'Content-Security-Policy': policy },
      script: starting(it.app.testKey),
    },
  });

  await t.test('WIDGET-4, WIDGET-11: from the launcher to the answer and back, with the keyboard alone', async () => {
    const { context, page } = await world.open();
    await page.goto(pages.url('/strict'));
    await launcher(page).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await field(page).waitFor();
    it.script([{ text: 'It arrives **on Friday**.' }]);
    await page.keyboard.type('Where is my order?');
    await page.keyboard.press('Enter');
    assert.equal(await answered(page, 1), 'It arrives on Friday.');
    assert.equal(await page.locator('assistant-widget strong').innerText(), 'on Friday');
    await eventually(
      async () => (await page.locator('assistant-widget [role=status]').allInnerTexts()).includes('The answer is complete.'),
      SOON_MS,
      () => 'the end of the answer is announced',
    );
    await page.keyboard.press('Escape');
    await field(page).waitFor({ state: 'detached' });
    await eventually(
      () => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.classList.contains('launcher') === true),
      SOON_MS,
      () => 'the launcher has the focus',
    );
    await context.close();
  });

  for (const [colorScheme, width] of [
    ['light', 1_200],
    ['dark', 320],
  ] as const) {
    await t.test(`WIDGET-11: axe-core finds no fault, ${colorScheme}, ${width} px`, async () => {
      const { context, page } = await world.open({ colorScheme, viewport: { width, height: 720 }, bypassCSP: true });
      await page.goto(pages.url('/strict'));
      await launcher(page).click();
      it.script([{ text: '# Orders\n\n- one\n- [two](https://shop.example/two)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n' }]);
      await say(page, 'Tell me all');
      await answered(page, 1);
      assert.deepEqual(await axeFaults(page), []);
      await context.close();
    });
  }

  await t.test(
    'WIDGET-7, BLOCK-25, BLOCKVIEW-14: Markdown stays text: nothing runs, nothing loads, and links lead to https, mailto and tel alone',
    async () => {
      const { context, page } = await world.open();
      const loaded: string[] = [];
      page.on('request', (request) => loaded.push(request.url()));
      await page.goto(pages.url('/strict'));
      await launcher(page).click();
      const hostile = [
        '<img src=x onerror="window.ran=1"><script>window.ran=1</script>',
        '![pixel](https://elsewhere.example/pixel.png)',
        '[a](javascript:window.ran=1) [b](data:text/html,x) [c](//elsewhere.example) [d](https://shop.example@elsewhere.example/)',
        '[good](https://shop.example/) [mail](mailto:a@shop.example) [call](tel:+4930123)',
        `\`\`\`\n<b>code</b>\n\`\`\``,
      ].join('\n\n');
      it.script([{ text: hostile }]);
      await say(page, 'Show me');
      await answered(page, 1);
      const links = await page
        .locator('assistant-widget .prose a[href]')
        .evaluateAll((all) => all.map((link) => [link.getAttribute('href'), link.textContent]));
      assert.deepEqual(links, [
        ['https://elsewhere.example/pixel.png', 'pixel (elsewhere.example) (opens in a new tab)'],
        ['https://shop.example/', 'good (shop.example) (opens in a new tab)'],
      ]);
      assert.equal(await page.evaluate('window.ran'), undefined);
      assert.equal(await page.locator('assistant-widget .prose :is(img, script, iframe)').count(), 0);
      assert.deepEqual(
        loaded.filter((url) => url.includes('elsewhere')),
        [],
      );
      await context.close();
    },
  );

  await t.test('WIDGET-9: what is typed is there after a reload, and what was said as well, once', async () => {
    const { context, page } = await world.open();
    await page.goto(pages.url('/strict'));
    await launcher(page).click();
    it.script([{ text: 'The first answer.' }]);
    await say(page, 'A first question');
    await answered(page, 1);
    await field(page).fill('half a qu');
    await page.reload();
    await launcher(page).click();
    assert.equal(await field(page).inputValue(), 'half a qu');
    await page.evaluate(async () => {
      const sdk = (globalThis as unknown as { Assistant: Record<string, (person?: object) => Promise<void>> }).Assistant;
      await sdk.identify?.({ id: 'ada' });
    });
    assert.equal(await field(page).inputValue(), 'half a qu', 'what nobody in particular wrote');
    assert.equal(await answered(page, 1), 'The first answer.');
    await page.evaluate(() => (globalThis as unknown as { Assistant: { signOut(): Promise<void> } }).Assistant.signOut());
    await eventually(
      async () => (await field(page).inputValue()) === '' && (await answers(page).count()) === 0,
      SOON_MS,
      () => 'nothing of the person is left',
    );
    await context.close();
  });
});

test('WIDGET-4: a page that transforms, hides and resets everything changes nothing of the widget, and keeps what it has', async (t) => {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const styles = `<style>
    * { all: unset !important; color: red !important; transform: rotate(3deg) !important; }
    body { overflow: hidden; filter: blur(3px); } .panel, .launcher, button, textarea { display: none !important; }
    .bait { position: fixed; inset: 0; z-index: 2147483647; background: white; }</style>`;
  const pages = await serveHostPages(t, {
    '/hostile': {
      html: embedding(it.service.baseUrl, '/hostile', styles).replace('<main>', '<div class="bait"></div><main>'),
      script: starting(it.app.testKey, ', open: true'),
    },
    '/plain': { html: embedding(it.service.baseUrl, '/plain'), script: starting(it.app.testKey, ', open: true') },
  });
  const look = async (path: string) => {
    const { context, page } = await world.open({ reducedMotion: 'reduce' });
    await page.goto(pages.url(path));
    await field(page).waitFor();
    const seen = await page.evaluate(() => {
      const root = document.querySelector('assistant-widget')?.shadowRoot;
      const panel = root?.querySelector('.panel') as HTMLElement;
      const text = root?.querySelector('textarea') as HTMLElement;
      const { x, y, width, height } = panel.getBoundingClientRect();
      const { color, fontSize, display } = getComputedStyle(text);
      const top = document.elementFromPoint(x + width / 2, y + height - 30);
      return { box: [x, y, width, height].map(Math.round), color, fontSize, display, top: top?.localName };
    });
    const left = await page.evaluate(async () => {
      await (globalThis as unknown as { Assistant: { destroy(): Promise<void> } }).Assistant.destroy();
      return document.querySelectorAll('assistant-widget').length;
    });
    await context.close();
    return { seen, left };
  };
  const plain = await look('/plain');
  assert.deepEqual((await look('/hostile')).seen, plain.seen);
  assert.equal(plain.seen.top, 'assistant-widget');
  assert.equal(plain.left, 0);
});

test('WIDGET-2, WIDGET-3: calls before init are done after it, wrong options say what to do, and the element starts by itself', async (t) => {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const { baseUrl } = it.service;
  const stub = `<!doctype html><html lang="en"><title>Stub</title><body><script src="${baseUrl}/sdk/web/latest/stub.js"></script><script src="/stub.js"></script></body></html>`;
  const element = `<!doctype html><html lang="en"><title>Element</title><body><div style="height:600px"><assistant-widget inline key="${it.app.testKey}"></assistant-widget></div><script type="module" src="${baseUrl}/sdk/web/latest/assistant.mjs"></script></body></html>`;
  const pages = await serveHostPages(t, {
    '/stub': {
      html: stub,
      script: `Assistant.registerAction({ name: 'get_city', description: 'Tells the city.', risk: 'read' }, () => ({ city: 'Oslo' }));
        Assistant.init({ key: ${JSON.stringify(it.app.testKey)} }); Assistant.open();`,
    },
    '/element': { html: element },
    '/wrong': {
      html: embedding(baseUrl, '/wrong'),
      script: `try { Assistant.onEvent('opened'); } catch (error) { window.listener = error.message; }
        try { Assistant.init({}); } catch (error) { document.title = error.message; }`,
    },
  });

  const { page } = await world.open();
  await page.goto(pages.url('/stub'));
  await field(page).waitFor();
  it.script([{ call: 'get_city', args: {}, id: 'call_city' }], [{ text: 'You are in Oslo.' }]);
  await say(page, 'Where am I?');
  await page.getByText('You are in Oslo.').waitFor();
  assert.match(it.toldOf('call_city'), /Oslo/);

  await page.goto(pages.url('/element'));
  await field(page).waitFor();
  const box = await page.locator('assistant-widget section').boundingBox();
  assert.ok(box !== null && box.height > 500, JSON.stringify(box));
  const life = await page.locator('assistant-widget').evaluate((each: Element & { widget?: unknown }) => {
    const { widget: first, parentElement: place } = each;
    each.remove();
    const after = each.widget;
    place?.append(each);
    return [first !== undefined, after === undefined, each.widget !== undefined && each.widget !== first];
  });
  assert.deepEqual(life, [true, true, true], 'it ended where it left the page, and came back as another one');
  await field(page).waitFor();

  await page.goto(pages.url('/wrong'));
  await eventually(
    async () => /^Assistant: init needs the publishable key/.test(await page.title()),
    SOON_MS,
    () => 'the page says what is wrong',
  );
  assert.equal(await page.evaluate('listener'), 'argument 1 of onEvent must be a function: "opened" came.');
});

test('WIDGET-8: a thread that was scrolled away stays where it is, and a button leads to its end', async (t) => {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const pages = await serveHostPages(t, {
    '/long': { html: embedding(it.service.baseUrl, '/long'), script: starting(it.app.testKey, ', open: true') },
  });
  const { page } = await world.open();
  await page.goto(pages.url('/long'));
  const long = Array.from({ length: 60 }, (_, n) => `Line ${n}`).join('\n\n');
  it.script([{ text: long }]);
  await say(page, 'Much');
  await answered(page, 1);
  const thread = page.getByRole('log');
  const fromEnd = () => thread.evaluate((box) => Math.round(box.scrollHeight - box.scrollTop - box.clientHeight));
  assert.ok((await fromEnd()) <= 1, 'it stays at its end');
  const held = gate();
  t.after(held.open);
  it.script([{ text: 'A short one, I look it up. ' }, { wait: held.wait }, { text: 'There.' }]);
  await say(page, 'More');
  await page.getByText('A short one').waitFor();
  await thread.evaluate((box) => box.scrollTo({ top: 40 }));
  await page.getByRole('button', { name: 'To the newest message' }).waitFor();
  held.open();
  await answered(page, 2);
  assert.equal(await thread.evaluate((box) => box.scrollTop), 40);
  await page.getByRole('button', { name: 'To the newest message' }).click();
  await eventually(
    async () => (await fromEnd()) <= 1,
    SOON_MS,
    () => 'it is at its end',
  );
});

async function pacedWorld(t: TestContext) {
  const model = await startPacedModel(t);
  model.pace({ words: 60, delayMs: 50 });
  const port = String(await freePort());
  const dataDir = temporaryDir(t);
  const start = () => startService(t, { dataDir, env: { ...model.env(), PORT: port, LOG_LEVEL: 'silent' } });
  const service = await start();
  const pages = await serveHostPages(t, {
    '/shop': { html: embedding(service.baseUrl, '/shop'), script: starting(service.testKey, ', open: true, log: () => {}') },
  });
  return { service, start, pages };
}

test('WIDGET-10: a server that is killed in mid-answer and starts again: the person sees the answer complete, once', async (t) => {
  const { service, start, pages } = await pacedWorld(t);
  const world = await openWorld(t, service);
  const { page } = await world.open();
  await page.goto(pages.url('/shop'));
  await say(page, 'Please ask kettlequestion now');
  await page.getByText('word word word').waitFor();
  await service.stop('SIGKILL');
  await start();
  const text = await answered(page, 1);
  assert.equal(text.match(/ word/g)?.length, 60, text);
  assert.equal(await answers(page).count(), 1);
  assert.equal(await page.locator('assistant-widget .trouble').count(), 0);
});

test('WIDGET-10: two tabs show one conversation, and a tab that was offline has all of it when it is back', async (t) => {
  const { service, pages } = await pacedWorld(t);
  const world = await openWorld(t, service);
  const { context, page } = await world.open();
  await page.goto(pages.url('/shop'));
  await field(page).waitFor();
  const other = await context.newPage();
  await other.goto(pages.url('/shop'));
  await field(other).waitFor();
  await say(other, 'Please ask teapotquestion now');
  await other.getByText('word word word').waitFor();
  await context.setOffline(true);
  await other.getByText('You are offline.').waitFor();
  await context.setOffline(false);
  for (const tab of [page, other]) {
    const text = await answered(tab, 1);
    assert.equal(text.match(/ word/g)?.length, 60, text);
    assert.equal(await tab.locator('assistant-widget .bubble').count(), 1);
  }
});

test('WIDGET-10: behind a proxy that doubles, delays and cuts, each answer is there once and whole', async (t) => {
  const it = await startScriptedChat(t);
  const proxy = await startHostileProxy(t, it.service.baseUrl, { doubleEvery: 5, delayEvery: 7, delayMs: 200, cutEvery: 9 });
  const world = await openWorld(t, it.service);
  const pages = await serveHostPages(t, {
    '/shop': { html: embedding(proxy.url, '/shop'), script: starting(it.app.testKey, ', open: true, log: () => {}') },
  });
  const { page } = await world.open();
  await page.goto(pages.url('/shop'));
  const words = Array.from({ length: 12 }, (_, n) => `word${n} `);
  for (let n = 1; n <= 4; n++) {
    it.script(words.map((text) => ({ text })));
    await say(page, `Question ${n}`);
    assert.equal(await answered(page, n), words.join('').trim(), `answer ${n}`);
  }
  const { doubled, delayed, cut } = proxy.done;
  assert.ok(doubled > 0 && delayed + cut > 0, JSON.stringify(proxy.done));
  assert.equal(await answers(page).count(), 4);
});

test('WIDGET-11, CONFIRM-5: a write waits for the words that its card asks for, and its handler runs once', async (t) => {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const action = {
    ...{ name: 'cancel_order', description: 'Cancels an order.', risk: 'write' },
    ...{ confirm_template: 'Cancel order {id}?', type_to_confirm: 'cancel' },
    params: { id: { type: 'string', required: true } },
  };
  const script = `window.ran = []; Assistant.init({ key: ${JSON.stringify(it.app.testKey)}, open: true });
    Assistant.registerAction(${JSON.stringify(action)}, (params) => { window.ran.push(params.id); return { done: true }; });`;
  const pages = await serveHostPages(t, { '/shop': { html: embedding(it.service.baseUrl, '/shop'), script } });
  const { page } = await world.open();
  await page.goto(pages.url('/shop'));
  it.script(
    [{ text: 'It can still be cancelled.' }, { call: 'cancel_order', args: { id: 'A-1042' }, id: 'call_cancel' }],
    [{ text: 'It is cancelled.' }],
  );
  await say(page, 'Cancel order A-1042');
  const word = page.locator('assistant-widget [data-type=confirm_card] input');
  await word.waitFor();
  await word.fill('canc');
  assert.deepEqual(await page.evaluate('window.ran'), []);
  await word.fill('cancel');
  await word.press('Enter');
  await page.getByText('It is cancelled.').waitFor();
  assert.deepEqual(await page.evaluate('window.ran'), ['A-1042']);
});
