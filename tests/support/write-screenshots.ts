/** npm run screenshots: pictures of the console's pages for the documents, light and dark, of the program as it is. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { openWorld, waitForPage } from '../browser/browser.ts';
import { projectRoot } from './project-root.ts';

const FOLDER = join(projectRoot(), 'docs', 'images', 'console');

interface Scene {
  readonly name: string;
  readonly path: string;
  /** The page's heading. */
  readonly title: string;
  /** Events that are sent before the picture is taken. */
  readonly events: readonly string[];
}

const SCENES: readonly Scene[] = [
  { name: 'machines', path: '/console/machines', title: 'Machines', events: [] },
  { name: 'setup-session', path: '/console/machines/setup-session', title: 'Setup session', events: ['session.claim', 'session.call'] },
  { name: 'chat-turn', path: '/console/machines/chat-turn', title: 'Chat turn', events: ['turn.open', 'round.finished'] },
  { name: 'step-panel', path: '/console/machines/step-panel', title: 'Step panel', events: ['session.claimed', 'step.reported'] },
];

async function take(page: Page, base: string, { name, path, title, events }: Scene, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.goto(base + path);
  await waitForPage(page, title);
  for (const type of events) {
    await page
      .getByRole('region', { name: 'Events' })
      .getByRole('button', { name: new RegExp(`^${type.replaceAll('.', '\\.')}\\b`) })
      .click();
  }
  await page.screenshot({ path: join(FOLDER, `${name}-${colorScheme}.png`), animations: 'disabled' });
}

/** What is opened is closed at the end, as by a test. */
const ends: (() => unknown)[] = [];
const world = await openWorld({ after: (end: () => unknown) => void ends.push(end) } as unknown as TestContext);
try {
  mkdirSync(FOLDER, { recursive: true });
  const { page } = await world.signedIn('/console/machines', { viewport: { width: 1_440, height: 900 }, deviceScaleFactor: 2 });
  for (const scene of SCENES) for (const scheme of ['light', 'dark'] as const) await take(page, world.service.baseUrl, scene, scheme);
} finally {
  for (const end of ends.reverse()) await end();
}
