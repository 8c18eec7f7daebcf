/** The Setup page in a browser, while an agent plays a real setup session over HTTP. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createOperator, createTestApp } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { type RunningService, startService } from '../support/service.ts';
import { AGENT, type Agent, agentOf, createAgent, fetchFile, type Operator, openSession, tokenIn } from '../support/setup-agent.ts';
import { SETUP_WORK, SUMMARY } from '../support/setup-work.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { axeFaults } from './axe.ts';
import { type BrowserWorld, openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

interface Shop {
  readonly service: RunningService;
  readonly world: BrowserWorld;
  readonly operator: Operator;
  readonly appId: string;
  /** The address of the app's Setup page. */
  readonly path: string;
}

const ENV = { DEMO: 'off', LOG_LEVEL: 'warn' } as const;

/** An app that nobody has set up. */
async function shop(t: TestContext, running?: RunningService): Promise<Shop> {
  const service = running ?? (await startService(t, { env: ENV }));
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { org } = (await operator('POST', '/orgs', { name: 'Tea', plan: 'growth' })).json as { org: { id: string } };
  const made = (await operator('POST', `/orgs/${org.id}/apps`, { name: 'Tea shop' })).json as { app: { id: string } };
  const appId = made.app.id;
  return { service, world: await openWorld(t, service), operator, appId, path: `/console/apps/${appId}/setup` };
}

const steps = (page: Page) => page.getByRole('list', { name: 'Steps' });
const step = (page: Page, id: string) => steps(page).locator(`[data-step=${id}]`);
const marked = (page: Page, id: string, mark: string) => steps(page).locator(`[data-step=${id}][data-mark=${mark}]`).waitFor();
const codeIn = (command: string) => /code=([0-9a-f]{32})/.exec(command)?.[1] ?? '';

/** Ids of the lines that are shown, in their order. */
async function shownLines(page: Page): Promise<number[]> {
  return (await page.evaluate("[...document.querySelectorAll('.setup-line')].map((line) => Number(line.dataset.line))")) as number[];
}

async function claimed(baseUrl: string, command: string): Promise<Agent> {
  const agent = await agentOf(baseUrl, codeIn(command));
  await agent.get('POST', '/start', AGENT);
  return agent;
}

test('WATCH-1, WATCH-2: a person opens a session, hands over the command, and two windows show the thirteen steps until the app is live', async (t) => {
  const { service, world, path } = await shop(t);
  const { context, page } = await world.signedIn(path);
  await waitForPage(page, 'Setup');
  const byItself = page.getByRole('switch', { name: 'Go live by itself' });
  await page.getByText('people get the assistant at once: nobody is asked again').waitFor();
  await byItself.click();
  await page.getByText('until a person takes it live').waitFor();
  await page.reload();
  await page.getByText('until a person takes it live').waitFor();
  await byItself.click();
  await page.getByText('nobody is asked again').waitFor();
  await look(page, 'open-session');
  await page.getByRole('button', { name: 'Open a setup session' }).click();
  const command = page.locator('.setup-command');
  await command.waitFor();
  await page.getByText(/Works once, for another 1[45]:\d\d/).waitFor();
  const second = await context.newPage();
  await second.goto(service.baseUrl + path);
  await second.locator('.setup-command').waitFor();
  assert.equal(await second.locator('.setup-command').textContent(), await command.textContent());

  const agent = await agentOf(service.baseUrl, codeIn((await command.textContent()) ?? ''));
  for (const { name, run } of SETUP_WORK) {
    await run(agent, service.baseUrl);
    if (name === 'start') {
      for (const window of [page, second]) {
        await window.getByRole('heading', { name: 'Claude Code, model-1, linux' }).waitFor();
        await window.locator('.setup-command').waitFor({ state: 'detached' });
      }
    }
    if (name === 'events install') {
      await marked(page, 'install', 'claimed');
      await marked(page, 'verify', 'pending');
      await agent.get('POST', '/events', { step: 'verify', status: 'waiting', title: 'Start the shop once.' });
      await marked(page, 'verify', 'waits');
      await agent.send('PUT', '/appearance', { theme: { accent: 'red' } });
      const toDo = page.getByRole('region', { name: 'For you to do' });
      await toDo.getByRole('button', { name: 'Start the shop once.' }).click();
      await step(page, 'verify').getByText('waits for you').first().waitFor();
      await page.getByText('A write of appearance was refused.').first().waitFor();
      await look(page, 'setup-waits');
    }
  }
  for (const window of [page, second]) {
    for (const id of ['waiting', 'connected', 'knowledge', 'verify', 'test']) await marked(window, id, 'observed');
    for (const id of ['discover', 'install', 'identity']) await marked(window, id, 'claimed');
    await step(window, 'discover').getByText('Read 120 files').waitFor();
  }
  await agent.get('POST', '/complete', SUMMARY);
  for (const window of [page, second]) {
    await window.getByRole('region', { name: 'How it ended' }).getByText('The shop is set up.').waitFor();
    await window.getByRole('region', { name: 'For you to do' }).getByText('Look at the colours.').waitFor();
  }
});

