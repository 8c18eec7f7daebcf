/** The drawings of blocks in a browser: every component in every state, answers, and hostile text in every field. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { CATALOG } from '../../protocol/catalog/catalog.ts';
import { SHOWN } from '../../web/demo/components/states.ts';
import { eventually } from '../support/eventually.ts';
import { projectRoot } from '../support/project-root.ts';
import { axeFaults } from './axe.ts';
import { type BrowserWorld, openWorld } from './browser.ts';

/** What a press does is told at once. */
const TOLD_MS = 5_000;

async function openComponents(world: BrowserWorld, query = '', width = 1_200): Promise<Page> {
  const { page } = await world.open({ viewport: { width, height: 900 } });
  await page.goto(`${world.service.baseUrl}/demo/components${query}`);
  await page.locator('#form').waitFor();
  return page;
}

const state = (page: Page, type: string, name: string) =>
  page.locator(`#${type} figure`).filter({ has: page.getByText(name, { exact: true }).and(page.locator('figcaption')) });

async function told(page: Page, words: string): Promise<void> {
  const said = () => page.locator('.told').textContent();
  await eventually(
    async () => (await said()) === words,
    TOLD_MS,
    () => `“${words}” is told`,
  );
}

test('the page of components', async (t) => {
  const world = await openWorld(t);

  await t.test('DEMO-3, BLOCKVIEW-1, BLOCKVIEW-2: every component is there in every state, and no drawing failed', async () => {
    const page = await openComponents(world);
    assert.deepEqual(await page.locator('.component').evaluateAll((sections) => sections.map(({ id }) => id)), [...CATALOG.keys()]);
    for (const [type, samples] of Object.entries(SHOWN)) {
      const names = await page.locator(`#${type} figcaption`).allTextContents();
      assert.deepEqual(names, ['Announced', ...samples.map(({ name }) => name), 'Fallback', 'Not arrived'], type);
      assert.equal(await page.locator(`#${type} .fallback`).count(), 2, `${type}: only two states are fallback text`);
      assert.equal(await page.locator(`#${type} .skeleton`).count(), 1, type);
    }
    await page.context().close();
  });

  for (const query of ['?scheme=light', '?scheme=dark', '?dir=rtl&width=320']) {
    await t.test(`BLOCKVIEW-9: axe-core finds nothing at ${query}`, async () => {
      const page = await openComponents(world, query);
      await page.locator('.bars svg').first().waitFor();
      assert.deepEqual(await axeFaults(page), []);
      await page.context().close();
    });
  }

  await t.test('BLOCKVIEW-9: nothing sticks out of a telephone of 320 pixels, and what is pressed is 24 pixels at least', async () => {
    const page = await openComponents(world, '?width=320', 320);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
    const small = await page
      .locator('.block button, .block select, .block input, .block summary, .block a.button, .block a.row')
      .evaluateAll((all) =>
        all.flatMap((each) => {
          const { width, height } = (
            each as unknown as { getBoundingClientRect(): { width: number; height: number } }
          ).getBoundingClientRect();
          const isInLabel = each.parentElement?.tagName === 'LABEL';
          return width > 0 && !isInLabel && (width < 24 || height < 24) ? [`${each.outerHTML.slice(0, 90)} ${width}×${height}`] : [];
        }),
      );
    assert.deepEqual(small, []);
    await page.context().close();
  });

  await t.test('BLOCKVIEW-5: an open block is answered, one that is on its way, answered or replaced takes nothing', async () => {
    const page = await openComponents(world);
    await state(page, 'choice', 'Open')
      .getByRole('button', { name: /Express/ })
      .click();
    await told(page, 'chose express: “Express”');
    await state(page, 'rating', 'Faces').getByRole('button', { name: '4 of 5' }).click();
    await told(page, 'rated 4');
    for (const type of ['quick_replies', 'choice', 'rating', 'variant_picker', 'datetime_slots', 'form']) {
      for (const name of ['Sending', 'Answered', 'Superseded']) {
        const controls = state(page, type, name).locator('button:not(:disabled), input:not(:disabled), select:not(:disabled)');
        assert.equal(await controls.count(), 0, `${type} ${name}`);
      }
      assert.match((await state(page, type, 'Failed').getByRole('alert').textContent()) ?? '', /answered already/, type);
    }
    const several = state(page, 'choice', 'Several');
    const send = several.getByRole('button', { name: 'That is it' });
    assert.ok(await send.isDisabled());
    for (const name of ['Green tea', 'Black tea', 'Coffee']) await several.getByLabel(name).check();
    assert.ok(await send.isDisabled(), 'three are too many');
    await several.getByLabel('Coffee').uncheck();
    await send.click();
    await told(page, 'chose green, black: “Green tea, Black tea”');
    await page.context().close();
  });

  await t.test('BLOCKVIEW-6: a form says what is wrong at each field, goes to the first, and sends what is good', async () => {
    const page = await openComponents(world);
    const form = state(page, 'form', 'Open');
    await form.getByLabel('Email').fill('nobody');
    await form.getByLabel('Cups a day').fill('many');
    await form.getByRole('button', { name: 'Report it' }).click();
    const problems = await form.locator('.note.is-bad').allTextContents();
    const wanted = ['Order is required', 'What is broken? is required', 'Email must be an e-mail address', 'Cups a day must be a number'];
    assert.deepEqual(problems, wanted);
    assert.ok(
      await form
        .getByLabel('Order')
        .evaluate((field) => field === (field as unknown as { ownerDocument: { activeElement: unknown } }).ownerDocument.activeElement),
    );
    assert.equal(await page.locator('.told').textContent(), '');
    await form.getByLabel('Order').selectOption('A-1042');
    await form.getByLabel('What is broken?').fill('The lid does not close');
    await form.getByLabel('Email').fill('ana@example.com');
    await form.getByLabel('Cups a day').fill('3,5');
    await form.getByLabel('Lid').check();
    await form.getByRole('button', { name: 'Report it' }).click();
    const values = { order: 'A-1042', what: 'The lid does not close', email: 'ana@example.com', parts: ['Lid'], cups: 3.5, gift: false };
    await told(page, `submitted ${JSON.stringify(values)}`);
    await page.context().close();
  });

  await t.test('BLOCKVIEW-7: a card is confirmed with its words alone, declined at any time, and edited', async () => {
    const page = await openComponents(world);
    const card = state(page, 'confirm_card', 'Open, type to confirm');
    const yes = card.getByRole('button', { name: 'Cancel the order' });
    assert.ok(await yes.isDisabled());
    await card.getByLabel('Type cancel to go on').fill('cancel ');
    await yes.click();
    await told(page, 'confirmed, typed “cancel ”');
    await card.getByRole('button', { name: 'Keep the order' }).click();
    await told(page, 'declined');
    await card.getByRole('button', { name: 'Edit: Reason' }).click();
    await card.getByLabel('Reason').selectOption('Takes too long');
    await card.getByRole('button', { name: 'Save' }).click();
    await told(page, 'changed {"reason":"Takes too long"}');
    assert.match((await state(page, 'confirm_card', 'Open').textContent()) ?? '', /Expires in 4:05/);
    for (const name of ['Sending', 'At work', 'Confirmed', 'Declined', 'Expired']) {
      assert.equal(await state(page, 'confirm_card', name).locator('button:not(:disabled):not(.link)').count(), 0, name);
    }
    await page.context().close();
  });

  await t.test('BLOCKVIEW-8: what cannot be had together is not chosen, and a time takes two presses', async () => {
    const page = await openComponents(world);
    const picker = state(page, 'variant_picker', 'Open');
    assert.ok(await picker.getByRole('button', { name: 'Moss' }).isDisabled());
    await picker.getByRole('button', { name: 'Ink' }).click();
    assert.ok(await picker.getByRole('button', { name: 'United Kingdom' }).isDisabled());
    await picker.getByRole('button', { name: 'Europe' }).click();
    await picker.getByLabel('Wrapping').selectOption('paper');
    await picker.getByRole('button', { name: 'Quantity +1' }).click();
    await picker.getByRole('button', { name: 'Choose this one' }).click();
    await told(page, 'chose ink, eu, paper: “Large kettle: Ink, Europe, Gift paper × 2”');
    const slots = state(page, 'datetime_slots', 'Open');
    await slots.getByRole('button', { name: '2:30' }).click();
    await slots.getByRole('button', { name: /^Book/ }).click();
    await told(page, 'chose 2026-11-24-14:30: “Tue, Nov 24, 2:30 PM”');
    await page.context().close();
  });

  await t.test(
    'BLOCKVIEW-3, BLOCKVIEW-4: hostile text in any field of any component runs nothing, loads nothing and leads nowhere else',
    async (t) => {
      await drawHostile(t, world);
    },
  );
});

