/** npm run screenshots: pictures of the console's pages and of the demo for the documents, light and dark, of the program as it is. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { type BrowserWorld, openWorld, waitForPage } from '../tests/browser/browser.ts';
import { type ScriptedChat, startScriptedChat, thread } from '../tests/gateway/runtime/scripted-chat.ts';
import { createOperator, HANDSHAKE } from '../tests/support/client.ts';
import { projectRoot } from '../tests/support/project-root.ts';
import { type RunningService, startService } from '../tests/support/service.ts';
import { agentOf, openSession } from '../tests/support/setup-agent.ts';
import { SETUP_WORK, SUMMARY } from '../tests/support/setup-work.ts';
import { keepLook, LOOKS, type Look, takeLook } from './component-pictures.ts';
import { takeConsolePages } from './console-pictures.ts';

export interface SetupShop {
  readonly service: RunningService;
  readonly appId: string;
  /** The agent ends its session, the app goes live, and another agent proposes changes. */
  goLive(): Promise<void>;
}

/** Calls of the agent that are made before the first picture. */
const WORK_SHOWN = 10;

/** A shop in whose setup session an agent is half way. */
export async function startSetupShop(t: TestContext): Promise<SetupShop> {
  const service = await startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'warn' } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { org } = (await operator('POST', '/orgs', { name: 'Corner', plan: 'growth' })).json as { org: { id: string } };
  const { app } = (await operator('POST', `/orgs/${org.id}/apps`, { name: 'Tea shop' })).json as { app: { id: string } };
  const agent = await agentOf(service.baseUrl, (await openSession(operator, app.id)).code);
  for (const { run } of SETUP_WORK.slice(0, WORK_SHOWN)) await run(agent, service.baseUrl);
  return {
    service,
    appId: app.id,
    async goLive() {
      for (const { run } of SETUP_WORK.slice(WORK_SHOWN)) await run(agent, service.baseUrl);
      await agent.get('POST', '/complete', SUMMARY);
      const next = await agentOf(service.baseUrl, (await openSession(operator, app.id, 'sync')).code);
      await next.get('POST', '/start', { tool: 'cursor', model: 'model-2', os: 'macos' });
      const theme = { surface: '#ffffff', onSurface: '#111111', accent: '#8a3ffc', onAccent: '#ffffff' };
      const propose = async (method: string, path: string, body: unknown) => {
        const answer = await next.send(method, path, body);
        assert.equal(answer.status, 202, answer.text);
      };
      const instructions = 'Helps with tea, orders, gifts and returns.';
      await propose('PUT', '/experience', { instructions, tone: 'Warm and brief.', reason: 'The shop sells gifts now, see src/gifts.' });
      await propose('PUT', '/appearance', { theme, reason: 'tokens.css has another accent' });
    },
  };
}

const FOLDER = join(projectRoot(), 'docs', 'images', 'console');
const WIDGET_FOLDER = join(projectRoot(), 'docs', 'images', 'widget');

interface Scene {
  readonly name: string;
  readonly path: string;
  /** The page's heading. */
  readonly title: string;
  /** What is there once the page is; a table or a drawing unless said otherwise. */
  readonly shows?: string;
  /** What is done before the picture is taken. */
  readonly before?: (page: Page) => Promise<void>;
}

/** Sends events in the simulator. */
function sent(...types: readonly string[]): NonNullable<Scene['before']> {
  return async (page) => {
    for (const type of types) {
      const name = new RegExp(`^${type.replaceAll('.', '\\.')}\\b`);
      await page.getByRole('region', { name: 'Events' }).getByRole('button', { name }).click();
    }
  };
}

interface Asked {
  readonly turnId: string;
  readonly conversationId: string;
}

/** A turn that asks a person before it cancels an order, and another one that goes on meanwhile. */
async function askedTurn(it: ScriptedChat): Promise<Asked> {
  const action = { name: 'cancel_order', description: 'Cancels an order.', risk: 'write', confirm_template: 'Cancel order {id}?' };
  const manifest = { version: '1', actions: [{ ...action, params: { id: { type: 'string', required: true } } }] };
  const { json } = await it.client.send('POST', '/v1/apps/manifest', { manifest, sdk: 'web/0.50.0' });
  const call = { call: 'cancel_order', args: { id: '7' }, id: 'call_cancel' };
  it.script([{ text: 'I can do that.' }, call], [{ text: 'Two days.' }], [{ text: 'By post.' }]);
  const turnId = randomUUID();
  const client = { ...HANDSHAKE, manifest_hash: (json as { manifest_hash: string }).manifest_hash };
  const asked = await it.say('Cancel order 7.', { client, turn_id: turnId });
  const conversationId = thread(asked);
  for (const text of ['How long does shipping take?', 'And how?']) await it.say(text, { client, conversation_id: conversationId });
  return { turnId, conversationId };
}

