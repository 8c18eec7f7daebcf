/** What axe-core finds on a page. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core finds, one line a fault. */
export async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = (await page.evaluate('axe.run()')) as {
    readonly violations: readonly {
      readonly id: string;
      readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
    }[];
  };
  return violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}

/** The same in light and dark, wide and narrow, each line with where. */
export async function axeFaultsInAllLooks(page: Page): Promise<string[]> {
  const size = page.viewportSize();
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1_360, 360]) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 800 });
      faults.push(...(await axeFaults(page)).map((fault) => `${colorScheme}, ${width}: ${fault}`));
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  if (size !== null) await page.setViewportSize(size);
  return faults;
}