const HOSTILE = [
  '"><img src=x onerror=globalThis.ran=1><script>globalThis.ran=1</script><iframe srcdoc="<script>parent.ran=1</script>">',
  'javascript:globalThis.ran=1//https://shop.example',
  'data:text/html,<script>globalThis.ran=1</script>',
  "http://elsewhere.example/'style='background:url(http://elsewhere.example)",
];

/** Replaces one text of a body after the other, draws the block, and looks at what became of it. */
const HOSTILE_PAGE = `
import { h, render } from 'preact';
import { BlockDrawing } from './web/sdk/blocks/block-drawing.tsx';
import { BLOCK_WORDS } from './web/sdk/blocks/words.ts';
import { loadMarkdown, proseFor } from './web/sdk/prose/prose.tsx';
import { SHOWN } from './web/demo/components/states.ts';

const nothing = () => undefined;
const ask = new Proxy({}, { get: () => nothing });
const Prose = proseFor({ ask, words: BLOCK_WORDS });
const around = { ask, words: BLOCK_WORDS, locale: 'en', now: () => Date.parse('2026-11-23T09:30:00Z'), Prose };
const root = document.body.appendChild(document.createElement('div'));

/** Paths of all texts in a value. */
function textsIn(value, path = []) {
  if (typeof value === 'string') return [path];
  return value === null || typeof value !== 'object' ? [] : Object.entries(value).flatMap(([key, each]) => textsIn(each, [...path, key]));
}

function replaced(value, [key, ...rest], text) {
  if (key === undefined) return text;
  const copy = Array.isArray(value) ? [...value] : { ...value };
  copy[key] = replaced(copy[key], rest, text);
  return copy;
}

/** What must not be there; pictures of the samples are https and were there before. */
function faultsOf(name) {
  const faults = [];
  for (const each of root.querySelectorAll('*')) {
    if (['SCRIPT', 'IFRAME', 'OBJECT', 'EMBED', 'STYLE', 'LINK', 'BASE', 'META'].includes(each.tagName)) faults.push(each.tagName);
    for (const { name: attribute, value } of each.attributes) {
      if (attribute.startsWith('on')) faults.push(attribute);
      if (attribute === 'href' && !/^(https|mailto|tel):/.test(value)) faults.push(value);
      if (attribute === 'src' && !value.startsWith('https://pictures.kettle.example/')) faults.push(value);
    }
  }
  return faults.map((fault) => name + ': ' + fault);
}

globalThis.drawHostile = async (texts) => {
  await loadMarkdown();
  const faults = [];
  let drawn = 0;
  for (const [type, samples] of Object.entries(SHOWN)) {
    for (const { name, body: whole, answer, call } of samples) {
      // The pictures of the samples would be asked for, which is right, and nothing that is looked at here.
      const body = JSON.parse(JSON.stringify(whole), (key, value) => (key === 'image' ? { ...value, url: 'x' } : value));
      for (const path of textsIn(body)) {
        for (const text of texts) {
          const block = { index: 0, id: type, block_type: type, revision: 1, body: replaced(body, path, text), fallback_text: text, a11y_label: text };
          render(h(BlockDrawing, { key: drawn++, block: { phase: 'ready', index: 0, id: type, blockType: type, block }, answer, call, isNewest: true, around }), root);
          faults.push(...faultsOf(type + ' ' + name + ' ' + path.join('.')));
        }
      }
    }
  }
  return { drawn, faults: faults.slice(0, 20) };
};
`;

/** Draws one block after the other in the page, under its policy; `drawBlock` is made of the drawings as they are. */
async function drawHostile(t: TestContext, world: BrowserWorld): Promise<void> {
  const { outputFiles } = await build({
    absWorkingDir: projectRoot(),
    stdin: { contents: HOSTILE_PAGE, resolveDir: projectRoot() },
    bundle: true,
    write: false,
    format: 'iife',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.css': 'text' },
  });
  const page = await openComponents(world);
  t.after(() => page.context().close());
  // The page's own pictures and large drawings may still be on their way.
  await page.waitForLoadState('networkidle');
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(request.url()));
  await page.evaluate(outputFiles[0]?.text ?? '');
  const found = (await page.evaluate(`drawHostile(${JSON.stringify(HOSTILE)})`)) as {
    readonly drawn: number;
    readonly faults: readonly string[];
  };
  assert.deepEqual(found.faults, []);
  assert.ok(found.drawn > 1_500, `${found.drawn} drawings`);
  assert.equal(await page.evaluate('globalThis.ran'), undefined);
  assert.deepEqual(loaded, []);
}
