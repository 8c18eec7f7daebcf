/** The screens of React Native, drawn by react-native-web: every component in every state, and a conversation of an app that hands in its platform. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { SHOWN } from '../../web/demo/components/states.ts';
import { type ScriptedChat, startScriptedChat } from '../gateway/runtime/scripted-chat.ts';
import { eventually } from '../support/eventually.ts';
import { projectRoot } from '../support/project-root.ts';
import { openWorld } from './browser.ts';
import { serveHostPages } from './host-page.ts';

const SOON_MS = 30_000;

/** What of an app a test changes: code of its own, run before the app starts, and what of the platform is handed in. */
const appSource = (address: string, key: string, parts: string, before: string) => `
import { createElement as h } from 'react';
import { createRoot } from 'react-dom/client';
import { AssistantProvider, AssistantScreen, createNativeAssistant, native } from './web/react-native/assistant.tsx';
import { BlockView } from './web/react-native/block.tsx';

globalThis.happened = [];
const happen = (what) => (...given) => void happened.push([what, ...given]);
// As AsyncStorage has it.
const values = new Map();
const storage = {
  getItem: async (name) => values.get(name) ?? null,
  setItem: async (name, value) => void values.set(name, value),
  removeItem: async (name) => void values.delete(name),
};
const app = {
  onScreen: happen('screen'),
  onLink: (address) => (happened.push(['link', address]), true),
  copy: async (text) => happened.push(['copy', text]),
};
${before}
try {
  const log = ({ code }) => happened.push(['log', code]);
  const assistant = createNativeAssistant({ address: ${JSON.stringify(address)}, key: ${JSON.stringify(key)} }, native({ storage, log, ${parts} }));
  assistant.registerAction({ name: 'get_city', description: 'Tells the city.' }, () => ({ city: 'Oslo' }));
  assistant.registerAction({ name: 'send_back', description: 'Sends it back.', risk: 'write', confirm_template: 'Send it back?' }, () => (happened.push(['sent back']), {}));
  const root = createRoot(document.querySelector('#root'));
  const screen = (child) => root.render(h('div', { style: { height: '100vh', display: 'flex' } }, h(AssistantProvider, { assistant, app }, child)));
  screen(h(AssistantScreen, { onClose: happen('close') }));
  globalThis.show = (block, answer, call) => screen(h(BlockView, { key: Math.random(), block, answer, call }));
} catch (error) {
  document.querySelector('#root').textContent = error.message;
}
`;

async function bundled(source: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: projectRoot(),
    stdin: { contents: source, resolveDir: projectRoot() },
    alias: { 'react-native': 'react-native-web' },
    bundle: true,
    write: false,
    format: 'iife',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return outputFiles[0]?.text ?? '';
}

const STREAMING = 'fetch: (...given) => fetch(...given)';

async function openApp(t: TestContext, { parts = STREAMING, before = '' } = {}): Promise<{ it: ScriptedChat; page: Page }> {
  const it = await startScriptedChat(t);
  const world = await openWorld(t, it.service);
  const html =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>App</title></head><body style="margin: 0"><div id="root"></div><script src="/app.js"></script></body></html>';
  const script = await bundled(appSource(it.service.baseUrl, it.app.testKey, parts, before));
  const pages = await serveHostPages(t, { '/app': { html, script } });
  const { page } = await world.open({ viewport: { width: 390, height: 844 } });
  await page.goto(pages.url('/app'));
  return { it, page };
}

const happened = (page: Page) => page.evaluate('happened') as Promise<[string, ...unknown[]][]>;

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Write a message').fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
}

