/** A page without a mouse: Tab until a thing has the focus. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** More than any page has before what is wanted. */
const STEPS_MAX = 80;

/** Moves the focus with Tab to what has this name, also within a shadow root. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const focused = () =>
    page.evaluate(() => {
      const inner = document.activeElement?.shadowRoot?.activeElement ?? document.activeElement;
      const label = inner instanceof HTMLInputElement ? inner.labels?.[0]?.textContent : undefined;
      return (inner?.getAttribute('aria-label') ?? label ?? inner?.textContent ?? '').trim();
    });
  const isThere = (found: string) => (typeof name === 'string' ? found === name : name.test(found));
  for (let steps = 0; !isThere(await focused()); steps++) {
    assert.ok(steps < STEPS_MAX, `nothing called ${name} gets the focus`);
    await page.keyboard.press('Tab');
  }
}

/** Presses what has this name. */
export async function pressByKeys(page: Page, name: string | RegExp): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}
