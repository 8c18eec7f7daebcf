/** npm run measure:console: what each page of the console loads, and how long people wait for it; the figures of docs/console.md. */
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { openWorld } from '../tests/browser/browser.ts';
import { startScriptedChat } from '../tests/gateway/runtime/scripted-chat.ts';
import { createClient, createOperator, HANDSHAKE } from '../tests/support/client.ts';
import { choose, heapMegabytes, measureSession } from './measure-session.ts';

const CONVERSATIONS = Number(process.env.CONVERSATIONS ?? 10_000);
const SOURCES = Number(process.env.SOURCES ?? 1_000);
const ROUNDS = 7;
/** Conversations that are held at a time while they are made. */
const AT_A_TIME = 16;
const LIVE_MS = Number(process.env.LIVE_SECONDS ?? 120) * 1_000;

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

function print(...columns: readonly string[]): void {
  process.stdout.write(`| ${columns.join(' | ')} |\n`);
}

/** Bytes of script as they travelled, and milliseconds until the page's content is there. */
async function load(page: Page, url: string): Promise<{ readonly bytes: number; readonly ms: number }> {
  await page.goto(url);
  const ms = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const look = () => {
          const isThere =
            document.querySelector('main h1') !== null && document.querySelector('main :is(table, .card, svg, form, .empty)') !== null;
          if (isThere) resolve(performance.now());
          else requestAnimationFrame(look);
        };
        look();
      }),
  );
  await page.waitForLoadState('networkidle');
  const bytes = await page.evaluate(() =>
    (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
      .filter(({ name }) => name.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  );
  return { bytes, ms };
}

/** Milliseconds from a press of a link of the navigation until the next page is drawn with its content. */
function press(page: Page, label: string): Promise<number> {
  return page.evaluate(async (name) => {
    const links = [...document.querySelectorAll<HTMLAnchorElement>('nav a')];
    const link = links.find(({ textContent }) => textContent?.trim() === name);
    if (link === undefined) throw new Error(`no link ${name}`);
    const from = performance.now();
    link.click();
    for (;;) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const heading = document.querySelector('main h1')?.textContent;
      if (heading === name && document.querySelector('main :is(table, .card, svg, form, .empty)') !== null) return performance.now() - from;
    }
  }, label);
}

const ends: (() => unknown)[] = [];
const end = { after: (close: () => unknown) => void ends.push(close) } as unknown as TestContext;
try {
  const it = await startScriptedChat(end);
  const operator = createOperator(it.service.baseUrl, it.service.operatorToken);
  const app = `/apps/${it.app.appId}`;
  await operator('PATCH', app, { messages_per_minute: 10_000, messages_per_minute_per_address: 0, messages_per_day: 1_000_000 });
  it.script(...Array.from({ length: CONVERSATIONS }, (_, n) => [{ text: `Answer ${n}.` }]));
  let left = CONVERSATIONS;
  const converse = async () => {
    while (left-- > 0) {
      const client = createClient(it.service.baseUrl, it.app.liveKey, randomUUID().replaceAll('-', ''));
      const answer = await client.chat({ message: { text: 'Where is my order?' }, client: HANDSHAKE });
      if (answer.status !== 200 || answer.events.at(-1)?.status !== 'completed')
        throw new Error(`A conversation was not held: ${answer.status}.`);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, converse));
  for (let from = 0; from < SOURCES; from += 25) {
    const items = Array.from({ length: 25 }, (_, n) => ({
      external_key: `note-${from + n}`,
      kind: 'text',
      title: `Note ${from + n}`,
      content: `Words of note ${from + n}.`,
    }));
    const { status, text } = await operator('POST', `${app}/knowledge`, { items });
    if (status !== 200) throw new Error(`Knowledge was not taken: ${text}`);
  }
  const world = await openWorld(end, it.service);
  const { page, context } = await world.signedIn('/console');
  const cdp = await context.newCDPSession(page);
  await cdp.send('Performance.enable');
  print('page', 'script under gzip', 'until its content is there');
  print('---', '---', '---');
  const sections = [
    '',
    '/setup',
    '/appearance',
    '/assistant',
    '/knowledge',
    '/actions',
    '/proposals',
    '/go-live',
    '/conversations',
    '/settings',
  ];
  const paths = [
    '/console',
    ...sections.map((section) => `/console${app}${section}`),
    '/console/nodes',
    '/console/machines',
    '/console/traces',
  ];
  for (const path of paths) {
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await load(page, it.service.baseUrl + path));
    const [first] = rounds;
    print(
      path.replace(it.app.appId, ':app'),
      `${((first?.bytes ?? 0) / 1_000).toFixed(1)} KB`,
      `${median(rounds.map(({ ms }) => ms)).toFixed(0)} ms`,
    );
  }
  await page.goto(`${it.service.baseUrl}/console${app}`);
  await page.getByRole('link', { name: 'Conversations', exact: true }).first().waitFor();
  print('from one page to the next, by its link', 'first time', 'later');
  for (const label of ['Conversations', 'Knowledge', 'Settings']) {
    const times = [];
    for (let round = 0; round <= ROUNDS; round++) {
      times.push(await press(page, label));
      await press(page, 'Setup');
    }
    print(label, `${(times[0] ?? 0).toFixed(0)} ms`, `${median(times.slice(1)).toFixed(0)} ms`);
  }
  const choices: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    await page.goto(`${it.service.baseUrl}/console${app}/conversations`);
    await page.locator('main tbody tr').first().waitFor();
    choices[0].push(await choose(page, 'Newest turn', 'completed', 50));
    choices[1].push(await choose(page, 'Newest turn', 'failed', 0));
  }
  print(`of ${CONVERSATIONS} conversations: all completed, none failed`, ...choices.map((times) => `${median(times).toFixed(0)} ms`));
  await measureSession({ page, service: it.service, operator, heap: () => heapMegabytes(cdp), print });
  await page.goto(`${it.service.baseUrl}/console/nodes`);
  await page.waitForLoadState('networkidle');
  const before = await heapMegabytes(cdp);
  await page.waitForTimeout(LIVE_MS);
  print(`memory of the page of nodes, at first and after ${LIVE_MS / 1_000} s`, `${before} MB`, `${await heapMegabytes(cdp)} MB`);
} finally {
  for (const close of ends.reverse()) await close();
}
