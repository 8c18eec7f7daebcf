/** Two people at once, each in a browser of their own, while an agent plays a setup session: the second one is told, and nothing is lost. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createOperator } from '../support/client.ts';
import { startService } from '../support/service.ts';
import { AGENT, agentOf, openSession } from '../support/setup-agent.ts';
import { SETUP_WORK } from '../support/setup-work.ts';
import { openWorld, waitForPage } from './browser.ts';
import { look } from './look.ts';

async function shop(t: TestContext) {
  const service = await startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'warn' } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { org } = (await operator('POST', '/orgs', { name: 'Tea' })).json as { org: { id: string } };
  const { app } = (await operator('POST', `/orgs/${org.id}/apps`, { name: 'Tea shop' })).json as { app: { id: string } };
  const console = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const answer = await operator(method, `/apps/${app.id}${path}`, body);
    assert.ok(answer.status < 300, answer.text);
    return answer.json as Record<string, unknown>;
  };
  const session = async (kind: 'setup' | 'sync') => agentOf(service.baseUrl, (await openSession(operator, app.id, kind)).code);
  return { service, console, session, world: await openWorld(t, service), path: `/console/apps/${app.id}` };
}

const changes = (page: Page) => page.getByRole('region', { name: 'Changes' });

async function save(page: Page, button: string): Promise<void> {
  await page.getByRole('button', { name: button }).click();
}

test('APPS-7: two people and an agent of a running session write one draft: whoever is later is told what the others wrote', async (t) => {
  const { service, world, console, session, path } = await shop(t);
  const agent = await session('setup');
  const [ada, ben] = [(await world.signedIn(`${path}/assistant`)).page, (await world.signedIn(`${path}/assistant`)).page];
  for (const page of [ada, ben]) await waitForPage(page, 'Assistant');
  await ada.getByLabel('Rules', { exact: true }).fill('Never promise a day.');
  await ada.getByLabel('Greeting', { exact: true }).fill('Good morning');
  await ben.getByLabel('Rules', { exact: true }).fill('Stay with tea.');
  for (const { run } of SETUP_WORK) await run(agent, service.baseUrl);

  await save(ada, 'Save the draft');
  await changes(ada).getByText('Somebody else saved this meanwhile').waitFor();
  await changes(ada).getByText('Rules, theirs: Always stay polite.').waitFor();
  await look(ada, 'two-people');
  assert.equal(await ada.getByLabel('Rules', { exact: true }).inputValue(), 'Never promise a day.');
  await save(ada, 'Save the draft');
  await changes(ada).waitFor({ state: 'detached' });

  await save(ben, 'Save the draft');
  await changes(ben).getByText('Rules, theirs: Never promise a day.').waitFor();
  // What the others wrote beside it is there, without a reload.
  assert.equal(await ben.getByLabel('Greeting', { exact: true }).inputValue(), 'Good morning');
  assert.equal(await ben.getByLabel('Name', { exact: true }).inputValue(), 'Leaf');
  const before = (await console('GET', '/experience')) as { draft: Record<string, unknown> };
  assert.equal(before.draft.guardrails, 'Never promise a day.', 'nothing was saved before the second word');
  await ben.getByRole('button', { name: 'Discard' }).click();
  await changes(ben).waitFor({ state: 'detached' });
  assert.equal(await ben.getByLabel('Rules', { exact: true }).inputValue(), 'Never promise a day.');
  const { draft } = (await console('GET', '/experience')) as { draft: Record<string, unknown> };
  assert.deepEqual([draft.assistantName, draft.welcomeTitle, draft.guardrails], ['Leaf', 'Good morning', 'Never promise a day.']);
});

test('APPS-7: the look is sent as a whole, and yet what somebody else saved in other fields stays', async (t) => {
  const { world, console, path } = await shop(t);
  const theme = { surface: '#ffffff', onSurface: '#111111', accent: '#0b6e4f', onAccent: '#ffffff' };
  await console('PUT', '/appearance', { theme, copilot: { launcherLabel: 'Ask' } });
  const { page } = await world.signedIn(`${path}/appearance`);
  const words = page.getByLabel('Words on the launcher', { exact: true });
  await words.fill('Ask us');
  await console('PUT', '/appearance', { theme: { ...theme, accent: '#7a1fa2' }, copilot: { launcherLabel: 'Ask' } });
  await save(page, 'Save the draft');
  await changes(page).waitFor({ state: 'detached' });
  const { draft } = (await console('GET', '/appearance')) as {
    draft: { theme: Record<string, unknown>; copilot: Record<string, unknown> };
  };
  assert.deepEqual([draft.theme.accent, draft.copilot.launcherLabel], ['#7a1fa2', 'Ask us']);
});

test('VERDICT-4: two people decide the same proposal while its agent goes on: the second is told, and decides nothing unseen', async (t) => {
  const { world, console, session, path } = await shop(t);
  await console('PUT', '/experience', { assistantName: 'Leaf', tone: 'Short.' });
  await console('POST', '/go-live');
  const agent = await session('sync');
  await agent.get('POST', '/start', AGENT);
  const propose = async (body: Record<string, unknown>) => {
    const answer = await agent.send('PUT', '/experience', body);
    assert.equal(answer.status, 202, answer.text);
  };
  await propose({ tone: 'Short and warm.' });
  await propose({ welcomeTitle: 'Good morning' });
  const [ada, ben] = [(await world.signedIn(`${path}/proposals`)).page, (await world.signedIn(`${path}/proposals`)).page];
  const shown = (page: Page) => page.getByRole('article');
  for (const page of [ada, ben]) await shown(page).locator('ins').getByText('warm').waitFor();
  await ben.getByRole('button', { name: 'Reject' }).click();
  await ben.getByLabel('Why not').fill('Too warm for us');
  await ada.getByRole('button', { name: 'Approve' }).click();
  await shown(ada).locator('ins').getByText('Good morning').waitFor();
  await propose({ welcomeBody: 'What may it be?' });

  await ben.getByRole('button', { name: 'Reject the proposal' }).click();
  await shown(ben).getByRole('alert').getByText('conflict').waitFor();
  await shown(ben).getByText('It was approved meanwhile, by somebody else or in another window.').waitFor();
  // A key on what is decided decides nothing, of this proposal or of another.
  const sent: string[] = [];
  ben.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
  await ben.locator('body').press('a');
  await ben.locator('body').press('?');
  await ben.getByRole('dialog').waitFor();
  await ben.keyboard.press('Escape');
  assert.deepEqual(sent, []);
  const { draft } = (await console('GET', '/experience')) as { draft: Record<string, unknown> };
  assert.equal(draft.tone, 'Short and warm.');
  const waiting = (await console('GET', '/proposals?status=pending')) as { proposals: unknown[] };
  assert.equal(waiting.proposals.length, 2, 'nothing else was decided');
  await ben.reload();
  await shown(ben).getByText('approved', { exact: true }).first().waitFor();
});
