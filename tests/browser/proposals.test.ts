/** The Proposals page in a browser: what agents propose over HTTP meanwhile, decided by hand and by keys. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createOperator } from '../support/client.ts';
import { startService } from '../support/service.ts';
import { AGENT, type Agent, agentOf, openSession } from '../support/setup-agent.ts';
import { axeFaults } from './axe.ts';
import { type BrowserWorld, openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

const HOSTILE = '<img src=x onerror="document.title=1">';
const THEME = { surface: '#ffffff', onSurface: '#111111', accent: '#0b6e4f', onAccent: '#ffffff' };

interface LiveShop {
  readonly world: BrowserWorld;
  readonly agent: Agent;
  readonly path: string;
  console(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Somebody else rejects the proposal. */
  decide(id: string): Promise<void>;
}

/** A live app with a persona, a look and a source, and an agent of a sync session on it. */
async function liveShop(t: TestContext): Promise<LiveShop> {
  const service = await startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'warn' } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { org } = (await operator('POST', '/orgs', { name: 'Tea' })).json as { org: { id: string } };
  const { app } = (await operator('POST', `/orgs/${org.id}/apps`, { name: 'Tea shop' })).json as { app: { id: string } };
  const console: LiveShop['console'] = async (method, path, body) => {
    const answer = await operator(method, `/apps/${app.id}${path}`, body);
    assert.ok(answer.status < 300, answer.text);
    return answer.json as Record<string, unknown>;
  };
  await console('PUT', '/appearance', { theme: THEME });
  await console('PUT', '/experience', { assistantName: 'Leaf', tone: 'Short and friendly.' });
  const returns = { external_key: 'returns', kind: 'text', title: 'Returns', content: 'Send it back within 30 days.' };
  await console('POST', '/knowledge', { items: [returns] });
  await console('POST', '/go-live');
  const agent = await agentOf(service.baseUrl, (await openSession(operator, app.id, 'sync')).code);
  await agent.get('POST', '/start', AGENT);
  const decide = async (id: string) => {
    const answer = await operator('POST', `/proposals/${id}/reject`, {});
    assert.equal(answer.status, 200, answer.text);
  };
  return { world: await openWorld(t, service), agent, path: `/console/apps/${app.id}/proposals`, console, decide };
}

async function propose(agent: Agent, method: string, path: string, body: unknown): Promise<void> {
  const answer = await agent.send(method, path, body);
  assert.equal(answer.status, 202, answer.text);
}

/** The picture of the logo is there, and can be drawn. */
async function waitForPicture(page: Page, what: string): Promise<void> {
  await page.waitForFunction(
    (alt) => (document.querySelector<HTMLImageElement>(`img[alt="${alt}"]`)?.naturalWidth ?? 0) > 0,
    `The logo: ${what}`,
  );
}

const shown = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