function scenesOf(appId: string, { turnId, conversationId }: Asked): readonly Scene[] {
  const coverage = async (page: Page) => {
    await page.getByText('Coverage', { exact: true }).click();
    await page.locator('.drawing .edge.is-never').first().waitFor({ state: 'attached' });
  };
  return [
    { name: 'machines', path: '/console/machines', title: 'Machines' },
    { name: 'simulator', path: '/console/machines/setup-session', title: 'Setup session', before: sent('session.claim', 'session.call') },
    { name: 'panel', path: '/console/machines/step-panel', title: 'Step panel', before: sent('session.claimed', 'step.reported') },
    { name: 'coverage', path: '/console/machines/chat-turn', title: 'Chat turn', before: coverage },
    { name: 'traces', path: '/console/traces', title: 'Traces' },
    { name: 'trace', path: `/console/traces/${appId}?turn_id=${turnId}`, title: '“Cancel order 7.”' },
    { name: 'conversation', path: `/console/traces/${appId}?conversation_id=${conversationId}`, title: '“Cancel order 7.”' },
  ];
}

async function take(
  page: Page,
  base: string,
  { name, path, title, shows = 'table, .drawing-frame[viewBox]', before }: Scene,
  colorScheme: 'light' | 'dark',
): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.goto(base + path);
  await waitForPage(page, title);
  // Nothing is under way any more, or all that is left is a stream.
  await page.locator(shows).first().waitFor();
  await before?.(page);
  await page.screenshot({ path: join(FOLDER, `${name}-${colorScheme}.png`), animations: 'disabled' });
}

/** The demo shop after two questions. */
async function takeDemo(world: BrowserWorld, colorScheme: 'light' | 'dark'): Promise<void> {
  const { context, page } = await world.open({ viewport: { width: 1_280, height: 860 }, deviceScaleFactor: 1.5, colorScheme });
  const picture = (name: string) => page.screenshot({ path: join(WIDGET_FOLDER, `${name}-${colorScheme}.png`), animations: 'disabled' });
  await page.goto(`${world.service.baseUrl}/demo`);
  const field = page.getByRole('textbox', { name: 'Write a message' });
  await field.fill('Where is my order?');
  await field.press('Enter');
  await page.locator('assistant-widget .tracker').waitFor();
  await field.fill('Cancel order A-1042');
  await field.press('Enter');
  await page.locator('assistant-widget .confirm').waitFor();
  await page.locator('assistant-widget [role=log][aria-busy=false]').waitFor();
  await picture('demo');
  await context.close();
}

/** The pages on the way to people, of an app that an agent sets up meanwhile. */
async function takeSetup(end: TestContext): Promise<void> {
  const shop = await startSetupShop(end);
  const world = await openWorld(end, shop.service);
  const at = (section: string) => `/console/apps/${shop.appId}/${section}`;
  const { page } = await world.signedIn('/console', { viewport: { width: 1_440, height: 900 }, deviceScaleFactor: 1.5 });
  const both = async (scene: Scene) => {
    for (const scheme of ['light', 'dark'] as const) await take(page, shop.service.baseUrl, scene, scheme);
  };
  await both({ name: 'setup', path: at('setup?step=knowledge'), title: 'Setup', shows: '.setup-line' });
  await shop.goLive();
  await both({ name: 'proposals', path: at('proposals'), title: 'Proposals', shows: '.sides' });
  await both({ name: 'go-live', path: at('go-live'), title: 'Go live', shows: '.smoke-answer' });
  await both({ name: 'actions', path: at('actions?item=search_teas'), title: 'Actions and screens', shows: '.definition-form' });
  const ask = async (window: Page) => {
    const field = window.getByRole('textbox', { name: 'Write a message' });
    await field.fill('How hot should green tea be?');
    await field.press('Enter');
    await window.locator('.trial-step').last().getByText('→ completed').waitFor();
  };
  await both({ name: 'test', path: at('test'), title: 'Test', shows: '.trial-place', before: ask });
}

/** What is opened is closed at the end, as by a test. */
const ends: (() => unknown)[] = [];
const end = { after: (close: () => unknown) => void ends.push(close) } as unknown as TestContext;
try {
  mkdirSync(WIDGET_FOLDER, { recursive: true });
  const demo = await openWorld(end, await startService(end));
  for (const scheme of ['light', 'dark'] as const) await takeDemo(demo, scheme);
  for (const look of Object.keys(LOOKS) as Look[]) keepLook(look, await takeLook(demo, look));
  mkdirSync(FOLDER, { recursive: true });
  await takeConsolePages(demo, FOLDER);
  await takeSetup(end);
  const it = await startScriptedChat(end);
  const world = await openWorld(end, it.service);
  const scenes = scenesOf(it.app.appId, await askedTurn(it));
  const { page } = await world.signedIn('/console/machines', { viewport: { width: 1_440, height: 900 }, deviceScaleFactor: 1.5 });
  for (const scene of scenes) for (const scheme of ['light', 'dark'] as const) await take(page, world.service.baseUrl, scene, scheme);
} finally {
  for (const close of ends.reverse()) await close();
}