test('WATCH-2, WATCH-5: every line has its time, title, detail and data; what an agent wrote is text; step and order are in the address', async (t) => {
  const { service, world, operator, appId, path } = await shop(t);
  const { code } = await openSession(operator, appId);
  const agent = await agentOf(service.baseUrl, code);
  const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
  await agent.get('POST', '/start', { tool: `${hostile.slice(0, 40)}`, model: hostile, os: '‮linux' });
  await agent.get('POST', '/events', [
    { step: 'install', status: 'failed', title: hostile, detail: `${hostile}\nsecond line`, data: { [hostile]: hostile } },
  ]);
  const { page } = await world.signedIn(path, { bypassCSP: true });
  await waitForPage(page, 'Setup');
  await marked(page, 'install', 'failed');
  await step(page, 'install').getByRole('button').first().click();
  const line = page.getByRole('list', { name: 'Lines of Installing the SDK' }).getByRole('listitem');
  await line.getByText(hostile).first().waitFor();
  await line.getByText('second line').waitFor();
  assert.match((await line.locator('time').textContent()) ?? '', /^\d\d:\d\d:\d\d$/);
  await line.getByText('Data', { exact: true }).click();
  assert.equal(await line.locator('pre').textContent(), JSON.stringify({ [hostile]: hostile }, null, 2));
  assert.equal(await page.title(), 'Setup · Console');
  assert.equal(new URL(page.url()).searchParams.get('step'), 'install');
  await page.getByText('By time', { exact: true }).click();
  await page.getByRole('list', { name: 'All lines' }).waitFor();
  const { events } = (await operator('GET', `/sessions/${(await openSessionOf(operator, appId)).id}`)).json as { events: { id: number }[] };
  assert.deepEqual(
    await shownLines(page),
    events.map(({ id }) => id),
  );
  await page.reload();
  await page.getByRole('list', { name: 'All lines' }).waitFor();
  await page.goBack();
  await page.getByRole('list', { name: 'Lines of Installing the SDK' }).waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1_360, 360]) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 800 });
      assert.deepEqual(await axeFaults(page), [], `${colorScheme}, ${width}`);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${width}`);
    }
  }
});

async function openSessionOf(operator: Operator, appId: string): Promise<{ readonly id: string }> {
  const { sessions } = (await operator('GET', `/apps/${appId}/sessions?limit=1`)).json as { sessions: { id: string }[] };
  return sessions[0] as { id: string };
}

test('WATCH-3: the service is killed and comes back: the page goes on, and each line is there once', async (t) => {
  const dataDir = temporaryDir(t);
  const env = { ...ENV, PORT: String(await freePort()) };
  const first = await startService(t, { dataDir, env });
  const { world, operator, appId, path } = await shop(t, first);
  const { code } = await openSession(operator, appId);
  const { text } = await fetchFile(first.baseUrl, code);
  const agent = createAgent(() => first.baseUrl, tokenIn(text));
  await agent.get('POST', '/start', AGENT);
  await agent.get('POST', '/events', [{ step: 'discover', status: 'started', title: 'Before' }]);
  const { page } = await world.signedIn(`${path}?view=time`);
  await page.getByText('Before', { exact: true }).waitFor();
  await first.stop('SIGKILL');
  await page.getByText('connecting again').waitFor();
  await startService(t, { dataDir, env });
  for (const title of ['After', 'Later']) await agent.get('POST', '/events', [{ step: 'discover', status: 'progress', title }]);
  await page.getByText('Later', { exact: true }).waitFor();
  await page.getByText('following', { exact: true }).waitFor();
  const ids = await shownLines(page);
  assert.deepEqual(
    ids,
    ids.map((_, index) => index + 1),
  );
});

test('WATCH-4: Stop asks once more and ends the session, in every window; then another one can be opened, which the other window follows', async (t) => {
  const { service, world, operator, appId, path } = await shop(t);
  const { command } = await openSession(operator, appId);
  const agent = await claimed(service.baseUrl, command);
  const { page } = await world.signedIn(path);
  const other = await world.signedIn(path);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Let it go on' }).click();
  await agent.get('GET', '/status');
  await agent.get('POST', '/events', [{ step: 'discover', status: 'started', title: 'Reading' }]);
  await marked(page, 'discover', 'active');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Stop the session' }).click();
  for (const window of [page, other.page]) await window.getByRole('region', { name: 'How it ended' }).getByText('stopped').waitFor();
  for (const window of [page, other.page]) await marked(window, 'discover', 'left');
  assert.equal((await agent.send('GET', '/status')).status, 410);
  await page.getByRole('button', { name: 'Open a setup session' }).click();
  await page.locator('.setup-command').waitFor();
  await other.page.getByText('Waiting for your agent').first().waitFor();
  await other.page.getByText('The command is shown where the session was opened').waitFor();
  await other.page.getByRole('button', { name: 'Create new command' }).click();
  await claimed(service.baseUrl, (await other.page.locator('.setup-command').textContent()) ?? '');
  await page.getByRole('heading', { name: 'Claude Code, model-1, linux' }).waitFor();
});

test('WATCH-4: a live app takes a sync session alone, and the page says why', async (t) => {
  const service = await startService(t, { env: ENV });
  const { appId } = await createTestApp(service.baseUrl, service.operatorToken);
  const { page } = await (await openWorld(t, service)).signedIn(`/console/apps/${appId}/setup`);
  await page.getByText('The app is live, so nothing is written to it without your word.').waitFor();
  assert.equal(await page.getByRole('radio', { name: 'Set the app up' }).isDisabled(), true);
  await page.getByRole('button', { name: 'Open a sync session' }).click();
  await page.locator('.setup-command').waitFor();
});