test('VERDICT-1, VERDICT-3: a difference side by side with who, why and when; the navigation counts; what was proposed is text', async (t) => {
  const { world, agent, path } = await liveShop(t);
  await propose(agent, 'PUT', '/experience', { tone: 'Short and very friendly.', welcomeBody: HOSTILE, reason: `As ${HOSTILE} says` });
  await propose(agent, 'PUT', '/appearance', { theme: { ...THEME, accent: '#7a1fa2' } });
  const { page } = await world.signedIn(path, { bypassCSP: true });
  await waitForPage(page, 'Proposals');
  await shown(page, 'assistant').locator('ins').getByText('very').waitFor();
  await shown(page, 'assistant').getByRole('row', { name: 'welcomeBody' }).getByText(HOSTILE).waitFor();
  const facts = page.getByRole('article');
  for (const words of ['Claude Code, model-1, linux', `As ${HOSTILE} says`, 'People get it once you publish.'])
    await facts.getByText(words).waitFor();
  await page.getByRole('link', { name: 'Proposals 2 waiting' }).waitFor();
  await look(page, 'proposals');
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1_360, 360]) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 860 });
      assert.deepEqual(await axeFaults(page), [], `${colorScheme}, ${width}`);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${width}`);
    }
  }
  await page.setViewportSize({ width: 1_360, height: 860 });
  await page.keyboard.press('j');
  await shown(page, 'theme').locator('.swatch').nth(1).waitFor();
  await page.reload();
  await shown(page, 'theme').getByText('#7a1fa2').waitFor();
  assert.equal(await page.title(), 'Proposals · Console');
});

test('VERDICT-1: a proposed logo is a picture beside the one there is, and proposed colours have their contrast', async (t) => {
  const { world, agent, path, console } = await liveShop(t);
  const drawing = (fill: string) =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"><circle cx="12" cy="12" r="11" fill="${fill}"/></svg>`;
  const first = await agent.logo(Buffer.from(drawing('#0b6e4f')), 'image/svg+xml');
  assert.equal(first.status, 202, first.text);
  const { page } = await world.signedIn(path, { bypassCSP: true });
  const logo = shown(page, 'logo');
  await logo.getByText('no logo').waitFor();
  await waitForPicture(page, 'would be');
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Nothing waits for you.').waitFor();
  const second = await agent.logo(Buffer.from(drawing('#7a1fa2')), 'image/svg+xml');
  assert.equal(second.status, 202, second.text);
  await propose(agent, 'PUT', '/appearance', { theme: { ...THEME, accent: '#ffd54a' }, reason: 'The brand is yellow now.' });
  assert.equal(((await console('GET', '/proposals?status=pending')) as { proposals: object[] }).proposals.length, 1);
  await page.reload();
  await waitForPicture(page, 'now');
  await waitForPicture(page, 'would be');
  const pair = shown(page, 'Contrast').getByRole('row', { name: /^the accent on the page, at least 3 / });
  await pair.getByText('hard to read').waitFor();
  await look(page, 'proposals-look');
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1_360, 360]) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 860 });
      assert.deepEqual(await axeFaults(page), [], `${colorScheme}, ${width}`);
    }
  }
});

test('VERDICT-2: j, k, a and r decide; the reason outlives a reload; the help lists the keys; what was approved counts', async (t) => {
  const { world, agent, path, console } = await liveShop(t);
  await propose(agent, 'PUT', '/experience', { tone: 'Loud.' });
  await propose(agent, 'POST', '/knowledge', { items: [{ external_key: 'returns', op: 'archive' }] });
  const { page } = await world.signedIn(path);
  await shown(page, 'assistant').waitFor();
  await page.keyboard.press('?');
  for (const what of ['Next proposal', 'Proposal before', 'Approve the proposal', 'Reject the proposal'])
    await page.getByText(what).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await shown(page, 'returns').getByText('Send it back within 30 days.').waitFor();
  await page.keyboard.press('k');
  await shown(page, 'assistant').waitFor();
  await page.keyboard.press('r');
  const reason = page.getByLabel('Why not');
  await reason.pressSequentially('jkar: we keep it');
  await page.reload();
  await shown(page, 'assistant').waitFor();
  await page.keyboard.press('r');
  assert.equal(await reason.inputValue(), 'jkar: we keep it');
  await page.keyboard.press('Enter');
  await shown(page, 'returns').waitFor();
  await page.getByRole('link', { name: 'Proposals 1 waiting' }).waitFor();
  await page.locator('body').press('a');
  await page.getByText('Nothing waits for you.').waitFor();
  assert.equal(((await console('GET', '/knowledge')) as { sources: { status: string }[] }).sources[0]?.status, 'archived');
  await page.getByLabel('Which proposals').selectOption('Rejected');
  await page.getByRole('article').getByText('jkar: we keep it').waitFor();
});

test('VERDICT-2: one that is out of date says so, and one that somebody else decided meanwhile is told in its place', async (t) => {
  const { world, agent, path, console, decide } = await liveShop(t);
  await propose(agent, 'PUT', '/experience', { tone: 'Loud.' });
  await console('PUT', '/experience', { tone: 'Calm.' });
  const { page } = await world.signedIn(path);
  await page.getByText('What it would replace has changed since').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Approve' }).isDisabled(), true);
  const { proposals } = (await console('GET', '/proposals')) as { proposals: { id: string }[] };
  await page.getByRole('button', { name: 'Reject' }).click();
  await page.getByLabel('Why not').fill('Too late');
  await decide(proposals[0]?.id ?? '');
  await page.getByRole('button', { name: 'Reject the proposal' }).click();
  await page.getByRole('alert').getByText('conflict').waitFor();
});
