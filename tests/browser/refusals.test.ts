/** What the service refuses of the console's forms: it is said in its place, what was typed stays, and is taken when it is sent again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { openWorld } from './browser.ts';

interface Form {
  readonly name: string;
  /** Behind the address of the app. */
  readonly path: string;
  /** Which request it sends, below /console/api. */
  readonly sends: RegExp;
  readonly label: string;
  readonly text: string;
  readonly button: string;
}

const FORMS: readonly Form[] = [
  { name: 'settings', path: '/settings', sends: /\/apps\/[^/]+$/, label: 'Name', text: 'A shop', button: 'Save changes' },
  { name: 'persona', path: '/assistant', sends: /\/experience$/, label: 'Greeting', text: 'Welcome', button: 'Save the draft' },
  { name: 'look', path: '/appearance', sends: /\/appearance$/, label: 'Words on the launcher', text: 'Ask us', button: 'Save the draft' },
  {
    ...{ name: 'source', path: '/knowledge?add=source', sends: /\/knowledge$/ },
    ...{ label: 'Address', text: 'https://shop.example.com/help', button: 'Add the link' },
  },
];

const REFUSALS = [
  [409, 'conflict', 'Another node is writing to the app.'],
  [413, 'too_large', 'The body is larger than 2 MB.'],
  [429, 'rate_limited', 'Too many requests. Send it again in 2 seconds.'],
  [503, 'internal', 'The organisation is on its way to another cell.'],
] as const;

async function refuse(page: Page, { sends }: Form, status: number, code: string, message: string): Promise<() => Promise<void>> {
  const pattern = (url: URL) => url.pathname.startsWith('/console/api/') && sends.test(url.pathname);
  await page.route(pattern, (route) =>
    route.request().method() === 'GET'
      ? route.continue()
      : route.fulfill({ status, headers: { 'Retry-After': '2', 'X-Request-Id': `refused-${status}` }, json: { error: { code, message } } }),
  );
  return () => page.unroute(pattern);
}

for (const form of FORMS) {
  test(`PAGE-8, APPS-3: 409, 413, 429 and 503 of the form of ${form.name} are said where it is, and nothing typed is lost`, async (t) => {
    const it = await startScriptedChat(t);
    const { signedIn } = await openWorld(t, it.service);
    const { page } = await signedIn(`/console/apps/${it.app.appId}${form.path}`);
    const field = page.getByLabel(form.label, { exact: true });
    await field.fill(form.text);
    for (const [status, code, message] of REFUSALS) {
      const accept = await refuse(page, form, status, code, message);
      await page.getByRole('button', { name: form.button }).click();
      await page.getByText(message).first().waitFor();
      assert.equal(await field.inputValue(), form.text, String(status));
      await accept();
    }
    await page.reload();
    assert.equal(await field.inputValue(), form.text);
    const answered = page.waitForResponse(
      (response) => form.sends.test(new URL(response.url()).pathname) && response.request().method() !== 'GET',
    );
    await page.getByRole('button', { name: form.button }).click();
    assert.ok((await answered).ok(), await (await answered).text());
  });
}
