/** A session that ends while a form is filled in, on each page that has one: what was typed is there after the sign-in, and is saved. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createOperator, createTestApp } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type BrowserWorld, openWorld, signIn, waitForPage } from './browser.ts';

type Read = (path: string) => Promise<Record<string, unknown>>;

interface Form {
  readonly path: string;
  readonly title: string;
  readonly save: string;
  fill(page: Page): Promise<void>;
  /** What was typed, as the page still holds it. */
  typed(page: Page): Promise<string>;
  /** The same, as the service has it. */
  stored(read: Read): Promise<unknown>;
}

const ACTION = {
  external_key: 'search',
  name: 'search_teas',
  description: 'Searches the teas.',
  method: 'GET',
  risk: 'read',
  url_template: 'https://shop.example.com/search',
};
const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
/** Empty before the first one is saved. */
const draftOf = async (read: Read, path: string) => ((await read(path)).draft ?? {}) as Record<string, unknown>;

const FORMS: readonly Form[] = [
  {
    path: '/settings',
    title: 'Settings',
    save: 'Save changes',
    fill: (page) => field(page, 'Name').fill('Tea and more'),
    typed: (page) => field(page, 'Name').inputValue(),
    stored: async (read) => ((await read('')).app as { name: string }).name,
  },
  {
    path: '/appearance',
    title: 'Appearance',
    save: 'Save the draft',
    fill: (page) => field(page, 'Words on the launcher').fill('Ask the tea master'),
    typed: (page) => field(page, 'Words on the launcher').inputValue(),
    stored: async (read) => ((await draftOf(read, '/appearance')).copilot as { launcherLabel?: string } | undefined)?.launcherLabel,
  },
  {
    path: '/assistant',
    title: 'Assistant',
    save: 'Save the draft',
    fill: (page) => field(page, 'Greeting').fill('Good morning, what may it be?'),
    typed: (page) => field(page, 'Greeting').inputValue(),
    stored: async (read) => (await draftOf(read, '/experience')).welcomeTitle,
  },
  {
    path: '/actions?show=actions&item=search_teas',
    title: 'Actions and screens',
    save: 'Save the definition',
    fill: async (page) => {
      const definition = field(page, 'Definition as JSON');
      await definition.fill((await definition.inputValue()).replace('Searches the teas', 'Finds the teas'));
    },
    typed: async (page) => /F[a-z]+ the teas\./.exec(await field(page, 'Definition as JSON').inputValue())?.[0] ?? '',
    stored: async (read) => ((await read('/actions')).actions as { description: string }[])[0]?.description,
  },
  {
    path: '/knowledge?add=source',
    title: 'Knowledge',
    save: 'Add the text',
    fill: async (page) => {
      await page.getByLabel('What it is').selectOption('text');
      await field(page, 'Title').fill('Returns of tea');
      await field(page, 'Text').fill('Unopened tea comes back within 60 days.');
    },
    typed: (page) => field(page, 'Title').inputValue(),
    stored: async (read) => ((await read('/knowledge')).sources as { title: string }[])[0]?.title,
  },
];

async function editThroughASignIn({ service, signedIn }: BrowserWorld, appId: string, form: Form): Promise<void> {
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const read: Read = async (path) => (await operator('GET', `/apps/${appId}${path}`)).json as Record<string, unknown>;
  const { context, page } = await signedIn(`/console/apps/${appId}${form.path}`);
  await waitForPage(page, form.title);
  await form.fill(page);
  const typed = await form.typed(page);
  assert.notEqual(typed, '');
  assert.notEqual(await form.stored(read), typed);
  await context.clearCookies();
  const dialog = page.getByRole('dialog', { name: 'Your session is over' });
  const save = page.getByRole('button', { name: form.save });
  // Something else that the page asks for may find the session over first, and then the dialog is before the button.
  await Promise.race([dialog.waitFor(), save.click({ timeout: 5_000 }).catch(() => dialog.waitFor())]);
  await dialog.waitFor();
  assert.equal(await form.typed(page), typed, 'it stands there below the sign-in');
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  await signIn(page, service.operatorToken);
  await waitForPage(page, form.title);
  assert.equal(await form.typed(page), typed, 'and after a reload');
  await page.getByRole('button', { name: form.save }).click();
  await eventually(async () => (await form.stored(read)) === typed);
}

describe('APPS-3, PAGE-6: a session that ends in the middle of an edit loses nothing of it', () => {
  for (const form of FORMS) {
    test(`on the page ${form.title}`, async (t) => {
      const world = await openWorld(t);
      const { baseUrl, operatorToken } = world.service;
      const { appId } = await createTestApp(baseUrl, operatorToken);
      const declared = await createOperator(baseUrl, operatorToken)('POST', `/apps/${appId}/actions`, { items: [ACTION] });
      assert.equal(declared.status, 200, declared.text);
      await editThroughASignIn(world, appId, form);
    });
  }
});
