/** Pictures of a page for whoever builds it: light, dark and narrow, into the folder that LOOK names; without it none is taken. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const WIDE = { width: 1_360, height: 860 };
const NARROW = { width: 390, height: 780 };

/** Takes `name`-light, -dark and -narrow. */
export async function look(page: Page, name: string): Promise<void> {
  const folder = process.env.LOOK;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  const take = (kind: string) =>
    page.screenshot({ path: join(folder, `${name}-${kind}.png`), animations: 'disabled', fullPage: kind === 'narrow' });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize(WIDE);
    await take(colorScheme);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(NARROW);
  await take('narrow');
  await page.setViewportSize(WIDE);
}