test('NATIVE-1, NATIVE-3: an app asks, sees the answer grow, runs its actions, and confirms what changes something', async (t) => {
  const { it, page } = await openApp(t);
  await page.getByText('What can I do for you?').waitFor();
  it.script([{ call: 'get_city', args: {}, id: 'call_city' }], [{ text: 'You are in **Oslo**. [More](https://example.com/more)' }]);
  const sent = page.waitForRequest((request) => request.url().endsWith('/v1/chat'));
  await say(page, 'Where am I?');
  await page.getByText('Oslo', { exact: true }).waitFor();
  assert.match(it.toldOf('call_city'), /Oslo/);
  const { client } = (await sent).postDataJSON() as { client: { sdk: string; components: string[]; action_kinds: string[] } };
  assert.match(client.sdk, /^react-native\/\d/);
  assert.equal(client.components.length, Object.keys(SHOWN).length);
  assert.ok(!client.action_kinds.includes('copy'));
  await page.getByRole('link', { name: /More/ }).click();
  assert.deepEqual((await happened(page)).at(-1), ['link', 'https://example.com/more']);

  it.script([{ call: 'send_back', args: {}, id: 'call_back' }], [{ text: 'It is on its way.' }]);
  await say(page, 'Send it back');
  await page.getByRole('button', { name: 'Confirm', exact: true }).click();
  await page.getByText('It is on its way.').waitFor();
  assert.equal((await happened(page)).filter(([what]) => what === 'sent back').length, 1);
  await page.getByRole('button', { name: 'Close' }).click();
  assert.equal((await happened(page)).at(-1)?.[0], 'close');
});

test('NATIVE-2: every component is drawn in every state of its samples, and what cannot be drawn is its fallback text', async (t) => {
  const { page } = await openApp(t);
  await page.getByText('What can I do for you?').waitFor();
  const texts: string[] = [];
  for (const [type, states] of Object.entries(SHOWN)) {
    for (const { name, body, answer, call } of states) {
      const ready = { ...{ index: 0, id: 'blk_1', block_type: type, revision: 1, body }, fallback_text: 'In its place' };
      const block = { phase: 'ready', index: 0, id: 'blk_1', blockType: type, block: ready };
      await page.evaluate(
        `show(${JSON.stringify(block)}, ${JSON.stringify(answer) ?? 'undefined'}, ${JSON.stringify(call) ?? 'undefined'})`,
      );
      const drawn = page.getByTestId(type);
      await drawn.waitFor();
      const text = await drawn.innerText();
      assert.ok(text.trim() !== '' && !/undefined|\[object|NaN|In its place/.test(text), `${type}, ${name}: ${text}`);
      texts.push(text);
    }
  }
  assert.ok(texts.length > 60, String(texts.length));
  for (const [type, body] of [
    ['hologram', {}],
    ['choice', {}],
  ] as const) {
    const ready = { ...{ index: 0, id: 'blk_2', block_type: type, revision: 1, body }, fallback_text: 'In its place' };
    await page.evaluate(`show(${JSON.stringify({ phase: 'ready', index: 0, id: 'blk_2', blockType: type, block: ready })})`);
    await page.getByText('In its place').waitFor();
  }
});

test('NATIVE-4: a platform without what it needs is told so before anything is sent, or once', async (t) => {
  for (const [parts, sentence] of [
    [`${STREAMING}, storage: undefined`, /storage must be handed in/],
    ['fetch: undefined', /fetch must be handed in/],
  ] as const) {
    const { page } = await openApp(t, { parts });
    await page.getByText(sentence).waitFor();
    await page.context().browser()?.close();
  }
  const { page } = await openApp(t, { before: 'globalThis.TextDecoder = undefined;' });
  await page.getByText(/no TextDecoder: install one/).waitFor();

  const whole =
    'fetch: async (...given) => { const { status, headers } = await fetch(...given); return { status, headers, text: async () => "{}" }; }';
  const other = await openApp(t, { parts: whole });
  const asked: string[] = [];
  other.page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
  other.it.script([{ text: 'It works.' }]);
  await say(other.page, 'Does it?');
  await other.page.getByText(/fetch does not stream/).waitFor();
  await eventually(async () => (await happened(other.page)).filter(([, code]) => code === 'turn_failed').length === 1, SOON_MS);
  assert.equal(asked.filter((each) => each === 'POST /v1/chat').length, 1);
  assert.equal(await other.page.getByRole('button', { name: 'Try again' }).count(), 0);
});
