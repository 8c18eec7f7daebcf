/** npm run measure:widget: what the widget costs a page, in Chromium against the program as it is; the figures of docs/sdk.md. */
import type { TestContext } from 'node:test';
import type { CDPSession, Page } from 'playwright-core';
import { type BrowserWorld, openWorld } from '../tests/browser/browser.ts';
import { embedding, serveHostPages } from '../tests/browser/host-page.ts';
import { createOperator } from '../tests/support/client.ts';
import { startPacedModel } from '../tests/support/paced-model.ts';
import { startService } from '../tests/support/service.ts';

const ROUNDS = 5;
const DELTAS = 400;
const DELTA_MS = 10;
const TURNS = 1_000;
const EARLIER_TURNS = 100;

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

function print(what: string, figure: string): void {
  process.stdout.write(`${what.padEnd(72)} ${figure}\n`);
}

async function metric(cdp: CDPSession, name: string): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return metrics.find((each) => each.name === name)?.value ?? 0;
}

/** Bytes of the page's JavaScript that live after a collection. */
async function heapBytes(cdp: CDPSession): Promise<number> {
  await cdp.send('HeapProfiler.collectGarbage');
  return metric(cdp, 'JSHeapUsedSize');
}

/** Asks and waits for the end of the answer. */
function ask(page: Page, turns: number): Promise<void> {
  return page.evaluate(async (count) => {
    interface Sdk {
      ask(text: string): void;
      onEvent(listener: (event: { readonly type: string; readonly status?: string }) => void): () => void;
    }
    const sdk = (globalThis as unknown as { Assistant: Sdk }).Assistant;
    for (let n = 0; n < count; n++) {
      await new Promise<void>((resolve, reject) => {
        const end = sdk.onEvent(({ type, status }) => {
          if (type !== 'answer_ended') return;
          end();
          if (status === 'completed') resolve();
          else reject(new Error(`The answer ended as ${status}.`));
        });
        sdk.ask('How long does it take to deliver, and what does it cost?');
      });
    }
  }, turns);
}

/** Milliseconds from the page's beginning until a call is taken, and until the launcher can be pressed. */
async function untilUsable(world: BrowserWorld, url: string): Promise<{ readonly taken: number; readonly usable: number }> {
  const { context, page } = await world.open();
  await page.goto(url);
  const usable = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const look = () => {
          const launcher = document.querySelector('assistant-widget')?.shadowRoot?.querySelector('.launcher');
          if (launcher?.checkVisibility() === true) resolve(performance.now());
          else requestAnimationFrame(look);
        };
        look();
      }),
  );
  const taken = await page.evaluate(() => (globalThis as unknown as { taken: number }).taken);
  await context.close();
  return { taken, usable };
}

/** Seconds in which the page's thread worked while one answer came. */
async function cpuOfAnswer(page: Page, cdp: CDPSession): Promise<number> {
  const before = await metric(cdp, 'TaskDuration');
  await ask(page, 1);
  return (await metric(cdp, 'TaskDuration')) - before;
}

const ends: (() => unknown)[] = [];
const end = { after: (close: () => unknown) => void ends.push(close) } as unknown as TestContext;
try {
  const model = await startPacedModel(end);
  const service = await startService(end, { env: { ...model.env(), LOG_LEVEL: 'silent' } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { json } = await operator('GET', '/orgs');
  const [org] = (json as { orgs: readonly { id: string }[] }).orgs;
  const apps = (await operator('GET', `/orgs/${org?.id}/apps`)).json as { apps: readonly { id: string }[] };
  const settings = { messages_per_minute: 10_000, messages_per_minute_per_address: 0 };
  const { status } = await operator('PATCH', `/apps/${apps.apps[0]?.id}`, settings);
  if (status !== 200) throw new Error(`The limits of the app cannot be set: ${status}.`);
  const init = `globalThis.taken = performance.now(); Assistant.init({ key: ${JSON.stringify(service.testKey)} });`;
  const whole = embedding(service.baseUrl, '/whole');
  const pages = await serveHostPages(end, {
    '/whole': { html: whole, script: init },
    '/stub': { html: whole.replace('assistant.js', 'stub.js').replace('/whole.js', '/stub.js'), script: init },
  });
  const world = await openWorld(end, service);
  for (const path of ['/whole', '/stub']) {
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await untilUsable(world, pages.url(path)));
    print(`${path}: calls are taken after`, `${median(rounds.map(({ taken }) => taken)).toFixed(0)} ms`);
    print(`${path}: the launcher is there after`, `${median(rounds.map(({ usable }) => usable)).toFixed(0)} ms`);
  }
  const { page, context } = await world.open();
  await page.goto(pages.url('/whole'));
  await page.locator('assistant-widget .launcher').click();
  const cdp = await context.newCDPSession(page);
  await cdp.send('Performance.enable');
  const answers = async (what: string) => {
    model.pace({ words: DELTAS, delayMs: DELTA_MS });
    const seconds = [];
    for (let round = 0; round < ROUNDS; round++) seconds.push(await cpuOfAnswer(page, cdp));
    print(
      `${DELTAS} deltas in ${(DELTAS * DELTA_MS) / 1_000} s, ${what}: the page's thread works`,
      `${(median(seconds) * 1_000).toFixed(0)} ms`,
    );
  };
  await ask(page, 1);
  const heap = await heapBytes(cdp);
  await answers('in a new conversation');
  model.pace({ words: 4, delayMs: 0 });
  await ask(page, EARLIER_TURNS);
  await answers(`after ${EARLIER_TURNS} turns`);
  model.pace({ words: 4, delayMs: 0 });
  const middle = await heapBytes(cdp);
  await ask(page, TURNS - EARLIER_TURNS);
  const last = await heapBytes(cdp);
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  print('JavaScript memory after one turn', megabytes(heap));
  print(`JavaScript memory after ${EARLIER_TURNS} turns`, megabytes(middle));
  print(`JavaScript memory after ${TURNS} turns`, megabytes(last));
  print(
    'elements drawn then',
    String(await page.evaluate(() => document.querySelector('assistant-widget')?.shadowRoot?.querySelectorAll('*').length)),
  );
} finally {
  for (const close of ends.reverse()) await close();
}
