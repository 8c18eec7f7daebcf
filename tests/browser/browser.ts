/** A browser, and the program in front of it: pages that are signed in, and what a page said to its console. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import packed from '@sparticuz/chromium';
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type RunningService, startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

export interface BrowserWorld {
  readonly service: RunningService;
  /** A window of its own, with its own cookies. What breaks the rules of the page's security policy, or throws, fails the test. */
  open(options?: BrowserContextOptions): Promise<{ readonly context: BrowserContext; readonly page: Page }>;
  /** The same, signed in, at a path below /console. */
  signedIn(path: string, options?: BrowserContextOptions): Promise<{ readonly context: BrowserContext; readonly page: Page }>;
}

/** `BROWSER_SLOWDOWN=4` makes each page four times slower: what a test does not wait for shows then. */
const SLOWDOWN = Number(process.env.BROWSER_SLOWDOWN ?? 1);

async function slowDown(page: Page): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
}

/** The package's face, and for arrows and code those of the system, if it has any. */
function fontsFile(t: TestContext): string {
  const folder = temporaryDir(t);
  const prefer = (family: string, face: string) => `<alias><family>${family}</family><prefer><family>${face}</family></prefer></alias>`;
  const folders = [join(tmpdir(), 'fonts'), '/usr/share/fonts'].map((dir) => `<dir>${dir}</dir>`).join('');
  const faces = prefer('sans-serif', 'Open Sans') + prefer('system-ui', 'Open Sans') + prefer('monospace', 'DejaVu Sans Mono');
  const file = join(folder, 'fonts.conf');
  writeFileSync(file, `<?xml version="1.0"?><fontconfig>${folders}<cachedir>${folder}</cachedir>${faces}</fontconfig>`);
  return file;
}

/** Starts a browser, and the program unless one runs; both end with the test. */
export async function openWorld(t: TestContext, running?: RunningService): Promise<BrowserWorld> {
  const service = running ?? (await startService(t));
  // Without the package's own arguments: they are for machines where it may not start processes, and take browsers' defences away.
  const executablePath = await packed.executablePath();
  const env = { ...process.env, FONTCONFIG_FILE: fontsFile(t) } as Record<string, string>;
  const browser = await chromium.launch({ executablePath, headless: true, env });
  t.after(() => browser.close());
  const faults: string[] = [];
  t.after(() => assert.deepEqual(faults, []));

  const open = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({ viewport: { width: 1_360, height: 860 }, ...options });
    const page = await context.newPage();
    if (SLOWDOWN > 1) await slowDown(page);
    page.on('pageerror', (error) => {
      // A service that ends with its test may be asked for the part of a page that was just opened; a part that is missing is missed by what follows.
      if (!/Failed to fetch dynamically imported module/.test(String(error))) faults.push(String(error));
    });
    page.on('console', (message) => {
      // A policy by hashes alone lets no part in, and what the parts draw is shown in words (WIDGET-33).
      if (/\/sdk\/web\/latest\/\S+' violates .*"script-src 'sha384-/.test(message.text())) return;
      if (/Content Security Policy|Trusted/i.test(message.text())) faults.push(message.text());
    });
    return { context, page };
  };

  return {
    service,
    open,
    async signedIn(path, options) {
      const opened = await open(options);
      await opened.page.goto(`${service.baseUrl}/console`);
      await signIn(opened.page, service.operatorToken);
      await opened.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      if (path !== '/console') await opened.page.goto(service.baseUrl + path);
      return opened;
    },
  };
}

/** Types the token or the link into the form that is shown. */
export async function signIn(page: Page, secret: string): Promise<void> {
  await page.getByLabel('Operator token, or a one-time link').fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** The title of the page that is shown, once it is this one. */
export async function waitForPage(page: Page, title: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
}
